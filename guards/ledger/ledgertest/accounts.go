// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledgertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// accounts holds the cases about opening, adjusting and closing.
func accounts() []contractCase {
	return []contractCase{
		{"two processes open one account with different limits", func(b bench) {
			task := b.task(100 * cent)
			b.reserve(task, "a", 30*cent)
			b.open(task, ledger.Slice, hard(100*cent))
			require.Equal(b, 30*cent, b.balance(task).Reserved, "found, not made anew")
			_, err := b.Ledger.Open(b.ctx(), ledger.Opening{Account: task, Limits: hard(200 * cent)})
			require.ErrorIs(b, err, ledger.ErrConflict)
			_, err = b.Ledger.Adjust(b.ctx(), ledger.Adjustment{Account: task, Approval: "x", Limits: hard(150 * cent)})
			require.NoError(b, err)
			b.open(task, ledger.Slice, hard(100*cent))
			require.Equal(b, 150*cent, b.balance(task).Limits.Hard, "opening again doesn't undo an adjustment")
		}},
		{"a slice opened twice is set aside once", func(b bench) {
			task := b.task(100 * cent)
			require.Equal(b, 8, b.admitted(8, func(int) error {
				_, err := b.Ledger.Open(b.ctx(), ledger.Opening{Account: task.Child("s"), Limits: hard(60 * cent)})
				return err
			}))
			require.Equal(b, 60*cent, b.balance(task).Allocated)
		}},
		{"a capped view has its own limit and the parent's", func(b bench) {
			task := b.task(100 * cent)
			view := b.open(task.Child("v"), ledger.Cap, hard(40*cent))
			b.denied(b.try(view, "a", 41*cent), ledger.ErrBudgetExceeded, view)
			b.commit(b.reserve(view, "a", 40*cent), 30*cent)
			require.Equal(b, 30*cent, b.balance(task).Committed)
			b.reserve(task, "b", 65*cent)
			b.denied(b.try(view, "c", 10*cent), ledger.ErrBudgetExceeded, task)
			_, err := b.Ledger.Close(b.ctx(), view)
			require.NoError(b, err)
			require.Equal(b, 30*cent, b.balance(task).Committed, "closing a view moves no money")
		}},
		{"a slice of a capped view", func(b bench) {
			task := b.task(100 * cent)
			view := b.open(task.Child("v"), ledger.Cap, hard(40*cent))
			_, err := b.Ledger.Open(b.ctx(), ledger.Opening{Account: view.Child("s"), Limits: hard(41 * cent)})
			b.denied(err, ledger.ErrBudgetExceeded, view)
			slice := b.open(view.Child("s"), ledger.Slice, hard(30*cent))
			require.Equal(b, 30*cent, b.balance(task).Allocated)
			require.Equal(b, 30*cent, b.balance(view).Allocated)
			b.commit(b.reserve(slice, "a", 30*cent), 12*cent)
			_, err = b.Ledger.Close(b.ctx(), slice)
			require.NoError(b, err)
			for _, id := range []ledger.AccountID{view, task} {
				require.Equal(b, 12*cent, b.balance(id).Committed)
				require.Zero(b, b.balance(id).Allocated)
			}
		}},
		{"the soft limit sees money spent inside slices", func(b bench) {
			task := b.open(newTask(), ledger.Slice, ledger.Limits{Target: 10 * cent, Soft: 50 * cent, Hard: 100 * cent})
			slice := b.open(task.Child("s"), ledger.Slice, hard(100*cent))
			r := b.commit(b.reserve(slice, "a", 40*cent), 40*cent)
			require.Equal(b, []ledger.AccountID{task}, r.TargetsPassed)
			d := b.denied(b.try(slice, "b", 11*cent), ledger.ErrNeedsApproval, task)
			require.Equal(b, 10*cent, d.Available)
			b.reserve(slice, "b", 10*cent)
		}},
		{"closed with calls under way", func(b bench) {
			task := b.task(100 * cent)
			child := b.open(task.Child("c"), ledger.Slice, hard(50*cent))
			pending := func(id ledger.AccountID) {
				_, err := b.Ledger.Close(b.ctx(), id)
				require.ErrorIs(b, err, ledger.ErrPending)
			}
			pending(task)
			for call, amount := range map[string]ledger.Nano{"a": cent, "free": 0} {
				_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: key(child, call), Amount: amount, Lease: time.Minute})
				require.NoError(b, err)
				pending(child)
				b.Elapse(time.Hour)
				pending(child)
				b.commit(key(child, call), amount)
			}
			closed, err := b.Ledger.Close(b.ctx(), child)
			require.NoError(b, err)
			require.True(b, closed.Closed)
			_, err = b.Ledger.Open(b.ctx(), ledger.Opening{Account: child.Child("late"), Limits: hard(cent)})
			require.ErrorIs(b, err, ledger.ErrClosed)
			_, err = b.Ledger.Adjust(b.ctx(), ledger.Adjustment{Account: child, Approval: "late", Limits: hard(cent)})
			require.ErrorIs(b, err, ledger.ErrClosed)

			r := b.commit(key(child, "stray"), 5*cent)
			require.True(b, r.Orphan, "a charge that arrives after the end is recorded all the same")
			require.Equal(b, 6*cent, b.balance(task).Committed)
			require.Equal(b, 6*cent, b.balance(task).Spent)
			_, err = b.Ledger.Close(b.ctx(), task)
			require.NoError(b, err)
			require.ErrorIs(b, b.try(task, "z", 0), ledger.ErrClosed)
			bal, err := b.Ledger.Open(b.ctx(), ledger.Opening{Account: task, Limits: hard(100 * cent)})
			require.NoError(b, err)
			require.True(b, bal.Closed, "opening again doesn't start over")
		}},
		{"a slice grows out of its parent and shrinks into it", func(b bench) {
			task := b.task(100 * cent)
			slice := b.open(task.Child("s"), ledger.Slice, hard(50*cent))
			adjust := func(id ledger.AccountID, approval string, limit ledger.Nano) error {
				_, err := b.Ledger.Adjust(b.ctx(), ledger.Adjustment{Account: id, Approval: approval, Limits: hard(limit)})
				return err
			}
			d := b.denied(adjust(slice, "too much", 101*cent), ledger.ErrBudgetExceeded, task)
			require.Equal(b, 51*cent, d.Need)
			require.NoError(b, adjust(slice, "more", 80*cent))
			require.Equal(b, 80*cent, b.balance(task).Allocated)
			b.reserve(slice, "a", 60*cent)
			require.NoError(b, adjust(slice, "less", 70*cent))
			require.Equal(b, 70*cent, b.balance(task).Allocated)
			require.NoError(b, adjust(slice, "stop", 0))
			require.Equal(b, 60*cent, b.balance(slice).Limits.Hard, "money that left can't be taken back")
			require.Equal(b, 60*cent, b.balance(task).Allocated)
			b.denied(b.try(slice, "b", 1), ledger.ErrBudgetExceeded, slice)
			require.NoError(b, adjust(task, "stop all", 0))
			b.denied(b.try(task, "c", 1), ledger.ErrBudgetExceeded, task)
			require.ErrorIs(b, adjust(newTask(), "nobody", cent), ledger.ErrNoAccount)
		}},
		{"phantom reservations: the total isn't the sum", func(b bench) {
			task := b.task(100 * cent)
			view := b.open(task.Child("v"), ledger.Cap, hard(100*cent))
			slice := b.open(task.Child("s"), ledger.Slice, hard(20*cent))
			for i := range 10 {
				b.reserve([]ledger.AccountID{task, view, slice}[i%3], fmt.Sprintf("call-%d", i), ledger.Nano(i))
			}
			b.commit(key(task, "call-9"), 3)
			require.NoError(b, b.Ledger.Release(b.ctx(), key(view, "call-4"), ledger.Proof{Reason: ledger.NotDispatched}))
			var all, inView ledger.Nano
			pending, err := b.Ledger.Pending(b.ctx(), task)
			require.NoError(b, err)
			for _, e := range pending {
				all += e.Request.Amount
				if e.Request.Key.Account.Within(view) {
					inView += e.Request.Amount
				}
			}
			require.Len(b, pending, 8)
			require.Equal(b, key(task, "call-0"), pending[0].Request.Key)
			require.Equal(b, all, b.balance(task).Held)
			require.Equal(b, inView, b.balance(view).Held)
			require.Equal(b, ledger.Nano(2+5+8), b.balance(slice).Held)
		}},
		{"small amounts are rounded away", func(b bench) {
			task := b.task(100 * cent)
			for i := range 1000 {
				b.commit(b.reserve(task, fmt.Sprint(i), 3_100), 3_099)
			}
			require.Equal(b, ledger.Nano(3_099_000), b.balance(task).Committed)
		}},
		{"large amounts lose their last digit", func(b bench) {
			task := b.task(ledger.MaxAmount)
			b.commit(b.reserve(task, "a", ledger.MaxAmount-1), ledger.MaxAmount-2)
			bal := b.balance(task)
			require.Equal(b, ledger.MaxAmount-2, bal.Committed)
			require.Equal(b, ledger.Nano(2), bal.Available())
			b.denied(b.try(task, "b", 3), ledger.ErrBudgetExceeded, task)
			b.reserve(task, "b", 2)
			_, err := b.Ledger.Commit(b.ctx(), key(task, "stray"), paid(3))
			require.ErrorIs(b, err, ledger.ErrInvalid, "books beyond the range of exact integers")
			require.Equal(b, ledger.MaxAmount-2, b.balance(task).Committed)
		}},
		{"the version rises with every change", func(b bench) {
			task := b.task(100 * cent)
			last := b.balance(task).Version
			require.Positive(b, last)
			for i := range 3 {
				b.commit(b.reserve(task, fmt.Sprint(i), cent), cent)
				now := b.balance(task).Version
				require.Greater(b, now, last)
				last = now
			}
			require.Equal(b, last, b.balance(task).Version)
		}},
	}
}

