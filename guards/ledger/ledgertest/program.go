// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gardefou/gardefou/guards/ledger"
)

// program runs random operations on a ledger and on the model side by side.
type program struct {
	b     bench
	model *model
	task  ledger.AccountID
	// billed is what a provider that always bills the worst case took; unbounded is set once a
	// call was billed more than it reserved.
	billed    ledger.Nano
	unbounded bool
	sent      map[ledger.Key]ledger.Nano
	version   int64
}

func differential(t *testing.T, f Fixture) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &program{b: bench{t, f}, model: newModel(), task: newTask(), sent: map[ledger.Key]ledger.Nano{}}
		p.same(rt, p.model.open(ledger.Opening{Account: p.task, Limits: hard(100)}), second(f.Ledger.Open(t.Context(), ledger.Opening{Account: p.task, Limits: hard(100)})))
		rt.Repeat(map[string]func(*rapid.T){
			"":        p.check,
			"open":    p.open,
			"reserve": p.reserve,
			"commit":  p.commit,
			"release": p.release,
			"close":   p.close,
			"adjust":  p.adjust,
			"expire":  p.expire,
		})
	})
}

func second[T any](_ T, err error) error { return err }

// same requires that the ledger answers as the model does.
func (p *program) same(t *rapid.T, want, got error) {
	if want == nil {
		require.NoError(t, got)
		return
	}
	require.ErrorIs(t, got, want)
}

func (p *program) account(t *rapid.T) ledger.AccountID {
	name := rapid.SampledFrom([]string{"", "/a", "/b", "/a/x", "/a/x/y", "/b/z"}).Draw(t, "account")
	return p.task + ledger.AccountID(name)
}

func (p *program) key(t *rapid.T) ledger.Key {
	// Half of the time a key that exists, so that repeats and conflicts are common.
	if n := len(p.model.calls); n > 0 && rapid.Bool().Draw(t, "known key") {
		if k := p.model.calls[rapid.IntRange(0, n-1).Draw(t, "which")].request.Key; k.Call != "" {
			return k
		}
	}
	return ledger.Key{
		Account: p.account(t),
		Call:    rapid.SampledFrom([]string{"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"}).Draw(t, "call"),
		Attempt: rapid.IntRange(1, 2).Draw(t, "attempt"),
	}
}

func amount(t *rapid.T, most int) ledger.Nano {
	return ledger.Nano(rapid.IntRange(0, most).Draw(t, "amount"))
}

func limits(t *rapid.T) ledger.Limits {
	l := ledger.Limits{Hard: ledger.Nano(rapid.IntRange(1, 60).Draw(t, "hard"))}
	if rapid.IntRange(0, 3).Draw(t, "has soft") == 0 {
		l.Soft = ledger.Nano(rapid.IntRange(1, int(l.Hard)).Draw(t, "soft"))
	}
	return l
}

func (p *program) open(t *rapid.T) {
	o := ledger.Opening{Account: p.account(t), Mode: rapid.SampledFrom([]ledger.Mode{ledger.Slice, ledger.Cap}).Draw(t, "mode"), Limits: limits(t)}
	if o.Account == p.task {
		o.Mode = ledger.Slice
	}
	p.same(t, p.model.open(o), second(p.b.Ledger.Open(p.b.ctx(), o)))
}

func (p *program) reserve(t *rapid.T) {
	r := ledger.Request{Key: p.key(t), Amount: amount(t, 30), Lease: time.Hour}
	if rapid.IntRange(0, 9).Draw(t, "estimate") == 0 {
		r.Estimate.What = "other"
	}
	duplicate, want := p.model.reserve(r)
	got, err := p.b.Ledger.Reserve(p.b.ctx(), r)
	p.same(t, want, err)
	if err != nil {
		return
	}
	require.Equal(t, duplicate, got.Duplicate)
	if !duplicate {
		// The provider bills the worst case at once, whatever the ledger hears of it later.
		p.sent[r.Key] = r.Amount
		p.billed += r.Amount
	}
}

func (p *program) commit(t *rapid.T) {
	k := p.key(t)
	var c ledger.Charge
	known := p.model.find(k)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0: // unknown
	case 1: // any amount, an overrun or a stray among them
		c = paid(amount(t, 40))
	default: // within the reservation
		most := 0
		if known != nil {
			most = int(known.request.Amount)
		}
		c = paid(amount(t, most))
	}
	before := map[ledger.AccountID]ledger.Nano{}
	for id := range p.model.accounts {
		before[id] = p.model.balance(id).Spent
	}
	duplicate, want := p.model.commit(k, c)
	got, err := p.b.Ledger.Commit(p.b.ctx(), k, c)
	p.same(t, want, err)
	if err != nil {
		return
	}
	require.Equal(t, duplicate, got.Duplicate)
	now := p.model.find(k)
	if p.model.accounts[p.task].closed && now == nil {
		return
	}
	require.Equal(t, now.charged, got.Charged)
	require.Equal(t, now.overrun, got.Overrun)
	require.Equal(t, now.orphan, got.Orphan)
	if !duplicate {
		p.billed += got.Charged - p.sent[k] // the bill turned out to be this
		delete(p.sent, k)
		p.unbounded = p.unbounded || got.Overrun > 0
	}
}

