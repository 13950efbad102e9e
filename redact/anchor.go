// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import "strings"

// Both scanners start from a byte that plain text rarely holds: an e-mail from
// its @, an IBAN from the first of its check digits. All written forms of an
// encoded @ hold a digit too, so these two searches find everything.

// nextAt is the position of the first @ in s from i on, len(s) if there is none.
func nextAt(s string, i int) int {
	if n := strings.IndexByte(s[i:], '@'); n >= 0 {
		return i + n
	}
	return len(s)
}

// nextRun is the position of the first digit from i on that has no digit before
// it, len(s) if there is none.
func nextRun(s string, i int) int {
	if i > 0 && isDigit(s[i-1]) {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	// Four words at a time. Masking the low nibble makes 0x30-0x3F, the digits
	// and six punctuation marks, zero; a zero byte is the only one whose top bit
	// stays clear after the addition, and no byte carries into its neighbour.
	const (
		high = 0xF0F0F0F0F0F0F0F0
		zero = 0x3030303030303030
		add  = 0x7878787878787878
		top  = 0x8080808080808080
	)
	for ; i+32 <= len(s); i += 32 {
		w := s[i : i+32]
		a := ((word(w[0:8])^zero)&high)>>1 + add
		b := ((word(w[8:16])^zero)&high)>>1 + add
		c := ((word(w[16:24])^zero)&high)>>1 + add
		d := ((word(w[24:32])^zero)&high)>>1 + add
		if a&b&c&d&top == top {
			continue
		}
		for j := i; j < i+32; j++ {
			if isDigit(s[j]) {
				return j
			}
		}
	}
	for ; i < len(s); i++ {
		if isDigit(s[i]) {
			return i
		}
	}
	return i
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
