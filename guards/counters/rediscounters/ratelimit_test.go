// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package rediscounters_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/counters/rediscounters"
	"github.com/gardefou/gardefou/internal/redistest"
)

// Guards that know nothing of each other share one rate through Redis.
func TestRateLimitOverRedis(t *testing.T) {
	srv := redistest.Start(t)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		store, err := rediscounters.New(connect(t, srv.Addr))
		require.NoError(t, err)
		limit := guards.RateLimitOptions{Calls: 11, Every: 1000 * time.Hour, Store: store}.Guard()
		wg.Go(func() {
			for range 5 {
				if _, err := limit.BeforeTool(callbackstest.Context(t), callbackstest.Tool("lookup"), nil); err == nil {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 11, passed.Load())
}
