// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/guards"
)

// lateModel answers after 200 ms, unless it is cancelled.
type lateModel struct {
	model.LLM
	asked, answered *atomic.Int64
}

func (m lateModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.asked.Add(1)
		if err := later(ctx); err != nil {
			yield(nil, err)
			return
		}
		m.answered.Add(1)
		m.LLM.GenerateContent(ctx, req, stream)(yield)
	}
}

func later(ctx context.Context) error {
	select {
	case <-time.After(200 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inForm returns cfg's agent with the chain, and the plugin where that has it instead.
func inForm(t *testing.T, form callbackstest.Form, chain *callbacks.Chain) (func(llmagent.Config) agent.Agent, *plugin.Plugin) {
	t.Helper()
	if form == callbackstest.FormAgent {
		return func(cfg llmagent.Config) agent.Agent {
			a, err := chain.NewAgent(cfg)
			require.NoError(t, err)
			return a
		}, nil
	}
	p, err := chain.Plugin("guards")
	require.NoError(t, err)
	return func(cfg llmagent.Config) agent.Agent { return unguarded(t, cfg) }, p
}

func unguarded(t *testing.T, cfg llmagent.Config) agent.Agent {
	t.Helper()
	a, err := llmagent.New(cfg)
	require.NoError(t, err)
	return a
}

var forms = []callbackstest.Form{callbackstest.FormAgent, callbackstest.FormPlugin}

// The calls that a budget allows are made and answered, however many agents are refused
// meanwhile.
func TestRefusalsOfSomeAgentsLeaveTheCallsOfOthersTheirAnswers(t *testing.T) {
	for _, form := range forms {
		for _, streaming := range []bool{false, true} {
			for _, agents := range []int{5, 8, 10, 11, 12, 16} {
				t.Run(fmt.Sprint(form, " streaming=", streaming, " agents=", agents), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var asked, answered atomic.Int64
						said := 0
						for range 10 {
							chain := callbacks.New(guards.CallBudgetOptions{Calls: 4, Scope: guards.ScopeRun}.Guard())
							build, p := inForm(t, form, chain)
							var subs []agent.Agent
							for i := range agents {
								m := lateModel{callbackstest.Script(callbackstest.Say("answer")), &asked, &answered}
								subs = append(subs, build(llmagent.Config{Name: fmt.Sprint("a", i), Model: m}))
							}
							out := playWith(t, parallel(t, subs...), p, streaming)
							require.NoError(t, out.err)
							require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
							for _, ev := range out.events {
								if !ev.Partial && slices.Contains(texts([]event{ev}), "answer") {
									said++
								}
							}
						}
						require.EqualValues(t, 40, asked.Load(), "asked")
						require.EqualValues(t, 40, answered.Load(), "answered")
						require.Equal(t, 40, said, "handed on")
					})
				})
			}
		}
	}
}

// A tool that is at work when the run is stopped answers its call, beside refusals that
// do not end: guarded agents in a loop of ADK's.
func TestARunIsNotStoppedBeforeItsToolsHaveAnswered(t *testing.T) {
	for _, form := range forms {
		for name, guarded := range map[string]bool{"guarded": true, "unguarded": false} {
			t.Run(fmt.Sprint(form, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					stop, once := make(chan struct{}), sync.Once{}
					slow := callbackstest.ToolFunc("slow", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
						once.Do(func() { close(stop) })
						return map[string]any{"result": "done"}, later(ctx)
					})
					chain := callbacks.New(callbacks.Guard{Name: "stops", BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
						if ctx.AgentName() != "looping" {
							return nil, nil
						}
						<-stop
						return nil, callbacks.Stop("enough", "enough").Graceful()
					}})
					build, p := inForm(t, form, chain)
					worker := llmagent.Config{Name: "worker", Model: callbackstest.Script(callbackstest.Call("slow", nil), callbackstest.Say("ok")), Tools: []tool.Tool{slow}}
					working := build
					if !guarded {
						working = func(cfg llmagent.Config) agent.Agent { return unguarded(t, cfg) }
					}
					loop, err := loopagent.New(loopagent.Config{MaxIterations: 2000, AgentConfig: agent.Config{
						Name: "loop", SubAgents: []agent.Agent{build(llmagent.Config{Name: "looping", Model: callbackstest.Script()})},
					}})
					require.NoError(t, err)
					out := playWith(t, parallel(t, loop, working(worker)), p, false)
					require.NoError(t, out.err)
					require.Equal(t, codes.Code("enough"), out.run.Outcome().Code)
					require.Equal(t, []map[string]any{{"result": "done"}}, responses(out.events))
				})
			})
		}
	}
}

