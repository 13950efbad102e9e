// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/counters"
)

// refusalsOf are the reasons of refused steps, in order.
func refusalsOf(evs []callbacks.Event) []string {
	var out []string
	for _, ev := range evs {
		if ev.Outcome == callbacks.OutcomeRefused {
			out = append(out, ev.Reason)
		}
	}
	return out
}

func TestCallBudgetTokensMatrix(t *testing.T) {
	for name, tc := range map[string]struct {
		turn   callbackstest.Turn
		tokens int
		calls  int
		reason string
	}{
		"input, output and thinking": {
			usage(callbackstest.Call("lookup", nil), genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10_000, CandidatesTokenCount: 3000, ThoughtsTokenCount: 600}),
			40_000, 3, "tokens: 40800/40000",
		},
		"cached input is input": {
			usage(callbackstest.Call("lookup", nil), genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 100, CachedContentTokenCount: 90, CandidatesTokenCount: 3, TotalTokenCount: 103}),
			200, 2, "tokens: 206/200",
		},
		"a chunk's report is not counted beside the whole's": {
			callbackstest.Turn{
				Chunks: []string{"a", "b", "c"}, Parts: []*genai.Part{genai.NewPartFromFunctionCall("lookup", nil)},
				Usage: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 90, CandidatesTokenCount: 10, TotalTokenCount: 100},
			},
			200, 2, "tokens: 200/200",
		},
		"negative counts are none": {
			usage(callbackstest.Call("lookup", nil), genai.GenerateContentResponseUsageMetadata{PromptTokenCount: -500, CandidatesTokenCount: 100}),
			200, 2, "tokens: 200/200",
		},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					return []callbacks.Guard{callbacks.ForAgents(guards.CallBudgetOptions{Tokens: tc.tokens}.Guard(), "guarded")}
				},
				Model: func() *callbackstest.Model { return callbackstest.Script(tc.turn).Repeat() },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					require.Equal(t, tc.calls, tr.Model.Calls())
					require.Equal(t, []string{tc.reason}, refusalsOf(tr.Told))
					if tr.Form == callbackstest.FormPlugin && tr.Topology != callbackstest.TopologyAgentTool {
						require.Equal(t, callbacks.StatusTokensExhausted, tr.Run.Outcome().Status)
					}
				},
			}.Run(t)
		})
	}
}

func usage(t callbackstest.Turn, u genai.GenerateContentResponseUsageMetadata) callbackstest.Turn {
	t.Usage = &u
	return t
}

// A model that reports no usage does not run free.
func TestCallBudgetEstimatesMissingUsage(t *testing.T) {
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"text": strings.Repeat("word ", 400)})).Repeat()
	rec := &callbackstest.Recorder{}
	a, err := callbacks.New(guards.CallBudgetOptions{Calls: 50, Tokens: 5000}.Guard(), rec.Guard()).
		NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	require.NoError(t, play(t, a).err)
	require.Less(t, m.Calls(), 10)
	require.Len(t, refusalsOf(rec.Events()), 1)
	require.Regexp(t, `^tokens: \d{4,5}/5000, estimated$`, refusalsOf(rec.Events())[0])
}

// What was read of a stream that broke off, and of attempts that a retry throws away,
// is charged.
func TestCallBudgetChargesEveryAttempt(t *testing.T) {
	broken := callbackstest.Turn{Chunks: []string{"a", "b"}, Usage: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 100}, Err: errors.New("connection reset")}
	m := callbackstest.Script(broken, broken, callbackstest.Call("lookup", nil).WithUsage(100, 0)).Repeat()
	rec := &callbackstest.Recorder{}
	a, err := callbacks.New(retrying(3), guards.CallBudgetOptions{Calls: 20, Tokens: 300}.Guard(), rec.Guard()).
		NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	require.NoError(t, playWith(t, a, nil, true).err)
	require.Equal(t, 3, m.Calls())
	require.Equal(t, []string{"tokens: 300/300"}, refusalsOf(rec.Events()))
}

