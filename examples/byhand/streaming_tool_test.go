// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// ADK calls no tool hook for a streaming tool.
func TestAStreamingToolSkipsTheDenyHook(t *testing.T) {
	deny := func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no_deletes", "deleting is not allowed")
	}
	config := func(del tool.Tool) llmagent.Config {
		return llmagent.Config{
			Name: "agent", Tools: []tool.Tool{del},
			Model: callbackstest.Script(callbackstest.Call("delete", nil), callbackstest.Say("done")),
		}
	}

	t.Run("plain ADK", func(t *testing.T) {
		del := callbackstest.StreamingTool("delete", "deleted")
		cfg := config(del)
		cfg.BeforeToolCallbacks = []llmagent.BeforeToolCallback{deny}
		run(t, plain(t, cfg))
		require.Len(t, del.Calls(), 1, "it ran")
	})
	t.Run("with the chain", func(t *testing.T) {
		del := callbackstest.StreamingTool("delete", "deleted")
		chain := callbacks.New(callbacks.Guard{Name: "deny", BeforeTool: deny})
		events := run(t, guarded(t, chain, config(del)))
		require.Empty(t, del.Calls())
		require.Equal(t, []map[string]any{{"error": "deleting is not allowed"}}, toolAnswers(events))
	})
}
