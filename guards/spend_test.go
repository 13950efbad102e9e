// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// dear is a table in which a call with a small prompt and 1 000 tokens of output costs
// at most 0.30 USD, nearly all of it for output.
func dear(t testing.TB) *prices.Table {
	t.Helper()
	table, err := prices.New("test", "2026-11-01", prices.Row{
		Backend: "gemini", Model: "dear", Rates: prices.Rates{Input: 1_000_000, Output: 299_000_000}, MaxInput: 1_000_000, MaxOutput: 1000,
		Source: []string{"test"}, AsOf: "2026-11-01",
	})
	require.NoError(t, err)
	return table
}

func usd(t testing.TB, s string) ledger.Nano {
	t.Helper()
	n, err := ledger.ParseUSD(s)
	require.NoError(t, err)
	return n
}

func memory(t testing.TB) ledger.Ledger {
	t.Helper()
	l, err := ledger.NewMemory(ledger.MemoryOptions{})
	require.NoError(t, err)
	return l
}

// Sixty-four agents ask at once for calls of 0.30 USD each: a dollar pays for three.
func TestSpendLimitUnderParallelAgents(t *testing.T) {
	l := memory(t)
	spend := guards.Spend(guards.SpendOptions{Ledger: l, Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t), MinOutput: 1000})
	m := &billing{}
	var children []agent.Agent
	for i := range 64 {
		a, err := callbacks.New(spend).NewAgent(llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: m})
		require.NoError(t, err)
		children = append(children, a)
	}
	root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: children}})
	require.NoError(t, err)
	out := play(t, root)
	require.NoError(t, out.err)
	require.LessOrEqual(t, m.calls.Load(), int32(3))
	require.Positive(t, m.calls.Load())
	require.LessOrEqual(t, m.billed, usd(t, "1"))
	require.Equal(t, callbacks.StatusBudgetExhausted, out.run.Outcome().Status)
	require.ErrorIs(t, out.run.Outcome().Err, ledger.ErrBudgetExceeded)
	require.Contains(t, texts(out.events), "[guard] Spend limit reached: run stopped.")
}

// The same through agents used as tools: they draw on the caller's account.
func TestSpendReachesAgentsUsedAsTools(t *testing.T) {
	spend := guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t), MinOutput: 1000})
	m := &billing{}
	var calls []callbackstest.Turn
	var tools []tool.Tool
	for i := range 8 {
		inner, err := callbacks.New(spend).NewAgent(llmagent.Config{Name: fmt.Sprintf("inner%d", i), Model: m})
		require.NoError(t, err)
		tools = append(tools, agenttool.New(inner, nil))
		calls = append(calls, callbackstest.Call(fmt.Sprintf("inner%d", i), map[string]any{"request": "x"}))
	}
	outer, err := callbacks.New().NewAgent(llmagent.Config{Name: "outer", Model: callbackstest.Script(callbackstest.Calls(calls...), callbackstest.Say("done")), Tools: tools})
	require.NoError(t, err)
	out := play(t, outer)
	require.NoError(t, out.err)
	require.LessOrEqual(t, m.calls.Load(), int32(3))
	require.LessOrEqual(t, m.billed, usd(t, "1"))
	for _, r := range responses(out.events) {
		if e, ok := r["error"]; ok {
			require.Equal(t, "Spend limit reached: run stopped.", e, "a refusal is no result")
		}
	}
}

// A dollar in slices of 0.55, 0.25 and 0.20: each agent has its own and no more.
func TestSpendSlices(t *testing.T) {
	l := memory(t)
	spend := guards.Spend(guards.SpendOptions{
		Ledger: l, Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t), MinOutput: 1000,
		Slices:  sliceList(t, "a", "0.55", "b", "0.25", "c", "0.20"),
		Account: func(*callbacks.Run) ledger.AccountID { return "task" },
	})
	want := map[string]int32{"a": 1, "b": 0, "c": 0}
	for _, name := range []string{"a", "b", "c"} {
		m := &billing{}
		chain := callbacks.New(retrying(1), spend)
		a, err := chain.NewAgent(llmagent.Config{Name: name, Model: m})
		require.NoError(t, err)
		for range 2 {
			out := play(t, a)
			require.NoError(t, out.err)
		}
		require.Equal(t, want[name], m.calls.Load(), name)
	}
	b, err := l.Balance(t.Context(), "task")
	require.NoError(t, err)
	require.LessOrEqual(t, b.Spent, usd(t, "1"))
	require.LessOrEqual(t, b.Used(), usd(t, "1"))
}

