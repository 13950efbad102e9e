// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"slices"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
)

// Records returns what guards recorded in the Run of ctx. Outside a Run it holds nothing.
func Records(ctx context.Context) RunRecords { return RunRecords{callbacks.RunOf(ctx)} }

// RunRecords is what guards recorded in one Run, as it is when a method is called: each
// returns a copy, and may be called while the Run goes on. The zero value holds nothing.
type RunRecords struct{ run *callbacks.Run }

// records are a list that a Run keeps for its callers.
type records[T any] struct {
	mu  sync.Mutex
	all []T
}

func (r *records[T]) add(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, v)
}

func (r *records[T]) list() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}
