// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package counters_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/guards/counters/counterstest"
)

func TestMemory(t *testing.T) {
	counterstest.Test(t, counters.NewMemory())
	counterstest.Test(t, counters.NewMemoryWith(counters.MemoryOptions{TTL: -1}))
}

func TestMemoryForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := counters.NewMemory()
		count := func() int64 {
			n, err := m.Add(t.Context(), "k", 1)
			require.NoError(t, err)
			return n
		}
		require.EqualValues(t, 1, count())
		time.Sleep(counters.DefaultTTL - time.Second)
		require.EqualValues(t, 2, count(), "use does not prolong its life")
		time.Sleep(time.Second)
		require.EqualValues(t, 1, count())

		forever := counters.NewMemoryWith(counters.MemoryOptions{TTL: -1})
		_, err := forever.Add(t.Context(), "k", 1)
		require.NoError(t, err)
		time.Sleep(365 * 24 * time.Hour)
		n, err := forever.Add(t.Context(), "k", 1)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
	})
}
