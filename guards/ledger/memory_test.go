// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/ledgertest"
)

// clock moves only when told to.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(1_795_000_000, c.offset.Load()) }

func (c *clock) elapse(d time.Duration) { c.offset.Add(int64(d)) }

func newMemory(t testing.TB, opts ledger.MemoryOptions) *ledger.Memory {
	t.Helper()
	m, err := ledger.NewMemory(opts)
	require.NoError(t, err)
	return m
}

func TestMemoryContract(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture {
		c := &clock{}
		return ledgertest.Fixture{Ledger: newMemory(t, ledger.MemoryOptions{Now: c.now}), Elapse: c.elapse}
	})
}

func TestMemoryOptions(t *testing.T) {
	for _, o := range []ledger.MemoryOptions{{Remember: -1}, {RememberTasks: -1}} {
		_, err := ledger.NewMemory(o)
		require.Error(t, err)
	}
}

// A clock that is set back or forward gives nothing back.
func TestClockJumps(t *testing.T) {
	c := &clock{}
	m := newMemory(t, ledger.MemoryOptions{Now: c.now})
	open(t, m, "t", 100)
	reserve(t, m, "t", "a", 60)
	for _, jump := range []time.Duration{-time.Hour, 2 * time.Hour, -3 * time.Hour} {
		c.elapse(jump)
		b, err := m.Balance(t.Context(), "t")
		require.NoError(t, err)
		require.Equal(t, ledger.Nano(60), b.Used())
	}
}

func TestForgottenReservations(t *testing.T) {
	m := newMemory(t, ledger.MemoryOptions{Remember: 2})
	open(t, m, "t", 1000)
	keys := []ledger.Key{}
	for _, call := range []string{"a", "b", "c"} {
		keys = append(keys, reserve(t, m, "t", call, 10))
		_, err := m.Commit(t.Context(), keys[len(keys)-1], ledger.Charge{Source: ledger.SourceProvider, Actual: 10})
		require.NoError(t, err)
	}
	_, err := m.Entry(t.Context(), keys[0])
	require.ErrorIs(t, err, ledger.ErrNoReservation)
	r, err := m.Commit(t.Context(), keys[2], ledger.Charge{Source: ledger.SourceProvider, Actual: 10})
	require.NoError(t, err)
	require.True(t, r.Duplicate)
	r, err = m.Commit(t.Context(), keys[0], ledger.Charge{Source: ledger.SourceProvider, Actual: 10})
	require.NoError(t, err)
	require.True(t, r.Orphan, "forgotten: charged rather than dropped")
	require.Equal(t, ledger.Nano(40), r.Balance.Spent)
}

func TestForgottenTasks(t *testing.T) {
	m := newMemory(t, ledger.MemoryOptions{RememberTasks: 1})
	for _, id := range []ledger.AccountID{"a", "b"} {
		open(t, m, id, 10)
		for range 2 {
			_, err := m.Close(t.Context(), id)
			require.NoError(t, err)
		}
	}
	_, err := m.Balance(t.Context(), "a")
	require.ErrorIs(t, err, ledger.ErrNoAccount)
	b, err := m.Balance(t.Context(), "b")
	require.NoError(t, err)
	require.True(t, b.Closed)
}

func open(t testing.TB, l ledger.Ledger, id ledger.AccountID, limit ledger.Nano) {
	t.Helper()
	_, err := l.Open(t.Context(), ledger.Opening{Account: id, Limits: ledger.Limits{Hard: limit}})
	require.NoError(t, err)
}

func reserve(t testing.TB, l ledger.Ledger, id ledger.AccountID, call string, amount ledger.Nano) ledger.Key {
	t.Helper()
	k := ledger.Key{Account: id, Call: call, Attempt: 1}
	_, err := l.Reserve(t.Context(), ledger.Request{Key: k, Amount: amount})
	require.NoError(t, err)
	return k
}
