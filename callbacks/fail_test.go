// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// Fail ends the agent with an error in every form and topology; a call that was
// refused so is answered first.
func TestFailIsTheAgentsError(t *testing.T) {
	cause := errors.New("dial postgres://admin:hunter2@db")
	fail := func() error { return callbacks.Fail("no_data", "no data").WithCause(cause) }
	for name, tc := range map[string]struct {
		guard callbacks.Guard
		calls int
		step  callbacks.StepKind
	}{
		"before_model": {callbacks.Guard{BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return nil, fail()
		}}, 0, callbacks.StepModel},
		"after_model": {callbacks.Guard{AfterModel: func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			return nil, fail()
		}}, 1, callbacks.StepModel},
		"before_tool": {callbacks.Guard{BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			return nil, fail()
		}}, 1, callbacks.StepTool},
		"after_tool": {callbacks.Guard{AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return nil, fail()
		}}, 1, callbacks.StepTool},
	} {
		t.Run(name, func(t *testing.T) {
			tc.guard.Name = "failing"
			inWorkersToo(callbackstest.Matrix{
				Guards: func() []callbacks.Guard { return []callbacks.Guard{callbacks.ForAgents(tc.guard, "guarded")} },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.Equal(t, tc.calls, tr.Model.Calls())
					if tr.Topology == callbackstest.TopologyAgentTool {
						require.NoError(t, tr.Err, "the outer agent reads that its tool failed")
					} else {
						require.ErrorIs(t, tr.Err, callbacks.ErrFailed)
						require.ErrorIs(t, tr.Err, cause)
						require.Equal(t, callbacks.StatusFailed, tr.Run.Outcome().Status)
					}
					if tc.step == callbacks.StepTool && tr.Topology.Stored() {
						require.Equal(t, []map[string]any{{"error": "no data"}}, responses(tr.Stored))
					}
					var told int
					for _, ev := range tr.Told {
						if ev.Code == "no_data" {
							told++
							require.Equal(t, tc.step, ev.Step)
							require.Equal(t, callbacks.OutcomeFailed, ev.Outcome)
							require.Equal(t, "failing", ev.Guard)
							require.ErrorIs(t, ev.Err, cause)
						}
					}
					require.Equal(t, 1, told)
				},
			}).Run(t)
		})
	}
}

// An unbounded loop around an agent that is always refused politely ends after a few
// rounds: through Run.Events, through the plugin and through callbacks.Loop.
func TestARefusalStormEnds(t *testing.T) {
	for name, hook := range map[string]callbacks.Guard{
		"before_model": {BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return nil, callbacks.End("calls_exhausted", "enough").WithDetail("calls: 1/1")
		}},
		"before_agent": refusing(inspect.BeforeAgent, func() error { return callbacks.Deny("calls_exhausted", "enough").WithDetail("calls: 1/1") }),
	} {
		hook.Name = "polite"
		chain := callbacks.New(callbacks.ForAgents(hook, "a"))
		inner := func() agent.Agent { return build(t, chain, llmagent.Config{Name: "a", Model: callbackstest.Script()}) }
		adkLoop := func(sub agent.Agent) agent.Agent {
			loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{sub}}})
			require.NoError(t, err)
			return loop
		}
		t.Run(name+"/events", func(t *testing.T) {
			out := play(t, adkLoop(inner()), agent.StreamingModeNone)
			require.NoError(t, out.err)
			require.LessOrEqual(t, len(out.events), 20)
			require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
			require.Equal(t, "calls: 1/1", out.run.Outcome().Reason)
		})
		t.Run(name+"/plugin", func(t *testing.T) {
			p, err := chain.Plugin("p")
			require.NoError(t, err)
			bare, err := llmagent.New(llmagent.Config{Name: "a", Model: callbackstest.Script()})
			require.NoError(t, err)
			require.LessOrEqual(t, len(rawRun(t, adkLoop(bare), p)), 10)
		})
		t.Run(name+"/loop", func(t *testing.T) {
			loop, err := callbacks.Loop(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{inner()}}})
			require.NoError(t, err)
			require.LessOrEqual(t, len(rawRun(t, loop, nil)), 12)
		})
	}
}

// Refusals with work in between are no storm.
func TestRefusalsWithWorkInBetweenAreNoStorm(t *testing.T) {
	n := 0
	chain := callbacks.New(callbacks.Guard{Name: "every other", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		if n++; n%2 == 0 {
			return nil, callbacks.Deny("no", "not now")
		}
		return nil, nil
	}})
	m := callbackstest.Script(callbackstest.Say("round")).Repeat()
	loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{build(t, chain, llmagent.Config{Name: "a", Model: m})}}, MaxIterations: 20})
	require.NoError(t, err)
	out := play(t, loop, agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Equal(t, 10, m.Calls())
	require.Nil(t, out.run.Stopped())
	require.Equal(t, callbacks.StatusDenied, out.run.Outcome().Status, "the last round was refused")
}

func TestLandedIsToldAndIsTheRunsStatus(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			n := 0
			return []callbacks.Guard{callbacks.ForAgents(callbacks.Guard{Name: "lander", BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
				n++
				callbacks.RunOf(ctx).MarkLanded(ctx, n == 2)
				return nil, nil
			}}, "guarded")}
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, callbacks.StatusLanded, tr.Run.Outcome().Status)
			var landed []bool
			for _, ev := range tr.Told {
				if ev.Step == callbacks.StepModel {
					landed = append(landed, ev.Landed)
				}
			}
			require.Equal(t, []bool{false, true}, landed)
		},
	}.Run(t)
	(*callbacks.Run)(nil).MarkLanded(nil, true)
}

// A refusal that a wrapper yields names its guard.
func TestAWrappersRefusalNamesItsGuard(t *testing.T) {
	rec := &callbackstest.Recorder{}
	chain := callbacks.New(callbacks.Guard{Name: "w", WrapTool: func(tl tool.Tool) tool.Tool {
		return refusingTool{tl.(interface{ Unwrap() tool.Tool }).Unwrap().(*callbackstest.FakeTool)}
	}}, rec.Guard())
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{
		build(t, chain, llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}),
	}}})
	require.NoError(t, err)
	require.NoError(t, play(t, seq, agent.StreamingModeNone).err)
	ev := rec.Events(callbacks.StepTool)[0]
	require.Equal(t, "w", ev.Guard)
	require.False(t, ev.Called, "the wrapper refused before the tool")
	require.ErrorIs(t, callbacks.Fail("c", "t").By("g"), callbacks.ErrFailed)
}

type refusingTool struct{ *callbackstest.FakeTool }

func (refusingTool) Run(agent.Context, any) (map[string]any, error) {
	return nil, callbacks.Deny("no", "not this one").By("w")
}
