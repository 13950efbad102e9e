// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A call that is refused takes no later call's turn.
func TestARefusedCallTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuckets(RateLimitOptions{Calls: 1, Every: time.Minute, Burst: 1})
		take := func() time.Duration {
			wait, _, err := b.take(t.Context(), "k", 0)
			require.NoError(t, err)
			return wait
		}
		require.Zero(t, take())
		for range 5 {
			require.Equal(t, time.Minute, take())
		}
		time.Sleep(time.Minute)
		require.Zero(t, take())
	})
}

// Keys that nobody uses any more are forgotten, those that wait for their turn are not.
func TestRatesOfFormerKeysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuckets(RateLimitOptions{Calls: 1, Every: time.Minute, Burst: 1})
		for i := range maxBuckets {
			_, _, err := b.take(t.Context(), strconv.Itoa(i), 0)
			require.NoError(t, err)
		}
		time.Sleep(time.Minute)
		_, _, err := b.take(t.Context(), "0", 0)
		require.NoError(t, err)
		_, _, err = b.take(t.Context(), "new", 0)
		require.NoError(t, err)
		require.Len(t, b.by, 2)
		wait, _, err := b.take(t.Context(), "0", 0)
		require.NoError(t, err)
		require.Positive(t, wait)
	})
}
