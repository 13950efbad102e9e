// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"slices"
	"sync"
	"time"
)

// DefaultTTL is how long a counter lives from its first use.
const DefaultTTL = 24 * time.Hour

// MemoryOptions are the options of [NewMemoryWith].
type MemoryOptions struct {
	// TTL is how long a counter or history lives from its first use; afterwards it
	// starts over. Zero means [DefaultTTL]; a negative value means for ever.
	TTL time.Duration
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

// Memory is a [Store] of this process.
type Memory struct {
	ttl time.Duration
	now func() time.Time

	mu    sync.Mutex
	cells map[string]*cell
	swept time.Time
}

type cell struct {
	n       int64
	history []Entry
	dies    time.Time
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return NewMemoryWith(MemoryOptions{}) }

// NewMemoryWith is [NewMemory] with options.
func NewMemoryWith(o MemoryOptions) *Memory {
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Memory{ttl: o.TTL, now: o.Now, cells: make(map[string]*cell)}
}

// Take implements [Store].
func (m *Memory) Take(_ context.Context, key string, n, limit int64) (used int64, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cell(key)
	if n > limit-c.n {
		return c.n, false, nil
	}
	c.n += n
	return c.n, true, nil
}

// Add implements [Store].
func (m *Memory) Add(_ context.Context, key string, n int64) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cell(key)
	c.n = max(0, c.n+n)
	return c.n, nil
}

// Push implements [Store].
func (m *Memory) Push(_ context.Context, key string, e Entry, keep int) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cell(key)
	c.history = append(c.history, e)
	if extra := len(c.history) - keep; extra > 0 {
		c.history = slices.Delete(c.history, 0, extra)
	}
	return slices.Clone(c.history), nil
}

// Settle implements [Store].
func (m *Memory) Settle(_ context.Context, key, id, result string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cell(key)
	for i := range c.history {
		if c.history[i].ID == id {
			c.history[i].Result = result
		}
	}
	return nil
}

func (m *Memory) cell(key string) *cell {
	if m.ttl < 0 {
		c, ok := m.cells[key]
		if !ok {
			c = &cell{}
			m.cells[key] = c
		}
		return c
	}
	now := m.now()
	c, ok := m.cells[key]
	if !ok || !now.Before(c.dies) {
		c = &cell{dies: now.Add(m.ttl)}
		m.cells[key] = c
		m.sweep(now)
	}
	return c
}

// sweep forgets dead cells, at most once in a tenth of their life.
func (m *Memory) sweep(now time.Time) {
	if now.Sub(m.swept) < m.ttl/10 {
		return
	}
	m.swept = now
	for key, c := range m.cells {
		if !now.Before(c.dies) {
			delete(m.cells, key)
		}
	}
}
