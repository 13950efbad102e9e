// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// BenchmarkSpend calls one model bare and under Spend with a ledger in memory, in one
// run, and prints what the gate adds to a call. The best of many batches counts: other
// work on the machine slows some down, and speeds none up.
func BenchmarkSpend(b *testing.B) {
	hard, err := ledger.ParseUSD("1000000")
	require.NoError(b, err)
	bare := &billing{}
	g := guards.Spend(guards.SpendOptions{Ledger: memory(b), Limits: ledger.Limits{Hard: hard}, Prices: dear(b)})
	paid := g.WrapModel(bare, nil)
	ctx, run := callbacks.Start(b.Context())
	defer run.Close()
	req := &model.LLMRequest{
		Contents: []*genai.Content{genai.NewContentFromText("Is the supplier solvent?", genai.RoleUser)},
		Config:   &genai.GenerateContentConfig{MaxOutputTokens: 10},
	}
	const batch = 200
	plain, gated := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for b.Loop() {
		plain = min(plain, timeOf(ctx, b, bare, req, batch))
		gated = min(gated, timeOf(ctx, b, paid, req, batch))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(plain.Nanoseconds())/batch, "bare-ns/call")
	b.ReportMetric(float64((gated-plain).Nanoseconds())/batch, "added-ns/call")
}

func timeOf(ctx context.Context, b *testing.B, m model.LLM, req *model.LLMRequest, calls int) time.Duration {
	start := time.Now()
	for range calls {
		for _, err := range m.GenerateContent(ctx, req, false) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	return time.Since(start)
}
