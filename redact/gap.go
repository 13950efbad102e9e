// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"strings"
	"unicode/utf8"
)

// Bounds of an IBAN as written, in bytes. ISO 13616 allows 34 characters.
const (
	maxIBAN = 34
	maxGap  = 18  // between two characters: a line wrap and its indentation, two entities
	maxGaps = 160 // in all
)

// separator is what may stand between two characters of an IBAN.
type separator uint8

const (
	none  separator = iota
	space           // any number
	mark            // hyphen, dot, plus: one per gap
	wrap            // line feed: one per gap
)

// gapAfter is the end of the separators that begin at s[i].
func gapAfter(s string, i int, ended bool) (end int, v verdict) {
	marks, wraps := 0, 0
	pos := i
	for pos < len(s) {
		n, kind, v := separatorAt(s, pos, ended)
		if v == pending {
			return pos, pending
		}
		if wraps > 0 && s[pos] == '>' {
			kind = space // a line quoted in an e-mail
		}
		if kind == none {
			break
		}
		switch kind {
		case mark:
			marks++
		case wrap:
			wraps++
		}
		pos += n
		if marks > 1 || wraps > 1 || pos-i > maxGap {
			return pos, absent
		}
	}
	if pos == len(s) {
		return pos, undecided(ended)
	}
	if pos == i {
		return pos, absent
	}
	return pos, found
}

// separatorAt reads one separator: a character, or what HTML, JSON or a URL
// write for it.
func separatorAt(s string, i int, ended bool) (n int, kind separator, v verdict) {
	c := s[i]
	rest := s[i:]
	switch {
	case c >= 0x80:
		if !ended && !utf8.FullRuneInString(rest) {
			return 0, none, pending
		}
		r, n := utf8.DecodeRuneInString(rest)
		return n, separatorKind(r), found
	case c == '%':
		if len(rest) < 3 {
			return 0, none, undecided(ended)
		}
		return 3, percentKind(hexRune(s, i+1, 2)), found
	case c == '\\':
		k := 1 // JSON within JSON doubles the backslash
		for k < len(rest) && k < maxBackslashes && rest[k] == '\\' {
			k++
		}
		if len(rest) <= k || rest[k] == 'u' && len(rest) < k+5 {
			return 0, none, undecided(ended)
		}
		r, n := escaped(s, i+k)
		return n + k, separatorKind(r), found
	case c == '&':
		semicolon := strings.IndexByte(rest[:min(len(rest), maxEntity)], ';')
		if semicolon < 0 {
			if len(rest) < maxEntity {
				return 0, none, undecided(ended)
			}
			return 0, none, found
		}
		return semicolon + 1, entityKind(rest[1:semicolon]), found
	}
	return 1, separatorKind(rune(c)), found
}

// gapBefore is the start of the separator that ends at s[k], or that s[k] is a
// digit of; k if there is none.
func gapBefore(s string, k int) int {
	c := s[k-1]
	switch {
	case c == '%':
		return k - 1
	case c == '#' && s[k-2] == '&':
		return k - 2
	case c == 'u' && s[k-2] == '\\':
		return backslashes(s, k-2)
	case c == 'x' && k >= 3 && s[k-2] == '#' && s[k-3] == '&':
		return k - 3
	case (c == 'n' || c == 'r' || c == 't') && s[k-2] == '\\':
		return backslashes(s, k-2)
	case c == ';':
		if n := strings.LastIndexByte(s[max(0, k-maxEntity):k], '&'); n >= 0 {
			return max(0, k-maxEntity) + n
		}
		return k
	case c >= 0x80:
		r, n := utf8.DecodeLastRuneInString(s[:k])
		if separatorKind(r) != none {
			return k - n
		}
		return k
	case class[c]&hex != 0:
		if k >= 3 && s[k-3] == '%' && percentKind(hexRune(s, k-2, 2)) != none {
			return k - 3
		}
		if k >= 6 && s[k-6] == '\\' && s[k-5] == 'u' && separatorKind(hexRune(s, k-4, 4)) != none {
			return backslashes(s, k-6)
		}
		return k
	case separatorKind(rune(c)) != none:
		return k - 1
	}
	return k
}

func separatorKind(r rune) separator {
	switch r {
	case ' ', '\t', '\r', 0x00A0, 0x202F, 0x205F, 0x3000:
		return space
	case '-', '.', '+':
		return mark
	case '\n':
		return wrap
	}
	switch {
	case r >= 0x2000 && r <= 0x200A, r > 0x7F && isInvisible(r):
		return space
	case r >= 0x2010 && r <= 0x2013:
		return mark
	}
	return none
}

// percentKind sorts one escaped byte of a URL; the bytes above ASCII are those
// of the spaces.
func percentKind(r rune) separator {
	switch r {
	case 0xC2, 0xA0, 0xE2, 0x80, 0xAF, 0x87, 0x89, 0x8B:
		return space
	}
	if r < 0 || r >= 0x80 {
		return none
	}
	return separatorKind(r)
}

// maxEntity is the length of the longest entity below.
const maxEntity = len("&thinsp;") + 1

func entityKind(name string) separator {
	switch strings.ToLower(name) {
	case "nbsp", "ensp", "emsp", "thinsp", "zwnj", "shy",
		"#32", "#160", "#8199", "#8201", "#8203", "#8239",
		"#x20", "#xa0", "#x2007", "#x2009", "#x200b", "#x202f":
		return space
	case "#45", "#x2d", "#8209", "#x2011":
		return mark
	}
	return none
}
