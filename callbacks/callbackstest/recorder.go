// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"slices"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
)

// A Recorder is an observer that keeps every event. It is safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	events []callbacks.Event
	run    *callbacks.Run
}

// Guard returns the recorder as a guard, to be put anywhere in a chain.
func (r *Recorder) Guard() callbacks.Guard {
	return callbacks.Guard{Name: "recorder", Observe: r.keep, ObserveMonitored: r.keep}
}

func (r *Recorder) keep(ctx context.Context, ev callbacks.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, ev)
	if r.run == nil {
		r.run = callbacks.RunOf(ctx)
	}
}

// foundRun returns the Run of the first event that belonged to one.
func (r *Recorder) foundRun() *callbacks.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.run
}

// Events returns the events so far, those of the given kinds or all.
func (r *Recorder) Events(kinds ...callbacks.StepKind) []callbacks.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(kinds) == 0 {
		return slices.Clone(r.events)
	}
	var out []callbacks.Event
	for _, ev := range r.events {
		if slices.Contains(kinds, ev.Step) {
			out = append(out, ev)
		}
	}
	return out
}
