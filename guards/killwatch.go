// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gardefou/gardefou/guards/killswitch"
)

const (
	// readEvery is how often the state of a kill switch is read: a stop is to be effective
	// within a second.
	readEvery = 250 * time.Millisecond
	// readLimit is how long one reading may take.
	readLimit = time.Second
	// restAfter is how long after the last step reading ends where no Run has to be closed.
	restAfter = 2 * time.Second
)

// errStateWentBack is a state older than one that was read before: what is stopped was lost.
var errStateWentBack = errors.New("guards: KillSwitch: the state is older than one that was read before")

// A stateWatch reads the state of a kill switch in the background while it is asked for.
type stateWatch struct {
	store killswitch.Store
	// patience is how long a step waits for a first reading at most.
	patience time.Duration

	mu    sync.Mutex
	holds int       // Runs that are not closed
	asked time.Time // the last step
	last  *stateReading
	// err is why the reading after last failed, or nil.
	err    error
	reader *stateReader // nil while nothing reads
}

// A stateReading is the state as it was at some time after began.
type stateReading struct {
	began, changed time.Time
	stops          map[killswitch.Selector][]killswitch.Stop
}

// A stateReader is one goroutine. first is closed after its first reading, end by who ends it.
type stateReader struct{ first, end chan struct{} }

// hold keeps the watch reading until release.
func (w *stateWatch) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds++
}

func (w *stateWatch) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holds--; w.holds == 0 && w.reader != nil {
		close(w.reader.end)
		w.reader = nil
	}
}

// latest returns the last reading, and why the one after it failed. It waits only where nothing
// was reading.
func (w *stateWatch) latest(ctx context.Context) (*stateReading, error) {
	w.mu.Lock()
	w.asked = time.Now()
	if w.reader == nil {
		w.reader = &stateReader{first: make(chan struct{}), end: make(chan struct{})}
		go w.read(w.reader)
	}
	first := w.reader.first
	w.mu.Unlock()
	select {
	case <-first:
	default:
		ctx, cancel := context.WithTimeout(ctx, w.patience)
		defer cancel()
		select {
		case <-first:
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last, w.err
}

// read is the goroutine.
func (w *stateWatch) read(r *stateReader) {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	w.readOnce()
	close(r.first)
	for {
		select {
		case <-r.end:
			return
		case <-tick.C:
		}
		if w.rests(r) {
			return
		}
		w.readOnce()
	}
}

// rests ends r where no Run is open and no step was taken for a while.
func (w *stateWatch) rests(r *stateReader) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reader != r {
		return true
	}
	if w.holds > 0 || time.Since(w.asked) < restAfter {
		return false
	}
	w.reader = nil
	return true
}

func (w *stateWatch) readOnce() {
	began := time.Now()
	state, err := w.load()
	next := &stateReading{began: began, changed: state.Changed, stops: make(map[killswitch.Selector][]killswitch.Stop)}
	for _, stop := range state.Stops {
		next.stops[stop.Selector] = append(next.stops[stop.Selector], stop)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.last != nil && next.changed.Before(w.last.changed) {
		err = errStateWentBack
	}
	if w.err = err; err == nil {
		w.last = next
	}
}

// load reads the state. A store that panics must not take the process down.
func (w *stateWatch) load() (state killswitch.State, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), readLimit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("guards: KillSwitch: the store panicked: %v", p)
		}
	}()
	return killswitch.Read(ctx, w.store)
}
