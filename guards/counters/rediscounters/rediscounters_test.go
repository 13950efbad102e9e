// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package rediscounters_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/guards/counters/counterstest"
	"github.com/gardefou/gardefou/guards/counters/rediscounters"
	"github.com/gardefou/gardefou/internal/redistest"
)

// The client's pool keeps dialling a dead server for a while after it is closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

func connect(t testing.TB, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialTimeout: time.Second, DialerRetries: 1})
	t.Cleanup(func() { c.Close() })
	return c
}

func TestStore(t *testing.T) {
	srv := redistest.Start(t)
	client := connect(t, srv.Addr)
	s, err := rediscounters.New(client)
	require.NoError(t, err)
	counterstest.Test(t, s)
	for _, key := range client.Keys(t.Context(), "*").Val() {
		require.Contains(t, key, "gardefou:{")
		ttl := client.PTTL(t.Context(), key).Val()
		require.Greater(t, ttl, time.Duration(0), "%s must not live for ever", key)
		require.LessOrEqual(t, ttl, counters.DefaultTTL)
	}

	srv.Stop()
	_, _, err = s.Take(t.Context(), "k", 1, 10)
	require.ErrorIs(t, err, counters.ErrUnavailable)
	_, err = s.Add(t.Context(), "k", 1)
	require.ErrorIs(t, err, counters.ErrUnavailable)
	_, err = s.Push(t.Context(), "k", counters.Entry{}, 1)
	require.ErrorIs(t, err, counters.ErrUnavailable)
	require.ErrorIs(t, s.Settle(t.Context(), "k", "id", "r"), counters.ErrUnavailable)
}

func TestNonsense(t *testing.T) {
	_, err := rediscounters.New(nil)
	require.Error(t, err)
	_, err = rediscounters.NewWith(rediscounters.Options{Client: connect(t, "127.0.0.1:1"), TTL: -time.Second})
	require.Error(t, err)
}
