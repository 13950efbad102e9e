// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func withCallbacksOfItsOwn(m model.LLM, lookup tool.Tool, myOwn llmagent.BeforeToolCallback) (agent.Agent, error) {
	// DOC own callbacks
	cfg := llmagent.Config{
		Name: "researcher", Model: m, Tools: []tool.Tool{lookup},
		BeforeToolCallbacks: []llmagent.BeforeToolCallback{myOwn}, // runs last
	}
	return callbacks.New(guards.CallBudget(6), guards.AllowTools("lookup")).NewAgent(cfg)
	// DOC end
}

// DOC guard
var callsKey = callbacks.NewKey(func() *atomic.Int64 { return new(atomic.Int64) })

func atMost(n int64) callbacks.Guard {
	return callbacks.Guard{
		Name: "at_most",
		BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			if callsKey.Of(ctx).Add(1) > n {
				return nil, callbacks.End("too_many", "that was the last call")
			}
			return nil, nil
		},
	}
}

// DOC end

func TestMigrating(t *testing.T) {
	// DOC test
	callbackstest.AssertContract(t, atMost(2))
	p, err := callbacks.New(atMost(2)).Plugin("my_guards")
	// DOC end
	require.NoError(t, err)
	require.Equal(t, "my_guards", p.Name())

	var calls atomic.Int64
	a, err := withCallbacksOfItsOwn(
		callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done")), callbackstest.Tool("lookup"),
		func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			calls.Add(1)
			return nil, nil
		})
	require.NoError(t, err)
	r, err := runner.NewInMemory("migrating", a)
	require.NoError(t, err)
	for _, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, calls.Load())
}
