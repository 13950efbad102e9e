// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package rediskillswitch_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gardefou/gardefou/guards/killswitch"
	"github.com/gardefou/gardefou/guards/killswitch/rediskillswitch"
	"github.com/gardefou/gardefou/internal/redistest"
)

// The client puts off asking a server that is gone for its role, on a goroutine that sleeps
// for at most a second and outlives Close.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

func dial(t *testing.T, srv *redistest.Server) *rediskillswitch.Store {
	t.Helper()
	store, shut, err := rediskillswitch.Dial("redis://" + srv.Addr)
	require.NoError(t, err)
	t.Cleanup(shut)
	return store
}

func client(t *testing.T, srv *redistest.Server) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{srv.Addr}, DisableCache: true, DisableRetry: true})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

var everything = killswitch.Selector{Scope: killswitch.ScopeAll}

func TestAStateInRedis(t *testing.T) {
	srv := redistest.Start(t)
	store, c := dial(t, srv), client(t, srv)
	_, err := killswitch.Read(t.Context(), store)
	require.ErrorIs(t, err, killswitch.ErrNoState)
	_, state, err := killswitch.Lift(t.Context(), store, everything)
	require.NoError(t, err)
	require.Empty(t, state.Stops)
	put, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: everything, Reason: "why"})
	require.NoError(t, err)
	got, err := killswitch.Read(t.Context(), rediskillswitch.New(c))
	require.NoError(t, err)
	require.Equal(t, put, got)
	ttl, err := c.Do(t.Context(), c.B().Pttl().Key(rediskillswitch.Key).Build()).AsInt64()
	require.NoError(t, err)
	require.EqualValues(t, -1, ttl, "a stop does not end by itself")

	for _, foreign := range []string{"", "{"} {
		require.NoError(t, c.Do(t.Context(), c.B().Set().Key(rediskillswitch.Key).Value(foreign).Build()).Error())
		_, err = killswitch.Put(t.Context(), store, killswitch.Stop{Selector: everything})
		require.ErrorIs(t, err, killswitch.ErrForeign)
		ok, err := store.Swap(t.Context(), nil, []byte("x"))
		require.NoError(t, err)
		require.False(t, ok)
	}
	require.NoError(t, c.Do(t.Context(), c.B().Del().Key(rediskillswitch.Key).Build()).Error())
	ok, err := store.Swap(t.Context(), []byte("x"), []byte("y"))
	require.NoError(t, err)
	require.False(t, ok)

	srv.Stop()
	_, err = killswitch.Read(t.Context(), store)
	require.Error(t, err)
	require.NotErrorIs(t, err, killswitch.ErrNoState)
	_, err = killswitch.Put(t.Context(), store, killswitch.Stop{Selector: everything})
	require.Error(t, err)
}

// Clients that stop at once lose nothing of each other.
func TestClientsThatStopAtOnceLoseNothing(t *testing.T) {
	const clients, each = 4, 10
	srv := redistest.Start(t)
	_, _, err := killswitch.Lift(t.Context(), dial(t, srv), everything)
	require.NoError(t, err)
	var wg sync.WaitGroup
	errs := make(chan error, clients*each)
	for c := range clients {
		store := dial(t, srv)
		wg.Go(func() {
			for i := range each {
				sel := killswitch.Selector{Scope: killswitch.ScopeRun, Name: fmt.Sprint(c, " ", i)}
				_, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: sel})
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	state, err := killswitch.Read(t.Context(), dial(t, srv))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, stop := range state.Stops {
		names[stop.Name] = true
	}
	require.Len(t, names, clients*each)
}

// An address that is wrong is not repeated: it may hold a password.
func TestAnErrorHoldsNoPassword(t *testing.T) {
	for _, url := range []string{"redis://user:hunter2@127.0.0.1:1", "redis://user:hunter2@%", "http://user:hunter2@127.0.0.1"} {
		_, _, err := rediskillswitch.Dial(url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
