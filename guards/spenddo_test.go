// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

func noWork() error { return nil }

// What a slice gave back when its agent ended is there for anything else that bills:
// paying for that does not set it aside again.
func TestSpendDoSetsNoSliceAsideAgain(t *testing.T) {
	l := memory(t)
	o := sliced(t, l, "1", "a", "0.55")
	list, models := team(t, o, "a")
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	out := playIn(ctx, t, run, list[0], nil, false)
	require.NoError(t, out.err)
	require.EqualValues(t, 1, models["a"].calls.Load())
	require.NoError(t, o.Do(ctx, "embed", usd(t, "0.30"), noWork))
	require.NoError(t, o.Do(ctx, "embed", usd(t, "0.30"), noWork), "0.40 is left, and none of it set aside")
	b, err := l.Balance(t.Context(), "task")
	require.NoError(t, err)
	require.Zero(t, b.Allocated)
}

// What agents that have not begun were promised is set aside from the first of these calls
// on, and they find it there.
func TestSpendDoBeforeTheAgents(t *testing.T) {
	o := sliced(t, memory(t), "1", "a", "0.35")
	list, models := team(t, o, "a")
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	require.NoError(t, o.Do(ctx, "embed", usd(t, "0.60"), noWork))
	require.ErrorIs(t, o.Do(ctx, "embed", usd(t, "0.10"), noWork), ledger.ErrBudgetExceeded)
	out := playIn(ctx, t, run, list[0], nil, false)
	require.NoError(t, out.err)
	require.EqualValues(t, 1, models["a"].calls.Load())
}

// It waits for money that a model call holds, and a model call for what it holds.
func TestSpendDoWaitsForModelCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := sliced(t, memory(t), "0.35")
		m := &billing{share: 3, takes: time.Second}
		llm := guards.Spend(o).WrapModel(m, nil)
		ctx, run := callbacks.Start(t.Context())
		defer run.Close()
		start, done := time.Now(), make(chan error, 1)
		go func() {
			for _, err := range llm.GenerateContent(ctx, prompt("x"), false) {
				done <- err
			}
		}()
		synctest.Wait()
		require.NoError(t, o.Do(ctx, "embed", usd(t, "0.10"), noWork))
		require.Equal(t, time.Second, time.Since(start))
		require.NoError(t, <-done)
	})
}

// A person who was asked about an account is not asked about it again.
func TestSpendDoAsksOnce(t *testing.T) {
	for name, approved := range map[string]bool{"approved": true, "refused": false} {
		t.Run(name, func(t *testing.T) {
			o := sliced(t, memory(t), "1")
			o.Limits.Soft = usd(t, "0.10")
			asked := 0
			o.Approve = func(context.Context, *ledger.DeniedError) bool { asked++; return approved }
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			for range 3 {
				err := o.Do(ctx, "embed", usd(t, "0.20"), noWork)
				require.Equal(t, approved, err == nil)
			}
			require.Equal(t, 1, asked)
		})
	}
}

// Options with other limits are another opening of the account: the ledger refuses it.
func TestSpendDoWithOtherLimits(t *testing.T) {
	o := sliced(t, memory(t), "0.35")
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	require.NoError(t, o.Do(ctx, "embed", usd(t, "0.10"), noWork))
	o.Limits.Hard = usd(t, "100")
	require.ErrorIs(t, o.Do(ctx, "embed", usd(t, "0.10"), noWork), ledger.ErrConflict)
}

// valueLedger can't be compared.
type valueLedger struct {
	ledger.Ledger
	_ []int
}

func TestSpendDoWithALedgerThatCannotBeCompared(t *testing.T) {
	o := sliced(t, valueLedger{Ledger: memory(t)}, "0.35")
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	require.NoError(t, o.Do(ctx, "embed", usd(t, "0.10"), noWork))
}
