// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// P35 and P36: a resumed run has the id of the paused one; after_run is called for both.
func TestCanaryP36APauseEndsTheRunForPlugins(t *testing.T) {
	var ended, asked []string
	p := plainPlugin(t, plugin.Config{
		AfterRunCallback: func(ctx agent.InvocationContext) { ended = append(ended, ctx.InvocationID()) },
		BeforeToolCallback: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			asked = append(asked, ctx.FunctionCallID())
			return nil, nil
		},
	})
	pay, err := functiontool.New(functiontool.Config{Name: "pay", Description: "d", RequireConfirmation: true},
		func(agent.Context, payArgs) (map[string]any, error) { return map[string]any{"paid": true}, nil })
	require.NoError(t, err)
	c := &pausedCall{launched: launch(t, plainAgent(t, llmagent.Config{
		Tools: []tool.Tool{pay}, Model: callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "Acme"}), callbackstest.Say("done")),
	}), agent.StreamingModeNone, p)}
	c.answer(t, true)
	require.Len(t, ended, 2, revisit(t, "registry.go"))
	require.Equal(t, ended[0], ended[1], revisit(t, "registry.go"))
	require.Len(t, asked, 2, revisit(t, "toolhooks.go"))
	require.Equal(t, asked[0], asked[1], revisit(t, "toolhooks.go"))
}

// Fact 2: where ADK's own confirmation finds its tool again, and where it does not.
// Under a parallel agent it depends on who speaks last.
func TestCanaryTrap02ConfirmationIsLostInMostTopologies(t *testing.T) {
	for name, tc := range map[string]struct {
		around func(paying, other agent.Agent) agent.Agent
		asked  bool
		paid   int
	}{
		"llm root":           {func(paying, _ agent.Agent) agent.Agent { return paying }, true, 1},
		"first in sequence":  {func(paying, other agent.Agent) agent.Agent { return sequence(t, paying, other) }, true, 1},
		"second in sequence": {func(paying, other agent.Agent) agent.Agent { return sequence(t, other, paying) }, true, 0},
		"agent tool": {func(paying, _ agent.Agent) agent.Agent {
			return plainAgent(t, llmagent.Config{
				Name: "outer", Tools: []tool.Tool{agenttool.New(paying, nil)},
				Model: callbackstest.Script(callbackstest.Call("paying", map[string]any{"request": "go"}), callbackstest.Say("done")),
			})
		}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := &pausedCall{}
			pay, err := functiontool.New(functiontool.Config{Name: "pay", Description: "d", RequireConfirmation: true},
				func(_ agent.Context, a payArgs) (map[string]any, error) {
					c.paid = append(c.paid, a.To)
					return map[string]any{"paid": true}, nil
				})
			require.NoError(t, err)
			paying := plainAgent(t, llmagent.Config{
				Name: "paying", Description: "d", Tools: []tool.Tool{pay},
				Model: callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "Acme"}), callbackstest.Say("done")),
			})
			other := plainAgent(t, llmagent.Config{Name: "other", Model: callbackstest.Script(callbackstest.Say("hello")).Repeat()})
			c.launched = launch(t, tc.around(paying, other), agent.StreamingModeNone)
			require.Equal(t, tc.asked, c.question(t) != "", revisit(t, "toolhooks.go"))
			if tc.asked {
				c.tryAnswer(t, true)
			}
			require.Len(t, c.paid, tc.paid, revisit(t, "toolhooks.go"))
		})
	}
}