// The followers of a stopped run do not begin, guarded or not.
func TestNoFollowerOfAStoppedRunCallsItsModel(t *testing.T) {
	stopping := map[string]callbacks.Guard{
		"in before_model": {Name: "stops", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return nil, callbacks.Stop("enough", "enough").Graceful()
		}},
		"in after_model": {Name: "stops", AfterModel: func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			return nil, callbacks.Stop("enough", "enough").Graceful()
		}},
		"in before_agent": {Name: "stops", BeforeAgent: func(agent.Context) (*genai.Content, error) {
			return nil, callbacks.Stop("enough", "enough").Graceful()
		}},
		"in before_tool": {Name: "stops", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			return nil, callbacks.Stop("enough", "enough").Graceful()
		}},
		"in after_tool": {Name: "stops", AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return nil, callbacks.Stop("enough", "enough").Graceful()
		}},
		"from outside, in a hook": {Name: "stops", AfterModel: func(ctx agent.Context, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			callbacks.RunOf(ctx).Stop(callbacks.Stop("enough", "enough"))
			return nil, nil
		}},
	}
	for _, form := range forms {
		for name, g := range stopping {
			t.Run(fmt.Sprint(form, " ", name), func(t *testing.T) {
				build, p := inForm(t, form, callbacks.New(g))
				subs := []agent.Agent{build(llmagent.Config{Name: "first", Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok")), Tools: lookupTools()})}
				follower := callbackstest.Script(callbackstest.Say("on")).Repeat()
				for i := range 30 {
					subs = append(subs, unguarded(t, llmagent.Config{Name: fmt.Sprint("f", i), Model: follower}))
				}
				out := playWith(t, sequence(t, subs...), p, false)
				require.NoError(t, out.err)
				require.Equal(t, codes.Code("enough"), out.run.Outcome().Code)
				require.Zero(t, follower.Calls())
				// What was called is answered.
				calls := 0
				for _, ev := range out.events {
					for _, part := range ev.Content.Parts {
						if part.FunctionCall != nil {
							calls++
						}
					}
				}
				require.Len(t, responses(out.events), calls)
			})
		}
		t.Run(fmt.Sprint(form, " before it begins"), func(t *testing.T) {
			build, p := inForm(t, form, callbacks.New())
			m := callbackstest.Script(callbackstest.Say("on")).Repeat()
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			run.Stop(callbacks.Stop("enough", "enough"))
			out := playIn(ctx, t, run, sequence(t, unguarded(t, llmagent.Config{Name: "u", Model: m}), build(llmagent.Config{Name: "g", Model: m})), p, false)
			require.Empty(t, out.events)
			require.Zero(t, m.Calls())
		})
		t.Run(fmt.Sprint(form, " by the caller, at an event"), func(t *testing.T) {
			_, p := inForm(t, form, callbacks.New())
			m := callbackstest.Script(callbackstest.Say("on")).Repeat()
			var subs []agent.Agent
			for i := range 30 {
				subs = append(subs, unguarded(t, llmagent.Config{Name: fmt.Sprint("f", i), Model: m}))
			}
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			r, err := runnerWith(sequence(t, subs...), p)
			require.NoError(t, err)
			for _, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
				require.NoError(t, err)
				run.Stop(callbacks.Stop("enough", "enough"))
			}
			require.Equal(t, 1, m.Calls())
		})
	}
}
