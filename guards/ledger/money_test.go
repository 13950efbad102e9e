// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

func TestParseUSD(t *testing.T) {
	for s, want := range map[string]ledger.Nano{
		"0": 0, "1": 1e9, "0.10": 1e8, "0.000000001": 1, "007.5": 7.5e9, "9007199.254740991": ledger.MaxAmount,
	} {
		got, err := ledger.ParseUSD(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", ".", "1.", ".5", "-1", "+1", "1e3", "0x1", "1,5", "$1", " 1", "NaN", "Inf", "0.0000000001", "9007199.254740992", "99999999999999999999"} {
		_, err := ledger.ParseUSD(s)
		require.Error(t, err, s)
	}
}

func TestNanoText(t *testing.T) {
	for n, want := range map[ledger.Nano]string{
		0: "$0.00", 1: "$0.000000001", 1e8: "$0.10", 12_345_678: "$0.012345678", 1.5e9: "$1.50", -25e7: "-$0.25",
		math.MaxInt64: "$9223372036.854775807",
	} {
		require.Equal(t, want, n.String())
	}
	data, err := json.Marshal(map[string]ledger.Nano{"limit": 1e8})
	require.NoError(t, err)
	require.JSONEq(t, `{"limit":"0.10"}`, string(data))
	var back map[string]ledger.Nano
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, ledger.Nano(1e8), back["limit"])
	require.Error(t, json.Unmarshal([]byte(`{"limit":"-1"}`), &back))
	require.Error(t, json.Unmarshal([]byte(`{"limit":1}`), &back), "an amount is text")
}

func TestNanoOfRoundsUp(t *testing.T) {
	for p, want := range map[prices.Pico]ledger.Nano{0: 0, 1: 1, 999: 1, 1000: 1, 1001: 2, math.MaxInt64: 9_223_372_036_854_776} {
		require.Equal(t, want, ledger.NanoOf(p))
	}
	require.Equal(t, prices.Pico(5000), ledger.Nano(5).Pico())
	require.Equal(t, prices.Pico(int64(ledger.MaxAmount)*1000), ledger.MaxAmount.Pico())
	require.Equal(t, prices.Pico(math.MaxInt64), (ledger.MaxAmount + 1).Pico())
}

func FuzzParseUSD(f *testing.F) {
	for _, s := range []string{"0.10", "1", "9007199.254740991", "1.", "-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ledger.ParseUSD(s)
		if err != nil {
			return
		}
		require.True(t, n >= 0 && n <= ledger.MaxAmount)
		text, err := n.MarshalText()
		require.NoError(t, err)
		back, err := ledger.ParseUSD(string(text))
		require.NoError(t, err)
		require.Equal(t, n, back)
	})
}
