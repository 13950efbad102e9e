// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

func allow(name string) callbacks.Guard {
	return callbacks.Guard{
		Name:        name,
		BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { return nil, nil },
		AfterModel:  func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) { return nil, nil },
		BeforeTool:  func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return nil, nil },
		AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return nil, nil
		},
	}
}

// inWorkersToo is a matrix whose Check holds for the items of a parallel worker as well.
func inWorkersToo(m callbackstest.Matrix) callbackstest.Matrix {
	m.CheckWorker = m.Check
	return m
}

func kinds(evs []callbacks.Event) (model, tool int) {
	for _, ev := range evs {
		switch ev.Step {
		case callbacks.StepModel:
			model++
		case callbacks.StepTool:
			tool++
		}
	}
	return model, tool
}

func TestMatrixEachStepIsToldOnce(t *testing.T) {
	inWorkersToo(callbackstest.Matrix{
		Guards: func() []callbacks.Guard { return []callbacks.Guard{allow("a"), allow("b")} },
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, 2, tr.Model.Calls())
			m, tl := kinds(tr.Told)
			require.Equal(t, 2, m, "model steps")
			require.Equal(t, 1, tl, "tool steps")
			for _, ev := range tr.Told {
				require.Equal(t, callbacks.OutcomeAllowed, ev.Outcome)
			}
			require.Len(t, tr.Tools[0].(*callbackstest.FakeTool).Calls(), 1)
		},
	}).Run(t)
}

func responses(evs []*session.Event) []map[string]any {
	var out []map[string]any
	for _, ev := range evs {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionResponse != nil {
				out = append(out, p.FunctionResponse.Response)
			}
		}
	}
	return out
}

func TestMatrixToolRefusalIsOneKey(t *testing.T) {
	for _, kind := range []string{"function", "streaming"} {
		t.Run(kind, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					return []callbacks.Guard{{Name: "no", BeforeTool: func(_ agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
						if tl.Name() != "lookup" {
							return nil, nil
						}
						return nil, callbacks.Deny("no", "not this one")
					}}}
				},
				Tools: func() []tool.Tool {
					if kind == "streaming" {
						return []tool.Tool{callbackstest.StreamingTool("lookup", "a", "b")}
					}
					return []tool.Tool{callbackstest.Tool("lookup")}
				},
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					require.Empty(t, tr.Tools[0].(interface{ Calls() []map[string]any }).Calls())
					require.Equal(t, 2, tr.Model.Calls())
					last := tr.Model.Requests()[1].Contents
					require.Equal(t, map[string]any{"error": "not this one"}, last[len(last)-1].Parts[0].FunctionResponse.Response)
					if tr.Topology != callbackstest.TopologyAgentTool {
						require.Equal(t, []map[string]any{{"error": "not this one"}}, responses(tr.Stored))
					}
				},
			}.Run(t)
		})
	}
}

func TestMatrixStopEndsEverythingAndSavesNothing(t *testing.T) {
	inWorkersToo(callbackstest.Matrix{
		OutputKey: "out",
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{callbacks.ForAgents(callbacks.Guard{
				Name: "stopper",
				BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
					return nil, callbacks.Stop("calls_exhausted", "enough").WithDetail("calls: 0/0")
				},
			}, "guarded")}
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Zero(t, tr.Model.Calls())
			require.Equal(t, callbacks.StatusCallsExhausted, tr.Run.Outcome().Status)
			require.Equal(t, "calls: 0/0", tr.Run.Outcome().Reason)
			require.Equal(t, "stopper", tr.Run.Outcome().Guard)
			require.NotContains(t, tr.State, "out")
			if tr.Topology == callbackstest.TopologyAgentTool && tr.Form == callbackstest.FormPlugin {
				// The outer agent is guarded too: a refusal of the inner one is no result.
				require.Equal(t, []map[string]any{{"error": "enough"}}, responses(tr.Stored))
			}
		},
	}).Run(t)
}

