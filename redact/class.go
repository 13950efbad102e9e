// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"unicode"
	"unicode/utf8"
)

// Byte classes. Everything here is ASCII on purpose: a case-insensitive
// regular expression lets U+212A (Kelvin) pass for a K, which no check digit
// survives.
const (
	digit = 1 << iota
	letter
	local // may stand in the part of an e-mail address before the @
	hex
)

const (
	alnum = digit | letter
)

var class = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = digit | local | hex
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = letter | local
		t[c-'a'+'A'] = letter | local
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] |= hex
		t[c-'a'+'A'] |= hex
	}
	// RFC 5322 atext has more, but = ? & / { } | * # ! ~ ^ $ and the backtick
	// delimit values in log lines, URLs and markdown far more often.
	for _, c := range ".-_+'%" {
		t[c] |= local
	}
	return t
}()

func isDigit(c byte) bool  { return class[c]&digit != 0 }
func isLetter(c byte) bool { return class[c]&letter != 0 }
func isAlnum(c byte) bool  { return class[c]&alnum != 0 }

// runeKind is what a rune outside ASCII means to an e-mail address.
type runeKind uint8

const (
	stop        runeKind = iota // no part of an address
	invisible                   // no width, ignored inside a value
	latin                       // mixes with ASCII letters: é, ü, ø
	segmented                   // a script that puts spaces between words
	unsegmented                 // a script without, or one glued to Latin words
)

// kindOf sorts a rune of n bytes; first is its first byte. An invalid byte from
// 0xC0 on is read as a Latin-1 letter, so that a text in that encoding is
// redacted too.
func kindOf(r rune, n int, first byte) runeKind {
	if r == utf8.RuneError {
		if n == 1 && first >= 0xC0 {
			return latin
		}
		return stop
	}
	switch {
	case isInvisible(r):
		return invisible
	case r < 0x0250, r >= 0x0300 && r < 0x0370, r >= 0x1E00 && r < 0x1F00:
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return latin
		}
		return stop
	case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r):
		return stop
	case isUnsegmented(r):
		return unsegmented
	}
	return segmented
}

// isInvisible reports characters without width: soft hyphen, zero-width spaces
// and joiners, the marks and controls of writing direction.
func isInvisible(r rune) bool {
	switch {
	case r == 0x00AD, r == 0x2060, r == 0xFEFF, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// isUnsegmented reports scripts written without spaces (Han, kana, Thai, Lao,
// Tibetan, Burmese, Khmer) and Hangul, whose particles are glued to the word
// before them.
func isUnsegmented(r rune) bool {
	switch {
	case r >= 0x0E00 && r < 0x10A0, r >= 0x1100 && r < 0x1200, r >= 0x1780 && r < 0x1800:
		return true
	case r >= 0x2E80 && r < 0xA4D0, r >= 0xA960 && r < 0xA980, r >= 0xAC00 && r < 0xD800:
		return true
	case r >= 0xF900 && r < 0xFB00, r >= 0xFF66 && r < 0xFFE0, r >= 0x1B000 && r < 0x1B300, r >= 0x20000 && r < 0x40000:
		return true
	}
	return false
}

// incomplete is the number of bytes at the end of s that may be the beginning
// of a longer UTF-8 sequence.
func incomplete(s string) int {
	for n := 1; n <= 3 && n <= len(s); n++ {
		c := s[len(s)-n]
		if c < 0x80 {
			return 0
		}
		if c >= 0xC0 {
			if utf8.FullRuneInString(s[len(s)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// hexRune reads n hexadecimal digits at s[i:], or returns -1.
func hexRune(s string, i, n int) rune {
	if i < 0 || i+n > len(s) {
		return -1
	}
	var r rune
	for _, c := range []byte(s[i : i+n]) {
		if class[c]&hex == 0 {
			return -1
		}
		d := rune(c & 0x0F)
		if c > '9' {
			d += 9
		}
		r = r<<4 | d
	}
	return r
}
