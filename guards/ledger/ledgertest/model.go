// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledgertest

import (
	"slices"

	"github.com/gardefou/gardefou/guards/ledger"
)

// model is the contract in its plainest form: it keeps what happened and adds everything up
// again for each question. It knows no leases; a program tells it when they end.
type model struct {
	accounts map[ledger.AccountID]*modelAccount
	calls    []*modelCall
	approved map[string]ledger.Adjustment
}

type modelAccount struct {
	opening ledger.Opening
	limits  ledger.Limits
	closed  bool
}

type modelCall struct {
	request          ledger.Request
	state            ledger.State
	charge           ledger.Charge
	charged, overrun ledger.Nano
	orphan           bool
	proof            ledger.Proof
}

func newModel() *model {
	return &model{accounts: map[ledger.AccountID]*modelAccount{}, approved: map[string]ledger.Adjustment{}}
}

// pool lists the accounts that id's money comes out of, innermost first.
func (m *model) pool(id ledger.AccountID) []ledger.AccountID {
	all := []ledger.AccountID{id}
	for m.accounts[id].opening.Mode == ledger.Cap && id.Parent() != "" {
		id = id.Parent()
		all = append(all, id)
	}
	return all
}

// inOpenSlice reports whether an open slice lies between the account and its ancestor.
func (m *model) inOpenSlice(id, ancestor ledger.AccountID) bool {
	for ; id != ancestor; id = id.Parent() {
		if a := m.accounts[id]; a.opening.Mode == ledger.Slice && !a.closed {
			return true
		}
	}
	return false
}

func (m *model) balance(id ledger.AccountID) ledger.Balance {
	a := m.accounts[id]
	b := ledger.Balance{Account: id, Mode: a.opening.Mode, Limits: a.limits, Closed: a.closed}
	for _, c := range m.calls {
		at := c.request.Key.Account
		if !at.Within(id) {
			continue
		}
		direct := slices.Contains(m.pool(at), id)
		switch c.state {
		case ledger.StateOpen:
			b.Held += c.request.Amount
			if direct {
				b.Reserved += c.request.Amount
			}
		case ledger.StateUnsettled:
			b.Held += c.request.Amount
			if direct {
				b.Unsettled += c.request.Amount
			}
		case ledger.StateCommitted:
			b.Spent += c.charged
			b.Overrun += c.overrun
			if m.inOpenSlice(at, id) {
				b.Committed += c.overrun
			} else {
				b.Committed += c.charged
			}
		default:
		}
	}
	for child, s := range m.accounts {
		if parent := child.Parent(); s.opening.Mode == ledger.Slice && !s.closed && parent != "" && slices.Contains(m.pool(parent), id) {
			b.Allocated += s.limits.Hard
		}
	}
	return b
}

func (m *model) fits(id ledger.AccountID, amount ledger.Nano) error {
	for _, a := range m.pool(id) {
		if b := m.balance(a); amount > b.Limits.Hard-b.Used() {
			return ledger.ErrBudgetExceeded
		}
	}
	return nil
}

func (m *model) open(o ledger.Opening) error {
	if a := m.accounts[o.Account]; a != nil {
		if a.opening != o {
			return ledger.ErrConflict
		}
		return nil
	}
	if parent := o.Account.Parent(); parent != "" {
		switch p := m.accounts[parent]; {
		case p == nil:
			return ledger.ErrNoAccount
		case p.closed:
			return ledger.ErrClosed
		case o.Mode == ledger.Slice:
			if err := m.fits(parent, o.Limits.Hard); err != nil {
				return err
			}
		}
	}
	m.accounts[o.Account] = &modelAccount{opening: o, limits: o.Limits}
	return nil
}

func (m *model) find(k ledger.Key) *modelCall {
	for _, c := range m.calls {
		if c.request.Key.Call == k.Call && c.request.Key.Attempt == k.Attempt {
			return c
		}
	}
	return nil
}

