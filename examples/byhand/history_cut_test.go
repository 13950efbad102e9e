// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// IncludeContentsNone is the obvious way to keep an agent to its own question. Under a
// parallel agent it cuts the history at whatever another agent said last: the result of
// a call is sent without the call, which providers refuse. The scripted model does too.
func TestIncludeContentsNoneCutsTheHistory(t *testing.T) {
	t.Run("plain ADK", func(t *testing.T) {
		cfg, m, sibling := interrupted(t)
		cfg.IncludeContents = llmagent.IncludeContentsNone
		run(t, sideBySide(t, plain(t, cfg), sibling))
		require.Len(t, m.Faults(), 1)
		require.ErrorIs(t, m.Faults()[0], callbackstest.ErrBadRequest)
	})
	t.Run("with the chain", func(t *testing.T) {
		cfg, m, sibling := interrupted(t)
		chain := callbacks.New(guards.Isolate("Is the company active?"))
		run(t, sideBySide(t, guarded(t, chain, cfg), sibling))
		require.Empty(t, m.Faults())
		second := m.Requests()[1].Contents
		require.Len(t, second, 3, "its own question, its call, the result")
		require.Equal(t, "Is the company active?", second[0].Parts[0].Text)
	})
}

func sideBySide(t *testing.T, subs ...agent.Agent) agent.Agent {
	t.Helper()
	both, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: subs}})
	require.NoError(t, err)
	return both
}

// interrupted returns an agent that looks something up, and a sibling that speaks
// exactly while the tool runs: what happens now and then by itself happens always here.
func interrupted(t *testing.T) (llmagent.Config, *callbackstest.Model, agent.Agent) {
	t.Helper()
	started, spoken := make(chan struct{}), make(chan struct{})
	lookup := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
		close(started)
		<-spoken
		return map[string]any{"active": true}, nil
	})
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("active"))
	sibling := plain(t, llmagent.Config{
		Name: "sibling",
		Model: callbackstest.Script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
			<-started
			return callbackstest.Say("something else")
		}}),
		AfterAgentCallbacks: []agent.AfterAgentCallback{func(agent.Context) (*genai.Content, error) {
			close(spoken)
			return nil, nil
		}},
	})
	return llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{lookup}}, m, sibling
}
