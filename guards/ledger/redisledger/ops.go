// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/gardefou/gardefou/guards/ledger"
)

// balance runs a script whose answer ends with the account's balance, and reads what comes
// before it.
func (l *Ledger) balance(ctx context.Context, s *rueidis.Lua, c call, before func(*decoder), args ...string) (ledger.Balance, *decoder, error) {
	answer, err := l.run(ctx, s, c, args...)
	if err != nil {
		return ledger.Balance{}, nil, err
	}
	d := &decoder{rest: answer}
	if before != nil {
		before(d)
	}
	b := d.balance()
	if d.err != nil {
		return ledger.Balance{}, nil, c.fail(d.err)
	}
	l.saw(b)
	return b, d, nil
}

// Open implements [ledger.Ledger].
func (l *Ledger) Open(ctx context.Context, o ledger.Opening) (ledger.Balance, error) {
	if err := o.Check(); err != nil {
		return ledger.Balance{}, err
	}
	if o.Account.Parent() == "" {
		o.Mode = ledger.Slice
	}
	c := call{op: "open", account: o.Account, need: o.Limits.Hard}
	opening, err := text(o)
	if err != nil {
		return ledger.Balance{}, c.fail(err)
	}
	b, _, err := l.balance(ctx, openScript, c, nil, mode(o.Mode), amount(o.Limits.Target), amount(o.Limits.Soft), amount(o.Limits.Hard), opening)
	return b, err
}

// Reserve implements [ledger.Ledger].
func (l *Ledger) Reserve(ctx context.Context, r ledger.Request) (ledger.Reservation, error) {
	if err := r.Check(); err != nil {
		return ledger.Reservation{}, err
	}
	c := call{op: "reserve", account: r.Key.Account, key: r.Key, need: r.Amount}
	estimate, err := text(r.Estimate)
	if err != nil {
		return ledger.Reservation{}, c.fail(err)
	}
	lease := r.Lease
	if lease == 0 {
		lease = ledger.DefaultLease
	}
	out := ledger.Reservation{Key: r.Key, Amount: r.Amount}
	out.Balance, _, err = l.balance(ctx, reserveScript, c, func(d *decoder) {
		out.Duplicate = d.next() == "1"
		out.State = ledger.State(d.next())
		out.Expires = d.time()
	}, field(r.Key), amount(r.Amount), milliseconds(lease), estimate, flag(r.Estimate.Quote.Free()), rand.Text(), strconv.FormatInt(int64(r.Lease), 10))
	if err != nil {
		return ledger.Reservation{}, err
	}
	return out, nil
}

// Extend implements [ledger.Ledger].
func (l *Ledger) Extend(ctx context.Context, k ledger.Key, lease time.Duration) error {
	if err := ledger.CheckExtend(k, lease); err != nil {
		return err
	}
	_, _, err := l.balance(ctx, extendScript, call{op: "extend", account: k.Account, key: k}, nil, field(k), milliseconds(lease))
	return err
}

// Commit implements [ledger.Ledger]. It works under a cancelled context too: the call has happened.
func (l *Ledger) Commit(ctx context.Context, k ledger.Key, charge ledger.Charge) (ledger.Receipt, error) {
	if err := charge.Check(k); err != nil {
		return ledger.Receipt{}, err
	}
	c := call{op: "commit", account: k.Account, key: k}
	doubted := charge.Chargeable(false)
	kept, err := text(charge)
	if err != nil {
		return ledger.Receipt{}, c.fail(err)
	}
	unknown, err := text(doubted)
	if err != nil {
		return ledger.Receipt{}, c.fail(err)
	}
	out := ledger.Receipt{Key: k}
	out.Balance, _, err = l.balance(context.WithoutCancel(ctx), commitScript, c, func(d *decoder) {
		out.Duplicate = d.next() == "1"
		out.Reserved, out.Charged, out.Overrun = d.nano(), d.nano(), d.nano()
		out.Orphan = d.next() == "1"
		for _, id := range strings.Fields(d.next()) {
			out.TargetsPassed = append(out.TargetsPassed, ledger.AccountID(id))
		}
	}, field(k), string(charge.Source), amount(charge.Actual), kept, unknown, flag(doubted.Source != charge.Source))
	if err != nil {
		return ledger.Receipt{}, err
	}
	return out, nil
}

// Release implements [ledger.Ledger]. It works under a cancelled context too.
func (l *Ledger) Release(ctx context.Context, k ledger.Key, p ledger.Proof) error {
	if err := p.Check(k); err != nil {
		return err
	}
	c := call{op: "release", account: k.Account, key: k}
	proof, err := text(p)
	if err != nil {
		return c.fail(err)
	}
	_, _, err = l.balance(context.WithoutCancel(ctx), releaseScript, c, nil, field(k), proof)
	return err
}

// Balance implements [ledger.Ledger].
func (l *Ledger) Balance(ctx context.Context, id ledger.AccountID) (ledger.Balance, error) {
	b, _, err := l.balance(ctx, balanceScript, call{op: "balance", account: id}, nil)
	return b, err
}

// Entry implements [ledger.Ledger].
func (l *Ledger) Entry(ctx context.Context, k ledger.Key) (ledger.Entry, error) {
	c := call{op: "entry", account: k.Account, key: k}
	_, d, err := l.balance(ctx, entryScript, c, nil, field(k))
	if err != nil {
		return ledger.Entry{}, err
	}
	e := d.entry()
	if d.err != nil {
		return ledger.Entry{}, c.fail(d.err)
	}
	return e, nil
}

// Pending implements [ledger.Ledger].
func (l *Ledger) Pending(ctx context.Context, id ledger.AccountID) ([]ledger.Entry, error) {
	c := call{op: "pending", account: id}
	_, d, err := l.balance(ctx, pendingScript, c, nil)
	if err != nil {
		return nil, err
	}
	var list []ledger.Entry
	for len(d.rest) > 0 {
		list = append(list, d.entry())
	}
	if d.err != nil {
		return nil, c.fail(d.err)
	}
	ledger.SortEntries(list)
	return list, nil
}

// Close implements [ledger.Ledger].
func (l *Ledger) Close(ctx context.Context, id ledger.AccountID) (ledger.Balance, error) {
	b, _, err := l.balance(ctx, closeScript, call{op: "close", account: id}, nil)
	return b, err
}

// Adjust implements [ledger.Ledger].
func (l *Ledger) Adjust(ctx context.Context, a ledger.Adjustment) (ledger.Balance, error) {
	if err := a.Check(); err != nil {
		return ledger.Balance{}, err
	}
	c := call{op: "adjust", account: a.Account}
	adjustment, err := text(a)
	if err != nil {
		return ledger.Balance{}, c.fail(err)
	}
	b, _, err := l.balance(ctx, adjustScript, c, nil, a.Approval, amount(a.Limits.Target), amount(a.Limits.Soft), amount(a.Limits.Hard), adjustment)
	return b, err
}
