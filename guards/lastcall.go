// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
)

// A lander is an agent that has an answer coming.
type lander struct {
	mu             sync.Mutex
	coming, isLast bool
	tools          []string
}

var landersKey = callbacks.NewPlaceKey(func() *lander { return &lander{} })

// forgetting is the observer of a guard that is done with an agent when its own chain reports
// the end; another chain at the place may report it later, and hold a value until then.
func forgetting[T any](key *callbacks.PlaceKey[T]) func(context.Context, callbacks.Event) {
	return func(ctx context.Context, ev callbacks.Event) {
		if ev.Step == callbacks.StepAgent {
			key.Forget(ctx, ev.Place())
		}
	}
}

// set says that an answer is coming, in this call where it is the last.
func (l *lander) set(isLast bool, tools []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.coming, l.isLast, l.tools = true, isLast, tools
}

// owed reports whether an agent is to have a last call that it has not had.
func (l *lander) owed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.coming && !l.isLast
}

// landing returns the tools a landing agent may call; ok says that it is landing.
func (l *lander) landing() (tools []string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools, l.isLast
}

// left is what each budget has left after an agent's present call.
type left struct {
	mu sync.Mutex
	by map[*budget]int64
}

var leftKey = callbacks.NewPlaceKey(func() *left { return &left{by: make(map[*budget]int64)} })

func noteLeft(ctx context.Context, p callbacks.Place, b *budget, calls int64) {
	l := leftKey.At(ctx, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by[b] = calls
}

// lastCall reports whether a budget has nothing left after p's present call.
func lastCall(ctx context.Context, p callbacks.Place) bool {
	least, known := callsLeft(ctx, p)
	return known && least <= 0
}

// callsLeft returns what the tightest budget has left after p's present call.
func callsLeft(ctx context.Context, p callbacks.Place) (least int64, known bool) {
	l := leftKey.At(ctx, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, calls := range l.by {
		if !known || calls < least {
			least, known = calls, true
		}
	}
	return least, known
}
