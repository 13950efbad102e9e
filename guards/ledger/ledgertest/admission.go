// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledgertest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
)

// admission holds the cases about what may start. Where a name quotes a kind of bug, public
// systems had it.
func admission() []contractCase {
	return []contractCase{
		{"read then add: parallel calls all see the same balance", func(b bench) {
			task := b.task(100 * cent)
			require.Equal(b, 3, b.admitted(64, func(i int) error { return b.try(task, fmt.Sprint(i), 30*cent) }))
			require.Equal(b, 90*cent, b.balance(task).Reserved)
		}},
		{"checked after the call that exceeds", func(b bench) {
			task := b.task(100 * cent)
			b.commit(b.reserve(task, "a", 60*cent), 60*cent)
			d := b.denied(b.try(task, "b", 41*cent), ledger.ErrBudgetExceeded, task)
			require.Equal(b, 40*cent, d.Available)
			require.Equal(b, 41*cent, d.Need)
			require.Equal(b, cent, d.Missing())
			require.Equal(b, key(task, "b"), d.Key)
			b.reserve(task, "c", 40*cent)
		}},
		{"unknown account: the first calls bypass the limit", func(b bench) {
			id := newTask()
			require.ErrorIs(b, b.try(id, "a", 0), ledger.ErrNoAccount)
			b.open(id, ledger.Slice, hard(cent))
			require.ErrorIs(b, b.try(id.Child("x"), "a", 0), ledger.ErrNoAccount)
			_, err := b.Ledger.Balance(b.ctx(), id.Child("x"))
			require.ErrorIs(b, err, ledger.ErrNoAccount)
			_, err = b.Ledger.Open(b.ctx(), ledger.Opening{Account: id.Child("x").Child("y"), Limits: hard(cent)})
			require.ErrorIs(b, err, ledger.ErrNoAccount)
		}},
		{"a limiter that never limits", func(b bench) {
			task := b.task(1)
			b.denied(b.try(task, "a", 2), ledger.ErrBudgetExceeded, task)
			b.reserve(task, "b", 1)
			b.denied(b.try(task, "c", 1), ledger.ErrBudgetExceeded, task)
			b.reserve(task, "free", 0)
		}},
		{"a refusal changes nothing", func(b bench) {
			task := b.open(newTask(), ledger.Slice, ledger.Limits{Soft: 50 * cent, Hard: 100 * cent})
			view := b.open(task.Child("view"), ledger.Cap, hard(100*cent))
			b.reserve(view, "a", 20*cent)
			balances := func() []ledger.Balance { return []ledger.Balance{b.balance(task), b.balance(view)} }
			before := balances()
			b.denied(b.try(view, "hard", 81*cent), ledger.ErrBudgetExceeded, view)
			b.denied(b.try(view, "soft", 31*cent), ledger.ErrNeedsApproval, task)
			_, err := b.Ledger.Open(b.ctx(), ledger.Opening{Account: task.Child("slice"), Limits: hard(81 * cent)})
			b.denied(err, ledger.ErrBudgetExceeded, task)
			require.Equal(b, before, balances())
			_, err = b.Ledger.Entry(b.ctx(), key(view, "hard"))
			require.ErrorIs(b, err, ledger.ErrNoReservation)
		}},
		{"target, soft and hard limit", func(b bench) {
			task := b.open(newTask(), ledger.Slice, ledger.Limits{Target: 60 * cent, Soft: 90 * cent, Hard: 100 * cent})
			require.Empty(b, b.commit(b.reserve(task, "a", 60*cent), 60*cent).TargetsPassed, "at the target")
			require.Equal(b, []ledger.AccountID{task}, b.commit(b.reserve(task, "b", 10*cent), cent).TargetsPassed)
			require.Empty(b, b.commit(b.reserve(task, "c", 29*cent), 9*cent).TargetsPassed, "once")
			b.reserve(task, "d", 20*cent) // 90 cents, to the cent
			d := b.denied(b.try(task, "e", 5*cent), ledger.ErrNeedsApproval, task)
			require.Zero(b, d.Available)
			b.denied(b.try(task, "e", 11*cent), ledger.ErrBudgetExceeded, task)

			approval := ledger.Adjustment{Account: task, Approval: "manager-1", Limits: ledger.Limits{Target: 60 * cent, Soft: 96 * cent, Hard: 100 * cent}}
			_, err := b.Ledger.Adjust(b.ctx(), approval)
			require.NoError(b, err)
			b.reserve(task, "e", 5*cent)
			b.denied(b.try(task, "f", 2*cent), ledger.ErrNeedsApproval, task)
			_, err = b.Ledger.Adjust(b.ctx(), approval)
			require.NoError(b, err, "repeating an approval changes nothing")
			b.denied(b.try(task, "f", 2*cent), ledger.ErrNeedsApproval, task)
			approval.Limits.Soft = 100 * cent
			_, err = b.Ledger.Adjust(b.ctx(), approval)
			require.ErrorIs(b, err, ledger.ErrConflict, "an approval is good for one adjustment")
		}},
		{"children are slices of the parent, not extra money", func(b bench) {
			task := b.task(100 * cent)
			build, test, review := task.Child("implementation"), task.Child("test"), task.Child("review")
			b.open(build, ledger.Slice, hard(55*cent))
			b.open(test, ledger.Slice, hard(25*cent))
			b.open(review, ledger.Slice, hard(20*cent))
			_, err := b.Ledger.Open(b.ctx(), ledger.Opening{Account: task.Child("fourth"), Limits: hard(1)})
			b.denied(err, ledger.ErrBudgetExceeded, task)
			b.denied(b.try(task, "own", 1), ledger.ErrBudgetExceeded, task)

			b.commit(b.reserve(build, "b1", 55*cent), 50*cent)
			b.denied(b.try(build, "b2", 6*cent), ledger.ErrBudgetExceeded, build)
			b.commit(b.reserve(test, "t1", 20*cent), 5*cent)
			require.Equal(b, 100*cent, b.balance(task).Allocated)
			require.Equal(b, 55*cent, b.balance(task).Spent)

			_, err = b.Ledger.Close(b.ctx(), test)
			require.NoError(b, err)
			bal := b.balance(task)
			require.Equal(b, 75*cent, bal.Allocated)
			require.Equal(b, 5*cent, bal.Committed)
			require.Equal(b, 20*cent, bal.Available(), "the unused rest of the slice came back")
			_, err = b.Ledger.Close(b.ctx(), test)
			require.NoError(b, err)
			require.Equal(b, bal, b.balance(task), "once")
			require.ErrorIs(b, b.try(test, "t2", 0), ledger.ErrClosed)

			for _, id := range []ledger.AccountID{build, review, task} {
				_, err = b.Ledger.Close(b.ctx(), id)
				require.NoError(b, err)
			}
			bal = b.balance(task)
			require.Equal(b, 55*cent, bal.Committed)
			require.Equal(b, bal.Used(), bal.Committed)
		}},
		{"siblings race to drain the shared budget", func(b bench) {
			task := b.task(100 * cent)
			greedy := b.open(task.Child("greedy"), ledger.Slice, hard(60*cent))
			modest := b.open(task.Child("modest"), ledger.Slice, hard(40*cent))
			require.Equal(b, 2, b.admitted(16, func(i int) error { return b.try(greedy, fmt.Sprint(i), 30*cent) }))
			b.reserve(modest, "guaranteed", 40*cent)
		}},
		{"children that were never counted: the tree outspends its root", func(b bench) {
			task := b.task(100 * cent)
			ids := []ledger.AccountID{task}
			for i := range 8 {
				ids = append(ids, b.open(ids[i].Child("sub"), ledger.Cap, hard(100*cent)))
			}
			require.Equal(b, 3, b.admitted(64, func(i int) error { return b.try(ids[i%len(ids)], fmt.Sprint(i), 30*cent) }))
			require.Equal(b, 90*cent, b.balance(task).Reserved)
		}},
		{"a new budget for each attempt", func(b bench) {
			task := b.task(100 * cent)
			for attempt, want := range []error{nil, nil, nil, ledger.ErrBudgetExceeded} {
				_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: ledger.Key{Account: task, Call: "call", Attempt: attempt + 1}, Amount: 30 * cent})
				require.ErrorIs(b, err, want)
			}
		}},
		{"the losers of a hedged call are billed too", func(b bench) {
			task := b.task(100 * cent)
			for attempt := range 3 {
				k := ledger.Key{Account: task, Call: "hedged", Attempt: attempt + 1}
				_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: k, Amount: 30 * cent})
				require.NoError(b, err)
				_, err = b.Ledger.Commit(b.ctx(), k, ledger.Charge{})
				require.NoError(b, err)
			}
			require.Equal(b, 90*cent, b.balance(task).Committed)
		}},
		{"a fallback turns a refusal into an expensive call", func(b bench) {
			task := b.task(100 * cent)
			b.denied(b.try(task, "main", 101*cent), ledger.ErrBudgetExceeded, task)
			_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: ledger.Key{Account: task, Call: "main", Attempt: 2}, Amount: 412 * cent})
			b.denied(err, ledger.ErrBudgetExceeded, task)
		}},
		{"raising a limit never refuses what was admitted", func(b bench) {
			task := b.task(50 * cent)
			b.denied(b.try(task, "a", 60*cent), ledger.ErrBudgetExceeded, task)
			_, err := b.Ledger.Adjust(b.ctx(), ledger.Adjustment{Account: task, Approval: "raise", Limits: hard(60 * cent)})
			require.NoError(b, err)
			b.reserve(task, "a", 60*cent)
		}},
	}
}

// admitted runs n calls at once and counts those that were let through. Any refusal but the
// hard limit's fails the test.
func (b bench) admitted(n int, call func(i int) error) int {
	b.Helper()
	var wg sync.WaitGroup
	var through atomic.Int64
	start := make(chan struct{})
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			<-start
			if errs[i] = call(i); errs[i] == nil {
				through.Add(1)
			}
		})
	}
	close(start)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(b, err, ledger.ErrBudgetExceeded)
		}
	}
	return int(through.Load())
}