func TestMatrixPanicsRefuse(t *testing.T) {
	boom := func() { panic("boom") }
	for name, g := range map[string]callbacks.Guard{
		"before_agent": {BeforeAgent: func(agent.Context) (*genai.Content, error) { boom(); return nil, nil }},
		"after_agent":  {AfterAgent: func(agent.Context) (*genai.Content, error) { boom(); return nil, nil }},
		"before_tool":  {BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { boom(); return nil, nil }},
		"after_tool": {AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			boom()
			return nil, nil
		}},
		"on_tool_error": {OnToolError: func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) { boom(); return nil, nil }},
		"before_model":  {BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { boom(); return nil, nil }},
		"after_model":   {AfterModel: func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) { boom(); return nil, nil }},
		"on_model_error": {OnModelError: func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
			boom()
			return nil, nil
		}},
		"wrap_tool": {WrapTool: func(tool.Tool) tool.Tool { boom(); return nil }},
	} {
		for _, kind := range []string{"function", "streaming"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				g.Name = "panicky"
				inWorkersToo(callbackstest.Matrix{
					Guards: func() []callbacks.Guard { return []callbacks.Guard{callbacks.ForAgents(g, "guarded")} },
					Model: func() *callbackstest.Model {
						if name == "on_model_error" {
							return callbackstest.Script(callbackstest.Fail(errors.New("503")))
						}
						return callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
					},
					Tools: func() []tool.Tool {
						var down error
						if name == "on_tool_error" {
							down = errors.New("down")
						}
						if kind == "streaming" {
							return []tool.Tool{callbackstest.StreamingTool("lookup", "a", "b").Failing(down)}
						}
						return []tool.Tool{callbackstest.ToolReturning("lookup", map[string]any{"result": "ok"}, down)}
					},
					Check: func(t *testing.T, tr *callbackstest.Trial) {
						require.NoError(t, tr.Err)
						var told bool
						for _, ev := range tr.Told {
							if ev.Outcome == callbacks.OutcomePanicked {
								told = true
								require.Equal(t, "panicky", ev.Guard)
								require.Equal(t, codes.GuardPanicked, ev.Code)
								var p *callbacks.PanicError
								require.ErrorAs(t, ev.Err, &p)
							}
						}
						require.True(t, told)
						if name == "before_tool" || name == "wrap_tool" {
							require.Empty(t, tr.Tools[0].(interface{ Calls() []map[string]any }).Calls(), "the tool does not run unguarded")
							require.Equal(t, 2, tr.Model.Calls(), "the agent goes on")
						}
					},
				}).Run(t)
			})
		}
	}
}

// Wrappers of models and agents are put on at construction, so a panic there is its error.
// Later it is the model's or the agent's.
func TestAWrapperThatPanicsIsAnErrorOfConstruction(t *testing.T) {
	for name, g := range map[string]callbacks.Guard{
		"wrap_model":    {WrapModel: func(model.LLM, func(model.LLM) model.LLM) model.LLM { panic("boom") }},
		"wrap_agent":    {WrapAgent: func(agent.Agent) agent.Agent { panic("boom") }},
		"no model":      {WrapModel: func(model.LLM, func(model.LLM) model.LLM) model.LLM { return nil }},
		"no agent":      {WrapAgent: func(agent.Agent) agent.Agent { return nil }},
		"inside others": {WrapModel: func(_ model.LLM, inner func(model.LLM) model.LLM) model.LLM { return inner(callbackstest.Script()) }},
	} {
		t.Run(name, func(t *testing.T) {
			g.Name = "panicky"
			gs := []callbacks.Guard{g}
			if name == "inside others" {
				gs = append(gs, callbacks.Guard{Name: "panicky too", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
					if next.Name() == "scripted" {
						panic("boom")
					}
					return next
				}})
			}
			_, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: "a", Model: callbackstest.Script()})
			require.ErrorContains(t, err, "panicky")
		})
	}
}

