// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"cmp"
	"slices"
)

// ending is what is known of the text after the end of a buffer.
type ending uint8

const (
	more   ending = iota // it goes on
	whole                // it ends there
	cutOff               // it was cut there, possibly inside a value
)

// scanner finds e-mail addresses and IBANs. Every anchor is judged by itself,
// from a bounded stretch of text around it; that is why a text cut into chunks
// gives the same findings as the whole.
type scanner struct {
	email, iban bool
}

// maxContext is how far to the left of an anchor, or of the start of a value,
// a judgement looks.
const maxContext = 128

// scan judges the anchors of s from position from on and appends what it finds
// to dst, in no particular order and possibly overlapping. next is the first
// anchor left unjudged, hold the first position that a value not found yet may
// start at; both are len(s) when s is the end of the text.
func (sc scanner) scan(dst []Finding, s string, from int, end ending) (all []Finding, next, hold int) {
	next, hold = len(s), len(s)
	at := len(s)
	if sc.email {
		at = nextAt(s, from)
	}
	run := nextRun(s, from)
judge:
	for at < len(s) || run < len(s) {
		if at < run {
			f, v := sc.judgeEmail(s, at, at+1, end)
			switch v {
			case found:
				dst = append(dst, f)
			case pending:
				next, hold = at, sc.hold(s, f.Start, at)
				break judge
			}
			at = nextAt(s, at+1)
			continue
		}
		f, v := sc.judgeDigit(s, run, end)
		switch v {
		case found:
			dst = append(dst, f)
		case pending:
			next, hold = run, sc.hold(s, f.Start, f.Start)
			break judge
		}
		run = nextRun(s, run+1)
	}
	if end == more {
		hold = min(hold, sc.tail(s))
	}
	return dst, next, hold
}

func (sc scanner) judgeEmail(s string, at, after int, end ending) (Finding, verdict) {
	start, stop, v := emailAt(s, at, after, end == whole)
	if v == pending && end == cutOff {
		start, stop, v = emailAt(s, at, after, true)
		if v != found && !isVersionStart(s[after:]) {
			return Finding{Type: Email, Start: localStart(s, at, false), End: len(s), CutOff: true}, found
		}
	}
	return Finding{Type: Email, Start: start, End: stop}, v
}

func (sc scanner) judgeDigit(s string, d int, end ending) (Finding, verdict) {
	if d == 0 {
		return Finding{}, absent
	}
	if sc.email {
		at, after, v := encodedAt(s, d, end != more)
		if v == pending {
			return Finding{Start: at}, pending
		}
		if v == found {
			f, v := sc.judgeEmail(s, at, after, end)
			if v != absent {
				return f, v
			}
		}
	}
	if !sc.iban {
		return Finding{}, absent
	}
	start, stop, n, v := ibanAt(s, d, end == whole)
	if v == pending && end == cutOff {
		var full verdict
		if _, stop, _, full = ibanAt(s, d, true); full == found {
			return Finding{Type: IBAN, Start: start, End: stop}, found
		}
		if n < cutIBAN {
			return Finding{}, absent
		}
		return Finding{Type: IBAN, Start: start, End: stop, CutOff: true}, found
	}
	return Finding{Type: IBAN, Start: start, End: stop}, v
}

// cutIBAN is how many characters of an IBAN, country and check digits included,
// make a text that was cut off end in one: fewer name no account.
const cutIBAN = 12

// hold is the first position that a value may start at when the anchor at s[at]
// waits for more text and its value starts at s[start].
func (sc scanner) hold(s string, start, at int) int {
	if sc.email {
		return min(start, localHold(s, at))
	}
	return start
}

// tail is the first position that a value may start at whose anchor has not
// come yet.
func (sc scanner) tail(s string) int {
	hold := len(s) - incomplete(s)
	if sc.email {
		e := min(hold, encodedTail(s))
		hold = min(e, localHold(s, e), localHold(s, hold))
	}
	if !sc.iban {
		return hold
	}
	for i := max(0, len(s)-maxGap-2-maxEntity); i < hold; i++ {
		if !isLetter(s[i]) || !startsWord(s, i) {
			continue
		}
		if i+1 == len(s) {
			return i
		}
		if isLetter(s[i+1]) && countries[countryIndex(s[i], s[i+1])] != "" {
			if _, n, v := readIBAN(s, i, false); v == pending && n == 2 {
				return i
			}
		}
	}
	return hold
}

// settle sorts findings and removes overlaps: the one that starts first keeps
// its whole length, the longer one of two that start together, and a later one
// loses what is covered already. What any of them covers stays covered.
func settle(fs []Finding, from int) []Finding {
	sortFindings(fs)
	kept := fs[:0]
	for _, f := range fs {
		if f.Start = max(f.Start, from); f.Start < f.End {
			kept = append(kept, f)
			from = f.End
		}
	}
	return kept
}

func sortFindings(fs []Finding) {
	if len(fs) < 2 {
		return
	}
	slices.SortStableFunc(fs, func(a, b Finding) int {
		if c := cmp.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		return cmp.Compare(b.End, a.End)
	})
}
