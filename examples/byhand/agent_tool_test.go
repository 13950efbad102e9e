// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// ADK runs an agent that is used as a tool in a runner of its own, without plugins.
func TestAnAgentUsedAsAToolEscapesThePlugin(t *testing.T) {
	deny := func(_ agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
		if tl.Name() == "delete" {
			return nil, callbacks.Deny("no_deletes", "deleting is not allowed")
		}
		return nil, nil
	}
	inner := func(del tool.Tool) llmagent.Config {
		return llmagent.Config{
			Name: "helper", Description: "Helps.", Tools: []tool.Tool{del},
			Model: callbackstest.Script(callbackstest.Call("delete", nil), callbackstest.Say("done")),
		}
	}
	outer := func(helper agent.Agent) llmagent.Config {
		return llmagent.Config{
			Name: "agent", Tools: []tool.Tool{agenttool.New(helper, nil)},
			Model: callbackstest.Script(callbackstest.Call("helper", map[string]any{"request": "tidy up"}), callbackstest.Say("done")),
		}
	}

	t.Run("plain ADK", func(t *testing.T) {
		del := callbackstest.Tool("delete")
		p, err := plugin.New(plugin.Config{Name: "deny", BeforeToolCallback: deny})
		require.NoError(t, err)
		run(t, plain(t, outer(plain(t, inner(del)))), p)
		require.Len(t, del.Calls(), 1, "it ran")
	})
	t.Run("with the chain", func(t *testing.T) {
		del := callbackstest.Tool("delete")
		chain := callbacks.New(callbacks.Guard{Name: "deny", BeforeTool: deny})
		p, err := chain.Plugin("deny")
		require.NoError(t, err)
		// The same chain on the inner agent; each call still passes it once.
		run(t, plain(t, outer(guarded(t, chain, inner(del)))), p)
		require.Empty(t, del.Calls())
	})
}
