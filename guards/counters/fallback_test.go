// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package counters_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/counters"
)

// unreachable says what a store says whose call was cut off: that it can't be reached.
type unreachable struct{ counters.Store }

func (unreachable) Take(ctx context.Context, _ string, _, _ int64) (int64, bool, error) {
	return 0, false, fmt.Errorf("%w: %w", counters.ErrUnavailable, ctx.Err())
}

// The end of a call is no failure of the store: nothing is counted here in its place.
func TestFallbackIsNotForACancelledCall(t *testing.T) {
	told := 0
	s := counters.Fallback(unreachable{counters.NewMemory()}, func(error) { told++ })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok, err := s.Take(ctx, "k", 1, 10)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, ok)
	require.Zero(t, told)
}
