// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger_test

import (
	"bufio"
	"math"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/redisledger"
)

// ping times a raw PING on one connection: what any round trip to this Redis costs.
func ping(b *testing.B, s *server) float64 {
	b.Helper()
	conn, err := net.Dial("tcp", s.address)
	require.NoError(b, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	return fastest(func() {
		_, err := conn.Write([]byte("PING\r\n"))
		require.NoError(b, err)
		_, err = in.ReadSlice('\n')
		require.NoError(b, err)
	})
}

// fastest gives the nanoseconds per call of the best of 60 batches of 50: other work on the
// machine slows some batches down, and speeds none up.
func fastest(f func()) float64 {
	best := time.Duration(math.MaxInt64)
	for range 60 {
		start := time.Now()
		for range 50 {
			f()
		}
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds()) / 50
}

// BenchmarkPair is one reservation and its commit, three accounts deep, in raw PINGs.
func BenchmarkPair(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			s := startRedis(b, "--appendfsync", "everysec") // what is measured here is the round trip
			l := s.ledger(redisledger.Options{AllowDelayedFsync: true})
			unit := ping(b, s)
			var id ledger.AccountID = "t"
			for _, name := range []string{"", "/agent", "/sub"} {
				id += ledger.AccountID(name)
				_, err := l.Open(b.Context(), ledger.Opening{Account: id, Mode: ledger.Cap, Limits: ledger.Limits{Hard: ledger.MaxAmount}})
				require.NoError(b, err)
			}
			var next atomic.Int64
			b.SetParallelism(max(1, callers/2)) // times GOMAXPROCS
			b.ResetTimer()
			pair := func() {
				k := key(id, strconv.FormatInt(next.Add(1), 10))
				if _, err := l.Reserve(b.Context(), ledger.Request{Key: k, Amount: 1000}); err != nil {
					b.Fatal(err)
				}
				if _, err := l.Commit(b.Context(), k, paid(900)); err != nil {
					b.Fatal(err)
				}
			}
			if callers == 1 {
				for b.Loop() {
					pair()
				}
				b.ReportMetric(fastest(pair)/unit, "x-raw-PING")
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					pair()
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/unit, "x-raw-PING")
		})
	}
}
