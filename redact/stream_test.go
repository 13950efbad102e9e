// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

// pieces are what random texts are made of: values, parts of values, and what
// may stand between them.
var pieces = []string{
	"alice@example.com", "bob", "@", ".", "-", "git@github.com:", "ssh://git@", "élodie", "用户", "例子.公司", "example.co", "%40", `\u0040`, "&#64;", "&#x40;",
	"FR76 3000 6000 0112 3456 7890 189", "FR76", "FR", " 3000 6000", "DE89370400440532013000", "GB82-WEST-1234-5698-7654-32", "76", "BE68 5390 0754 7034",
	" ", "\n", "\r\n", "\u00a0", "\u202f", "\u200b", "%20", "&nbsp;", `\u00a0`, `\n`, `"`, `\"`, "{", "}", ":", "/", "//", "%", "&", `\`, "_", "IBAN", "x", "1", "Z",
	"\xff", "\xc3", "\xe9", "é", "\x00", "v1", "1.2.3", "service", "2x.png", "xn--p1ai", "[IPv6:2001:db8::1]", "[192.0.2.1]",
	strings.Repeat("a", 70), strings.Repeat("long.", 60), "KW81CBKU0000000000001234560101", "ID-123456", "employé 123",
	"\x1b[31m", `\u001b[1;31m`, `\\u00a0`, `\\n`, "\n> ", "\u200e", "alice@exam", "FR\u202f76",
}

func randomText(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

// requireStream checks one split of text against the batch result: the same
// text, the same findings, and never more held than promised.
func requireStream(t *testing.T, r *redact.Redactor, text string, cuts []int) {
	t.Helper()
	want, err := r.Redact(text)
	require.NoError(t, err)
	var fs []redact.Finding
	s := r.StreamFunc(func(f redact.Finding) { fs = append(fs, f) })
	var out strings.Builder
	from := 0
	for _, cut := range append(cuts, len(text)) {
		out.WriteString(s.Write(text[from:cut]))
		from = cut
		require.LessOrEqual(t, s.Held(), r.MaxHold())
		require.True(t, strings.HasPrefix(want.Text, out.String()), "%q cut at %v said %q", text, cuts, out.String())
	}
	out.WriteString(s.Close(redact.Complete))
	require.Equal(t, want.Text, out.String(), "%q cut at %v", text, cuts)
	require.Equal(t, want.Findings, fs, "%q cut at %v", text, cuts)
	require.Equal(t, want.Counts(), s.Counts())
}

func requireAllSplits(t *testing.T, r *redact.Redactor, text string) {
	t.Helper()
	each := make([]int, 0, len(text))
	for i := range len(text) + 1 {
		requireStream(t, r, text, []int{i})
		each = append(each, i)
	}
	requireStream(t, r, text, each)
}

func redactors(t testing.TB) map[string]*redact.Redactor {
	return map[string]*redact.Redactor{
		"both":  redact.Must(redact.New(redact.Options{})),
		"email": redact.Must(redact.New(redact.Options{Types: []redact.Type{redact.Email}})),
		"iban":  redact.Must(redact.New(redact.Options{Types: []redact.Type{redact.IBAN}})),
		"patterns": redact.Must(redact.New(redact.Options{MaxLine: 1 << 10, PatternTimeout: time.Hour, Patterns: []redact.Pattern{
			{Name: "ID", Expr: `ID-\d{6}`},
			{Name: "WORD", Expr: `(?<=employ. )\d+`},
		}})),
	}
}

func TestStreamEqualsBatchOnVectors(t *testing.T) {
	rs := redactors(t)
	for _, v := range readLines[vector](t, "redaction.jsonl") {
		requireAllSplits(t, rs["both"], v.Text)
	}
}

func TestStreamEqualsBatchOnRandomText(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	for name, r := range redactors(t) {
		for range 300 {
			text := randomText(rnd, 1+rnd.IntN(14))
			each := make([]int, len(text))
			for i := range each {
				each[i] = i
			}
			requireStream(t, r, text, each)
			for range 8 {
				var cuts []int
				for at := rnd.IntN(9); at < len(text); at += 1 + rnd.IntN(20) {
					cuts = append(cuts, at)
				}
				requireStream(t, r, text, cuts)
			}
		}
		t.Logf("%s: seed %d", name, seed)
	}
}