// A wrapper that gives no tool, or one of another kind, refuses: the bare tool would run
// unguarded.
func TestAWrapperThatGivesNoToolRefuses(t *testing.T) {
	for name, wrap := range map[string]func(tool.Tool) tool.Tool{
		"nothing": func(tool.Tool) tool.Tool { return nil },
		"another kind": func(tl tool.Tool) tool.Tool {
			if _, stream := tl.(interface{ Unwrap() tool.Tool }).Unwrap().(*callbackstest.FakeStreamingTool); stream {
				return callbackstest.Tool(tl.Name())
			}
			return callbackstest.StreamingTool(tl.Name())
		},
	} {
		for _, tl := range []tool.Tool{callbackstest.Tool("lookup"), callbackstest.StreamingTool("lookup", "a")} {
			t.Run(name, func(t *testing.T) {
				rec := &callbackstest.Recorder{}
				outside := false
				outer := callbacks.Guard{Name: "outer", WrapTool: func(tl tool.Tool) tool.Tool { outside = true; return tl }}
				m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
				a := build(t, callbacks.New(outer, callbacks.Guard{Name: "w", WrapTool: wrap}, rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{tl}})
				out := play(t, a, agent.StreamingModeNone)
				require.NoError(t, out.err)
				require.Equal(t, []map[string]any{{"error": "refused: a guard is faulty"}}, responses(out.events))
				require.Empty(t, tl.(interface{ Calls() []map[string]any }).Calls())
				require.True(t, outside)
				ev := rec.Events(callbacks.StepTool)[0]
				require.Equal(t, codes.GuardFaulty, ev.Code)
				require.Equal(t, "w", ev.Guard)
			})
		}
	}
}

func TestMatrixToolFailureHidesItsCause(t *testing.T) {
	secret := errors.New("dial postgres://admin:hunter2@db")
	for name, mk := range map[string]func() tool.Tool{
		"error":  func() tool.Tool { return callbackstest.ToolReturning("lookup", nil, secret) },
		"stream": func() tool.Tool { return callbackstest.StreamingTool("lookup", "x").Failing(secret) },
		"panic": func() tool.Tool {
			return callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) { panic(secret) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard { return nil },
				Tools:  func() []tool.Tool { return []tool.Tool{mk()} },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					last := tr.Model.Requests()[1].Contents
					require.Equal(t, map[string]any{"error": "tool failed: lookup"}, last[len(last)-1].Parts[0].FunctionResponse.Response)
					var cause error
					for _, ev := range tr.Told {
						if ev.Step == callbacks.StepTool {
							cause = ev.Err
						}
					}
					require.ErrorIs(t, cause, secret)
				},
			}.Run(t)
		})
	}
}

func TestMatrixUnknownTool(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard { return nil },
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("nope", nil), callbackstest.Say("answer"))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			last := tr.Model.Requests()[1].Contents
			require.Equal(t, map[string]any{"error": "unknown tool: nope"}, last[len(last)-1].Parts[0].FunctionResponse.Response)
			_, tools := kinds(tr.Told)
			require.Equal(t, 1, tools)
			for _, ev := range tr.Told {
				if ev.Step == callbacks.StepTool {
					require.Equal(t, callbacks.OutcomeUnknownTool, ev.Outcome)
				}
			}
		},
	}.Run(t)
}

func TestMatrixRefusedAtConstruction(t *testing.T) {
	t.Run("wrap model as plugin", func(t *testing.T) {
		callbackstest.Matrix{
			Guards: func() []callbacks.Guard {
				return []callbacks.Guard{{Name: "w", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return next }}}
			},
			Refused: func(c callbackstest.Cell) bool { return c.Form == callbackstest.FormPlugin },
			Check:   func(t *testing.T, tr *callbackstest.Trial) { require.NoError(t, tr.Err) },
		}.Run(t)
	})
	t.Run("user message on an agent", func(t *testing.T) {
		callbackstest.Matrix{
			Guards: func() []callbacks.Guard {
				return []callbacks.Guard{{Name: "u", OnUserMessage: func(_ agent.InvocationContext, c *genai.Content) (*genai.Content, error) { return nil, nil }}}
			},
			Refused: func(c callbackstest.Cell) bool {
				return c.Form == callbackstest.FormAgent || c.Topology == callbackstest.TopologyAgentTool
			},
			Check: func(t *testing.T, tr *callbackstest.Trial) { require.NoError(t, tr.Err) },
		}.Run(t)
	})
	t.Run("wrap agent", func(t *testing.T) {
		callbackstest.Matrix{
			Guards: func() []callbacks.Guard {
				return []callbacks.Guard{{Name: "w", WrapAgent: func(a agent.Agent) agent.Agent { return a }}}
			},
			Refused: func(c callbackstest.Cell) bool {
				return c.Form == callbackstest.FormPlugin || c.Topology == callbackstest.TopologyLLM || c.Topology == callbackstest.TopologyAgentTool
			},
			Check: func(t *testing.T, tr *callbackstest.Trial) { require.NoError(t, tr.Err) },
		}.Run(t)
	})
}
