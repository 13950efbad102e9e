// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gardefou/gardefou/guards/prices"
)

// No use within a bound costs more than the bound's worst case, for any row of the table.
func TestWorstCaseBoundsEveryUse(t *testing.T) {
	table := prices.Default()
	rows := table.List(prices.Filter{})
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SampledFrom(rows).Draw(t, "row")
		q := prices.Quote{Rows: []prices.Row{row}}
		bound := prices.Bound{
			Input:     rapid.Int64Range(0, 1_100_000).Draw(t, "input bound"),
			Output:    rapid.Int64Range(0, 130_000).Draw(t, "output bound"),
			TextInput: rapid.Bool().Draw(t, "text in"), TextOutput: rapid.Bool().Draw(t, "text out"),
			NoCacheWrite: rapid.Bool().Draw(t, "no cache write"),
		}
		u := prices.Usage{
			Input:  rapid.Int64Range(0, bound.Input).Draw(t, "input"),
			Output: rapid.Int64Range(0, bound.Output).Draw(t, "output"),
		}
		left := u.Input
		part := func(name string) int64 {
			n := rapid.Int64Range(0, left).Draw(t, name)
			left -= n
			return n
		}
		u.CacheRead = part("cached")
		if !bound.NoCacheWrite {
			u.CacheWrite, u.CacheWrite1h = part("written"), part("written 1h")
		}
		if !bound.TextInput {
			u.AudioCacheRead = rapid.Int64Range(0, u.CacheRead).Draw(t, "cached sound")
			u.AudioInput = u.AudioCacheRead + part("sound")
		}
		left = u.Output
		u.Reasoning = part("reasoning")
		if !bound.TextOutput {
			u.ImageOutput = part("image")
		}
		if _, ok := row.Fees[prices.FeeSearch]; ok {
			bound.Fees = prices.Fees{prices.FeeSearch: rapid.Int64Range(0, 5).Draw(t, "searches bound")}
			u.Fees = prices.Fees{prices.FeeSearch: rapid.Int64Range(0, bound.Fees[prices.FeeSearch]).Draw(t, "searches")}
		}
		worst, err := q.WorstCase(bound)
		require.NoError(t, err)
		cost, err := q.Cost(u)
		require.NoError(t, err)
		require.LessOrEqual(t, cost, worst)

		budget := prices.Pico(rapid.Int64Range(0, int64(worst)+1).Draw(t, "budget"))
		output, err := q.AffordableOutput(bound, budget)
		require.NoError(t, err)
		if output >= 0 {
			b := bound
			b.Output = output
			fits, err := q.WorstCase(b)
			require.NoError(t, err)
			require.LessOrEqual(t, fits, budget)
			if b.Output++; output < bound.Output {
				above, err := q.WorstCase(b)
				require.NoError(t, err)
				require.Greater(t, above, budget, "it is the largest that fits")
			}
		}
	})
}
