// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package artifactname lets the artifact service of a Run say under which names it stores
// what a tool saves, so that all guards of the Run write these names into events.
package artifactname

import (
	"context"
	"sync/atomic"

	"github.com/gardefou/gardefou/callbacks"
)

var key = callbacks.NewKey(func() *atomic.Pointer[func(string) string] { return new(atomic.Pointer[func(string) string]) })

// Set makes stored the name that ctx's Run stores an artifact under. It must return a name
// that it has returned as it is.
func Set(ctx context.Context, stored func(name string) string) { key.Of(ctx).Store(&stored) }

// Of returns what was set for ctx's Run, or nil.
func Of(ctx context.Context) func(name string) string {
	if f := key.Of(ctx).Load(); f != nil {
		return *f
	}
	return nil
}