// arguments holds the cases about calls that make no sense.
func arguments() []contractCase {
	return []contractCase{
		{"nonsense is refused and changes nothing", func(b bench) {
			task := b.task(100 * cent)
			before := b.balance(task)
			for _, o := range []ledger.Opening{
				{},
				{Account: newTask()}, // no limit is not unlimited
				{Account: newTask(), Limits: hard(-1)},
				{Account: newTask(), Limits: hard(ledger.MaxAmount + 1)},
				{Account: newTask(), Limits: ledger.Limits{Soft: 2, Hard: 1}},
				{Account: newTask(), Limits: ledger.Limits{Target: 2, Soft: 1, Hard: 3}},
				{Account: newTask(), Limits: ledger.Limits{Target: 2, Hard: 1}},
				{Account: "a//b", Limits: hard(1)},
				{Account: "/a", Limits: hard(1)},
				{Account: "a/", Limits: hard(1)},
				{Account: "a b", Limits: hard(1)},
				{Account: "{a}", Limits: hard(1)},
				{Account: "é", Limits: hard(1)},
				{Account: ledger.AccountID(strings.Repeat("a", 257)), Limits: hard(1)},
				{Account: ledger.AccountID(strings.Repeat("a/", 16) + "a"), Limits: hard(1)},
				{Account: task.Child("x"), Mode: "loan", Limits: hard(1)},
			} {
				_, err := b.Ledger.Open(b.ctx(), o)
				require.ErrorIs(b, err, ledger.ErrInvalid, "%+v", o)
			}
			for _, r := range []ledger.Request{
				{Key: key(task, "")},
				{Key: key(task, strings.Repeat("c", 257))},
				{Key: key(task, "\xff")},
				{Key: ledger.Key{Account: task, Call: "a"}},
				{Key: ledger.Key{Account: task, Call: "a", Attempt: -1}},
				{Key: key(task, "a"), Amount: -1},
				{Key: key(task, "a"), Amount: ledger.MaxAmount + 1},
				{Key: key(task, "a"), Lease: -1},
			} {
				_, err := b.Ledger.Reserve(b.ctx(), r)
				require.ErrorIs(b, err, ledger.ErrInvalid, "%+v", r)
			}
			require.Equal(b, before, b.balance(task))
			k := b.reserve(task, "a", cent)
			for _, c := range []ledger.Charge{
				{Actual: 1},
				{Source: "guess", Actual: 1},
				{Source: ledger.SourceProvider, Actual: -1},
				{Source: ledger.SourceProvider, Actual: ledger.MaxAmount + 1},
			} {
				_, err := b.Ledger.Commit(b.ctx(), k, c)
				require.ErrorIs(b, err, ledger.ErrInvalid, "%+v", c)
			}
			require.ErrorIs(b, b.Ledger.Extend(b.ctx(), k, 0), ledger.ErrInvalid)
			for _, a := range []ledger.Adjustment{
				{Account: task, Limits: hard(1)},
				{Account: task, Approval: "a", Limits: hard(-1)},
				{Account: task, Approval: "a", Limits: ledger.Limits{Soft: 2, Hard: 1}},
			} {
				_, err := b.Ledger.Adjust(b.ctx(), a)
				require.ErrorIs(b, err, ledger.ErrInvalid, "%+v", a)
			}
			require.Equal(b, cent, b.balance(task).Reserved)
		}},
		{"a key is one account's", func(b bench) {
			task := b.task(100 * cent)
			child := b.open(task.Child("c"), ledger.Cap, hard(50*cent))
			b.reserve(child, "a", cent)
			_, err := b.Ledger.Commit(b.ctx(), key(task, "a"), paid(cent))
			require.ErrorIs(b, err, ledger.ErrConflict)
			require.ErrorIs(b, b.Ledger.Release(b.ctx(), key(task, "a"), ledger.Proof{Reason: ledger.NotDispatched}), ledger.ErrConflict)
			require.Equal(b, cent, b.balance(task).Reserved)
		}},
		{"calls and labels may hold any text", func(b bench) {
			task := b.task(100 * cent)
			for _, call := range []string{"{x}", "a|b", "a:1", "1:a", "é\n\x00", `"`, "-0", "1e3"} {
				k := key(task, call)
				_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: k, Amount: 1, Estimate: ledger.Estimate{What: "\"é\n"}})
				require.NoError(b, err, call)
				e, err := b.Ledger.Entry(b.ctx(), k)
				require.NoError(b, err, call)
				require.Equal(b, k, e.Request.Key)
				_, err = b.Ledger.Commit(b.ctx(), k, ledger.Charge{Source: ledger.SourceObserved, Actual: 1, ResponseID: call, Usage: prices.Usage{Input: 1}})
				require.NoError(b, err, call)
			}
			require.Equal(b, ledger.Nano(8), b.balance(task).Committed)
		}},
		{"refusals are typed, final and complete", func(b bench) {
			task := b.task(100 * cent)
			b.reserve(task, "a", 90*cent)
			d := b.denied(b.try(task, "b", 30*cent), ledger.ErrBudgetExceeded, task)
			require.Equal(b, "task_budget_exceeded", d.Code)
			require.Equal(b, "task_budget_exceeded: account "+string(task)+" has $0.10 left of $1.00, $0.30 is needed ($0.00 spent, $0.90 held)", d.Error())
			require.Equal(b, 90*cent, d.Balance.Reserved)
			var op *ledger.OpError
			require.ErrorAs(b, b.try(newTask(), "b", cent), &op)
			require.False(b, op.Retryable())
			require.Equal(b, "reserve", op.Op)
		}},
	}
}
