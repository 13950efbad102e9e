// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"math/bits"
	"strings"
)

// Both scanners start from a byte that plain text rarely holds: an e-mail from
// its @, an IBAN from the first of its check digits. All written forms of an
// encoded @ hold a digit too, so these two searches find everything.

// nextAt is the position of the first @ in s from i on, len(s) if there is none.
func nextAt(s string, i int) int {
	if i < len(s) && s[i] == '@' {
		return i
	}
	if n := strings.IndexByte(s[i:], '@'); n >= 0 {
		return i + n
	}
	return len(s)
}

// runs walks over the digits of s that have no digit before them.
type runs struct {
	s      string
	next   int    // the first byte not looked at
	dense  int    // before it are digits, so that looking word by word pays
	base   int    // the position of the word that starts is of
	starts uint64 // the top bit of each byte that begins a run
	carry  uint64 // 0x80 if the last byte looked at is a digit
}

func runsFrom(s string, i int) runs {
	r := runs{s: s, next: i}
	if i > 0 && isDigit(s[i-1]) {
		r.carry = 0x80
	}
	return r
}

// following is the position of the next run, len(s) after the last one.
func (r *runs) following() int {
	for r.starts == 0 {
		if r.next >= r.dense {
			r.skip()
		}
		var w uint64
		switch left := len(r.s) - r.next; {
		case left >= 8:
			w = word(r.s[r.next:])
		case left == 0:
			return len(r.s)
		default:
			for i := range left {
				w |= uint64(r.s[r.next+i]) << (8 * i)
			}
		}
		d := ^others(w) & tops
		r.starts = d &^ (d<<8 | r.carry)
		r.carry = d >> 56
		r.base = r.next
		r.next = min(r.next+8, len(r.s))
	}
	i := r.base + bits.TrailingZeros64(r.starts)>>3
	r.starts &= r.starts - 1
	return i
}

// skip passes over stretches of 64 bytes without a digit.
func (r *runs) skip() {
	s, i := r.s, r.next
	for ; i+64 <= len(s); i += 64 {
		w := s[i : i+64]
		if others(word(w))&others(word(w[8:]))&others(word(w[16:]))&others(word(w[24:]))&
			others(word(w[32:]))&others(word(w[40:]))&others(word(w[48:]))&others(word(w[56:]))&tops != tops {
			break
		}
	}
	if i > r.next {
		r.carry = 0
	}
	r.next, r.dense = i, i+64
}

const tops = 0x8080808080808080

// others is a word whose top bits are set for the bytes of w that are no digit.
// Without their last bit the digits are 0x18 to 0x1C, once 0x18 is xored away 0
// to 4; adding 0x7B sets the top bit of all others and carries nowhere.
func others(w uint64) uint64 {
	return (w>>1&0x7F7F7F7F7F7F7F7F ^ 0x1818181818181818) + 0x7B7B7B7B7B7B7B7B
}

// plausible reports whether what stands before the digit s[d] allows it to be a
// check digit or part of an encoded @. Most digits of a text end here.
func plausible(s string, d int) bool {
	if d < 2 {
		return false
	}
	p, q := s[d-1], s[d-2]
	switch {
	case isLetter(p): // FR76, \u0040, &#x40;
		return isLetter(q) && countries[countryIndex(q, p)] != "" || q == '\\' || q == '#'
	case p == ' ' || p == '-' || p == '.': // FR 76
		if !isLetter(q) {
			return !isDigit(q) && (q >= 0x80 || separatorKind(rune(q)) != none || q == ';')
		}
		return d >= 3 && isLetter(s[d-3]) && countries[countryIndex(s[d-3], q)] != "" || d >= 3 && s[d-3] == '\\'
	}
	return p >= 0x80 || p == '%' || p == '#' || p == ';' || separatorKind(rune(p)) != none
}

// word reads eight bytes, the first one lowest; the compiler makes it one load.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// verdict is what a scanner says of one anchor.
type verdict uint8

const (
	absent  verdict = iota
	found           // the value is s[start:end]
	pending         // what follows s decides
)
