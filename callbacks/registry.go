// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"sync"
	"time"
)

// Runs that nobody started are kept by invocation id, so that a chain works
// under ADK's own launcher. They are swept when a new one is made: idle ones go,
// those that wait for an approval stay.
const (
	registryIdle  = 30 * time.Minute
	registrySweep = time.Minute
)

var runs = &registry{byID: make(map[string]*Run)}

type registry struct {
	mu    sync.Mutex
	byID  map[string]*Run
	swept time.Time
}

func (g *registry) get(invocation string) *Run {
	now := time.Now()
	g.mu.Lock()
	run, ok := g.byID[invocation]
	if !ok {
		run = newRun()
		g.byID[invocation] = run
	}
	// Before the sweep, which would take a Run never used for one long idle.
	run.touch(now)
	var idle []*Run
	if !ok && now.Sub(g.swept) >= registrySweep {
		g.swept = now
		idle = g.idle(now)
	}
	g.mu.Unlock()
	for _, r := range idle {
		r.Close()
	}
	return run
}

func (g *registry) idle(now time.Time) []*Run {
	var idle []*Run
	for id, r := range g.byID {
		if r.idleSince(now) >= registryIdle {
			delete(g.byID, id)
			idle = append(idle, r)
		}
	}
	return idle
}

// end closes and forgets the Run of an invocation that is over, unless it waits
// for an approval: the resumed invocation has the same id.
func (g *registry) end(invocation string) {
	g.mu.Lock()
	run, ok := g.byID[invocation]
	if ok && run.waits() {
		ok = false
	}
	if ok {
		delete(g.byID, invocation)
	}
	g.mu.Unlock()
	if ok {
		run.Close()
	}
}

func (r *Run) touch(now time.Time) {
	r.mu.Lock()
	r.last = now
	r.mu.Unlock()
}

func (r *Run) idleSince(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > 0 {
		return 0
	}
	return now.Sub(r.last)
}

func (r *Run) waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) > 0
}

// wait counts the tool calls of an invocation that wait for an approval.
func (r *Run) wait(id string, delta int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[id] += delta; r.waiting[id] <= 0 {
		delete(r.waiting, id)
	}
}
