// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
)

// runAccount is the Run's account, opened when first needed. It is closed by whoever
// resumes or reports, not here: a stopped run may go on under a higher limit.
type runAccount struct {
	mu     sync.Mutex
	name   ledger.AccountID
	id     ledger.AccountID // "" before it is open
	calls  string           // what begins the names of this process's calls
	next   int
	slices map[string]*slice // by agent
	// asking is held by the call that has a person asked; asked are the answers.
	asking chan struct{}
	asked  map[ledger.AccountID]bool
	// trying counts the calls that ask for a reservation just now, underWay those that hold
	// one. news is closed when one settles, or when nobody is left who could.
	trying, underWay int
	news             chan struct{}
}

// runAccountsKey holds the accounts of one Run: a guard and [SpendOptions.Do] that have the same
// options draw on the same one.
var runAccountsKey = callbacks.NewKey(func() *runAccounts { return &runAccounts{at: make(map[accountKey]*runAccount)} })

type runAccounts struct {
	mu sync.Mutex
	at map[accountKey]*runAccount
}

// accountKey is an account with what it is opened with: other limits or slices are for
// the ledger to judge.
type accountKey struct {
	ledger ledger.Ledger
	id     ledger.AccountID
	limits ledger.Limits
	slices string
}

func (r *runAccounts) of(k accountKey) *runAccount {
	if !reflect.ValueOf(k.ledger).Comparable() {
		k.ledger = nil // it can't be told from others
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.at[k]
	if a == nil {
		a = &runAccount{name: k.id, asking: make(chan struct{}, 1), asked: make(map[ledger.AccountID]bool)}
		r.at[k] = a
	}
	return a
}

// chosenAccount is the account that a guard has in one Run: its options are asked once.
type chosenAccount struct {
	mu sync.Mutex
	a  *runAccount
}

func (s *spend) accountIn(run *callbacks.Run) *runAccount {
	if s.chosen == nil {
		return s.choose(run)
	}
	c := s.chosen.In(run)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.a == nil {
		c.a = s.choose(run)
	}
	return c.a
}

func (s *spend) choose(run *callbacks.Run) *runAccount {
	return runAccountsKey.In(run).of(accountKey{s.o.Ledger, s.o.Account(run), s.o.Limits, fmt.Sprint(s.o.Slices)})
}

// slice is a [Slice] at work.
type slice struct {
	Slice
	id    ledger.AccountID // the account of the present stay; "" between stays
	stays int
	spent ledger.Nano // in the stays that are over
	in    map[callbacks.Place]bool
}

// open returns the account that an agent draws on, and the name of its next call.
func (s *spend) open(ctx context.Context, at callbacks.Place) (ledger.Key, error) {
	run := callbacks.RunOf(ctx)
	if run == nil {
		return ledger.Key{}, errors.New("guards: Spend: no Run: start one with callbacks.Start")
	}
	a := s.accountIn(run)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.id == "" {
		if err := s.openAll(ctx, a); err != nil {
			return ledger.Key{}, err
		}
		a.calls = run.ID() + "-" + rand.Text() + "-"
	}
	a.next++
	key := ledger.Key{Account: a.id, Call: a.calls + strconv.Itoa(a.next), Attempt: 1}
	sl, ok := a.slices[at.Agent]
	if !ok {
		return key, nil
	}
	if sl.id == "" {
		if err := s.stay(ctx, a.id, sl); err != nil {
			return ledger.Key{}, err
		}
	}
	sl.in[at] = true
	key.Account = sl.id
	return key, nil
}

// openAll opens the Run's account and sets every slice aside, so that nobody can spend
// what was promised to an agent that has not begun.
func (s *spend) openAll(ctx context.Context, a *runAccount) error {
	id := a.name
	_, err := s.o.Ledger.Open(ctx, ledger.Opening{Account: id, Limits: s.o.Limits})
	if errors.Is(err, ledger.ErrConflict) {
		// Its limits were adjusted since, to these: a run that is resumed with more money.
		var b ledger.Balance
		if b, err = s.o.Ledger.Balance(ctx, id); err == nil && (b.Limits != s.o.Limits || b.Closed) {
			err = &ledger.OpError{Op: "open", Account: id, Err: ledger.ErrConflict}
		}
	}
	if err != nil {
		return err
	}
	a.slices = make(map[string]*slice)
	for _, declared := range s.o.Slices {
		sl := &slice{Slice: declared, in: make(map[callbacks.Place]bool)}
		if err := s.stay(ctx, id, sl); err != nil {
			return err
		}
		for _, name := range declared.agents() {
			a.slices[name] = sl
		}
	}
	a.id = id
	return nil
}

// stay opens the account of a slice's next stay: with what is left of its limit, set aside where the Run's account still has it, else as a view of what is
// there. Stays that a process before this one left behind are settled first.
func (s *spend) stay(ctx context.Context, root ledger.AccountID, sl *slice) error {
	for {
		id := root.Child(sl.Name)
		if sl.stays > 0 {
			id = root.Child(sl.Name + "." + strconv.Itoa(sl.stays+1))
		}
		limits := sl.Limits
		limits.Hard = max(1, limits.Hard-sl.spent) // an empty slice refuses, and says so
		if sl.spent > 0 {
			limits.Soft, limits.Target = 0, 0
		}
		o := ledger.Opening{Account: id, Mode: ledger.Slice, Limits: limits}
		b, err := s.o.Ledger.Open(ctx, o)
		if errors.Is(err, ledger.ErrBudgetExceeded) {
			o.Mode = ledger.Cap
			b, err = s.o.Ledger.Open(ctx, o)
		}
		switch {
		case err == nil && !b.Closed:
			sl.id = id
			return nil
		case errors.Is(err, ledger.ErrConflict):
			// It was opened under other limits: the run was resumed with more money.
			if b, err = s.o.Ledger.Close(ctx, id); errors.Is(err, ledger.ErrPending) {
				// A call whose end nobody knows keeps it open, and keeps what it holds.
				b, err = s.o.Ledger.Balance(ctx, id)
			}
			if err != nil {
				return err
			}
		case err != nil:
			return err
		}
		sl.spent += b.Spent + b.Held
		sl.stays++
	}
}

// mostWait is how long a call waits for the money that calls under way may leave over.
const mostWait = time.Minute

// whileOthersSettle tries a reservation, and, where it is refused for money that other
// calls of the Run hold, again when one of them has settled: worst cases are far above
// real costs, and most of what is held comes back.
func (s *spend) whileOthersSettle(ctx context.Context, reserve func() error) error {
	a := s.accountIn(callbacks.RunOf(ctx))
	var timeout <-chan time.Time
	for {
		news, again, err := a.try(reserve)
		if !again {
			return err
		}
		if timeout == nil {
			timeout = time.After(mostWait)
		}
		select {
		case <-news:
			if ctx.Err() != nil {
				return err
			}
		case <-timeout:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// try makes one attempt at a reservation; again says that another is worth it when there
// is news. Who tries counts like who holds: a reservation that others are refused for may
// not have come back to its call yet.
func (a *runAccount) try(reserve func() error) (news chan struct{}, again bool, err error) {
	a.mu.Lock()
	if a.news == nil {
		a.news = make(chan struct{})
	}
	news = a.news
	a.trying++
	a.mu.Unlock()
	done := false
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.trying--
		if done && err == nil {
			a.underWay++
			return
		}
		alone := a.trying == 0 && a.underWay == 0
		again = mayComeBack(err) && (!alone || news != a.news)
		if alone && !again {
			a.wake() // who waits for this call waits for nobody any more
		}
	}()
	err = reserve()
	done = true
	return news, false, err
}

// wake has those who wait try again. a.mu is held.
func (a *runAccount) wake() {
	if a.news != nil {
		close(a.news)
		a.news = nil
	}
}

// mayComeBack reports whether a refusal is for money that calls under way hold.
func mayComeBack(err error) bool {
	var denied *ledger.DeniedError
	if !errors.As(err, &denied) {
		return false
	}
	if errors.Is(denied, ledger.ErrNeedsApproval) {
		return denied.Balance.Held > 0
	}
	return denied.Balance.Reserved > 0
}

// settled tells those who wait that a call's reservation is gone.
func (s *spend) settled(ctx context.Context) {
	a := s.accountIn(callbacks.RunOf(ctx))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.underWay--
	a.wake()
}

// ended returns the rest of a slice when the last agent that drew on it has ended.
func (s *spend) ended(ctx context.Context, at callbacks.Place) {
	run := callbacks.RunOf(ctx)
	if run == nil {
		return
	}
	a := s.accountIn(run)
	a.mu.Lock()
	defer a.mu.Unlock()
	sl := a.slices[at.Agent]
	if sl == nil || sl.id == "" || !sl.in[at] {
		return
	}
	delete(sl.in, at)
	if len(sl.in) > 0 {
		return
	}
	ctx = withoutCancel(ctx)
	// What can't be closed, an unsettled call in it, stays set aside and in use.
	if b, err := s.o.Ledger.Close(ctx, sl.id); err == nil {
		sl.id, sl.spent = "", sl.spent+b.Spent
		sl.stays++
	}
}

// approve asks whether an account at its soft limit may go on, and raises the limit. It
// reports whether to try again.
func (s *spend) approve(ctx context.Context, err error) bool {
	var denied *ledger.DeniedError
	if s.o.Approve == nil || !errors.Is(err, ledger.ErrNeedsApproval) || !errors.As(err, &denied) {
		return false
	}
	a := s.accountIn(callbacks.RunOf(ctx))
	select {
	case a.asking <- struct{}{}: // calls settle while a person decides
		defer func() { <-a.asking }()
	case <-ctx.Done():
		return false
	}
	if yes, asked := a.asked[denied.Account]; asked {
		return yes
	}
	a.asked[denied.Account] = false
	if !s.o.Approve(ctx, denied) {
		return false
	}
	limits := denied.Balance.Limits
	limits.Soft = 0
	// The id is good for this one decision: replaying it can't raise another limit.
	_, err = s.o.Ledger.Adjust(ctx, ledger.Adjustment{Account: denied.Account, Approval: "approval-" + rand.Text(), Limits: limits})
	a.asked[denied.Account] = err == nil
	return err == nil
}

// available is what the limits of an account and of those above it leave: the hard ones
// as far up as they draw on the same money, the soft ones all the way.
func (s *spend) available(ctx context.Context, account ledger.AccountID) (ledger.Nano, error) {
	least, pool := ledger.MaxAmount, true
	for id := account; id != ""; id = id.Parent() {
		b, err := s.o.Ledger.Balance(ctx, id)
		if err != nil {
			return 0, err
		}
		if b.Limits.Target > 0 && b.Spent > b.Limits.Target {
			targetPassedKey.Of(ctx).Store(true) // by an earlier Run, maybe
		}
		if pool {
			least = min(least, b.Available())
		}
		if b.Limits.Soft > 0 {
			least = min(least, max(0, b.Limits.Soft-b.Spent-b.Held))
		}
		pool = pool && b.Mode == ledger.Cap
	}
	return least, nil
}
