// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

func withPatterns(t testing.TB, o redact.Options, exprs ...string) *redact.Redactor {
	t.Helper()
	for i, expr := range exprs {
		o.Patterns = append(o.Patterns, redact.Pattern{Name: fmt.Sprintf("P%d", i), Expr: expr})
	}
	r, err := redact.New(o)
	require.NoError(t, err)
	return r
}

func TestPatterns(t *testing.T) {
	for name, c := range map[string]struct {
		exprs   []string
		in, out string
	}{
		"linear":           {[]string{`EMP-\d+`}, "EMP-1 and EMP-22", "[P0 redacted] and [P0 redacted]"},
		"look-around":      {[]string{`(?<=n° )\d+(?! \d)`}, "n° 42, n° 4 2", "n° [P0 redacted], n° 4 2"},
		"back reference":   {[]string{`\b(\w)\1\b`}, "aa ab bb", "[P0 redacted] ab [P0 redacted]"},
		"line by line":     {[]string{`^a.*z$`}, "abz\r\nab\nz", "[P0 redacted]\r\nab\nz"},
		"no empty match":   {[]string{`x*`, `(?=y)`}, "aby", "aby"},
		"invalid UTF-8":    {[]string{`(?<=é)\d`}, "\xff\xffé1\xffé2\xc3", "\xff\xffé[P0 redacted]\xffé[P0 redacted]\xc3"},
		"overlap":          {[]string{`b.*`, `ab`}, "abc", "[P1 redacted][P0 redacted]"},
		"around an e-mail": {[]string{`to \S+`}, "to alice@example.com now", "[P0 redacted] now"},
		"beside an e-mail": {[]string{`\d+ euros`}, "alice@example.com 5 euros", "[email redacted] [P0 redacted]"},
		"clean":            {[]string{`\d`}, "no digits", "no digits"},
	} {
		t.Run(name, func(t *testing.T) {
			r := withPatterns(t, redact.Options{}, c.exprs...)
			require.Equal(t, c.out, r.String(c.in))
			requireAllSplits(t, r, c.in)
		})
	}
}

// TestPatternFailsClosed has inputs that make the backtracking engine give up;
// no one of them may be taken for a text without a match.
func TestPatternFailsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		expr, line string
		reason     error
		timeout    time.Duration
		maxLine    int
	}{
		"time":       {`^(?=a)(a+)+$`, strings.Repeat("a", 40) + "!", redact.ErrPatternTimeout, 50 * time.Millisecond, 0},
		"other time": {`(?=\w)^(?:\w+\s?)+!`, strings.Repeat("word ", 8), redact.ErrPatternTimeout, 50 * time.Millisecond, 0},
		"memory":     {`(?<=x)(?:[a-z]+\.)+[a-z]{2,}`, "x" + strings.Repeat("aaaa.", 40_000) + "1", redact.ErrPatternStack, time.Hour, 1 << 20},
		"length":     {`\d`, strings.Repeat("a", 64<<10+1), redact.ErrLineTooLong, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var failures []error
			r := withPatterns(t, redact.Options{
				PatternTimeout: c.timeout,
				MaxLine:        c.maxLine,
				OnFailure:      func(err *redact.PatternError) { failures = append(failures, err) },
			}, c.expr)
			text := "before\n" + c.line + "\nafter " + mailAddress
			got, err := r.Redact(text)
			require.NoError(t, err)
			require.Equal(t, "before\n[P0 redacted]\nafter [email redacted]", got.Text)
			require.ErrorIs(t, got.Findings[0].Err, c.reason)
			require.Equal(t, []error{got.Findings[0].Err}, failures)
			var failure *redact.PatternError
			require.ErrorAs(t, got.Findings[0].Err, &failure)
			require.Equal(t, redact.Type("P0"), failure.Pattern)
			require.NotContains(t, failure.Error(), c.line[:8])

			requireStream(t, r, text, []int{3, 10, 40, len(text) - 5})
		})
	}
}

// TestPatternTimeIsPerLine: many matches, each quick enough for the engine,
// must not add up.
func TestPatternTimeIsPerLine(t *testing.T) {
	r := withPatterns(t, redact.Options{PatternTimeout: time.Nanosecond}, `(?<=a)b`)
	got, err := r.Redact(strings.Repeat("ab", 1000))
	require.NoError(t, err)
	require.Equal(t, "[P0 redacted]", got.Text)
	require.ErrorIs(t, got.Findings[0].Err, redact.ErrPatternTimeout)
}

func TestStreamSwallowsLongLines(t *testing.T) {
	r := withPatterns(t, redact.Options{MaxLine: 1 << 10}, `ID-\d+`)
	for _, text := range []string{
		strings.Repeat("x", 5000),
		"ID-1\n" + strings.Repeat("x", 5000) + "\nID-2",
		strings.Repeat("x", 2000) + " FR76 3000 6000 0112\n3456 7890 189 ID-3\n" + strings.Repeat("y", 3000) + "\r\n",
		strings.Repeat("x", 1024) + "\n" + strings.Repeat("x", 1023) + "\r\n" + strings.Repeat("x", 1024) + "\r\n",
		mailAddress + strings.Repeat("x ", 1000) + mailAddress + "\n" + mailAddress,
	} {
		require.NotContains(t, r.String(text), strings.Repeat("x", 1025))
		for _, n := range []int{1, 7, 1000, 1 << 20} {
			var cuts []int
			for i := n; i < len(text); i += n {
				cuts = append(cuts, i)
			}
			requireStream(t, r, text, cuts)
		}
	}
	s := r.Stream()
	for range 1000 {
		s.Write(strings.Repeat("z", 1000))
		require.LessOrEqual(t, s.Held(), r.MaxHold())
	}
	require.Equal(t, redact.Counts{"P0": 1}, s.Counts())
}

func TestPatternErrorIsOne(t *testing.T) {
	err := error(&redact.PatternError{Pattern: "P", Err: redact.ErrPatternStack})
	require.ErrorIs(t, err, redact.ErrPatternStack)
	require.NotErrorIs(t, err, redact.ErrPatternTimeout)
}
