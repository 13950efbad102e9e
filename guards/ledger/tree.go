// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"time"
)

// tree is the books of one task: a plain state machine without locks, clock or storage. Memory
// and File run it under a mutex.
type tree struct {
	accounts map[AccountID]*account
	entries  map[entryKey]*entry
	leases   leaseHeap
	// settled remembers the last settled entries in order; when it is full the oldest is forgotten.
	settled   []*entry
	oldest    int
	remember  int
	spare     *entry // the last forgotten one, to be used again
	approvals map[string]Adjustment
	version   int64
}

type entryKey struct {
	call    string
	attempt int
}

type entry struct {
	request Request
	account *account
	state   State
	expires int64 // Unix nanoseconds
	lease   int   // index in leases while open
	charge  Charge
	charged Nano
	overrun Nano
	orphan  bool
	proof   Proof
}

func (e *entry) key() entryKey { return entryKey{e.request.Key.Call, e.request.Key.Attempt} }

type account struct {
	balance Balance
	opening Opening
	// line is the account and its ancestors, innermost first. Its first pool accounts draw
	// on the same money: the account, up through capped views to a slice or the root.
	line     []*account
	pool     int
	children int // open ones
	pending  int // own reservations, open and unsettled
}

func newTree(remember int) *tree {
	return &tree{accounts: map[AccountID]*account{}, entries: map[entryKey]*entry{}, approvals: map[string]Adjustment{}, remember: remember}
}

func (a *account) drawsOn() []*account { return a.line[:a.pool] }

func (a *account) parent() *account {
	if len(a.line) == 1 {
		return nil
	}
	return a.line[1]
}

func (t *tree) read(a *account) Balance {
	b := a.balance
	b.Version = t.version
	return b
}

func (t *tree) find(op string, id AccountID) (*account, error) {
	a := t.accounts[id]
	if a == nil {
		return nil, &OpError{Op: op, Account: id, Err: ErrNoAccount}
	}
	return a, nil
}

// fits finds the first account that amount doesn't fit in.
func (t *tree) fits(pool []*account, amount Nano, key Key) error {
	for _, a := range pool {
		if left := a.balance.Limits.Hard - a.balance.Used(); amount > left {
			return &DeniedError{Code: ErrBudgetExceeded.Error(), Account: a.balance.Account, Key: key, Need: amount, Available: max(0, left), Balance: t.read(a)}
		}
	}
	return nil
}

func (t *tree) open(o Opening) (Balance, error) {
	if a := t.accounts[o.Account]; a != nil {
		if a.opening != o {
			return Balance{}, &OpError{Op: "open", Account: o.Account, Err: ErrConflict}
		}
		return t.read(a), nil
	}
	a := &account{opening: o, balance: Balance{Account: o.Account, Mode: o.Mode, Limits: o.Limits}, pool: 1}
	a.line = []*account{a}
	if id := o.Account.Parent(); id != "" {
		parent, err := t.find("open", id)
		if err != nil {
			return Balance{}, err
		}
		if parent.balance.Closed {
			return Balance{}, &OpError{Op: "open", Account: id, Err: ErrClosed}
		}
		a.line = append(a.line, parent.line...)
		if o.Mode == Cap {
			a.pool += parent.pool
		} else {
			if err := t.fits(parent.drawsOn(), o.Limits.Hard, Key{}); err != nil {
				return Balance{}, err
			}
			parent.allocate(o.Limits.Hard)
		}
		parent.children++
	}
	t.accounts[o.Account] = a
	t.version++
	return t.read(a), nil
}

func (a *account) allocate(amount Nano) {
	for _, p := range a.drawsOn() {
		p.balance.Allocated += amount
	}
}

func (t *tree) reserve(r *Request, now int64) (Reservation, error) {
	t.expire(now)
	key := entryKey{r.Key.Call, r.Key.Attempt}
	if e := t.entries[key]; e != nil {
		if e.orphan || !e.request.same(r) {
			return Reservation{}, &OpError{Op: "reserve", Account: r.Key.Account, Key: r.Key, Err: ErrConflict}
		}
		return t.reservation(e, true), nil
	}
	a, err := t.find("reserve", r.Key.Account)
	if err != nil {
		return Reservation{}, err
	}
	if a.balance.Closed {
		return Reservation{}, &OpError{Op: "reserve", Account: r.Key.Account, Key: r.Key, Err: ErrClosed}
	}
	if err := t.fits(a.drawsOn(), r.Amount, r.Key); err != nil {
		return Reservation{}, err
	}
	for _, p := range a.line {
		b := &p.balance
		if left := b.Limits.Soft - b.Spent - b.Held; b.Limits.Soft > 0 && r.Amount > left {
			return Reservation{}, &DeniedError{Code: ErrNeedsApproval.Error(), Account: b.Account, Key: r.Key, Need: r.Amount, Available: max(0, left), Balance: t.read(p)}
		}
	}
	for i, p := range a.line {
		if i < a.pool {
			p.balance.Reserved += r.Amount
		}
		p.balance.Held += r.Amount
	}
	e := t.newEntry()
	e.request, e.account, e.state, e.expires = *r, a, StateOpen, now+int64(r.lease())
	a.pending++
	t.entries[key] = e
	heap.Push(&t.leases, e)
	t.version++
	return t.reservation(e, false), nil
}

