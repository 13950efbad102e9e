// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// ADK's loop agent goes round as long as nothing escalates; a refusal is just another
// answer to it.
func TestPoliteRefusalsLoopForEver(t *testing.T) {
	loop := func(writer agent.Agent) loopagent.Config {
		return loopagent.Config{AgentConfig: agent.Config{Name: "rounds", SubAgents: []agent.Agent{writer}}}
	}
	config := llmagent.Config{Name: "writer", Model: callbackstest.Script()}

	t.Run("plain ADK", func(t *testing.T) {
		cfg := config
		cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return &model.LLMResponse{Content: genai.NewContentFromText("The budget is used up.", genai.RoleModel)}, nil
		}}
		rounds, err := loopagent.New(loop(plain(t, cfg)))
		require.NoError(t, err)
		require.Len(t, run(t, rounds), tooMany, "it would not end")
	})
	t.Run("with the chain", func(t *testing.T) {
		chain := callbacks.New(callbacks.Guard{Name: "budget", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return nil, callbacks.Stop("budget_exhausted", "The budget is used up.")
		}})
		rounds, err := callbacks.Loop(loop(guarded(t, chain, config)))
		require.NoError(t, err)
		events := run(t, rounds)
		require.Len(t, events, 2, "the refusal and the end")
		require.Equal(t, "[guard] The budget is used up.", events[0].Content.Parts[0].Text)
	})
}
