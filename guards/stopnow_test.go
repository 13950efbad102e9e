// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/guards"
)

// after counts the effects that begin once the Run is stopped.
type after struct {
	stopped atomic.Bool
	late    atomic.Int64
	all     atomic.Int64
}

func (a *after) effect() {
	a.all.Add(1)
	if a.stopped.Load() {
		a.late.Add(1)
	}
}

func (a *after) stop(run *callbacks.Run) {
	run.Stop(callbacks.Stop("kill_switch", "stopped by a person"))
	a.stopped.Store(true)
}

func (a *after) model(m model.LLM) model.LLM {
	return callbacks.AroundModel(m, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		a.effect()
		return m.GenerateContent(ctx, req, stream)
	})
}

func (a *after) tool(name string) tool.Tool {
	return callbackstest.ToolFunc(name, func(agent.Context, map[string]any) (map[string]any, error) {
		a.effect()
		return map[string]any{"result": "done"}, nil
	})
}

// waits blocks as a person, a queue or a slow hook does, for as long as ctx lets it.
func waits(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return nil
	}
}

// No effect begins once Stop returned, whatever its step was waiting for; and what waits is
// woken.
func TestNoEffectBeginsOnceTheRunIsStopped(t *testing.T) {
	pay := callbackstest.Call("pay", map[string]any{"to": "x"})
	busy := genai.APIError{Code: 503, Message: "busy"}
	for name, tc := range map[string]struct {
		guard  func() callbacks.Guard
		script []callbackstest.Turn
		plugin bool // the guard works as one, too
		begun  int64
	}{
		"an approval": {
			guard: func() callbacks.Guard {
				return guards.Confirm(slowApprover(func(ctx context.Context, q guards.Question) (guards.Answer, error) {
					return q.Answer(true, "p"), waits(ctx)
				}), "pay")
			},
			script: []callbackstest.Turn{pay, callbackstest.Say("ok")}, plugin: true, begun: 1,
		},
		"a back-off": {
			guard: func() callbacks.Guard {
				return guards.RetryOptions{Attempts: 4, Delay: 100 * time.Hour, MaxDelay: 100 * time.Hour}.Guard()
			},
			script: []callbackstest.Turn{callbackstest.Fail(busy), callbackstest.Fail(busy), callbackstest.Say("ok")}, begun: 1,
		},
		"a rate of tools": {
			guard: func() callbacks.Guard {
				return guards.RateLimitOptions{Calls: 1, Every: time.Hour, Wait: 2 * time.Hour, Tools: []string{"pay"}}.Guard()
			},
			script: []callbackstest.Turn{callbackstest.Calls(pay, pay), callbackstest.Say("ok")}, plugin: true, begun: 2,
		},
		"a rate of models": {
			guard: func() callbacks.Guard {
				return guards.RateLimitOptions{Calls: 1, Every: time.Hour, Wait: 2 * time.Hour, Models: true}.Guard()
			},
			script: []callbackstest.Turn{pay, callbackstest.Say("ok")}, plugin: true, begun: 2,
		},
		"a hook before the model": {
			guard: func() callbacks.Guard {
				return callbacks.Guard{Name: "slow", BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
					_ = waits(ctx)
					return nil, nil
				}}
			},
			script: []callbackstest.Turn{callbackstest.Say("ok")}, plugin: true, begun: 0,
		},
		"a hook before the model that heeds no context": {
			guard: func() callbacks.Guard {
				return callbacks.Guard{Name: "slow", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
					time.Sleep(time.Minute)
					return nil, nil
				}}
			},
			script: []callbackstest.Turn{callbackstest.Say("ok")}, plugin: true, begun: 0,
		},
		"a hook before the tool": {
			guard: func() callbacks.Guard {
				return callbacks.Guard{Name: "slow", BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
					_ = waits(ctx)
					return nil, nil
				}}
			},
			script: []callbackstest.Turn{callbackstest.Calls(pay, pay, pay), callbackstest.Say("ok")}, plugin: true, begun: 1,
		},
		"a wrapper": {
			guard: func() callbacks.Guard {
				return callbacks.Guard{Name: "slow", WrapTool: func(tl tool.Tool) tool.Tool {
					return callbacks.AroundTool(tl, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
						_ = waits(ctx)
						return next(ctx, args)
					})
				}}
			},
			script: []callbackstest.Turn{pay, callbackstest.Say("ok")}, plugin: true, begun: 1,
		},
	} {
		for _, form := range forms {
			if form != callbackstest.FormAgent && !tc.plugin {
				continue
			}
			t.Run(fmt.Sprint(name, " ", form), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := &after{}
					build, p := inForm(t, form, callbacks.New(tc.guard()))
					root := build(llmagent.Config{
						Name: "a", Model: a.model(callbackstest.Script(tc.script...)), Tools: []tool.Tool{a.tool("pay")},
					})
					ctx, run := callbacks.Start(t.Context())
					defer run.Close()
					start := time.Now()
					go func() {
						time.Sleep(30 * time.Second)
						a.stop(run)
					}()
					playIn(ctx, t, run, root, p, false)
					require.Zero(t, a.late.Load(), "began after the stop")
					require.Equal(t, tc.begun, a.all.Load(), "began before")
					require.EqualValues(t, "kill_switch", run.Outcome().Code)
					require.LessOrEqual(t, time.Since(start), time.Minute, "what waits was woken")
				})
			})
		}
	}
}

