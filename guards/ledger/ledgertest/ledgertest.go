// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledgertest is the contract of [ledger.Ledger] as a test suite. Every store passes it:
//
//	func TestContract(t *testing.T) { ledgertest.Run(t, newFixture) }
package ledgertest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
)

// Fixture is a ledger under test.
type Fixture struct {
	// Ledger is empty, or holds accounts that the suite didn't open; the suite picks its own
	// task names.
	Ledger ledger.Ledger
	// Elapse makes the ledger's clock move on by d, at least as far as leases are concerned.
	Elapse func(d time.Duration)
	// Reopen gives the same accounts through a new handle, as a process started anew would
	// see them. nil says that they don't survive one.
	Reopen func(t *testing.T) ledger.Ledger
}

// Run runs the whole contract. The factory is called once for each test; it cleans up after
// itself with t.Cleanup.
func Run(t *testing.T, factory func(t *testing.T) Fixture) {
	for _, c := range contract() {
		t.Run(c.name, func(t *testing.T) { c.test(bench{t, factory(t)}) })
	}
	t.Run("random programs agree with the model", func(t *testing.T) { differential(t, factory(t)) })
	t.Run("commits in any order give the same books", func(t *testing.T) { permutations(t, factory(t)) })
	t.Run("random callers never overspend", func(t *testing.T) { crowd(t, factory(t)) })
}

type contractCase struct {
	name string
	test func(bench)
}

func contract() []contractCase {
	var all []contractCase
	for _, group := range [][]contractCase{admission(), settling(), accounts(), arguments()} {
		all = append(all, group...)
	}
	return all
}

// bench is a fixture with the helpers the cases share.
type bench struct {
	*testing.T
	Fixture
}

// Money in these tests is written in cents.
const cent = ledger.Nano(10_000_000)

var tasks atomic.Int64

// newTask gives a task name that no test has used.
func newTask() ledger.AccountID {
	return ledger.AccountID(fmt.Sprintf("test-%d-%d", time.Now().UnixNano(), tasks.Add(1)))
}

func (b bench) ctx() context.Context { return b.Context() }

func hard(n ledger.Nano) ledger.Limits { return ledger.Limits{Hard: n} }

func (b bench) open(id ledger.AccountID, mode ledger.Mode, l ledger.Limits) ledger.AccountID {
	b.Helper()
	_, err := b.Ledger.Open(b.ctx(), ledger.Opening{Account: id, Mode: mode, Limits: l})
	require.NoError(b, err)
	return id
}

// task opens a root account with a hard limit.
func (b bench) task(limit ledger.Nano) ledger.AccountID {
	b.Helper()
	return b.open(newTask(), ledger.Slice, hard(limit))
}

func key(id ledger.AccountID, call string) ledger.Key {
	return ledger.Key{Account: id, Call: call, Attempt: 1}
}

func (b bench) try(id ledger.AccountID, call string, amount ledger.Nano) error {
	_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: key(id, call), Amount: amount})
	return err
}

func (b bench) reserve(id ledger.AccountID, call string, amount ledger.Nano) ledger.Key {
	b.Helper()
	require.NoError(b, b.try(id, call, amount))
	return key(id, call)
}

func paid(n ledger.Nano) ledger.Charge {
	return ledger.Charge{Source: ledger.SourceProvider, Actual: n}
}

func (b bench) commit(k ledger.Key, actual ledger.Nano) ledger.Receipt {
	b.Helper()
	r, err := b.Ledger.Commit(b.ctx(), k, paid(actual))
	require.NoError(b, err)
	return r
}

func (b bench) balance(id ledger.AccountID) ledger.Balance {
	b.Helper()
	bal, err := b.Ledger.Balance(b.ctx(), id)
	require.NoError(b, err)
	requireSound(b, bal)
	return bal
}

// requireSound checks what holds of every account at every moment.
func requireSound(t require.TestingT, b ledger.Balance) {
	for _, n := range []ledger.Nano{b.Committed, b.Reserved, b.Unsettled, b.Allocated, b.Overrun, b.Spent, b.Held} {
		require.GreaterOrEqual(t, n, ledger.Nano(0), "%+v", b)
	}
	require.LessOrEqual(t, b.Used(), b.Limits.Hard+b.Overrun, "%+v", b)
	require.LessOrEqual(t, b.Overrun, b.Committed, "%+v", b)
}

func (b bench) denied(err, code error, account ledger.AccountID) ledger.DeniedError {
	b.Helper()
	require.ErrorIs(b, err, code)
	var d *ledger.DeniedError
	require.ErrorAs(b, err, &d)
	require.Equal(b, code.Error(), d.Code)
	require.Equal(b, account, d.Account)
	require.Equal(b, account, d.Balance.Account)
	require.False(b, d.Retryable())
	return *d
}
