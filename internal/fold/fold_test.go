// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package fold_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/fold"
)

// What encoding/json takes for a field's name is found under it, and nothing else is.
func FuzzSameAsEncodingJSON(f *testing.F) {
	for _, name := range []string{"maxAmount", "MAXAMOUNT", "maxamount", "max_amount", "maxAmoun", "ma\u212aAmount", "", "maxAmount "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		var args map[string]any
		doc, err := json.Marshal(map[string]int{name: 7})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(doc, &args))
		var into struct {
			Amount int `json:"maxAmount"`
			Kelvin int `json:"maKAmount"`
		}
		require.NoError(t, json.Unmarshal(doc, &into))
		_, ok := fold.Get(args, "maxAmount")
		require.Equal(t, into.Amount == 7, ok)
		_, ok = fold.Get(args, "maKAmount")
		require.Equal(t, into.Kelvin == 7, ok)
	})
}

func TestGetPrefersTheExactKey(t *testing.T) {
	v, ok := fold.Get(map[string]any{"A": 1, "a": 2}, "a")
	require.True(t, ok)
	require.Equal(t, 2, v)
	v, _ = fold.Get(map[string]any{"AB": 1, "aB": 2}, "ab")
	require.Equal(t, 1, v)
	_, ok = fold.Get(map[string]any{"b": 1}, "a")
	require.False(t, ok)
}

func TestTwice(t *testing.T) {
	require.True(t, fold.Twice(map[string]any{"a": 1, "b": 2, "A": 3}))
	require.True(t, fold.Twice(map[string]any{"K": 1, "\u212a": 2}))
	require.False(t, fold.Twice(map[string]any{"a": 1, "b": 2}))
	require.False(t, fold.Twice(nil))
}
