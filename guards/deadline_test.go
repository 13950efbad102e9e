// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// inEveryCell runs a matrix with time of its own in each cell.
func inEveryCell(t *testing.T, m func() callbackstest.Matrix) {
	t.Helper()
	for _, cell := range callbackstest.Cells() {
		t.Run(cell.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m().RunCell(t, cell)
				time.Sleep(time.Hour) // what was abandoned ends by itself
			})
		})
	}
}

// sleepy is a tool that takes its time, heeding its context or not.
func sleepy(d time.Duration, heeds bool) *callbackstest.FakeTool {
	return callbackstest.ToolFunc("lookup", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
		for end := time.Now().Add(d); time.Now().Before(end); {
			if heeds && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			time.Sleep(time.Second)
			_ = ctx.State().Set("progress", time.Now().String())
			ctx.Actions().Escalate = true
		}
		return map[string]any{"result": "ok"}, nil
	})
}

func TestDeadlineToolMatrix(t *testing.T) {
	for name, tc := range map[string]struct {
		tool  func() tool.Tool
		reads map[string]any
		told  codes.Code
	}{
		"in time":         {func() tool.Tool { return callbackstest.Tool("lookup") }, map[string]any{"result": "ok"}, ""},
		"heeds":           {func() tool.Tool { return sleepy(time.Minute, true) }, map[string]any{"error": "lookup took longer than 5 s"}, codes.ToolTimeout},
		"ignores":         {func() tool.Tool { return sleepy(time.Minute, false) }, map[string]any{"error": "lookup took longer than 5 s"}, codes.ToolTimeout},
		"streams":         {func() tool.Tool { return slowStream{callbackstest.StreamingTool("lookup", "a", "b"), time.Minute} }, map[string]any{"error": "lookup took longer than 5 s"}, codes.ToolTimeout},
		"streams in time": {func() tool.Tool { return slowStream{callbackstest.StreamingTool("lookup", "a", "b"), time.Second} }, map[string]any{"result": "ab"}, ""},
		"fails":           {func() tool.Tool { return callbackstest.ToolReturning("lookup", nil, errDSN) }, map[string]any{"error": "tool failed: lookup"}, codes.ToolFailed},
		"panics": {func() tool.Tool {
			return callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) { panic("boom") })
		}, map[string]any{"error": "tool failed: lookup"}, codes.ToolPanicked},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryCell(t, func() callbackstest.Matrix {
				return callbackstest.Matrix{
					Guards: func() []callbacks.Guard {
						return []callbacks.Guard{guards.DeadlineOptions{ToolCall: 5 * time.Second}.Guard()}
					},
					Tools: func() []tool.Tool { return []tool.Tool{tc.tool()} },
					Model: func() *callbackstest.Model {
						return callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
					},
					Check: func(t *testing.T, tr *callbackstest.Trial) {
						require.NoError(t, tr.Err)
						if tr.Form == callbackstest.FormPlugin && tr.Topology == callbackstest.TopologyAgentTool && tc.told == codes.ToolTimeout {
							// The agent is a tool of the outer one and late at the same instant: either may win.
							return
						}
						turn := tr.Model.Requests()[1].Contents
						require.Equal(t, tc.reads, turn[len(turn)-1].Parts[0].FunctionResponse.Response)
						for _, ev := range tr.Stored {
							require.False(t, ev.Actions.Escalate)
							require.NotContains(t, ev.Actions.StateDelta, "progress")
						}
						for _, ev := range tr.Told {
							if ev.Step == callbacks.StepTool {
								require.Equal(t, tc.told, ev.Code)
								if tc.told == codes.ToolTimeout {
									require.Equal(t, "deadline", ev.Guard)
								}
							}
						}
					},
				}
			})
		})
	}
}

type slowStream struct {
	*callbackstest.FakeStreamingTool
	d time.Duration
}

func (s slowStream) ProcessRequest(_ agent.Context, req *model.LLMRequest) error {
	return toolutils.PackTool(req, s)
}

