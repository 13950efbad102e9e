// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// watching would refuse every step, before it and after it.
func watching() callbacks.Guard {
	no := callbacks.Deny("no", "no")
	return callbacks.Monitor(callbacks.Guard{
		Name:        "watching",
		BeforeAgent: func(agent.Context) (*genai.Content, error) { return nil, no },
		AfterAgent:  func(agent.Context) (*genai.Content, error) { return nil, no },
		BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { return nil, no },
		AfterModel:  func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) { return nil, no },
		BeforeTool:  func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return nil, no },
		AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return nil, no
		},
	})
}

// A monitored guard that would refuse everything changes no count, on either side of the
// guard that counts.
func TestAMonitoredGuardSettlesNothing(t *testing.T) {
	orders := map[string]func(callbacks.Guard) *callbacks.Chain{
		"after it":  func(g callbacks.Guard) *callbacks.Chain { return callbacks.New(g, watching()) },
		"before it": func(g callbacks.Guard) *callbacks.Chain { return callbacks.New(watching(), g) },
	}
	for order, chain := range orders {
		for _, form := range forms {
			name := string(form) + " " + order + " "
			t.Run(name+"model calls", func(t *testing.T) {
				build, p := inForm(t, form, chain(guards.CallBudget(2)))
				m := callbackstest.Script(callbackstest.Say("round")).Repeat()
				loop, err := loopagent.New(loopagent.Config{MaxIterations: 50, AgentConfig: agent.Config{
					Name: "loop", SubAgents: []agent.Agent{build(llmagent.Config{Name: "a", Model: m})},
				}})
				require.NoError(t, err)
				out := playWith(t, loop, p, false)
				require.NoError(t, out.err)
				require.Equal(t, 2, m.Calls())
				require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
			})
			t.Run(name+"tool calls", func(t *testing.T) {
				build, p := inForm(t, form, chain(guards.CallBudgetOptions{Calls: 9, ToolCalls: 3, PerTool: map[string]int{"lookup": 3}}.Guard()))
				fake := callbackstest.Tool("lookup")
				m := callbackstest.Script(numbered(10), callbackstest.Say("answer"))
				out := playWith(t, build(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{fake}}), p, false)
				require.NoError(t, out.err)
				require.Len(t, fake.Calls(), 3)
			})
			t.Run(name+"failures of a tool", func(t *testing.T) {
				build, p := inForm(t, form, chain(guards.RetryOptions{Attempts: 1, ToolFailures: 2}.Guard()))
				fake := callbackstest.ToolReturning("lookup", nil, errors.New("down"))
				var turns []callbackstest.Turn
				for range 5 {
					turns = append(turns, callbackstest.Call("lookup", nil))
				}
				out := playWith(t, build(llmagent.Config{Name: "a", Model: callbackstest.Script(append(turns, callbackstest.Say("answer"))...), Tools: []tool.Tool{fake}}), p, false)
				require.NoError(t, out.err)
				require.Len(t, fake.Calls(), 2)
			})
			t.Run(name+"repeated calls", func(t *testing.T) {
				build, p := inForm(t, form, chain(guards.Loop()))
				alone := callbackstest.Tool("lookup")
				playWith(t, newAgent(t, "a", endless(), []tool.Tool{alone}, guards.Loop()), nil, false)
				beside := callbackstest.Tool("lookup")
				out := playWith(t, build(llmagent.Config{Name: "a", Model: endless(), Tools: []tool.Tool{beside}}), p, false)
				require.Equal(t, callbacks.StatusLoopDetected, out.run.Outcome().Status)
				require.Len(t, beside.Calls(), len(alone.Calls()))
			})
		}
		t.Run(order+" a deadline", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := callbackstest.ToolFunc("lookup", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
					return map[string]any{"result": "ok"}, later(ctx)
				})
				a, err := chain(guards.DeadlineOptions{Agent: 500 * time.Millisecond}.Guard()).NewAgent(llmagent.Config{Name: "a", Model: endless(), Tools: []tool.Tool{slow}})
				require.NoError(t, err)
				out := play(t, a)
				require.Equal(t, callbacks.StatusTimeExhausted, out.run.Outcome().Status)
				require.Len(t, slow.Calls(), 3)
			})
		})
	}
}

// What a monitored guard would have refused reaches ObserveMonitored, and Observe gets each
// step once.
func TestObserveGetsEachStepOnceBesideAMonitoredGuard(t *testing.T) {
	steps, would := map[callbacks.StepKind]int{}, map[callbacks.StepKind]int{}
	watcher := callbacks.Guard{
		Name: "watcher",
		Observe: func(_ context.Context, ev callbacks.Event) {
			require.NotEqual(t, callbacks.OutcomeWouldRefuse, ev.Outcome)
			steps[ev.Step]++
		},
		ObserveMonitored: func(_ context.Context, ev callbacks.Event) {
			require.Equal(t, callbacks.OutcomeWouldRefuse, ev.Outcome)
			would[ev.Step]++
		},
	}
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
	require.NoError(t, play(t, newAgent(t, "a", m, lookupTools(), watching(), callbacks.ForAgents(watcher, "a"), callbacks.ForAgents(watcher, "b"))).err)
	require.Equal(t, map[callbacks.StepKind]int{callbacks.StepAgent: 1, callbacks.StepModel: 2, callbacks.StepTool: 1}, steps)
	require.Equal(t, map[callbacks.StepKind]int{callbacks.StepAgent: 2, callbacks.StepModel: 4, callbacks.StepTool: 2}, would)
}