// Where a whole answer is not affordable, less is asked for.
// An answer is made to fit what is left, and what is left without asking somebody.
func TestSpendShrinksTheAnswer(t *testing.T) {
	for name, limits := range map[string]ledger.Limits{
		"to the end": {Hard: usd(t, "0.20")}, "to where approval begins": {Soft: usd(t, "0.20"), Hard: usd(t, "1")},
	} {
		t.Run(name, func(t *testing.T) {
			m := &billing{}
			a, err := callbacks.New(guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: limits, Prices: dear(t)})).NewAgent(llmagent.Config{Name: "a", Model: m})
			require.NoError(t, err)
			out := play(t, a)
			require.NoError(t, out.err)
			require.EqualValues(t, 1, m.calls.Load())
			require.LessOrEqual(t, m.billed, usd(t, "0.20"))
			require.Greater(t, m.billed, usd(t, "0.10"))
		})
	}
}

func TestSpendSettles(t *testing.T) {
	for name, tc := range map[string]struct {
		m       *billing
		charged string // of the one reservation; "all" is the reservation itself
	}{
		"usage":                       {&billing{}, "0.29901"},
		"no usage":                    {&billing{silent: true}, "all"},
		"an error documented as free": {&billing{fail: fmt.Errorf("failed to call model: %w", genai.APIError{Code: 503, Message: "overloaded"})}, "0"},
		"a panic":                     {&billing{panics: true}, "all"},
		"any other error":             {&billing{fail: errors.New("connection reset")}, "all"},
	} {
		t.Run(name, func(t *testing.T) {
			l := memory(t)
			spend := guards.Spend(guards.SpendOptions{
				Ledger: l, Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t), Account: func(*callbacks.Run) ledger.AccountID { return "task" },
			})
			a, err := callbacks.New(spend).NewAgent(llmagent.Config{Name: "a", Model: tc.m})
			require.NoError(t, err)
			out := play(t, a)
			b, err := l.Balance(t.Context(), "task")
			require.NoError(t, err)
			require.Zero(t, b.Reserved, "settled")
			lines := guards.Records(callbackstest.InRun(t, out.run)).Spent()
			require.Len(t, lines, 1)
			switch tc.charged {
			case "all":
				require.Equal(t, lines[0].Reserved, b.Spent)
				require.Positive(t, b.Spent)
			default:
				require.Equal(t, usd(t, tc.charged), b.Spent)
			}
		})
	}
}

// A consumer that goes away, and a cancelled run, stay charged.
func TestSpendChargesWhatWasCancelled(t *testing.T) {
	l := memory(t)
	spend := guards.Spend(guards.SpendOptions{
		Ledger: l, Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t), Account: func(*callbacks.Run) ledger.AccountID { return "task" },
	})
	m := &billing{wait: make(chan struct{})}
	a, err := callbacks.New(spend).NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := runnerOf(a)
	require.NoError(t, err)
	ctx, run := callbacks.Start(ctx)
	defer run.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
		}
	}()
	for m.calls.Load() == 0 {
	}
	cancel()
	<-done
	b, err := l.Balance(t.Context(), "task")
	require.NoError(t, err)
	require.Zero(t, b.Reserved)
	require.Positive(t, b.Spent)
}

func TestSpendRefusesWhatHasNoPriceOrNoBound(t *testing.T) {
	for name, cfg := range map[string]llmagent.Config{
		"unknown model":  {Model: callbackstest.Script(callbackstest.Say("x"))},
		"a server tool":  {Model: &billing{}, GenerateContentConfig: &genai.GenerateContentConfig{Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}}},
		"cached content": {Model: &billing{}, GenerateContentConfig: &genai.GenerateContentConfig{CachedContent: "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			spend := guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t)})
			cfg.Name = "a"
			a, err := callbacks.New(spend).NewAgent(cfg)
			require.NoError(t, err)
			out := play(t, a)
			require.NoError(t, out.err)
			require.Equal(t, callbacks.StatusDenied, out.run.Outcome().Status, "more money is no cure")
			require.Equal(t, codes.CostUnbounded, out.run.Outcome().Code)
			require.Contains(t, texts(out.events), "[guard] The cost of the call can't be bounded: run stopped.")
		})
	}
}

// brokenLedger can't be reached.
type brokenLedger struct{ ledger.Ledger }

