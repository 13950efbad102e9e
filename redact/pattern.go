// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Pattern makes a type of whatever a regular expression matches.
//
// It sees a text line by line: no match spans a line feed, ^ and $ are the ends
// of the line. An empty match counts for nothing. Where the syntax allows it is
// compiled by the standard library, in linear time; else (look-around, back
// references) by github.com/dlclark/regexp2, which backtracks. A line on which
// such a pattern takes too long or too much memory is redacted whole.
type Pattern struct {
	// Name is the type's: 1 to 64 letters, digits, hyphens and underscores,
	// neither EMAIL nor IBAN.
	Name string
	// Expr is the expression. It is an error if neither engine compiles it or
	// if it is empty.
	Expr string
}

// Why a pattern could not judge a line.
var (
	ErrPatternTimeout = errors.New("redact: pattern took too long")
	ErrPatternStack   = errors.New("redact: pattern needs too much memory")
	ErrLineTooLong    = errors.New("redact: line too long for patterns")
)

// PatternError is the error of a finding that covers a whole line because a
// pattern could not judge it. It is [ErrPatternTimeout], [ErrPatternStack] or
// [ErrLineTooLong] and holds nothing of the text.
type PatternError struct {
	// Pattern is its name.
	Pattern Type
	// Err is the reason.
	Err error
}

// Error names the pattern and the reason.
func (e *PatternError) Error() string { return fmt.Sprintf("%v (pattern %s)", e.Err, e.Pattern) }

// Unwrap is the reason.
func (e *PatternError) Unwrap() error { return e.Err }

// pattern is a compiled Pattern; one of its engines is set.
type pattern struct {
	name         Type
	linear       *regexp.Regexp
	backtracking *regexp2.Regexp
	timeout      time.Duration
}

func (p Pattern) compile(timeout time.Duration) (pattern, error) {
	if len(p.Name) == 0 || len(p.Name) > 64 || strings.ContainsFunc(p.Name, func(r rune) bool {
		return r >= 0x80 || !isAlnum(byte(r)) && r != '-' && r != '_'
	}) {
		return pattern{}, fmt.Errorf("%w: pattern name %q", ErrOptions, p.Name)
	}
	if p.Expr == "" {
		return pattern{}, fmt.Errorf("%w: pattern %s is empty", ErrOptions, p.Name)
	}
	c := pattern{name: Type(p.Name), timeout: timeout}
	var err error
	if c.linear, err = regexp.Compile(p.Expr); err == nil {
		return c, nil
	}
	if c.backtracking, err = regexp2.Compile(p.Expr); err != nil {
		return pattern{}, fmt.Errorf("%w: pattern %s: %w", ErrOptions, p.Name, err)
	}
	if c.backtracking.RightToLeft() {
		return pattern{}, fmt.Errorf("%w: pattern %s matches from right to left", ErrOptions, p.Name)
	}
	c.backtracking.MatchTimeout = timeout
	return c, nil
}

// scanLines runs the patterns over the complete lines of s[from:] and appends
// what they find. next is the start of the line that is not complete yet;
// len(s) where the text has ended.
func (r *Redactor) scanLines(dst []Finding, s string, from int, ended bool) (all []Finding, next int) {
	for from < len(s) {
		n := strings.IndexByte(s[from:], '\n')
		if n < 0 {
			if !ended {
				return dst, from
			}
			n = len(s) - from
		}
		dst = r.scanLine(dst, s, from, from+n)
		from += n + 1
	}
	return dst, len(s)
}

func (r *Redactor) scanLine(dst []Finding, s string, from, to int) []Finding {
	if to-from > r.maxLine {
		return append(dst, r.failed(r.patterns[0].name, from, to, ErrLineTooLong))
	}
	if to > from && s[to-1] == '\r' {
		to--
	}
	for _, p := range r.patterns {
		spans, err := p.find(s[from:to])
		if err != nil {
			dst = append(dst, r.failed(p.name, from, to, err))
			continue
		}
		for _, span := range spans {
			if span[0] < span[1] {
				dst = append(dst, Finding{Type: p.name, Start: from + span[0], End: from + span[1]})
			}
		}
	}
	return dst
}

// failed is the finding of a line that a pattern could not judge.
func (r *Redactor) failed(name Type, from, to int, reason error) Finding {
	err := &PatternError{Pattern: name, Err: reason}
	if r.onFailure != nil {
		r.onFailure(err)
	}
	return Finding{Type: name, Start: from, End: to, Err: err}
}

// find returns the byte spans of all matches in a line.
func (p pattern) find(line string) ([][]int, error) {
	if p.linear != nil {
		return p.linear.FindAllStringIndex(line, -1), nil
	}
	var (
		spans    [][]int
		runes    = []rune(line)
		deadline = time.Now().Add(p.timeout)
		late     bool
	)
	// The engine's time limit is for one match; the deadline is for the line.
	err := p.backtracking.FindRunesMatches(runes, 0, func(m regexp2.MatchView) bool {
		i, n, _ := m.GroupRange(0)
		spans = append(spans, []int{i, i + n})
		late = time.Now().After(deadline)
		return !late
	})
	switch {
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return nil, ErrPatternStack
	case err != nil || late:
		// The engine's error quotes the text, so it goes no further.
		return nil, ErrPatternTimeout
	}
	runesToBytes(line, spans)
	return spans, nil
}

// runesToBytes turns ascending rune offsets of line into byte offsets.
func runesToBytes(line string, spans [][]int) {
	runes, i := 0, 0
	step := func(offset *int) {
		for i < len(line) && runes < *offset {
			_, n := utf8.DecodeRuneInString(line[i:])
			i += n
			runes++
		}
		*offset = i
	}
	for _, span := range spans {
		step(&span[0])
		step(&span[1])
	}
}