func (s slowStream) RunStream(ctx agent.Context, args any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for chunk, err := range s.FakeStreamingTool.RunStream(ctx, args) {
			time.Sleep(s.d)
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// A tool in time has the context it would have without the guard, and its actions take
// effect, those of one that asks for an approval too.
func TestDeadlineLeavesAToolInTimeAlone(t *testing.T) {
	var seen []string
	lookup := callbackstest.ToolFunc("lookup", func(ctx agent.Context, args map[string]any) (map[string]any, error) {
		seen = append(seen, ctx.AgentName(), ctx.InvocationID(), ctx.FunctionCallID(), ctx.SessionID(), ctx.UserID(), ctx.Branch())
		_, has := ctx.Deadline()
		require.True(t, has)
		args["own"] = "copy"
		require.NoError(t, ctx.State().Set("found", 1))
		ctx.Actions().SkipSummarization = true
		return map[string]any{"lang": callbacks.RunOf(ctx).Lang()}, nil
	})
	rec := &callbackstest.Recorder{}
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"x": 1.0}))
	a, err := callbacks.New(guards.DeadlineOptions{ToolCall: time.Hour}.Guard(), rec.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{lookup}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	ev := rec.Events(callbacks.StepTool)[0]
	require.Equal(t, []string{"a", ev.Invocation, ev.CallID, "s", "u", ""}, seen)
	require.Equal(t, map[string]any{"x": 1.0}, ev.Args)
	last := out.events[len(out.events)-1]
	require.Equal(t, 1, last.Actions.StateDelta["found"])
	require.True(t, last.Actions.SkipSummarization)

	asks := callbackstest.ToolFunc("pay", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
		require.NoError(t, ctx.RequestConfirmation("really?", nil))
		return nil, tool.ErrConfirmationRequired
	})
	m = callbackstest.Script(callbackstest.Call("pay", nil))
	a, err = callbacks.New(guards.DeadlineOptions{ToolCall: time.Hour}.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{asks}})
	require.NoError(t, err)
	out = play(t, a)
	require.NoError(t, out.err)
	var asked bool
	for _, ev := range out.events {
		asked = asked || len(ev.Actions.RequestedToolConfirmations) > 0
	}
	require.True(t, asked)
}

// slowModel takes its time over each chunk, heeding its context or not.
type slowModel struct {
	d      time.Duration
	heeds  bool
	panics bool
}

func (slowModel) Name() string { return "slow" }

func (m slowModel) GenerateContent(ctx context.Context, _ *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for i := range 3 {
			if m.heeds {
				select {
				case <-time.After(m.d):
				case <-ctx.Done():
					yield(nil, ctx.Err())
					return
				}
			} else {
				time.Sleep(m.d)
			}
			if m.panics {
				panic("boom")
			}
			if stream && i < 2 && !yield(&model.LLMResponse{Content: genai.NewContentFromText("x", genai.RoleModel), Partial: true}, nil) {
				return
			}
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromText("xx", genai.RoleModel)}, nil)
	}
}

func TestDeadlineModelCall(t *testing.T) {
	for name, tc := range map[string]struct {
		model   slowModel
		o       guards.DeadlineOptions
		says    string
		fails   error
		elapsed time.Duration
	}{
		"in time":             {slowModel{d: time.Second, heeds: true}, guards.DeadlineOptions{ModelCall: 5 * time.Second}, "xx", nil, 3 * time.Second},
		"heeds":               {slowModel{d: time.Minute, heeds: true}, guards.DeadlineOptions{ModelCall: 5 * time.Second}, "", guards.ErrDeadline, 5 * time.Second},
		"ignores":             {slowModel{d: time.Minute}, guards.DeadlineOptions{ModelCall: 5 * time.Second}, "", context.DeadlineExceeded, 5 * time.Second},
		"in mid-stream":       {slowModel{d: 2 * time.Second}, guards.DeadlineOptions{ModelCall: 5 * time.Second}, "", guards.ErrDeadline, 5 * time.Second},
		"the agent's time":    {slowModel{d: time.Minute}, guards.DeadlineOptions{Agent: 7 * time.Second, ModelCall: 9 * time.Second}, "[guard] Time exceeded: agent ended.", nil, 7 * time.Second},
		"only the agent's":    {slowModel{d: time.Minute, heeds: true}, guards.DeadlineOptions{Agent: 7 * time.Second}, "[guard] Time exceeded: agent ended.", nil, 7 * time.Second},
		"only tools":          {slowModel{d: time.Minute}, guards.DeadlineOptions{ToolCall: time.Second}, "xx", nil, 3 * time.Minute},
		"no limit for models": {slowModel{d: time.Second}, guards.DeadlineOptions{Agent: time.Hour, ToolCall: time.Second}, "xx", nil, 3 * time.Second},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a, err := callbacks.New(tc.o.Guard()).NewAgent(llmagent.Config{Name: "a", Model: tc.model})
					require.NoError(t, err)
					begin := time.Now()
					out := playWith(t, a, nil, stream)
					require.Equal(t, tc.elapsed, time.Since(begin))
					time.Sleep(time.Hour)
					if tc.fails != nil {
						require.ErrorIs(t, out.err, tc.fails)
						require.Equal(t, callbacks.StatusFailed, out.run.Outcome().Status, "the run has time left, one call had not")
						return
					}
					require.NoError(t, out.err)
					all := texts(out.events)
					require.Equal(t, tc.says, all[len(all)-1])
				})
			})
		}
	}
}