func TestCallBudgetTimeMatrix(t *testing.T) {
	for _, cell := range callbackstest.Cells() {
		t.Run(cell.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				callbackstest.Matrix{
					Guards: func() []callbacks.Guard {
						return []callbacks.Guard{callbacks.ForAgents(guards.CallBudgetOptions{Time: 90 * time.Second}.Guard(), "guarded")}
					},
					Model: func() *callbackstest.Model {
						return callbackstest.Script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
							time.Sleep(45 * time.Second)
							return callbackstest.Call("lookup", nil)
						}}).Repeat()
					},
					Check: func(t *testing.T, tr *callbackstest.Trial) {
						require.NoError(t, tr.Err)
						require.Equal(t, 2, tr.Model.Calls())
						require.Equal(t, []string{"time: 90 s elapsed"}, refusalsOf(tr.Told))
					},
				}.RunCell(t, cell)
			})
		})
	}
}

func TestCallBudgetChecksCallsThenTokensThenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			o    guards.CallBudgetOptions
			want string
		}{
			{guards.CallBudgetOptions{Calls: 1, Tokens: 10, Time: time.Second}, "calls: 1/1"},
			{guards.CallBudgetOptions{Calls: 2, Tokens: 10, Time: time.Second}, "tokens: 12/10"},
			{guards.CallBudgetOptions{Calls: 2, Tokens: 13, Time: 1500 * time.Millisecond}, "time: 1.5 s elapsed"},
		} {
			rec := &callbackstest.Recorder{}
			m := callbackstest.Script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
				time.Sleep(2 * time.Second)
				return callbackstest.Call("lookup", nil).WithUsage(10, 2)
			}}).Repeat()
			a, err := callbacks.New(tc.o.Guard(), rec.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
			require.NoError(t, err)
			require.NoError(t, play(t, a).err)
			require.Equal(t, []string{tc.want}, refusalsOf(rec.Events()))
		}
	})
}

func TestCallBudgetToolCallsMatrix(t *testing.T) {
	three := callbackstest.Calls(callbackstest.Call("lookup", map[string]any{"n": 1.0}), callbackstest.Call("lookup", map[string]any{"n": 2.0}), callbackstest.Call("lookup", map[string]any{"n": 3.0}))
	for name, tc := range map[string]struct {
		o      guards.CallBudgetOptions
		ran    int
		reason string
	}{
		"total":    {guards.CallBudgetOptions{ToolCalls: 2}, 2, "tool calls: 2/2"},
		"per tool": {guards.CallBudgetOptions{ToolCalls: 9, PerTool: map[string]int{"lookup": 1}}, 1, "calls of lookup: 1/1"},
		"alone":    {guards.CallBudgetOptions{PerTool: map[string]int{"lookup": 1}}, 1, "calls of lookup: 1/1"},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					return []callbacks.Guard{callbacks.ForAgents(tc.o.Guard(), "guarded")}
				},
				Model: func() *callbackstest.Model { return callbackstest.Script(three, callbackstest.Say("answer")) },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					require.Equal(t, 2, tr.Model.Calls(), "the agent can still answer")
					require.Len(t, tr.Tools[0].(*callbackstest.FakeTool).Calls(), tc.ran)
					refused := refusalsOf(tr.Told)
					require.Len(t, refused, 3-tc.ran)
					require.Equal(t, tc.reason, refused[0])
				},
			}.Run(t)
		})
	}
}

