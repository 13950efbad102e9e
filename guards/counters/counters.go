// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package counters keeps the counts and call histories of guards: in memory, or, in
// package rediscounters, where several processes see them. It knows neither ADK nor
// the guards.
package counters

import (
	"context"
	"errors"
)

// ErrUnavailable is what every error of a [Store] is that could not do its work.
var ErrUnavailable = errors.New("counters unavailable")

// A Store keeps counters and short histories by key. Every method is atomic: of any
// number of callers, in one process or in several, each sees the others' work whole.
// A key is forgotten some time after its first use; see the implementation.
//
// Stores are safe for concurrent use. An error wraps [ErrUnavailable] and means that
// nothing is known of what was counted.
type Store interface {
	// Take adds n to the counter at key unless that would take it beyond limit. It
	// returns what the counter stands at afterwards and whether n was added.
	Take(ctx context.Context, key string, n, limit int64) (used int64, ok bool, err error)
	// Add adds n, which may be negative, whatever the counter stands at, and returns the
	// sum. A counter never falls below zero. Adding zero reads.
	Add(ctx context.Context, key string, n int64) (int64, error)
	// Push appends a call to the history at key, drops all but the newest keep entries,
	// and returns what is left, the new one last.
	Push(ctx context.Context, key string, e Entry, keep int) ([]Entry, error)
	// Settle sets the result of the entries with this id in the history at key. An entry
	// that is no longer there is no error.
	Settle(ctx context.Context, key, id, result string) error
}

// An Entry is one call in a history. ID and Call are short texts without a line break.
type Entry struct {
	ID string
	// Call says what was called; equal texts are equal calls.
	Call string
	// Result says what came back; empty while the call is pending.
	Result string
}