func (m *model) reserve(r ledger.Request) (duplicate bool, err error) {
	if c := m.find(r.Key); c != nil {
		if c.orphan || c.request.Key != r.Key || c.request.Amount != r.Amount || c.request.Estimate.What != r.Estimate.What {
			return false, ledger.ErrConflict
		}
		return true, nil
	}
	a := m.accounts[r.Key.Account]
	switch {
	case a == nil:
		return false, ledger.ErrNoAccount
	case a.closed:
		return false, ledger.ErrClosed
	}
	if err := m.fits(r.Key.Account, r.Amount); err != nil {
		return false, err
	}
	for id := r.Key.Account; id != ""; id = id.Parent() {
		if b := m.balance(id); b.Limits.Soft > 0 && b.Spent+b.Held+r.Amount > b.Limits.Soft {
			return false, ledger.ErrNeedsApproval
		}
	}
	m.calls = append(m.calls, &modelCall{request: r, state: ledger.StateOpen})
	return false, nil
}

func (m *model) commit(k ledger.Key, charge ledger.Charge) (duplicate bool, err error) {
	c := m.find(k)
	switch {
	case c == nil && m.accounts[k.Account] == nil:
		return false, ledger.ErrNoAccount
	case c == nil && charge.Source == ledger.SourceUnknown:
		return false, ledger.ErrNoReservation
	case c == nil:
		c = &modelCall{request: ledger.Request{Key: k}, orphan: true}
		m.calls = append(m.calls, c)
	case c.request.Key != k, c.state == ledger.StateReleased:
		return false, ledger.ErrConflict
	case c.state == ledger.StateCommitted:
		if c.charge.Source != charge.Source || c.charge.Actual != charge.Actual {
			return false, ledger.ErrConflict
		}
		return true, nil
	}
	c.state, c.charge, c.charged = ledger.StateCommitted, charge, charge.Actual
	if charge.Source == ledger.SourceUnknown {
		c.charged = c.request.Amount
	}
	c.overrun = max(0, c.charged-c.request.Amount)
	return false, nil
}

func (m *model) release(k ledger.Key, p ledger.Proof) error {
	c := m.find(k)
	switch {
	case c == nil:
		return ledger.ErrNoReservation
	case c.request.Key != k, c.state == ledger.StateCommitted, c.state == ledger.StateReleased && c.proof != p:
		return ledger.ErrConflict
	}
	c.state, c.proof = ledger.StateReleased, p
	return nil
}

func (m *model) close(id ledger.AccountID) error {
	a := m.accounts[id]
	switch {
	case a == nil:
		return ledger.ErrNoAccount
	case a.closed:
		return nil
	}
	for child, c := range m.accounts {
		if child.Parent() == id && !c.closed {
			return ledger.ErrPending
		}
	}
	for _, c := range m.calls {
		if c.request.Key.Account == id && (c.state == ledger.StateOpen || c.state == ledger.StateUnsettled) {
			return ledger.ErrPending
		}
	}
	a.closed = true
	if id.Parent() == "" {
		// A closed task forgets its keys: a charge under one of them is a stray from now on.
		for _, c := range m.calls {
			c.request.Key.Call = ""
		}
	}
	return nil
}

func (m *model) adjust(j ledger.Adjustment) error {
	a := m.accounts[j.Account]
	if a == nil {
		return ledger.ErrNoAccount
	}
	if before, ok := m.approved[j.Approval]; ok {
		if before != j {
			return ledger.ErrConflict
		}
		return nil
	}
	if a.closed {
		return ledger.ErrClosed
	}
	b := m.balance(j.Account)
	limits := j.Limits
	limits.Hard = max(limits.Hard, b.Used()-b.Overrun)
	if parent := j.Account.Parent(); parent != "" && a.opening.Mode == ledger.Slice && limits.Hard > a.limits.Hard {
		if err := m.fits(parent, limits.Hard-a.limits.Hard); err != nil {
			return err
		}
	}
	a.limits = limits
	m.approved[j.Approval] = j
	return nil
}

// expire ends every lease.
func (m *model) expire() {
	for _, c := range m.calls {
		if c.state == ledger.StateOpen {
			c.state = ledger.StateUnsettled
		}
	}
}