type slowApprover func(context.Context, guards.Question) (guards.Answer, error)

func (a slowApprover) Ask(ctx context.Context, q guards.Question) (guards.Answer, error) {
	return a(ctx, q)
}

// What is in flight has its context cancelled, and its refusal is the stop's; a graceful stop
// lets it finish.
func TestAStopCancelsWhatIsInFlight(t *testing.T) {
	for name, graceful := range map[string]bool{"at once": false, "graceful": true} {
		for _, form := range forms {
			t.Run(fmt.Sprint(name, " ", form), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tl := callbackstest.ToolFunc("pay", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
						return map[string]any{"result": "done"}, waits(ctx)
					})
					rec := &callbackstest.Recorder{}
					build, p := inForm(t, form, callbacks.New(rec.Guard()))
					root := build(llmagent.Config{
						Name: "a", Model: callbackstest.Script(callbackstest.Call("pay", nil), callbackstest.Say("ok")), Tools: []tool.Tool{tl},
					})
					ctx, run := callbacks.Start(t.Context())
					defer run.Close()
					refusal := callbacks.Stop("kill_switch", "stopped by a person")
					if graceful {
						refusal = refusal.Graceful()
					}
					go func() {
						time.Sleep(30 * time.Second)
						run.Stop(refusal)
					}()
					out := playIn(ctx, t, run, root, p, false)
					ev := rec.Events(callbacks.StepTool)[0]
					require.True(t, ev.Called)
					if graceful {
						require.Equal(t, []map[string]any{{"result": "done"}}, responses(out.events))
						require.Equal(t, callbacks.OutcomeAllowed, ev.Outcome)
					} else {
						require.Equal(t, []map[string]any{{"error": "stopped by a person"}}, responses(out.events))
						require.EqualValues(t, "kill_switch", ev.Code)
					}
					require.EqualValues(t, "kill_switch", run.Outcome().Code)
				})
			})
		}
	}
}

