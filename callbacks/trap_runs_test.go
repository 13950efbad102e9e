// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// P15: any value a plugin hook returns switches off the plugins after it, so the
// chain returns one only where it changed something.
func TestP15ALaterPluginStillSeesTheUserMessage(t *testing.T) {
	p, err := callbacks.New(allow("a")).Plugin("p")
	require.NoError(t, err)
	seen := 0
	later, err := plugin.New(plugin.Config{Name: "later", OnUserMessageCallback: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
		seen++
		return nil, nil
	}})
	require.NoError(t, err)
	a, err := llmagent.New(llmagent.Config{Name: "a", Model: callbackstest.Script(callbackstest.Say("answer"))})
	require.NoError(t, err)
	require.NoError(t, play(t, a, agent.StreamingModeNone, p, later).err)
	require.Equal(t, 1, seen)
}

// P5: an agent used as a tool hands back its last text, whatever it is. Where that
// text is a refusal, the outer agent must not read it as an answer.
func TestP05ARefusedAgentToolIsNoAnswer(t *testing.T) {
	refuse := func() error { return callbacks.Deny("no", "not this agent") }
	for _, hook := range []callbacks.Hook{callbacks.HookBeforeAgent, callbacks.HookBeforeModel, callbacks.HookAfterModel} {
		t.Run(string(hook), func(t *testing.T) {
			inner := build(t, callbacks.New(refusing(hook, refuse)), llmagent.Config{Name: "inner", Description: "d", Model: callbackstest.Script(callbackstest.Say("answer"))})
			outer := build(t, callbacks.New(allow("a")), llmagent.Config{
				Name: "outer", Tools: []tool.Tool{agenttool.New(inner, nil)},
				Model: callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "go"}), callbackstest.Say("done")),
			})
			out := play(t, outer, agent.StreamingModeNone)
			require.NoError(t, out.err)
			require.Equal(t, []map[string]any{{"error": "not this agent"}}, responses(out.events))
		})
	}
}
