// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package rediscounters_test

import (
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/guards/counters/counterstest"
	"github.com/gardefou/gardefou/guards/counters/rediscounters"
	"github.com/gardefou/gardefou/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t testing.TB, addr string) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true, DisableRetry: true})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestStore(t *testing.T) {
	srv := redistest.Start(t)
	client := connect(t, srv.Addr)
	s, err := rediscounters.New(client)
	require.NoError(t, err)
	counterstest.Test(t, s)
	keys, err := client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice()
	require.NoError(t, err)
	for _, key := range keys {
		require.Contains(t, key, "gardefou:{")
		ttl, err := client.Do(t.Context(), client.B().Pttl().Key(key).Build()).AsInt64()
		require.NoError(t, err)
		require.Positive(t, ttl, "%s must not live for ever", key)
		require.LessOrEqual(t, ttl, counters.DefaultTTL.Milliseconds())
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
	_, err = rediscounters.NewWith(rediscounters.Options{Client: connect(t, redistest.Start(t).Addr), TTL: -time.Second})
	require.Error(t, err)
}
