// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

var key = []byte("0123456789abcdef0123456789abcdef")

func TestLabel(t *testing.T) {
	const text = mailAddress + " " + account + " ID-1"
	pattern := []redact.Pattern{{Name: "ID", Expr: `ID-\d`}}
	for language, want := range map[string]string{
		"":   "[email redacted] [IBAN redacted] [ID redacted]",
		"en": "[email redacted] [IBAN redacted] [ID redacted]",
		"fr": "[e-mail masqué] [IBAN masqué] [ID masqué]",
	} {
		require.Equal(t, want, redact.Must(redact.New(redact.Options{Language: language, Patterns: pattern})).String(text))
	}
}

func TestMask(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{Strategy: redact.Mask, Patterns: []redact.Pattern{{Name: "ID", Expr: `ID-\d`}}}))
	for in, want := range map[string]string{
		mailAddress:                   "***@example.com",
		`"john..doe"@example.org`:     "***@example.org",
		"a@b.co@c.com":                "***@b.co***@c.com",
		"alice%40example.com":         "[email redacted]",
		account:                       "FR****0189",
		"gb29 nwbk 6016 1331 9268 19": "GB****6819",
		"FR76&nbsp;3000&nbsp;6000&nbsp;0112&nbsp;3456&nbsp;7890&nbsp;189": "FR****0189",
		"ID-1": "[ID redacted]",
	} {
		require.Equal(t, want, r.String(in))
	}
	for cut, want := range map[string]string{
		"FR76 3000 6000 0112 34": "FR****",
		"alice@exam":             "[email redacted]",
		"alice@":                 "[email redacted]",
	} {
		s := r.Stream()
		require.Equal(t, want, s.Write(cut)+s.Close(redact.CutOff))
	}
}

func TestHMAC(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{Strategy: redact.HMAC, Key: key}))
	got := r.String(account)
	require.Regexp(t, `^\[IBAN:[a-z2-7]{8,}\]$`, got)
	for _, same := range []string{"FR7630006000011234567890189", "fr76\u202f3000\u202f6000\u202f0112\u202f3456\u202f7890\u202f189", "FR76%203000%206000%200112%203456%207890%20189"} {
		require.Equal(t, got, r.String(same))
	}
	for _, same := range []string{"Alice@Example.com", "alice%40example.com", `alice\u0040example.com`, "alice&#64;example.com"} {
		require.Equal(t, r.String(mailAddress), r.String(same))
	}
	require.NotEqual(t, r.String(mailAddress), r.String("bob@example.com"))
	other := redact.Must(redact.New(redact.Options{Strategy: redact.HMAC, Key: append([]byte("x"), key...)}))
	require.NotEqual(t, got, other.String(account))

	changed := append([]byte(nil), key...)
	r = redact.Must(redact.New(redact.Options{Strategy: redact.HMAC, Key: changed}))
	clear(changed)
	require.Equal(t, got, r.String(account), "the redactor has its own copy of the key")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", r, r, r), "48 49 50 51 52 53")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", r, r, r), "0x30, 0x31, 0x32, 0x33")
}

// TestStrategiesStream: what replaces a value doesn't depend on the cuts.
func TestStrategiesStream(t *testing.T) {
	text := "a " + mailAddress + " b " + account + " c " + mailAddress
	for _, s := range []redact.Strategy{redact.Label, redact.Mask, redact.HMAC, redact.Token} {
		r := redact.Must(redact.New(redact.Options{Strategy: s, Key: key, Vault: redact.NewVault()}))
		requireAllSplits(t, r, text)
		require.Empty(t, r.Find(r.String(text)), s)
	}
}

func TestNothingFoundAllocatesNothing(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	text := strings.Repeat("Le 12/03/2026 de 14 h 30, TVA FR40303265045, git@github.com:a/b, x@y, n° 7, FR76 1111. ", 50)
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if r.String(text) != text {
			t.Fatal("something found")
		}
	}))
	value := map[string]any{"text": text, "n": 1.5}
	out, counts, err := r.Value(value)
	require.NoError(t, err)
	require.Nil(t, counts)
	value["marker"] = true
	require.Contains(t, out, "marker")
	nan := []any{math.NaN()}
	out, _, err = r.Value(nan)
	require.NoError(t, err)
	require.Same(t, &nan[0], &out.([]any)[0])
}

func TestConcurrently(t *testing.T) {
	v := redact.NewVault()
	r := redact.Must(redact.New(redact.Options{Strategy: redact.Token, Vault: v, Patterns: []redact.Pattern{{Name: "ID", Expr: `(?<=#)\d+`}}}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				hidden, _, err := r.Value(map[string]any{"a": mailAddress, "b": "#7"})
				if err != nil {
					t.Error(err)
				}
				if shown, err := v.RevealValue(hidden); err != nil || shown.(map[string]any)["a"] != mailAddress {
					t.Error(shown, err)
				}
				_ = v.Len()
			}
		})
	}
	wg.Wait()
	require.Equal(t, 2, v.Len())
}

func TestCounts(t *testing.T) {
	var none redact.Counts
	require.Zero(t, none.Total())
	require.Nil(t, none.Add(nil))
	sum := none.Add(redact.Counts{redact.Email: 2}).Add(redact.Counts{redact.Email: 1, redact.IBAN: 1})
	require.Equal(t, redact.Counts{redact.Email: 3, redact.IBAN: 1}, sum)
	require.Equal(t, 4, sum.Total())
}

// TestBadInput: nothing of it may panic, and the values in it are found.
func TestBadInput(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	for _, around := range []string{"\x00", "\xff\xfe", "\xc3", "\xe2\x80", "\xf0\x9f\x98", "\ufffd", "\u202e", "\x1b[31m", strings.Repeat("\x80", 200)} {
		for _, value := range []string{mailAddress, account} {
			text := around + value + around
			got := r.String(text)
			require.NotContains(t, got, value[:5])
			require.NotContains(t, got, value[len(value)-3:])
			requireAllSplits(t, r, text)
		}
	}
}

// Each replaced value is counted once, by type, in texts, values and streams.
func TestOnReplace(t *testing.T) {
	counts := map[redact.Type]int{}
	r, err := redact.New(redact.Options{OnReplace: func(t redact.Type) { counts[t]++ }})
	require.NoError(t, err)
	r.String("a@example.org and b@example.org")
	_, _, err = r.Value(map[string]any{"x": "c@example.org", "y": []any{"FR7630006000011234567890189"}})
	require.NoError(t, err)
	s := r.Stream()
	s.Write("d@exam")
	s.Write("ple.org ")
	s.Close(redact.Complete)
	r.String("nothing here")
	require.Equal(t, map[redact.Type]int{redact.Email: 4, redact.IBAN: 1}, counts)
}
