// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package killswitch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Store keeps one small document whole. It is safe for concurrent use, by several processes too.
type Store interface {
	// Load returns the document, nil where there is none. An error says that it is not known.
	Load(ctx context.Context) ([]byte, error)
	// Swap puts next in place of last, which is nil where there must be none, in one step. It reports
	// false, and changes nothing, where the document is not last any more. After an error it is
	// not known whether next was put there.
	Swap(ctx context.Context, last, next []byte) (bool, error)
}

// Read returns the state. Its errors are [ErrNoState], [ErrForeign] and those of the store.
func Read(ctx context.Context, store Store) (State, error) {
	data, err := store.Load(ctx)
	if err != nil {
		return State{}, fmt.Errorf("killswitch: reading the state: %w", err)
	}
	return parse(data)
}

// Put adds a stop to the state and returns what is in force then. A zero Since is now. A stop of
// everything makes a state where there is none; any other is refused there with [ErrNoState]. A
// stop that is in force already, to the same end and for the same reason, is not added again.
func Put(ctx context.Context, store Store, stop Stop) (State, error) {
	now := time.Now().UTC()
	if stop.Since.IsZero() {
		stop.Since = now
	}
	stop.Since, stop.Until = stop.Since.UTC(), stop.Until.UTC()
	if err := stop.check(); err != nil {
		return State{}, err
	}
	return change(ctx, store, now, stop.Selector, func(stops []Stop) []Stop {
		if slices.ContainsFunc(stops, stop.repeats) {
			return stops
		}
		return append(stops, stop)
	})
}

// repeats reports whether other says the same, but for when it began.
func (s Stop) repeats(other Stop) bool {
	other.Since = s.Since
	return s == other
}

// Lift takes the stops with exactly this selector out of the state. It returns them and what is in force
// then. Lifting the stop of everything leaves the others as they are, and makes a state where there is
// none; any other is refused there with [ErrNoState].
func Lift(ctx context.Context, store Store, sel Selector) (lifted []Stop, left State, err error) {
	if err := sel.check(); err != nil {
		return nil, State{}, err
	}
	left, err = change(ctx, store, time.Now().UTC(), sel, func(stops []Stop) []Stop {
		lifted = nil // of an attempt that lost
		return slices.DeleteFunc(stops, func(s Stop) bool {
			if s.Selector == sel {
				lifted = append(lifted, s)
			}
			return s.Selector == sel
		})
	})
	if err != nil {
		return nil, State{}, err
	}
	return lifted, left, nil
}

// mostAttempts is how often a change is tried that others come before.
const mostAttempts = 100

// errBusy is a store that never holds what it held a moment ago.
var errBusy = errors.New("killswitch: others change the state all the time")

// change replaces the stops that are in force by what edit makes of them.
func change(ctx context.Context, store Store, now time.Time, sel Selector, edit func([]Stop) []Stop) (State, error) {
	for range mostAttempts {
		last, err := store.Load(ctx)
		if err != nil {
			return State{}, fmt.Errorf("killswitch: reading the state: %w", err)
		}
		state, err := parse(last)
		if err != nil && (sel.Scope != ScopeAll || !errors.Is(err, ErrNoState)) {
			return State{}, err
		}
		next := State{Changed: now, Stops: edit(state.At(now))}
		if !next.Changed.After(state.Changed) {
			next.Changed = state.Changed.Add(1)
		}
		data, err := next.encode()
		if err != nil {
			return State{}, fmt.Errorf("killswitch: writing the state: %w", err)
		}
		if len(data) > largest || len(data) > full && len(next.Stops) > len(state.Stops) && sel.Scope != ScopeAll {
			return State{}, ErrFull
		}
		switch ok, err := store.Swap(ctx, last, data); {
		case err != nil:
			return State{}, fmt.Errorf("killswitch: writing the state: %w", err)
		case ok:
			return next, nil
		}
	}
	return State{}, errBusy
}