func (t *tree) reservation(e *entry, duplicate bool) Reservation {
	return Reservation{
		Key: e.request.Key, Amount: e.request.Amount, State: e.state, Duplicate: duplicate,
		Expires: time.Unix(0, e.expires), Balance: t.read(e.account),
	}
}

// lookup finds a reservation under exactly this key.
func (t *tree) lookup(op string, k Key) (*entry, error) {
	e := t.entries[entryKey{k.Call, k.Attempt}]
	if e == nil {
		return nil, &OpError{Op: op, Account: k.Account, Key: k, Err: ErrNoReservation}
	}
	if e.request.Key.Account != k.Account {
		return nil, &OpError{Op: op, Account: k.Account, Key: k, Err: ErrConflict}
	}
	return e, nil
}

func (t *tree) extend(k Key, lease time.Duration, now int64) error {
	t.expire(now)
	e, err := t.lookup("extend", k)
	if err != nil {
		return err
	}
	if e.state != StateOpen {
		return &OpError{Op: "extend", Account: k.Account, Key: k, Err: ErrLeaseEnded}
	}
	if expires := now + int64(lease); expires > e.expires {
		e.expires = expires
		heap.Fix(&t.leases, e.lease)
		t.version++
	}
	return nil
}

func (t *tree) commit(k Key, c Charge) (Receipt, error) {
	fail := func(err error) (Receipt, error) {
		return Receipt{}, &OpError{Op: "commit", Account: k.Account, Key: k, Err: err}
	}
	e, err := t.lookup("commit", k)
	switch {
	case err == nil:
		c = c.Chargeable(e.request.Estimate.Quote.Free())
	case errors.Is(err, ErrNoReservation):
		a, err := t.find("commit", k.Account)
		if err != nil {
			return Receipt{}, err
		}
		if c = c.Chargeable(false); c.Source == SourceUnknown {
			return fail(ErrNoReservation)
		}
		e = &entry{request: Request{Key: k}, account: a, orphan: true}
	default:
		return Receipt{}, err
	}
	switch e.state {
	case StateCommitted:
		if !e.charge.same(&c) {
			return fail(ErrConflict)
		}
		return t.receipt(e, true, nil), nil
	case StateReleased:
		return fail(ErrConflict)
	default:
	}
	reserved := e.request.Amount
	charged := c.Actual
	if c.Source == SourceUnknown {
		charged = reserved
	}
	if root := e.account.line[len(e.account.line)-1]; charged > MaxAmount-root.balance.Spent {
		return fail(fmt.Errorf("%w: the account would exceed %s", ErrInvalid, MaxAmount))
	}
	t.unhold(e)
	passed := e.account.charge(charged, max(0, charged-reserved))
	if e.orphan {
		t.entries[e.key()] = e
	}
	e.state, e.charge, e.charged, e.overrun = StateCommitted, c, charged, max(0, charged-reserved)
	t.retire(e)
	return t.receipt(e, false, passed), nil
}

func (t *tree) receipt(e *entry, duplicate bool, passed []AccountID) Receipt {
	return Receipt{
		Key: e.request.Key, Reserved: e.request.Amount, Charged: e.charged, Overrun: e.overrun, Orphan: e.orphan,
		TargetsPassed: passed, Duplicate: duplicate, Balance: t.read(e.account),
	}
}

// charge records a cost. An overrun was never set aside anywhere, so it also leaves the accounts
// above the slice at once, instead of when the slice closes.
func (a *account) charge(cost, overrun Nano) (passed []AccountID) {
	for i, p := range a.line {
		b := &p.balance
		if i < a.pool {
			b.Committed += cost
		} else {
			b.Committed += overrun
		}
		b.Overrun += overrun
		if target := b.Limits.Target; target > 0 && b.Spent <= target && b.Spent+cost > target {
			passed = append(passed, b.Account)
		}
		b.Spent += cost
	}
	return passed
}

// unhold takes a reservation out of the accounts it is held in.
func (t *tree) unhold(e *entry) {
	if e.orphan {
		return
	}
	if e.state == StateOpen {
		heap.Remove(&t.leases, e.lease)
	}
	e.account.pending--
	for i, p := range e.account.line {
		b := &p.balance
		if i < e.account.pool {
			if e.state == StateUnsettled {
				b.Unsettled -= e.request.Amount
			} else {
				b.Reserved -= e.request.Amount
			}
		}
		b.Held -= e.request.Amount
	}
}

// retire keeps a settled entry for repeats and reports, and forgets the oldest one.
func (t *tree) retire(e *entry) {
	if len(t.settled) < t.remember {
		t.settled = append(t.settled, e)
	} else {
		t.spare = t.settled[t.oldest]
		delete(t.entries, t.spare.key())
		t.settled[t.oldest] = e
		t.oldest = (t.oldest + 1) % t.remember
	}
	t.version++
}

