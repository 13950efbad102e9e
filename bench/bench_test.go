// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComparison keeps the table honest: every engine finds the plain values,
// so that none is slow or blind because it is called wrongly, and a renewed
// account number is a valid one.
func TestComparison(t *testing.T) {
	engines, err := newEngines()
	require.NoError(t, err)
	const text = "é alice@example.com, DE02 1203 0000 0000 2020 51 é"
	want := map[string]span{email: {3, 20}, iban: {22, 49}}
	for _, e := range engines {
		for kind, find := range e.find {
			require.Equal(t, []span{want[kind]}, find(text), "%s %s", e.name, kind)
		}
	}

	require.True(t, hasCheckDigits(renewed("FR76 3000 6000 0112 3456 7890 189")))
	require.NotEqual(t, "FR76 3000 6000 0112 3456 7890 189", renewed("FR76 3000 6000 0112 3456 7890 189"))
	require.Equal(t, "gb", renewed("gb29nwbk60161331926819")[:2])

	vectors, err := readVectors("../testdata/conformance/redaction.jsonl")
	require.NoError(t, err)
	for _, e := range engines {
		if e.name == "redact" {
			for kind, find := range e.find {
				s := score(vectors, kind, find)
				require.Equal(t, s.values, s.whole, kind)
				require.Zero(t, s.falseFinds, kind)
			}
		}
	}
}

// BenchmarkEngines prints how many times faster redact is than each engine on
// one text in one run.
func BenchmarkEngines(b *testing.B) {
	engines, err := newEngines()
	require.NoError(b, err)
	text, err := readText("../redact/testdata/business.txt", 1<<20)
	require.NoError(b, err)
	all := func(e engine) func() {
		return func() {
			for _, find := range e.find {
				find(text)
			}
		}
	}
	own := engines[1]
	require.Equal(b, "redact", own.name)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		all(own)()
	}
	took := fastest(all(own))
	for _, e := range engines {
		if e.name != own.name && len(e.find) == len(own.find) {
			b.ReportMetric(float64(fastest(all(e)))/float64(took), "x-"+map[string]string{standard: "stdlib", "regexp2/v2": "regexp2/v2", "regexp2 v1": "regexp2/v1"}[e.name])
		}
	}
}