func (brokenLedger) Reserve(_ context.Context, r ledger.Request) (ledger.Reservation, error) {
	return ledger.Reservation{}, &ledger.OpError{Op: "reserve", Account: r.Key.Account, Key: r.Key, Err: ledger.ErrUnavailable}
}

// A ledger that is gone is no lack of money: models, tools and all else say so, and the
// Run failed.
func TestSpendWithoutItsLedger(t *testing.T) {
	l := brokenLedger{memory(t)}
	for name, slices := range map[string][]string{"one account": nil, "slices": {"a", "0.50"}} {
		t.Run(name, func(t *testing.T) {
			o := sliced(t, l, "1", slices...)
			o.ToolPrices = map[string]ledger.Nano{"search": usd(t, "0.10")}
			search := callbackstest.Tool("search")
			onlyTools := guards.Spend(o)
			onlyTools.WrapModel, onlyTools.Info = nil, nil
			for _, cfg := range []llmagent.Config{
				{Model: callbackstest.Script(callbackstest.Call("search", nil), callbackstest.Say("done")), Tools: []tool.Tool{search}}, {Model: &billing{}},
			} {
				cfg.Name = "a"
				g := onlyTools
				if cfg.Tools == nil {
					g = guards.Spend(o)
				}
				a, err := callbacks.New(g).NewAgent(cfg)
				require.NoError(t, err)
				out := play(t, a)
				require.NoError(t, out.err)
				got := out.run.Outcome()
				require.Equal(t, callbacks.StatusFailed, got.Status)
				require.Equal(t, codes.LedgerFailed, got.Code)
				require.Equal(t, "spend", got.Guard)
				require.ErrorIs(t, got.Err, ledger.ErrUnavailable)
			}
			require.Empty(t, search.Calls())
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			var refusal *callbacks.Refusal
			require.ErrorAs(t, o.Do(ctx, "embed", 1, func() error { return nil }), &refusal)
			require.Equal(t, codes.LedgerFailed, refusal.Code)
		})
	}
}

// A call whose context has ended is not made; it stops no Run, and says nothing of money.
func TestSpendAfterTheEndOfACall(t *testing.T) {
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	ran := false
	err := sliced(t, memory(t), "1").Do(ctx, "embed", 1, func() error { ran = true; return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, callbacks.ErrStopped)
	require.False(t, ran)
}

func TestSpendToolsAndAnythingElse(t *testing.T) {
	o := guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: usd(t, "0.25")}, Prices: dear(t), ToolPrices: map[string]ledger.Nano{"search": usd(t, "0.10")}}
	search := callbackstest.Tool("search")
	m := callbackstest.Script(callbackstest.Calls(callbackstest.Call("search", nil), callbackstest.Call("search", nil), callbackstest.Call("search", nil)), callbackstest.Say("done"))
	paidOnly := guards.Spend(o)
	paidOnly.WrapModel = nil
	paidOnly.Info = nil
	a, err := callbacks.New(paidOnly).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{search}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Len(t, search.Calls(), 2)
	require.Equal(t, callbacks.StatusBudgetExhausted, out.run.Outcome().Status)

	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	ran := 0
	f := func() error { ran++; return nil }
	require.NoError(t, o.Do(ctx, "embed", usd(t, "0.20"), f))
	err = o.Do(ctx, "embed", usd(t, "0.20"), f)
	require.ErrorIs(t, err, callbacks.ErrStopped)
	require.ErrorIs(t, err, ledger.ErrBudgetExceeded)
	require.Equal(t, 1, ran)
	require.Error(t, o.Do(t.Context(), "embed", 1, f), "no Run")
}

// A streaming tool is paid for like any other: once for each call, whatever becomes of
// its stream, and not run where the money is not there.
func TestSpendStreamingTools(t *testing.T) {
	for name, search := range map[string]*callbackstest.FakeStreamingTool{
		"whole": callbackstest.StreamingTool("search", "a", "b"), "failing": callbackstest.StreamingTool("search", "a").Failing(errors.New("cut")),
	} {
		t.Run(name, func(t *testing.T) {
			l := memory(t)
			o := sliced(t, l, "0.25")
			o.ToolPrices = map[string]ledger.Nano{"search": usd(t, "0.10")}
			paidOnly := guards.Spend(o)
			paidOnly.WrapModel, paidOnly.Info = nil, nil
			call := callbackstest.Call("search", nil)
			m := callbackstest.Script(callbackstest.Calls(call, call, call), callbackstest.Say("done"))
			a, err := callbacks.New(paidOnly).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{search}})
			require.NoError(t, err)
			out := play(t, a)
			require.NoError(t, out.err)
			require.Len(t, search.Calls(), 2)
			require.Equal(t, callbacks.StatusBudgetExhausted, out.run.Outcome().Status)
			require.ErrorIs(t, out.run.Outcome().Err, ledger.ErrBudgetExceeded)
			require.Equal(t, []guards.SpendLine{{
				Agent: "a", What: "search", Calls: 2, Refused: 1, Estimated: usd(t, "0.30"), Reserved: usd(t, "0.20"), Charged: usd(t, "0.20"),
			}}, guards.Records(callbackstest.InRun(t, out.run)).Spent())
			b, err := l.Balance(t.Context(), "task")
			require.NoError(t, err)
			require.Equal(t, usd(t, "0.20"), b.Spent)
			require.Zero(t, b.Reserved)
		})
	}
}