// newEntry spares a busy task the garbage collector's work.
func (t *tree) newEntry() *entry {
	e := t.spare
	if e == nil {
		return &entry{}
	}
	t.spare = nil
	*e = entry{}
	return e
}

func (t *tree) release(k Key, p Proof) error {
	e, err := t.lookup("release", k)
	if err != nil {
		return err
	}
	switch e.state {
	case StateReleased:
		if e.proof == p {
			return nil
		}
		fallthrough
	case StateCommitted:
		return &OpError{Op: "release", Account: k.Account, Key: k, Err: ErrConflict}
	default:
	}
	t.unhold(e)
	e.state, e.proof = StateReleased, p
	t.retire(e)
	return nil
}

// expire makes the reservations whose lease has ended unsettled. They stay charged.
func (t *tree) expire(now int64) {
	for len(t.leases) > 0 && t.leases[0].expires < now {
		t.unsettle(heap.Pop(&t.leases).(*entry))
	}
}

func (t *tree) unsettle(e *entry) {
	e.state = StateUnsettled
	for _, p := range e.account.drawsOn() {
		p.balance.Reserved -= e.request.Amount
		p.balance.Unsettled += e.request.Amount
	}
	t.version++
}

// unsettleAll ends every lease: the processes that held them are gone.
func (t *tree) unsettleAll() {
	for len(t.leases) > 0 {
		t.unsettle(heap.Pop(&t.leases).(*entry))
	}
}

func (t *tree) balanceOf(op string, id AccountID, now int64) (Balance, error) {
	t.expire(now)
	a, err := t.find(op, id)
	if err != nil {
		return Balance{}, err
	}
	return t.read(a), nil
}

func (t *tree) entry(k Key, now int64) (Entry, error) {
	t.expire(now)
	e, err := t.lookup("entry", k)
	if err != nil {
		return Entry{}, err
	}
	return e.export(), nil
}

func (e *entry) export() Entry {
	out := Entry{Request: e.request, State: e.state, Charge: e.charge, Charged: e.charged, Orphan: e.orphan, Proof: e.proof}
	if !e.orphan {
		out.Expires = time.Unix(0, e.expires)
	}
	return out
}

func (t *tree) pending(id AccountID, now int64) ([]Entry, error) {
	t.expire(now)
	if _, err := t.find("pending", id); err != nil {
		return nil, err
	}
	var list []Entry
	for _, e := range t.entries {
		if (e.state == StateOpen || e.state == StateUnsettled) && e.request.Key.Account.Within(id) {
			list = append(list, e.export())
		}
	}
	SortEntries(list)
	return list, nil
}

// SortEntries puts entries in the order of [Ledger.Pending]. It is for implementations.
func SortEntries(list []Entry) {
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Request.Key.Call, b.Request.Key.Call), cmp.Compare(a.Request.Key.Attempt, b.Request.Key.Attempt))
	})
}

func (t *tree) close(id AccountID) (Balance, error) {
	a, err := t.find("close", id)
	if err != nil {
		return Balance{}, err
	}
	b := &a.balance
	if b.Closed {
		return t.read(a), nil
	}
	if a.pending > 0 || a.children > 0 {
		return Balance{}, &OpError{Op: "close", Account: id, Err: ErrPending}
	}
	b.Closed = true
	if parent := a.parent(); parent != nil {
		parent.children--
		if b.Mode == Slice {
			for _, p := range parent.drawsOn() {
				p.balance.Allocated -= b.Limits.Hard
				// The overrun reached the parent when it happened.
				p.balance.Committed += b.Committed - b.Overrun
			}
		}
	} else {
		// The task is over; its books keep their totals only.
		clear(t.entries)
		t.settled, t.oldest = nil, 0
	}
	t.version++
	return t.read(a), nil
}

func (t *tree) adjust(j Adjustment) (Balance, error) {
	a, err := t.find("adjust", j.Account)
	if err != nil {
		return Balance{}, err
	}
	if before, ok := t.approvals[j.Approval]; ok {
		if before != j {
			return Balance{}, &OpError{Op: "adjust", Account: j.Account, Err: fmt.Errorf("%w: approval %q", ErrConflict, j.Approval)}
		}
		return t.read(a), nil
	}
	b := &a.balance
	if b.Closed {
		return Balance{}, &OpError{Op: "adjust", Account: j.Account, Err: ErrClosed}
	}
	limits := j.Limits
	limits.Hard = max(limits.Hard, b.Used()-b.Overrun)
	if parent := a.parent(); parent != nil && b.Mode == Slice {
		more := limits.Hard - b.Limits.Hard
		if more > 0 {
			if err := t.fits(parent.drawsOn(), more, Key{}); err != nil {
				return Balance{}, err
			}
		}
		parent.allocate(more)
	}
	b.Limits = limits
	t.approvals[j.Approval] = j
	t.version++
	return t.read(a), nil
}