// A slot comes back of a tool call that a later guard refused, and of one that waits
// for a person: its second run after the approval is the one that counts.
func TestCallBudgetGivesToolSlotsBack(t *testing.T) {
	fake := callbackstest.Tool("lookup")
	n := 0
	later := callbacks.Guard{Name: "later", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		if n++; n <= 2 {
			return nil, callbacks.Deny("no", "not now")
		}
		return nil, nil
	}}
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	a, err := callbacks.New(guards.CallBudgetOptions{ToolCalls: 1}.Guard(), later).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{fake}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Len(t, fake.Calls(), 1)
	require.Equal(t, []map[string]any{{"error": "not now"}, {"error": "not now"}, {"result": "ok"}, {"error": "tool call budget used up: answer with what you have"}}, responses(out.events))

	pending := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) { return nil, tool.ErrConfirmationRequired })
	g := guards.CallBudgetOptions{ToolCalls: 1}.Guard()
	cfg, err := callbacks.New(g).Attach(llmagent.Config{Name: callbackstest.AgentName, Tools: []tool.Tool{pending}})
	require.NoError(t, err)
	ctx := callbackstest.Context(t)
	for range 3 {
		_, err := cfg.Tools[0].(runnable).Run(ctx, map[string]any{})
		require.ErrorIs(t, err, tool.ErrConfirmationRequired)
	}
}

// Two calls with one id are two calls.
func TestCallBudgetCountsCallsWithTheSameID(t *testing.T) {
	fake := callbackstest.Tool("lookup")
	call := func() *genai.Part {
		return &genai.Part{FunctionCall: &genai.FunctionCall{ID: "same", Name: "lookup"}}
	}
	m := callbackstest.Script(callbackstest.Turn{Parts: []*genai.Part{call(), call(), call()}}, callbackstest.Say("ok"))
	a, err := callbacks.New(guards.CallBudgetOptions{ToolCalls: 2}.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{fake}})
	require.NoError(t, err)
	require.NoError(t, play(t, a).err)
	require.Len(t, fake.Calls(), 2)
}

func TestCallBudgetTellsWhatIsLeft(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{callbacks.ForAgents(guards.CallBudgetOptions{Calls: 3, Tokens: 1000, Time: guards.Unlimited, Tell: true}.Guard(), "guarded")}
		},
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("lookup", nil).WithUsage(200, 50), callbackstest.Say("ok"))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			var told []string
			for i, req := range tr.Model.Requests() {
				last := req.Contents[len(req.Contents)-1]
				told = append(told, last.Parts[0].Text)
				for _, c := range req.Contents[:len(req.Contents)-1] {
					for _, p := range c.Parts {
						require.NotContains(t, p.Text, "Left after", "request %d: only at the end", i)
					}
				}
			}
			require.Equal(t, []string{"Left after this call: 2 model calls, 1000 tokens.", "Left after this call: 1 model calls, 750 tokens."}, told)
			for _, ev := range tr.Stored {
				require.NotContains(t, fmt.Sprint(texts([]event{ev})), "Left after", "it is not stored")
			}
		},
	}.Run(t)
}

