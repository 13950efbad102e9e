// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// ADK runs parallel agents, and the calls of one answer, at the same time: a limit that
// looks first and counts afterwards lets all of them through.
func TestTwentyParallelCallsPassALimitOfFive(t *testing.T) {
	const asked, limit = 20, 5
	twenty := func(t *testing.T, m model.LLM, build func(llmagent.Config) agent.Agent) agent.Agent {
		var agents []agent.Agent
		for i := range asked {
			agents = append(agents, build(llmagent.Config{Name: fmt.Sprintf("agent%d", i), Model: m}))
		}
		all, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "all", SubAgents: agents}})
		require.NoError(t, err)
		return all
	}

	t.Run("plain ADK", func(t *testing.T) {
		m := callbackstest.Script(callbackstest.Say("answer")).Repeat()
		var used atomic.Int32
		var looked sync.WaitGroup // makes the unlucky moment certain: all have looked, none has counted
		looked.Add(asked)
		byHand := func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			exhausted := used.Load() >= limit
			looked.Done()
			looked.Wait()
			if exhausted {
				return nil, errors.New("limit reached")
			}
			used.Add(1)
			return nil, nil
		}
		run(t, twenty(t, m, func(cfg llmagent.Config) agent.Agent {
			cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{byHand}
			return plain(t, cfg)
		}))
		require.Equal(t, asked, m.Calls(), "all of them were made")
	})
	t.Run("with the chain", func(t *testing.T) {
		m := callbackstest.Script(callbackstest.Say("answer")).Repeat()
		chain := callbacks.New(guards.CallBudget(limit)) // one guard value, one account
		run(t, twenty(t, m, func(cfg llmagent.Config) agent.Agent { return guarded(t, chain, cfg) }))
		require.Equal(t, limit, m.Calls())
	})
}
