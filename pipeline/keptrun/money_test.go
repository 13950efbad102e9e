// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package keptrun_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/pipeline/keptrun"
)

// Research gets its share of a raise only; it and the rest get what is missing, in whole
// cents and not much more.
func TestRaiseFor(t *testing.T) {
	share := func(n ledger.Nano) ledger.Nano { return agents.Slices(n)[0].Limits.Hard }
	rapid.Check(t, func(t *rapid.T) {
		hard := ledger.Nano(rapid.Int64Range(10_000, 1e12).Draw(t, "hard"))
		missing := ledger.Nano(rapid.Int64Range(1, 1e12).Draw(t, "missing"))
		raise := keptrun.RaiseFor(hard, missing)
		research := share(hard+raise) - share(hard)
		require.GreaterOrEqual(t, research, missing)
		require.GreaterOrEqual(t, raise-research, missing)
		require.LessOrEqual(t, raise, 3*missing+10_000_000)
		require.Zero(t, raise%10_000_000)
	})
}

func TestRaised(t *testing.T) {
	b := ledger.Balance{Limits: ledger.Limits{Hard: 1e9, Soft: 8e8, Target: 5e8}, Spent: 3e8, Held: 1e8}
	for raise, want := range map[string]ledger.Limits{
		"+0.5": {Hard: 15e8, Soft: 8e8, Target: 5e8},
		"2":    {Hard: 2e9, Soft: 8e8, Target: 5e8},
		"0.6":  {Hard: 6e8, Soft: 6e8, Target: 5e8},
		"0.4":  {Hard: 4e8, Soft: 4e8, Target: 4e8},
	} {
		got, err := keptrun.Raised(b, raise)
		require.NoError(t, err, raise)
		require.Equal(t, want, got, raise)
	}
	for _, raise := range []string{"0", "+0"} {
		_, err := keptrun.Raised(b, raise)
		require.ErrorIs(t, err, keptrun.ErrAddsNothing, raise)
	}
	var little *keptrun.TooLittleError
	got, err := keptrun.Raised(b, "0.399999999")
	require.ErrorAs(t, err, &little)
	require.Equal(t, &keptrun.TooLittleError{Limit: 399_999_999, Used: 4e8}, little)
	require.Equal(t, b.Limits, got, "as they are")
	for _, raise := range []string{"", "+", "much", "-1", "++1"} {
		_, err := keptrun.Raised(b, raise)
		require.Error(t, err, raise)
	}
}