func (p *program) release(t *rapid.T) {
	k := p.key(t)
	proof := rapid.SampledFrom([]ledger.Proof{{Reason: ledger.NotDispatched}, {Reason: ledger.ProviderUnbilled, Detail: "HTTP 503"}}).Draw(t, "proof")
	want := p.model.release(k, proof)
	p.same(t, want, p.b.Ledger.Release(p.b.ctx(), k, proof))
	if want == nil {
		p.billed -= p.sent[k]
		delete(p.sent, k)
	}
}

func (p *program) close(t *rapid.T) {
	id := p.account(t)
	if id == p.task && rapid.IntRange(0, 9).Draw(t, "really") > 0 {
		return // a closed task makes the rest of the program dull
	}
	p.same(t, p.model.close(id), second(p.b.Ledger.Close(p.b.ctx(), id)))
}

func (p *program) adjust(t *rapid.T) {
	j := ledger.Adjustment{Account: p.account(t), Approval: fmt.Sprintf("approval-%d", rapid.IntRange(1, 6).Draw(t, "approval")), Limits: limits(t)}
	if before, ok := p.model.approved[j.Approval]; ok && rapid.Bool().Draw(t, "repeat") {
		j = before
	}
	p.same(t, p.model.adjust(j), second(p.b.Ledger.Adjust(p.b.ctx(), j)))
}

func (p *program) expire(*rapid.T) {
	p.b.Elapse(2 * time.Hour)
	p.model.expire()
}

// check compares every account with the model, and both with what must always hold.
func (p *program) check(t *rapid.T) {
	for id := range p.model.accounts {
		got, err := p.b.Ledger.Balance(p.b.ctx(), id)
		require.NoError(t, err)
		require.GreaterOrEqual(t, got.Version, p.version)
		p.version = got.Version
		got.Version = 0
		require.Equal(t, p.model.balance(id), got)
		requireSound(t, got)
	}
	root := p.model.balance(p.task)
	require.LessOrEqual(t, p.billed, root.Spent+root.Held, "billed, but on no account")
	if !p.unbounded {
		// The limit may have been lowered since, never below what was used.
		require.LessOrEqual(t, p.billed, root.Limits.Hard)
		require.Zero(t, root.Overrun)
	}
	pending, err := p.b.Ledger.Pending(p.b.ctx(), p.task)
	require.NoError(t, err)
	var held ledger.Nano
	for _, e := range pending {
		held += e.Request.Amount
	}
	require.Equal(t, root.Held, held)
}

// permutations settles the same calls in two orders.
func permutations(t *testing.T, f Fixture) {
	rapid.Check(t, func(rt *rapid.T) {
		costs := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 8).Draw(rt, "costs")
		order := rapid.Permutation(indices(len(costs))).Draw(rt, "order")
		b := bench{t, f}
		books := func(order []int) (bs []ledger.Balance) {
			task := b.task(100)
			ids := []ledger.AccountID{task, b.open(task.Child("v"), ledger.Cap, hard(40)), b.open(task.Child("s"), ledger.Slice, hard(30))}
			for i := range costs {
				b.reserve(ids[i%3], fmt.Sprint(i), 10)
			}
			for _, i := range order {
				b.commit(key(ids[i%3], fmt.Sprint(i)), ledger.Nano(costs[i]))
			}
			for _, id := range ids {
				bal := b.balance(id)
				bal.Account = "" // the tasks have different names
				bs = append(bs, bal)
			}
			return bs
		}
		require.Equal(rt, books(indices(len(costs))), books(order))
	})
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// crowd lets callers reserve, settle, crash and repeat at once, and compares the books with a
// provider that bills the worst case of every call that was sent.
func crowd(t *testing.T, f Fixture) {
	b := bench{t, f}
	const limit = 1000
	task := b.task(limit)
	ids := []ledger.AccountID{task, b.open(task.Child("v"), ledger.Cap, hard(700)), b.open(task.Child("s"), ledger.Slice, hard(300))}
	ids = append(ids, b.open(ids[2].Child("w"), ledger.Cap, hard(200)))
	var mu sync.Mutex
	var billed ledger.Nano
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 60 {
				k := ledger.Key{Account: ids[(worker+i)%len(ids)], Call: fmt.Sprintf("%d-%d", worker, i), Attempt: 1}
				amount := ledger.Nano(1 + (worker*7+i*13)%40)
				if _, err := f.Ledger.Reserve(t.Context(), ledger.Request{Key: k, Amount: amount}); err != nil {
					if !errors.Is(err, ledger.ErrBudgetExceeded) {
						t.Error(err)
					}
					continue
				}
				cost := amount
				switch i % 4 {
				case 0: // unbilled, and said so twice
					cost = 0
					for range 2 {
						if err := f.Ledger.Release(t.Context(), k, ledger.Proof{Reason: ledger.NotDispatched}); err != nil {
							t.Error(err)
						}
					}
				case 1: // never heard of again
				case 2:
					cost = amount / 2
					fallthrough
				default:
					for range 2 {
						if _, err := f.Ledger.Commit(t.Context(), k, paid(cost)); err != nil {
							t.Error(err)
						}
					}
				}
				mu.Lock()
				billed += cost
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	bal := b.balance(task)
	require.LessOrEqual(t, billed, ledger.Nano(limit))
	require.Equal(t, billed, bal.Spent+bal.Held)
	for _, id := range ids {
		b.balance(id)
	}
}