// The gate is asked for what reaches the effect, each time, and never for what a hook answers;
// a wrapper's arguments are judged as they are.
func TestTheGateSeesWhatIsDecided(t *testing.T) {
	answer := map[string]any{"result": "from a hook"}
	for _, form := range forms {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			var asked []string
			gate := callbacks.Guard{Name: "gate", Gate: func(_ context.Context, s callbacks.Step) error {
				asked = append(asked, fmt.Sprint(s.Agent, " ", s.Hook, " ", s.Tool, " ", s.Arg("to")))
				if s.Arg("to") == "refused" {
					return callbacks.Deny("no", "not this one")
				}
				return nil
			}}
			answers := callbacks.Guard{Name: "answers", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
				if args["to"] == "nobody" {
					return answer, nil
				}
				return nil, nil
			}}
			changes := callbacks.Guard{Name: "changes", WrapTool: func(tl tool.Tool) tool.Tool {
				return callbacks.AroundTool(tl, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
					return next(ctx, map[string]any{"to": args["then"]})
				})
			}}
			tl := callbackstest.Tool("pay")
			call := func(to, then string) callbackstest.Turn {
				return callbackstest.Call("pay", map[string]any{"to": to, "then": then})
			}
			rules := guards.Args("pay", guards.Arg{Name: "to", OneOf: []string{"good", "nobody", "refused"}})
			build, p := inForm(t, form, callbacks.New(gate, rules, answers, changes))
			out := playWith(t, build(llmagent.Config{Name: "a", Tools: []tool.Tool{tl}, Model: callbackstest.Script(
				call("nobody", "good"), call("good", "bad"), call("good", "refused"), call("good", "good"), callbackstest.Say("ok"),
			)}), p, false)
			require.NoError(t, out.err)
			got := responses(out.events)
			require.Equal(t, answer, got[0])
			require.Contains(t, got[1]["error"], "to")
			require.Equal(t, map[string]any{"error": "not this one"}, got[2])
			require.Equal(t, map[string]any{"result": "ok"}, got[3])
			require.Equal(t, []map[string]any{{"to": "good"}}, tl.Calls())
			var tools []string
			for _, s := range asked {
				if s[2:6] == "wrap" && len(s) > len("a wrap_model  <nil>") {
					tools = append(tools, s)
				}
			}
			require.Equal(t, []string{"a wrap_tool pay refused", "a wrap_tool pay good"}, tools)
			require.Len(t, asked, 5+2, "each model call, too")
		})
	}
}

// A model's gate is asked for each attempt.
func TestTheGateIsAskedForEachAttempt(t *testing.T) {
	asked := 0
	gate := callbacks.Guard{Name: "gate", Gate: func(context.Context, callbacks.Step) error {
		if asked++; asked == 3 {
			return callbacks.End(codes.CallsExhausted, "no third")
		}
		return nil
	}}
	m := callbackstest.Script(callbackstest.Fail(errors.New("reset")), callbackstest.Fail(errors.New("reset")), callbackstest.Say("ok"))
	out := playWith(t, newAgent(t, "a", m, nil, guards.RetryOptions{Delay: time.Nanosecond, Transient: func(error) bool { return true }}.Guard(), gate), nil, false)
	require.NoError(t, out.err)
	require.Len(t, m.Requests(), 2)
	require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
}

// A call that the runner's budget let pass is made, though the run is stopped before the
// agent's own chain looks at it.
func TestACallThatTheRunnersBudgetLetPassIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(name string, d time.Duration) callbacks.Guard {
			return callbacks.Guard{Name: "wait_" + name, BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
				if ctx.AgentName() == name {
					time.Sleep(d)
				}
				return nil, nil
			}}
		}
		budget := guards.CallBudgetOptions{Calls: 1, Scope: guards.ScopeRun}.Guard()
		p, err := callbacks.New(wait("late", time.Second), budget, wait("first", time.Minute)).Plugin("runner")
		require.NoError(t, err)
		models := map[string]*callbackstest.Model{}
		var subs []agent.Agent
		for _, name := range []string{"first", "late"} {
			models[name] = callbackstest.Script(callbackstest.Say("answer"))
			subs = append(subs, newAgent(t, name, models[name], nil, guards.Redact()))
		}
		out := playWith(t, parallel(t, subs...), p, false)
		require.NoError(t, out.err)
		require.Equal(t, 1, models["first"].Calls())
		require.Equal(t, 0, models["late"].Calls())
		require.Contains(t, texts(out.events), "answer")
		require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
	})
}

// A person's stop counts although a budget stopped the Run gracefully before.
func TestAStopTakesThePlaceOfAGracefulOne(t *testing.T) {
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	require.True(t, run.Stop(callbacks.Stop(codes.CallsExhausted, "enough").Graceful()))
	require.False(t, run.Stop(callbacks.Stop(codes.TokensExhausted, "enough").Graceful()))
	require.True(t, run.Stop(callbacks.Stop("kill_switch", "stopped by a person")))
	require.False(t, run.Stop(callbacks.Stop("kill_switch", "again")))
	require.Equal(t, "stopped by a person", callbacks.RunOf(ctx).Stopped().Text)
	require.EqualValues(t, "kill_switch", run.Outcome().Code)
}
