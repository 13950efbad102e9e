// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import "strings"

// Result is a redacted text.
type Result struct {
	// Text is the input itself, without a copy, where nothing was found.
	Text string
	// Findings are in order and don't overlap. Offsets are those of the input.
	Findings []Finding
}

// Counts is the number of findings per type.
func (r Result) Counts() Counts { return count(r.Findings) }

// Redact replaces what it finds in s. Its only error is a [*BlockedError]; the
// result then has the findings and no text.
func (r *Redactor) Redact(s string) (Result, error) {
	fs := r.find(nil, s)
	if r.blocks(fs) {
		return Result{Findings: fs}, &BlockedError{Counts: count(fs)}
	}
	return Result{Text: r.replace(s, fs), Findings: fs}, nil
}

// String is s with all it finds replaced, s itself where it finds nothing. A
// text that must not pass (strategy [Block]) becomes "[text blocked]" as a
// whole; [Redactor.Redact] tells why.
func (r *Redactor) String(s string) string {
	var buf [16]Finding
	fs := r.find(buf[:0], s)
	if len(fs) == 0 {
		return s
	}
	if r.blocks(fs) {
		return r.words.blocked
	}
	return r.replace(s, fs)
}

// Find says where values stand in s, in order and without overlaps, nil where
// there are none. It doesn't apply strategies.
func (r *Redactor) Find(s string) []Finding { return r.find(nil, s) }

// Ending returns the redactor for texts that end as e says: r itself for texts that are
// all there, and for those that break off one that takes what may be the beginning of a
// value at the end of a text for one. Streams say their ending when they are closed.
func (r *Redactor) Ending(e Ending) *Redactor {
	if r.cut == (e == CutOff) {
		return r
	}
	other := *r
	other.cut = e == CutOff
	return &other
}

func (r *Redactor) find(dst []Finding, s string) []Finding {
	end := whole
	if r.cut {
		end = cutOff
	}
	dst, _, _ = r.scan(dst, s, 0, end)
	if len(r.patterns) > 0 {
		dst, _ = r.scanLines(dst, s, 0, true)
	}
	return settle(dst, 0)
}

func (r *Redactor) replace(s string, fs []Finding) string {
	if len(fs) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	done := 0
	for _, f := range fs {
		b.WriteString(s[done:f.Start])
		b.WriteString(r.replacement(f, s[f.Start:f.End]))
		done = f.End
	}
	b.WriteString(s[done:])
	return b.String()
}

func (r *Redactor) blocks(fs []Finding) bool {
	if !r.blocking {
		return false
	}
	for _, f := range fs {
		if r.strategies[f.Type] == Block {
			return true
		}
	}
	return false
}
