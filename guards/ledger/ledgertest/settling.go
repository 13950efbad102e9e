// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledgertest

import (
	"context"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// settling holds the cases about what a call turns out to have cost.
func settling() []contractCase {
	return []contractCase{
		{"never reconciled: the worst case is charged for good", func(b bench) {
			task := b.task(100 * cent)
			r := b.commit(b.reserve(task, "a", 90*cent), 7*cent)
			require.Equal(b, 7*cent, r.Charged)
			require.Equal(b, 90*cent, r.Reserved)
			bal := b.balance(task)
			require.Equal(b, bal, r.Balance)
			require.Equal(b, 7*cent, bal.Committed)
			require.Equal(b, 7*cent, bal.Spent)
			require.Zero(b, bal.Reserved+bal.Held+bal.Overrun)
		}},
		{"the estimate, the price row and the response id are kept", func(b bench) {
			quote, err := prices.Default().Quote(prices.Query{Backend: "gemini", Model: "gemini-2.5-flash"}, time.Unix(1_795_000_000, 0), time.Unix(1_795_000_600, 0))
			require.NoError(b, err)
			task := b.task(100 * cent)
			k := key(task, "a")
			request := ledger.Request{Key: k, Amount: cent, Lease: time.Minute, Estimate: ledger.Estimate{
				What: "gemini-2.5-flash", Quote: quote, Bound: prices.Bound{Input: 100, Output: 10}, Method: "bytes", Proven: true,
			}}
			_, err = b.Ledger.Reserve(b.ctx(), request)
			require.NoError(b, err)
			charge := ledger.Charge{Source: ledger.SourceProvider, Actual: 5, Usage: prices.Usage{Input: 90, Output: 3, CacheRead: 10}, ResponseID: "resp-1", Model: "gemini-2.5-flash-001"}
			_, err = b.Ledger.Commit(b.ctx(), k, charge)
			require.NoError(b, err)
			e, err := b.Ledger.Entry(b.ctx(), k)
			require.NoError(b, err)
			require.Equal(b, ledger.StateCommitted, e.State)
			require.Equal(b, request, e.Request)
			require.Equal(b, charge, e.Charge)
			require.Equal(b, ledger.Nano(5), e.Charged)
		}},
		{"cancelled: the charge is never recorded", func(b bench) {
			task := b.task(100 * cent)
			k := b.reserve(task, "a", 30*cent)
			ctx, cancel := context.WithCancel(b.ctx())
			cancel()
			_, err := b.Ledger.Reserve(ctx, ledger.Request{Key: key(task, "b"), Amount: cent})
			require.ErrorIs(b, err, ledger.ErrUnavailable)
			require.ErrorIs(b, err, context.Canceled)
			_, err = b.Ledger.Commit(ctx, k, paid(10*cent))
			require.NoError(b, err, "the call has happened")
			require.Equal(b, 10*cent, b.balance(task).Committed)
		}},
		{"unknown usage settled at zero", func(b bench) {
			task := b.task(100 * cent)
			r, err := b.Ledger.Commit(b.ctx(), b.reserve(task, "a", 30*cent), ledger.Charge{ResponseID: "x"})
			require.NoError(b, err)
			require.Equal(b, 30*cent, r.Charged)
		}},
		{"a cost of zero beside tokens is taken for the truth", func(b bench) {
			task := b.task(100 * cent)
			r, err := b.Ledger.Commit(b.ctx(), b.reserve(task, "a", 30*cent), ledger.Charge{Source: ledger.SourceProvider, Usage: prices.Usage{Input: 10}})
			require.NoError(b, err)
			require.Equal(b, 30*cent, r.Charged)
			r, err = b.Ledger.Commit(b.ctx(), b.reserve(task, "b", 30*cent), ledger.Charge{Source: ledger.SourceProvider})
			require.NoError(b, err)
			require.Zero(b, r.Charged)
			free := ledger.Request{Key: key(task, "c"), Estimate: ledger.Estimate{Quote: prices.Quote{Rows: []prices.Row{{Free: true}}}}, Amount: 0}
			_, err = b.Ledger.Reserve(b.ctx(), free)
			require.NoError(b, err)
			r, err = b.Ledger.Commit(b.ctx(), free.Key, ledger.Charge{Source: ledger.SourceProvider, Usage: prices.Usage{Input: 10}})
			require.NoError(b, err)
			require.Zero(b, r.Charged)
		}},
		{"above the reservation: clamped", func(b bench) {
			task := b.task(100 * cent)
			r := b.commit(b.reserve(task, "a", 90*cent), 115*cent)
			require.Equal(b, 25*cent, r.Overrun)
			bal := b.balance(task)
			require.Equal(b, 115*cent, bal.Committed)
			require.Equal(b, 25*cent, bal.Overrun)
			require.Zero(b, bal.Available())
			b.denied(b.try(task, "b", 0), ledger.ErrBudgetExceeded, task)
		}},
		{"an overrun inside a slice reaches the root at once", func(b bench) {
			task := b.task(100 * cent)
			slice := b.open(task.Child("s"), ledger.Slice, hard(50*cent))
			inner := b.open(slice.Child("i"), ledger.Slice, hard(20*cent))
			b.commit(b.reserve(inner, "a", 20*cent), 35*cent)
			for _, id := range []ledger.AccountID{task, slice} {
				require.Equal(b, 15*cent, b.balance(id).Committed, id)
				require.Equal(b, 15*cent, b.balance(id).Overrun, id)
			}
			b.denied(b.try(task, "own", 36*cent), ledger.ErrBudgetExceeded, task)
			for _, id := range []ledger.AccountID{inner, slice} {
				_, err := b.Ledger.Close(b.ctx(), id)
				require.NoError(b, err)
			}
			bal := b.balance(task)
			require.Equal(b, 35*cent, bal.Committed)
			require.Equal(b, 35*cent, bal.Spent)
			require.Zero(b, bal.Allocated)
			b.reserve(task, "own", 65*cent)
		}},
		{"given back when the lease ends", func(b bench) {
			task := b.task(100 * cent)
			_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: key(task, "crashed"), Amount: 60 * cent, Lease: time.Minute})
			require.NoError(b, err)
			b.Elapse(59 * time.Second)
			require.Equal(b, 60*cent, b.balance(task).Reserved)
			b.Elapse(2 * time.Second)
			bal := b.balance(task)
			require.Equal(b, 60*cent, bal.Unsettled)
			require.Zero(b, bal.Reserved)
			require.Equal(b, 60*cent, bal.Held)
			b.denied(b.try(task, "next", 41*cent), ledger.ErrBudgetExceeded, task)
			b.Elapse(1000 * time.Hour)
			b.denied(b.try(task, "next", 41*cent), ledger.ErrBudgetExceeded, task)

			pending, err := b.Ledger.Pending(b.ctx(), task)
			require.NoError(b, err)
			require.Len(b, pending, 1)
			require.Equal(b, ledger.StateUnsettled, pending[0].State)
			require.Equal(b, key(task, "crashed"), pending[0].Request.Key)
			require.ErrorIs(b, b.Ledger.Extend(b.ctx(), key(task, "crashed"), time.Minute), ledger.ErrLeaseEnded)
			require.Equal(b, 45*cent, b.commit(key(task, "crashed"), 45*cent).Charged, "the news came late")
			b.reserve(task, "next", 55*cent)
		}},
		{"unsettled, then proven unbilled", func(b bench) {
			task := b.task(100 * cent)
			_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: key(task, "a"), Amount: 60 * cent, Lease: time.Second})
			require.NoError(b, err)
			b.Elapse(time.Hour)
			require.Equal(b, 60*cent, b.balance(task).Unsettled)
			require.NoError(b, b.Ledger.Release(b.ctx(), key(task, "a"), ledger.Proof{Reason: ledger.ProviderUnbilled, Detail: "HTTP 503"}))
			require.Zero(b, b.balance(task).Used())
		}},
		{"a long stream outlives its lease", func(b bench) {
			task := b.task(100 * cent)
			k := key(task, "stream")
			_, err := b.Ledger.Reserve(b.ctx(), ledger.Request{Key: k, Amount: cent, Lease: time.Minute})
			require.NoError(b, err)
			for range 3 {
				b.Elapse(50 * time.Second)
				require.NoError(b, b.Ledger.Extend(b.ctx(), k, time.Minute))
			}
			require.NoError(b, b.Ledger.Extend(b.ctx(), k, time.Second), "never shortens")
			b.Elapse(50 * time.Second)
			require.Equal(b, cent, b.balance(task).Reserved)
			require.ErrorIs(b, b.Ledger.Extend(b.ctx(), key(task, "other"), time.Minute), ledger.ErrNoReservation)
		}},
		{"given back without proof", func(b bench) {
			task := b.task(100 * cent)
			k := b.reserve(task, "a", 30*cent)
			for _, p := range []ledger.Proof{{}, {Reason: "surely not billed"}, {Reason: ledger.ProviderUnbilled}} {
				require.ErrorIs(b, b.Ledger.Release(b.ctx(), k, p), ledger.ErrInvalid)
			}
			require.Equal(b, 30*cent, b.balance(task).Reserved)
			require.NoError(b, b.Ledger.Release(b.ctx(), k, ledger.Proof{Reason: ledger.NotDispatched}))
			require.Zero(b, b.balance(task).Used())
		}},
		{"given back twice, clamped at zero", func(b bench) {
			task := b.task(100 * cent)
			a := b.reserve(task, "a", 30*cent)
			b.reserve(task, "b", 30*cent)
			proof := ledger.Proof{Reason: ledger.NotDispatched}
			require.NoError(b, b.Ledger.Release(b.ctx(), a, proof))
			require.NoError(b, b.Ledger.Release(b.ctx(), a, proof), "a repeat changes nothing")
			require.Equal(b, 30*cent, b.balance(task).Reserved)
			proof.Detail = "another story"
			require.ErrorIs(b, b.Ledger.Release(b.ctx(), a, proof), ledger.ErrConflict)
			_, err := b.Ledger.Commit(b.ctx(), a, paid(cent))
			require.ErrorIs(b, err, ledger.ErrConflict)
			require.Equal(b, 30*cent, b.balance(task).Used())
			require.ErrorIs(b, b.Ledger.Release(b.ctx(), key(task, "none"), ledger.Proof{Reason: ledger.NotDispatched}), ledger.ErrNoReservation)
		}},
		{"settled twice: charged twice", func(b bench) {
			task := b.task(100 * cent)
			k := b.reserve(task, "a", 30*cent)
			first := b.commit(k, 20*cent)
			require.False(b, first.Duplicate)
			second := b.commit(k, 20*cent)
			require.True(b, second.Duplicate)
			second.Duplicate = false
			require.Equal(b, first, second)
			_, err := b.Ledger.Commit(b.ctx(), k, paid(21*cent))
			require.ErrorIs(b, err, ledger.ErrConflict)
			require.ErrorIs(b, b.Ledger.Release(b.ctx(), k, ledger.Proof{Reason: ledger.NotDispatched}), ledger.ErrConflict)
			require.Equal(b, 20*cent, b.balance(task).Committed)
		}},
		{"settled by many at once", func(b bench) {
			task := b.task(100 * cent)
			k := b.reserve(task, "a", 30*cent)
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() { _, _ = b.Ledger.Commit(b.ctx(), k, paid(20*cent)) })
				wg.Go(func() { _ = b.Ledger.Release(b.ctx(), k, ledger.Proof{Reason: ledger.NotDispatched}) })
			}
			wg.Wait()
			bal := b.balance(task)
			require.Zero(b, bal.Held)
			e, err := b.Ledger.Entry(b.ctx(), k)
			require.NoError(b, err)
			if e.State == ledger.StateCommitted {
				require.Equal(b, 20*cent, bal.Used())
			} else {
				require.Equal(b, ledger.StateReleased, e.State)
				require.Zero(b, bal.Used())
			}
		}},
		{"the client's retry applies the reservation twice", func(b bench) {
			task := b.task(100 * cent)
			r := ledger.Request{Key: key(task, "a"), Amount: 30 * cent, Lease: time.Minute, Estimate: ledger.Estimate{What: "m"}}
			first, err := b.Ledger.Reserve(b.ctx(), r)
			require.NoError(b, err)
			require.False(b, first.Duplicate)
			r.Lease = time.Hour // no part of what the request is
			again, err := b.Ledger.Reserve(b.ctx(), r)
			require.NoError(b, err)
			require.True(b, again.Duplicate, "whoever gets this must not send the call a second time")
			require.Equal(b, 30*cent, b.balance(task).Reserved)

			for _, change := range []func(*ledger.Request){
				func(r *ledger.Request) { r.Amount++ },
				func(r *ledger.Request) { r.Estimate.What = "other" },
				func(r *ledger.Request) { r.Key.Account = b.open(task.Child("c"), ledger.Cap, hard(cent)) },
			} {
				other := r
				change(&other)
				_, err = b.Ledger.Reserve(b.ctx(), other)
				require.ErrorIs(b, err, ledger.ErrConflict)
			}
			require.Equal(b, 30*cent, b.balance(task).Reserved)
			b.commit(r.Key, cent)
			settled, err := b.Ledger.Reserve(b.ctx(), r)
			require.NoError(b, err)
			require.True(b, settled.Duplicate)
			require.Equal(b, ledger.StateCommitted, settled.State)
		}},
		{"a failed attempt of unknown cost blocks every retry", func(b bench) {
			task := b.task(100 * cent)
			k := b.reserve(task, "a", 60*cent)
			retry := ledger.Request{Key: ledger.Key{Account: task, Call: "a", Attempt: 2}, Amount: 60 * cent}
			_, err := b.Ledger.Reserve(b.ctx(), retry)
			b.denied(err, ledger.ErrBudgetExceeded, task)
			require.NoError(b, b.Ledger.Release(b.ctx(), k, ledger.Proof{Reason: ledger.ProviderUnbilled, Detail: "HTTP 429"}))
			_, err = b.Ledger.Reserve(b.ctx(), retry)
			require.NoError(b, err)
		}},
		{"a charge nobody reserved is dropped", func(b bench) {
			task := b.task(100 * cent)
			r := b.commit(key(task, "stray"), 30*cent)
			require.True(b, r.Orphan)
			require.Equal(b, 30*cent, r.Overrun)
			require.True(b, b.commit(key(task, "stray"), 30*cent).Duplicate)
			require.ErrorIs(b, b.try(task, "stray", 30*cent), ledger.ErrConflict)
			bal := b.balance(task)
			require.Equal(b, 30*cent, bal.Committed)
			require.Equal(b, 30*cent, bal.Overrun)
			require.Equal(b, 70*cent, bal.Available())
			_, err := b.Ledger.Commit(b.ctx(), key(task, "nothing"), ledger.Charge{})
			require.ErrorIs(b, err, ledger.ErrNoReservation)
			_, err = b.Ledger.Commit(b.ctx(), key(newTask(), "nowhere"), paid(cent))
			require.ErrorIs(b, err, ledger.ErrNoAccount)
		}},
		{"reservations live in the handle only", func(b bench) {
			if b.Reopen == nil {
				b.Skip("this store doesn't survive its process")
			}
			task := b.task(100 * cent)
			child := b.open(task.Child("c"), ledger.Slice, hard(50*cent))
			k := b.reserve(child, "a", 30*cent)
			b.commit(b.reserve(task, "b", 20*cent), 10*cent)
			b.Ledger = b.Reopen(b.T)
			bal := b.balance(child)
			require.Equal(b, 30*cent, bal.Reserved+bal.Unsettled)
			require.Equal(b, 10*cent, b.balance(task).Committed)
			require.Equal(b, 50*cent, b.balance(task).Allocated)
			require.True(b, b.commit(key(task, "b"), 10*cent).Duplicate)
			require.Equal(b, 30*cent, b.commit(k, 30*cent).Charged)
			b.open(child, ledger.Slice, hard(50*cent))
		}},
	}
}
