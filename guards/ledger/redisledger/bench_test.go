// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger_test

import (
	"bufio"
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
	const rounds = 3000
	conn, err := net.Dial("tcp", s.address)
	require.NoError(b, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	start := time.Now()
	for range rounds {
		_, err := conn.Write([]byte("PING\r\n"))
		require.NoError(b, err)
		_, err = in.ReadSlice('\n')
		require.NoError(b, err)
	}
	return float64(time.Since(start).Nanoseconds()) / rounds
}

// BenchmarkPair is one reservation and its commit, three accounts deep, in raw PINGs.
func BenchmarkPair(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			s := startRedis(b)
			l := s.ledger(redisledger.Options{})
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
			work := func(more func() bool) {
				for more() {
					k := key(id, strconv.FormatInt(next.Add(1), 10))
					if _, err := l.Reserve(b.Context(), ledger.Request{Key: k, Amount: 1000}); err != nil {
						b.Fatal(err)
					}
					if _, err := l.Commit(b.Context(), k, paid(900)); err != nil {
						b.Fatal(err)
					}
				}
			}
			if callers == 1 {
				work(b.Loop)
			} else {
				b.RunParallel(func(pb *testing.PB) { work(pb.Next) })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/unit, "x-raw-PING")
		})
	}
}
