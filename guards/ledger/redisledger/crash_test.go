// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/internal/crashtest"
	"github.com/gardefou/gardefou/guards/ledger/redisledger"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, func(url string) (ledger.Ledger, error) {
		var l *redisledger.Ledger
		var err error
		for range 400 { // the server may be starting again
			if l, err = redisledger.New(context.Background(), redisledger.Options{URL: url}); err == nil {
				return l, nil
			}
			time.Sleep(5 * time.Millisecond)
		}
		return nil, err
	})
}

// Several processes spend from one account; they are killed at random, and Redis with them.
func TestKilledWithRedis(t *testing.T) {
	for name, redisKills := range map[string]bool{"workers": false, "workers and Redis": true} {
		t.Run(name, func(t *testing.T) {
			const limit ledger.Nano = 40_000
			s := startRedis(t)
			l := s.ledger(redisledger.Options{Attempts: 1000})
			_, err := l.Open(t.Context(), ledger.Opening{Account: "task", Limits: ledger.Limits{Hard: limit}})
			require.NoError(t, err)

			torment := crashtest.Torment{Store: s.url(), Account: "task", Workers: 3, Kills: 20}
			var mu sync.Mutex
			restarts := 0
			if redisKills {
				torment.Event = func(calls int) {
					mu.Lock()
					defer mu.Unlock()
					if calls/40 > restarts {
						restarts++
						s.kill()
						s.start()
					}
				}
			}
			got := torment.Run(t)

			b, err := l.Balance(t.Context(), "task")
			require.NoError(t, err)
			t.Logf("%d calls, %d workers and %d servers killed, billed %d of %d, committed %d, unsettled %d", got.Calls, got.Killed, restarts, got.Billed, limit, b.Committed, b.Unsettled)
			require.Equal(t, 20, got.Killed)
			require.LessOrEqual(t, got.Billed, limit)
			require.LessOrEqual(t, got.Billed, b.Spent+b.Held, "billed, but on no account")
			require.Zero(t, b.Overrun)
			require.Greater(t, got.Billed, limit/2, "the money was there to be spent")
			require.Equal(t, redisKills, restarts > 0)
		})
	}
}

// 64 callers in two processes, each with a worst case of $0.30, share $1.
func TestTwoProcesses(t *testing.T) {
	s := startRedis(t)
	l := s.ledger(redisledger.Options{})
	const dollar ledger.Nano = 1_000_000_000
	open(t, l, "task", dollar)
	require.Equal(t, 3, crashtest.Crowd(t, s.url(), "task", dollar*3/10))
	b, err := l.Balance(t.Context(), "task")
	require.NoError(t, err)
	require.Equal(t, dollar*9/10, b.Reserved)
	other := s.ledger(redisledger.Options{})
	_, err = other.Open(t.Context(), ledger.Opening{Account: "task", Limits: ledger.Limits{Hard: 2 * dollar}})
	require.ErrorIs(t, err, ledger.ErrConflict)
}
