// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
)

// landers are the agents of one Run that have an answer coming.
type landers struct {
	mu sync.Mutex
	at map[step]*lander
}

type lander struct {
	landing bool
	tools   []string
}

var landersKey = callbacks.NewKey(func() *landers { return &landers{at: make(map[step]*lander)} })

func (l *landers) set(s step, v lander) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at[s] = &v
}

func (l *landers) end(s step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.at, s)
}

// owed reports whether an agent is to have a last call that it has not had.
func (l *landers) owed(s step) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.at[s]
	return v != nil && !v.landing
}

// landing returns the tools a landing agent may call; ok says that it is landing.
func (l *landers) landing(s step) (tools []string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.at[s]
	if v == nil || !v.landing {
		return nil, false
	}
	return v.tools, true
}

// lefts is what each budget has left after an agent's present call.
type lefts struct {
	mu sync.Mutex
	at map[step]map[*budget]int64
}

var leftKey = callbacks.NewKey(func() *lefts { return &lefts{at: make(map[step]map[*budget]int64)} })

func noteLeft(ctx context.Context, s step, b *budget, left int64) {
	l := leftKey.Of(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at[s] == nil {
		l.at[s] = make(map[*budget]int64)
	}
	l.at[s][b] = left
}

// lastCall reports whether a budget has nothing left after s's present call.
func lastCall(ctx context.Context, s step) bool {
	left, known := callsLeft(ctx, s)
	return known && left <= 0
}

// callsLeft returns what the tightest budget has left after s's present call.
func callsLeft(ctx context.Context, s step) (least int64, known bool) {
	l := leftKey.Of(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, left := range l.at[s] {
		if !known || left < least {
			least, known = left, true
		}
	}
	return least, known
}
