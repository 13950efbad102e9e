// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
)

// fastest times batches of a function and gives the nanoseconds per call of the best one: other
// work on the machine slows some batches down, and speeds none up.
func fastest(batches, size int, f func(i int)) float64 {
	best := time.Duration(math.MaxInt64)
	for batch := range batches {
		start := time.Now()
		for i := range size {
			f(batch*size + i)
		}
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds()) / float64(size)
}

// chain opens an account three deep.
func chain(b *testing.B, l ledger.Ledger, root ledger.AccountID) ledger.AccountID {
	b.Helper()
	id := root
	for _, name := range []string{"", "agent", "sub"} {
		if name != "" {
			id = id.Child(name)
		}
		_, err := l.Open(b.Context(), ledger.Opening{Account: id, Mode: ledger.Cap, Limits: ledger.Limits{Hard: ledger.MaxAmount}})
		require.NoError(b, err)
	}
	return id
}

func pair(b *testing.B, l ledger.Ledger, id ledger.AccountID, call string) {
	k := ledger.Key{Account: id, Call: call, Attempt: 1}
	if _, err := l.Reserve(b.Context(), ledger.Request{Key: k, Amount: 1000}); err != nil {
		b.Fatal(err)
	}
	if _, err := l.Commit(b.Context(), k, ledger.Charge{Source: ledger.SourceProvider, Actual: 900}); err != nil {
		b.Fatal(err)
	}
}

func calls(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// BenchmarkMemoryPair is one reservation and its commit, three accounts deep, beside what any
// counter pays: two atomic adds.
func BenchmarkMemoryPair(b *testing.B) {
	b.ReportAllocs()
	m := newMemory(b, ledger.MemoryOptions{})
	id, names := chain(b, m, "t"), calls(b.N)
	b.ResetTimer()
	for i := range b.N {
		pair(b, m, id, names[i])
	}
	b.StopTimer()
	var n atomic.Int64
	adds := fastest(20, 20_000, func(int) { n.Add(1); n.Add(-1) })
	names = calls(60_000)
	id = chain(b, m, "u")
	pairs := fastest(60, 1000, func(i int) { pair(b, m, id, names[i]) })
	b.ReportMetric(pairs, "ns/pair")
	b.ReportMetric(pairs/adds, "x-two-atomic-adds")
}

// BenchmarkMemoryParallel shows that tasks don't wait for each other.
func BenchmarkMemoryParallel(b *testing.B) {
	for name, shared := range map[string]bool{"one task each": false, "one task for all": true} {
		b.Run(name, func(b *testing.B) {
			m := newMemory(b, ledger.MemoryOptions{})
			var workers atomic.Int64
			common := chain(b, m, "shared")
			b.RunParallel(func(pb *testing.PB) {
				worker := workers.Add(1)
				id := common
				if !shared {
					id = chain(b, m, ledger.AccountID(fmt.Sprintf("task-%d", worker)))
				}
				for i := 0; pb.Next(); i++ {
					pair(b, m, id, fmt.Sprintf("%d-%d", worker, i))
				}
			})
		})
	}
}

// BenchmarkMemoryBounded makes a million calls in one task and shows what stays in memory.
func BenchmarkMemoryBounded(b *testing.B) {
	heap := func() float64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc) / (1 << 20)
	}
	for range b.N {
		m := newMemory(b, ledger.MemoryOptions{})
		id := chain(b, m, "t")
		before := heap()
		var early float64
		for i := range 1_000_000 {
			if i == 100_000 {
				early = heap() - before
			}
			pair(b, m, id, strconv.Itoa(i))
		}
		late := heap() - before
		b.ReportMetric(late, "MiB-after-1e6-calls")
		b.ReportMetric(late/early, "x-after-1e5-calls")
		runtime.KeepAlive(m)
	}
}

// BenchmarkFilePair compares the file with memory.
func BenchmarkFilePair(b *testing.B) {
	for name, noSync := range map[string]bool{"fsync": false, "no fsync": true} {
		b.Run(name, func(b *testing.B) {
			f := openFile(b, filepath.Join(b.TempDir(), "ledger"), ledger.FileOptions{NoSync: noSync})
			id, names := chain(b, f, "t"), calls(b.N)
			b.ResetTimer()
			for i := range b.N {
				pair(b, f, id, names[i])
			}
		})
	}
}
