// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// ADK sends the text of a tool's error to the model, and stores it.
func TestAToolErrorShowsAConnectionString(t *testing.T) {
	down := errors.New("dial postgres://admin:hunter2@db.internal: connection refused")
	config := func() llmagent.Config {
		return llmagent.Config{
			Name: "agent", Tools: []tool.Tool{callbackstest.ToolReturning("lookup", nil, down)},
			Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done")),
		}
	}

	t.Run("plain ADK", func(t *testing.T) {
		events := run(t, plain(t, config()))
		require.Equal(t, []map[string]any{{"error": "dial postgres://admin:hunter2@db.internal: connection refused"}}, toolAnswers(events))
	})
	t.Run("with the chain", func(t *testing.T) {
		var cause error
		chain := callbacks.New(callbacks.Guard{Name: "log", Observe: func(_ context.Context, ev callbacks.Event) {
			if ev.Step == callbacks.StepTool {
				cause = ev.Err
			}
		}})
		events := run(t, guarded(t, chain, config()))
		require.Equal(t, []map[string]any{{"error": "tool failed: lookup"}}, toolAnswers(events))
		require.ErrorIs(t, cause, down, "the observers are told")
	})
}