// A stream that its reader leaves, or that breaks, is paid for as well.
func TestSpendAbandonedStreamingTool(t *testing.T) {
	for name, read := range map[string]func(iter.Seq2[string, error]){
		"left": func(chunks iter.Seq2[string, error]) {
			for range chunks {
				break
			}
		},
		"panic": func(chunks iter.Seq2[string, error]) {
			defer func() { recover() }()
			chunks(func(string, error) bool { panic("a reader that breaks") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := memory(t)
			o := sliced(t, l, "0.25")
			o.ToolPrices = map[string]ledger.Nano{"search": usd(t, "0.10")}
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			wrapped := guards.Spend(o).WrapTool(callbackstest.StreamingTool("search", "a", "b"))
			read(wrapped.(interface {
				RunStream(agent.Context, any) iter.Seq2[string, error]
			}).RunStream(callbackstest.ContextFrom(ctx, t), nil))
			b, err := l.Balance(t.Context(), "task")
			require.NoError(t, err)
			require.Equal(t, usd(t, "0.10"), b.Spent)
			require.Zero(t, b.Reserved)
		})
	}
}

func TestSpendNonsense(t *testing.T) {
	l := memory(t)
	for name, o := range map[string]guards.SpendOptions{
		"no ledger":              {Limits: ledger.Limits{Hard: 1}},
		"no limit":               {Ledger: l},
		"negative":               {Ledger: l, Limits: ledger.Limits{Hard: 1}, MinOutput: -1},
		"soft too high":          {Ledger: l, Limits: ledger.Limits{Hard: 1, Soft: 2}},
		"slices above the limit": {Ledger: l, Limits: ledger.Limits{Hard: 1}, Slices: sliceList(t, "a", "0.000000002")},
		"in two slices":          {Ledger: l, Limits: ledger.Limits{Hard: 10}, Slices: append(sliceList(t, "a", "0.000000002"), guards.Slice{Name: "b", Agents: []string{"a"}, Limits: ledger.Limits{Hard: 1}})},
		"empty slice":            {Ledger: l, Limits: ledger.Limits{Hard: 1}, Slices: []guards.Slice{{Name: "a"}}},
	} {
		require.Error(t, callbacks.New(guards.Spend(o)).Err(), name)
	}
	_, err := callbacks.New(guards.Spend(guards.SpendOptions{Ledger: l, Limits: ledger.Limits{Hard: 1}})).Plugin("p")
	require.ErrorIs(t, err, callbacks.ErrForm, "a plugin sees no model")
}

func TestSpendMatrix(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: scriptedPrices(t)})}
		},
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("lookup", nil).WithUsage(10, 5), callbackstest.Stream("a", "b").WithUsage(20, 5))
		},
		Refused: func(c callbackstest.Cell) bool { return c.Form == callbackstest.FormPlugin },
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			lines := guards.Records(callbackstest.InRun(t, tr.Run)).Spent()
			require.Len(t, lines, 1)
			require.Equal(t, 2, lines[0].Calls)
			require.Equal(t, ledger.NanoOf(30*1_000_000+10*2_000_000), lines[0].Charged, "usage is read once, from the newest")
		},
	}.Run(t)
}

func scriptedPrices(t testing.TB) *prices.Table {
	t.Helper()
	table, err := prices.New("test", "2026-11-01", prices.Row{
		Backend: "gemini", Model: "scripted", Rates: prices.Rates{Input: 1_000_000, Output: 2_000_000}, MaxInput: 100_000, MaxOutput: 1000,
		Source: []string{"test"}, AsOf: "2026-11-01",
	})
	require.NoError(t, err)
	return table
}
