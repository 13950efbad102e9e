// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// MemoryOptions configure [NewMemory]. The zero value is ready to use.
type MemoryOptions struct {
	// Remember is how many settled reservations of a task are kept, so that a repeated
	// operation is known for a repeat and reports can read them. 0 is 4096. The cost of a
	// forgotten one that is committed again is charged twice.
	Remember int
	// RememberTasks is how many closed tasks keep their totals, and their ids from being
	// opened anew. 0 is 65536.
	RememberTasks int
	// Now is the clock for leases. nil is time.Now.
	Now func() time.Time
}

const (
	defaultRemember      = 4096
	defaultRememberTasks = 65_536
)

func (o MemoryOptions) filled() (MemoryOptions, error) {
	if o.Remember < 0 || o.RememberTasks < 0 {
		return o, errors.New("ledger: Remember and RememberTasks must not be negative")
	}
	if o.Remember == 0 {
		o.Remember = defaultRemember
	}
	if o.RememberTasks == 0 {
		o.RememberTasks = defaultRememberTasks
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// Memory is a [Ledger] in the process: gone when it ends, and good for one process only. Tasks
// don't contend with each other.
type Memory struct {
	opts   MemoryOptions
	mu     sync.RWMutex
	tasks  map[AccountID]*task
	closed []AccountID // in order
}

type task struct {
	mu sync.Mutex
	tree
}

// NewMemory makes an empty ledger. Negative options are an error.
func NewMemory(opts MemoryOptions) (*Memory, error) {
	opts, err := opts.filled()
	if err != nil {
		return nil, err
	}
	return &Memory{opts: opts, tasks: map[AccountID]*task{}}, nil
}

func (m *Memory) now() int64 { return m.opts.Now().UnixNano() }

func (m *Memory) task(op string, id AccountID) (*task, error) {
	m.mu.RLock()
	t := m.tasks[id.Root()]
	m.mu.RUnlock()
	if t == nil {
		return nil, &OpError{Op: op, Account: id, Err: ErrNoAccount}
	}
	return t, nil
}

// do runs one operation on the books of an account's task.
func do[T any](m *Memory, op string, id AccountID, f func(*tree) (T, error)) (T, error) {
	t, err := m.task(op, id)
	if err != nil {
		var none T
		return none, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return f(&t.tree)
}

// Open implements [Ledger].
func (m *Memory) Open(ctx context.Context, o Opening) (Balance, error) {
	if err := o.Check(); err != nil {
		return Balance{}, err
	}
	if err := ctx.Err(); err != nil {
		return Balance{}, &OpError{Op: "open", Account: o.Account, Err: fmt.Errorf("%w: %w", ErrUnavailable, err)}
	}
	if o.Account.Parent() == "" {
		o.Mode = Slice
		m.mu.Lock()
		if m.tasks[o.Account] == nil {
			m.tasks[o.Account] = &task{tree: *newTree(m.opts.Remember)}
		}
		m.mu.Unlock()
	}
	return do(m, "open", o.Account, func(t *tree) (Balance, error) { return t.open(o) })
}

// Reserve implements [Ledger].
func (m *Memory) Reserve(ctx context.Context, r Request) (Reservation, error) {
	if err := r.Check(); err != nil {
		return Reservation{}, err
	}
	if err := ctx.Err(); err != nil {
		return Reservation{}, &OpError{Op: "reserve", Account: r.Key.Account, Key: r.Key, Err: fmt.Errorf("%w: %w", ErrUnavailable, err)}
	}
	now := m.now()
	t, err := m.task("reserve", r.Key.Account)
	if err != nil {
		return Reservation{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reserve(&r, now)
}

// Extend implements [Ledger].
func (m *Memory) Extend(_ context.Context, k Key, lease time.Duration) error {
	if err := CheckExtend(k, lease); err != nil {
		return err
	}
	_, err := do(m, "extend", k.Account, func(t *tree) (struct{}, error) { return struct{}{}, t.extend(k, lease, m.now()) })
	return err
}

// Commit implements [Ledger]. It works under a cancelled context too: the call has happened.
func (m *Memory) Commit(_ context.Context, k Key, c Charge) (Receipt, error) {
	if err := c.Check(k); err != nil {
		return Receipt{}, err
	}
	t, err := m.task("commit", k.Account)
	if err != nil {
		return Receipt{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.commit(k, c)
}

// Release implements [Ledger]. It works under a cancelled context too.
func (m *Memory) Release(_ context.Context, k Key, p Proof) error {
	if err := p.Check(k); err != nil {
		return err
	}
	_, err := do(m, "release", k.Account, func(t *tree) (struct{}, error) { return struct{}{}, t.release(k, p) })
	return err
}

// Balance implements [Ledger].
func (m *Memory) Balance(_ context.Context, id AccountID) (Balance, error) {
	return do(m, "balance", id, func(t *tree) (Balance, error) { return t.balanceOf("balance", id, m.now()) })
}

// Entry implements [Ledger].
func (m *Memory) Entry(_ context.Context, k Key) (Entry, error) {
	return do(m, "entry", k.Account, func(t *tree) (Entry, error) { return t.entry(k, m.now()) })
}

// Pending implements [Ledger].
func (m *Memory) Pending(_ context.Context, id AccountID) ([]Entry, error) {
	return do(m, "pending", id, func(t *tree) ([]Entry, error) { return t.pending(id, m.now()) })
}

// Close implements [Ledger].
func (m *Memory) Close(_ context.Context, id AccountID) (Balance, error) {
	first := false
	b, err := do(m, "close", id, func(t *tree) (Balance, error) {
		a := t.accounts[id]
		first = a != nil && !a.balance.Closed
		return t.close(id)
	})
	if err == nil && first && id.Parent() == "" {
		m.forgetTasks(id)
	}
	return b, err
}

// forgetTasks bounds what closed tasks occupy.
func (m *Memory) forgetTasks(closed AccountID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = append(m.closed, closed)
	if len(m.closed) > m.opts.RememberTasks {
		delete(m.tasks, m.closed[0])
		m.closed = m.closed[1:]
	}
}

// Adjust implements [Ledger].
func (m *Memory) Adjust(_ context.Context, a Adjustment) (Balance, error) {
	if err := a.Check(); err != nil {
		return Balance{}, err
	}
	return do(m, "adjust", a.Account, func(t *tree) (Balance, error) { return t.adjust(a) })
}