// ADK leaves a model's answer at the end of it. What the guards inside do afterwards, such
// as charging its tokens, is done before the next call begins, and before tools run.
func TestDeadlineSettlesACallBeforeTheNext(t *testing.T) {
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var order []string
			settles := callbacks.Guard{Name: "settles", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
				return settling{next, func() { order = append(order, "called") }, func() {
					time.Sleep(time.Second)
					order = append(order, "settled")
				}}
			}}
			lookup := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
				order = append(order, "tool")
				return map[string]any{"result": "ok"}, nil
			})
			m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Stream("do", "ne"))
			a, err := callbacks.New(guards.Deadline(time.Minute), settles).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{lookup}})
			require.NoError(t, err)
			require.NoError(t, playWith(t, a, nil, stream).err)
			require.Equal(t, []string{"called", "settled", "tool", "called", "settled"}, order)
		})
	}
}

// A settling model runs begin before a call and end after it.
type settling struct {
	model.LLM
	begin, end func()
}

func (s settling) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		s.begin()
		defer s.end()
		s.LLM.GenerateContent(ctx, req, stream)(yield)
	}
}

// A call whose model hangs after its answer has answered.
func TestDeadlineHandsOnAnAnswerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := settling{slowModel{d: time.Second}, func() {}, func() { time.Sleep(time.Hour) }}
		wrapped := guards.DeadlineOptions{ModelCall: time.Minute}.Guard().WrapModel(hangs, nil)
		var texts []string
		var failure error
		for resp, err := range wrapped.GenerateContent(t.Context(), request(), false) {
			if failure = err; err == nil {
				texts = append(texts, resp.Content.Parts[0].Text)
			}
		}
		require.Equal(t, "xx", texts[len(texts)-1])
		require.ErrorIs(t, failure, guards.ErrDeadline)
		time.Sleep(2 * time.Hour)
	})
}

func TestDeadlineCatchesAPanicInItsGoroutine(t *testing.T) {
	a, err := callbacks.New(guards.DeadlineOptions{ModelCall: time.Hour}.Guard()).NewAgent(llmagent.Config{Name: "a", Model: slowModel{panics: true}})
	require.NoError(t, err)
	var p *callbacks.PanicError
	require.ErrorAs(t, play(t, a).err, &p)
}

// The agent's time: soft between calls, hard inside a tool, anew for each run of it.
func TestDeadlineAgentMatrix(t *testing.T) {
	for name, d := range map[string]time.Duration{"between calls": 10 * time.Second, "inside a tool": 15 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inEveryCell(t, func() callbackstest.Matrix {
				return callbackstest.Matrix{
					Guards:  func() []callbacks.Guard { return []callbacks.Guard{guards.Deadline(20 * time.Second)} },
					Tools:   func() []tool.Tool { return []tool.Tool{sleepy(d, false)} },
					Model:   func() *callbackstest.Model { return callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat() },
					Refused: func(c callbackstest.Cell) bool { return c.Form == callbackstest.FormPlugin },
					Check: func(t *testing.T, tr *callbackstest.Trial) {
						require.NoError(t, tr.Err)
						require.Equal(t, 2, tr.Model.Calls())
						require.Equal(t, []string{"time: 20 s elapsed"}, refusalsOf(tr.Told))
						require.Equal(t, []codes.Code{codes.TimeExhausted}, codesOf(tr.Told))
						require.Empty(t, tr.Model.Faults(), "every call is answered")
					},
				}
			})
		})
	}
}