// Caps of a session and of a user outlive a Run and are not each other's.
func TestCallBudgetSessionAndUserCaps(t *testing.T) {
	m := callbackstest.Script(callbackstest.Say("ok")).Repeat()
	rec := &callbackstest.Recorder{}
	a, err := callbacks.New(guards.CallBudgetOptions{SessionCalls: 2, UserCalls: 3}.Guard(), rec.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	r, err := runner.New(runner.Config{AppName: "test", Agent: a, SessionService: session.InMemoryService(), AutoCreateSession: true})
	require.NoError(t, err)
	ask := func(user, id string) {
		ctx, run := callbacks.Start(t.Context())
		defer run.Close()
		for _, err := range run.Events(r.Run(ctx, user, id, genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
			require.NoError(t, err)
		}
	}
	for _, tc := range []struct {
		user, session string
		calls         int
	}{
		{"alice", "s1", 1}, {"alice", "s1", 2}, {"alice", "s1", 2}, {"alice", "s2", 3}, {"alice", "s3", 3}, {"bob", "s1", 4}, {"bob", "s1", 5}, {"bob", "s1", 5},
	} {
		ask(tc.user, tc.session)
		require.Equal(t, tc.calls, m.Calls(), tc)
	}
	require.Equal(t, []string{"calls: 2/2", "calls: 3/3", "calls: 2/2"}, refusalsOf(rec.Events()))
}

// deadStore is a store whose server is gone from the n-th operation on.
type deadStore struct {
	counters.Store
	lives int
}

func (d *deadStore) Take(ctx context.Context, key string, n, limit int64) (used int64, ok bool, err error) {
	if d.lives--; d.lives < 0 {
		return 0, false, fmt.Errorf("%w: connection refused", counters.ErrUnavailable)
	}
	return d.Store.Take(ctx, key, n, limit)
}

func TestCallBudgetRefusesWithoutItsStore(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			store := &deadStore{counters.NewMemory(), 2}
			return []callbacks.Guard{callbacks.ForAgents(guards.CallBudgetOptions{Store: store}.Guard(), "guarded")}
		},
		Model: func() *callbackstest.Model { return callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat() },
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, 2, tr.Model.Calls())
			var cause error
			for _, ev := range tr.Told {
				if ev.Code == codes.CountersFailed {
					cause = ev.Err
				}
			}
			require.ErrorIs(t, cause, counters.ErrUnavailable)
			require.NotContains(t, fmt.Sprint(texts(tr.Stored)), "connection refused")
		},
	}.Run(t)
}

func TestCallBudgetGoesOnLocallyIfSaid(t *testing.T) {
	var said []error
	store := counters.Fallback(&deadStore{counters.NewMemory(), 2}, func(err error) { said = append(said, err) })
	m := callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()
	a, err := callbacks.New(guards.CallBudgetOptions{Calls: 5, Store: store, RunKey: func(context.Context) (string, error) { return "order-7", nil }}.Guard()).
		NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	require.NoError(t, play(t, a).err)
	require.Equal(t, 5, m.Calls(), "what was counted before the failure counts")
	require.Len(t, said, 4)

	a, err = callbacks.New(guards.CallBudgetOptions{Store: store, RunKey: func(context.Context) (string, error) { return "", errors.New("no order") }}.Guard()).
		NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	require.Equal(t, []string{"[guard] The budget can't be read: agent ended."}, texts(play(t, a).events))
}

func TestUnlimited(t *testing.T) {
	m := callbackstest.Script(callbackstest.Call("lookup", nil).WithUsage(1_000_000, 0)).Repeat()
	n := 0
	stop := callbacks.Guard{Name: "stop", AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
		if n++; n == 60 {
			return nil, callbacks.End("enough", "enough")
		}
		return nil, nil
	}}
	g := guards.CallBudgetOptions{Calls: guards.Unlimited, Tokens: guards.Unlimited, Time: guards.Unlimited}.Guard()
	require.Empty(t, g.Info().Limits)
	a, err := callbacks.New(g, stop).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	require.NoError(t, play(t, a).err)
	require.Equal(t, 60, m.Calls())
}

// Calls to which the model gave one id are calls of their own: what one that is refused gives
// back is not the slot of another.
func TestToolCallsOfOneIDTakeASlotEach(t *testing.T) {
	for _, form := range forms {
		t.Run(string(form), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slowly := callbacks.Guard{Name: "slowly", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
					time.Sleep(time.Duration(args["n"].(float64)) * time.Millisecond)
					return nil, nil
				}}
				build, p := inForm(t, form, callbacks.New(slowly, guards.CallBudgetOptions{ToolCalls: 2}.Guard()))
				fake := callbackstest.ToolFunc("lookup", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
					return map[string]any{"result": "ok"}, later(ctx)
				})
				calls := numbered(6)
				for _, part := range calls.Parts {
					part.FunctionCall.ID = "the-same"
				}
				m := callbackstest.Script(calls, callbackstest.Say("ok"))
				playWith(t, build(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{fake}}), p, false)
				require.Len(t, fake.Calls(), 2)
			})
		})
	}
}
