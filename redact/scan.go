// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"cmp"
	"slices"
	"strings"
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
	digits := runsFrom(s, from)
	run := digits.following()
	var f Finding
judge:
	for at < len(s) || run < len(s) {
		anchor, v := at, absent
		switch {
		case at > run:
			anchor = run
			if plausible(s, run) {
				v = sc.judgeDigit(&f, s, run, end)
			}
			run = digits.following()
		default:
			if hasLocal(s, at) && hasDomain(s, at+1, end == whole) {
				v = judgeEmail(&f, s, at, at+1, end)
			}
			at = nextAt(s, at+1)
		}
		switch v {
		case found:
			dst = append(dst, f)
		case pending:
			next, hold = anchor, f.Start
			break judge
		}
	}
	if end == more {
		hold = min(hold, sc.tail(s))
	}
	return dst, next, hold
}

// judgeEmail judges the @ at s[at:after]. It fills f for a value that is found
// and gives f.Start, the position to hold from, for a pending one.
func judgeEmail(f *Finding, s string, at, after int, end ending) verdict {
	start, stop, v := emailAt(s, at, after, end == whole)
	switch {
	case v == absent:
		return absent
	case v == pending && end == more:
		f.Start = min(start, localHold(s, at))
		return pending
	}
	*f = Finding{Type: Email, Start: start, End: stop}
	if v == found {
		return found
	}
	if f.Start, f.End, v = emailAt(s, at, after, true); v == found {
		return found
	}
	if start = localStart(s, at, false); start == at || isVersionStart(s[after:]) {
		return absent
	}
	f.Start, f.End, f.CutOff = start, len(s), true
	return found
}

// judgeDigit is like judgeEmail for the first digit of a run.
func (sc scanner) judgeDigit(f *Finding, s string, d int, end ending) verdict {
	if sc.email && mayEncode(s[d-1]) {
		switch at, after, v := encodedAt(s, d, end != more); v {
		case pending:
			f.Start = localHold(s, at)
			return pending
		case found:
			return judgeEmail(f, s, at, after, end)
		}
	}
	if !sc.iban {
		return absent
	}
	start, stop, n, v := ibanAt(s, d, end == whole)
	switch {
	case v == absent:
		return absent
	case v == pending && end == more:
		f.Start = start
		if sc.email {
			f.Start = min(start, localHold(s, start))
		}
		return pending
	}
	*f = Finding{Type: IBAN, Start: start, End: stop}
	if v == found {
		return found
	}
	if _, whole, _, v := ibanAt(s, d, true); v == found {
		f.End = whole
		return found
	}
	f.CutOff = true
	if n < cutIBAN {
		return absent
	}
	return found
}

// cutIBAN is how many characters of an IBAN, country and check digits included,
// make a text that was cut off end in one: fewer name no account.
const cutIBAN = 12

// tail is the first position that a value may start at whose anchor has not
// come yet.
func (sc scanner) tail(s string) int {
	hold := len(s) - incomplete(s)
	if sc.email {
		e := min(hold, encodedTail(s))
		first := localHold(s, hold)
		if e < hold {
			first = min(first, e, localHold(s, e))
		}
		hold = first
	}
	if !sc.iban {
		return hold
	}
	hold = min(hold, countryHold(s, len(s)-incomplete(s)))
	// A separator in some encoding may have only just begun.
	if i := strings.LastIndexAny(s[max(0, len(s)-maxEntity):], `&%\`); i >= 0 {
		i += max(0, len(s)-maxEntity)
		if s[i] == '\\' {
			i = backslashes(s, i)
		}
		hold = min(hold, countryHold(s, i))
	}
	return hold
}

// countryHold is the position of the country code that only separators follow
// in s[:k], k if there is none.
func countryHold(s string, k int) int {
	from := k
	for k > 0 && from-k <= maxGap {
		if k > 1 {
			if next := gapBefore(s, k); next != k {
				k = next
				continue
			}
		}
		switch {
		case !isLetter(s[k-1]):
		case k == len(s) && startsWord(s, k-1):
			return k - 1
		case k > 1 && isLetter(s[k-2]) && countries[countryIndex(s[k-2], s[k-1])] != "" && startsWord(s, k-2):
			return k - 2
		}
		break
	}
	return from
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