// The caller's own cancellation is not taken for a deadline.
func TestDeadlinePassesACancellationOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guards.DeadlineOptions{ModelCall: time.Minute}.Guard()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		wrapped := g.WrapModel(slowModel{d: time.Hour}, nil)
		var got error
		for _, err := range wrapped.GenerateContent(ctx, request(), false) {
			got = err
		}
		require.ErrorIs(t, got, context.Canceled)
		require.NotErrorIs(t, got, guards.ErrDeadline)
		time.Sleep(3 * time.Hour) // the abandoned call ends by itself
	})
}

// Where the agent's time is up no call begins, whatever limit calls have of their own.
func TestDeadlineBeginsNoCallAfterTheAgents(t *testing.T) {
	for name, o := range map[string]guards.DeadlineOptions{
		"the agent's alone":     {Agent: time.Second},
		"calls have theirs too": {Agent: time.Second, ModelCall: time.Hour, ToolCall: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := o.Guard()
				ctx, run := callbacks.Start(t.Context())
				defer run.Close()
				m, fake := callbackstest.Script(callbackstest.Say("ok")).Repeat(), callbackstest.Tool("lookup")
				call := func() (modelErr, toolErr error) {
					for _, err := range g.WrapModel(m, nil).GenerateContent(ctx, prompt("x"), false) {
						modelErr = err
					}
					_, toolErr = g.WrapTool(fake).(runnable).Run(callbackstest.ContextFrom(ctx, t), map[string]any{})
					return modelErr, toolErr
				}
				modelErr, toolErr := call()
				require.NoError(t, modelErr)
				require.NoError(t, toolErr)
				time.Sleep(time.Second)
				modelErr, toolErr = call()
				require.ErrorIs(t, modelErr, callbacks.ErrEnded)
				require.ErrorIs(t, toolErr, callbacks.ErrEnded)
				require.Equal(t, 1, m.Calls())
				require.Len(t, fake.Calls(), 1)
			})
		})
	}
}

func TestDeadlineNonsense(t *testing.T) {
	for _, o := range []guards.DeadlineOptions{{}, {Agent: -1}, {ModelCall: -1}, {ToolCall: -1}} {
		require.Error(t, callbacks.New(o.Guard()).Err(), o)
	}
	require.Equal(t, []string{"90 s per agent", "5 s per tool call"}, guards.DeadlineOptions{Agent: 90 * time.Second, ToolCall: 5 * time.Second}.Guard().Info().Limits)
}

// Where a panic happened is told of a call that runs on a goroutine of its own, too.
func TestDeadlineKeepsThePlaceOfAPanic(t *testing.T) {
	var caught *callbacks.PanicError
	listen := callbacks.Guard{Name: "listen", Observe: func(_ context.Context, ev callbacks.Event) { errors.As(ev.Err, &caught) }}
	breaks := callbackstest.ToolFunc("breaks", func(agent.Context, map[string]any) (map[string]any, error) { panic("broken") })
	for name, g := range map[string]callbacks.Guard{
		"Deadline": guards.DeadlineOptions{ToolCall: time.Minute}.Guard(),
		"Confirm":  guards.Confirm(approverFunc(func() { panic("broken") }), "breaks"),
	} {
		caught = nil
		m := callbackstest.Script(callbackstest.Call("breaks", nil), callbackstest.Say("done"))
		a, err := callbacks.New(g, listen).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{breaks}})
		require.NoError(t, err)
		require.NoError(t, play(t, a).err)
		require.NotNil(t, caught, name)
		require.Equal(t, "broken", caught.Panic)
		require.Contains(t, string(caught.Stack), "TestDeadlineKeepsThePlaceOfAPanic", name)
	}
}

type approverFunc func()

func (f approverFunc) Ask(context.Context, guards.Question) (guards.Answer, error) {
	f()
	return guards.Answer{}, nil
}
