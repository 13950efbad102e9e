// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// Calls that are refused for money others hold wait for it: four calls of a worst case
// of 0.30 that each cost 0.01 all fit into 0.35, one after the other. Where what is held
// never comes back they are refused in the end.
func TestSpendWaitsForWhatOthersHold(t *testing.T) {
	for name, tc := range map[string]struct {
		share int32 // of the output allowed, in percent
		takes time.Duration
		calls int32
		after time.Duration
	}{
		"cheap answers":   {3, time.Second, 4, 4 * time.Second},
		"dear answers":    {100, time.Second, 1, time.Second},
		"too slow for it": {3, time.Hour, 1, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := memory(t)
				o := sliced(t, l, "0.35")
				o.Lease = 2 * time.Hour
				list, models := team(t, o, "a", "b", "c", "d")
				for _, m := range models {
					m.takes, m.share = tc.takes, tc.share
				}
				root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: list}})
				require.NoError(t, err)
				start := time.Now()
				out := play(t, root)
				require.NoError(t, out.err)
				var calls int32
				var billed ledger.Nano
				for _, m := range models {
					calls += m.calls.Load()
					billed += m.billed
				}
				require.Equal(t, tc.calls, calls)
				require.Equal(t, tc.after, time.Since(start))
				b, err := l.Balance(t.Context(), "task")
				require.NoError(t, err)
				require.Equal(t, billed, b.Spent)
				require.LessOrEqual(t, billed, usd(t, "0.35"))
			})
		})
	}
}

// Nobody is waited for once the Run's own calls have settled: what another process holds is
// a refusal at once.
func TestSpendDoesNotWaitForOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memory(t)
		o := sliced(t, l, "0.65")
		m := &billing{share: 3}
		calls := 0
		elsewhere := callbacks.Guard{Name: "elsewhere", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			if calls++; calls < 2 {
				return nil, nil
			}
			_, err := l.Reserve(t.Context(), ledger.Request{Key: ledger.Key{Account: "task", Call: "elsewhere", Attempt: 1}, Amount: usd(t, "0.60")})
			return nil, err
		}}
		a, err := callbacks.New(elsewhere, guards.Spend(o)).NewAgent(llmagent.Config{Name: "a", Model: m})
		require.NoError(t, err)
		root, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{a}}, MaxIterations: 2})
		require.NoError(t, err)
		start := time.Now()
		out := play(t, root)
		require.NoError(t, out.err)
		require.EqualValues(t, 1, m.calls.Load())
		require.Zero(t, time.Since(start))
	})
}

// reserving is a ledger whose answers to reservations take their time.
type reserving struct {
	ledger.Ledger
	before, after func() // the first one
	once          sync.Once
}

func (r *reserving) Reserve(ctx context.Context, req ledger.Request) (ledger.Reservation, error) {
	first := false
	r.once.Do(func() { first = true })
	if first {
		r.before()
		defer r.after()
	}
	return r.Ledger.Reserve(ctx, req)
}

// race makes two calls of one Run, the second while the ledger has the first.
func race(t *testing.T, o guards.SpendOptions, m *billing) (errs [2]error) {
	t.Helper()
	llm := guards.Spend(o).WrapModel(m, nil)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for _, err := range llm.GenerateContent(ctx, prompt("x"), false) {
				errs[i] = errors.Join(errs[i], err)
			}
		})
		synctest.Wait()
	}
	wg.Wait()
	return errs
}

// A call that is refused for a reservation made at the same moment waits for it, though
// it has not come back to its call yet.
func TestSpendWaitsForWhoReservesAtTheSameMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := sliced(t, &reserving{Ledger: memory(t), before: func() {}, after: func() { time.Sleep(time.Second) }}, "0.35")
		m := &billing{share: 3, takes: time.Second}
		start := time.Now()
		require.Equal(t, [2]error{}, race(t, o, m))
		require.EqualValues(t, 2, m.calls.Load())
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

// Where nobody is left whose money could come back nobody waits.
func TestSpendDoesNotWaitForWhoWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memory(t)
		o := sliced(t, &reserving{Ledger: l, before: func() { time.Sleep(time.Second) }, after: func() {}}, "0.35")
		_, err := l.Open(t.Context(), ledger.Opening{Account: "task", Limits: o.Limits})
		require.NoError(t, err)
		_, err = l.Reserve(t.Context(), ledger.Request{Key: ledger.Key{Account: "task", Call: "elsewhere", Attempt: 1}, Amount: usd(t, "0.30"), Lease: time.Hour})
		require.NoError(t, err)
		m := &billing{}
		start := time.Now()
		for _, err := range race(t, o, m) {
			require.ErrorIs(t, err, ledger.ErrBudgetExceeded)
		}
		require.Zero(t, m.calls.Load())
		require.Equal(t, time.Second, time.Since(start))
	})
}

// While a person decides, calls under way settle, and a call that is cancelled does not
// wait for the decision.
func TestSpendGoesOnWhileAPersonDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := sliced(t, memory(t), "1")
		o.Limits.Soft = usd(t, "0.35")
		decided, asked := make(chan struct{}), 0
		o.Approve = func(context.Context, *ledger.DeniedError) bool {
			asked++
			<-decided
			return true
		}
		ctx, run := callbacks.Start(t.Context())
		defer run.Close()
		underWay, started := make(chan struct{}), make(chan error, 3)
		price := usd(t, "0.30")
		do := func(ctx context.Context, f func() error) {
			go func() { started <- o.Do(ctx, "embed", price, f) }()
			synctest.Wait()
		}
		do(ctx, func() error { <-underWay; return nil })
		do(ctx, noWork)
		impatient, cancel := context.WithCancel(ctx)
		do(impatient, noWork)
		require.Empty(t, started)
		close(underWay)
		require.NoError(t, <-started, "the first has settled")
		cancel()
		require.ErrorIs(t, <-started, ledger.ErrNeedsApproval)
		close(decided)
		require.NoError(t, <-started)
		require.Equal(t, 1, asked, "what was decided holds for the others")
	})
}

// An agent that calls another as a tool has settled its own call by then: it does not
// wait for itself.
func TestSpendSettlesBeforeToolsRun(t *testing.T) {
	l := memory(t)
	o := sliced(t, l, "0.35")
	g := guards.Spend(o)
	inner := &billing{share: 3}
	innerAgent, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "inner", Model: inner})
	require.NoError(t, err)
	outer := &billing{share: 3, says: []callbackstest.Turn{callbackstest.Call("inner", map[string]any{"request": "x"})}}
	a, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "outer", Model: outer, Tools: []tool.Tool{agenttool.New(innerAgent, nil)}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.EqualValues(t, 1, inner.calls.Load())
	require.EqualValues(t, 2, outer.calls.Load())
	require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
}
