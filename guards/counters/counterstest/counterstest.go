// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package counterstest holds the test every [counters.Store] must pass.
package counterstest

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/counters"
)

// Test tries the store's contract. The store must be empty.
func Test(t *testing.T, s counters.Store) {
	t.Helper()
	t.Run("take", func(t *testing.T) { testTake(t, s) })
	t.Run("add", func(t *testing.T) { testAdd(t, s) })
	t.Run("take from many goroutines", func(t *testing.T) { testParallel(t, s) })
	t.Run("history", func(t *testing.T) { testHistory(t, s) })
	t.Run("any key", func(t *testing.T) { testKeys(t, s) })
}

func testTake(t *testing.T, s counters.Store) {
	for _, step := range []struct {
		n, limit, used int64
		ok             bool
	}{
		{1, 3, 1, true}, {2, 3, 3, true}, {1, 3, 3, false}, {0, 3, 3, true}, {1, 2, 3, false}, {1, math.MaxInt64, 4, true}, {5, 8, 4, false}, {4, 8, 8, true},
	} {
		used, ok, err := s.Take(t.Context(), "take", step.n, step.limit)
		require.NoError(t, err)
		require.Equal(t, step.used, used, step)
		require.Equal(t, step.ok, ok, step)
	}
	_, ok, err := s.Take(t.Context(), "never", 1, 0)
	require.NoError(t, err)
	require.False(t, ok)
}

func testAdd(t *testing.T, s counters.Store) {
	for _, step := range [][2]int64{{0, 0}, {5, 5}, {-2, 3}, {-10, 0}, {0, 0}, {41200, 41200}} {
		got, err := s.Add(t.Context(), "add", step[0])
		require.NoError(t, err)
		require.Equal(t, step[1], got)
	}
}

func testParallel(t *testing.T, s counters.Store) {
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 10 {
				if _, ok, err := s.Take(t.Context(), "parallel", 1, 100); err == nil && ok {
					taken.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 100, taken.Load())
}

func testHistory(t *testing.T, s counters.Store) {
	var got []counters.Entry
	for i := range 5 {
		var err error
		got, err = s.Push(t.Context(), "history", counters.Entry{ID: fmt.Sprint(i), Call: "lookup(" + fmt.Sprint(i%2) + ")"}, 3)
		require.NoError(t, err)
	}
	require.Equal(t, []counters.Entry{{ID: "2", Call: "lookup(0)"}, {ID: "3", Call: "lookup(1)"}, {ID: "4", Call: "lookup(0)"}}, got)
	require.NoError(t, s.Settle(t.Context(), "history", "3", "ok"))
	require.NoError(t, s.Settle(t.Context(), "history", "0", "dropped long ago"))
	require.NoError(t, s.Settle(t.Context(), "no such history", "0", "x"))
	got, err := s.Push(t.Context(), "history", counters.Entry{ID: "5", Call: "lookup(1)", Result: "known at once"}, 3)
	require.NoError(t, err)
	require.Equal(t, []counters.Entry{{ID: "3", Call: "lookup(1)", Result: "ok"}, {ID: "4", Call: "lookup(0)"}, {ID: "5", Call: "lookup(1)", Result: "known at once"}}, got)
}

func testKeys(t *testing.T, s counters.Store) {
	for _, key := range []string{"", "a b", "{x}", "é\n", "k*"} {
		got, err := s.Add(t.Context(), "key:"+key, 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, got, key)
	}
}
