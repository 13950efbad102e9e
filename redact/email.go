// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"strings"
	"unicode/utf8"
)

// Bounds of RFC 5321, section 4.5.3.1, in bytes.
const (
	maxLocal  = 64
	maxDomain = 255
)

// emailAt judges the @, plain or encoded, at s[at:after]. ended says that no
// text follows s.
func emailAt(s string, at, after int, ended bool) (start, end int, v verdict) {
	if !hasLocal(s, at) || !hasDomain(s, after, ended) {
		return 0, 0, absent
	}
	end, v = domainEnd(s, after, ended)
	if v == absent {
		return 0, 0, absent
	}
	start = localStart(s, at, startsUnsegmented(s[after:]))
	if v == pending {
		return start, end, pending
	}
	if start == at {
		return 0, 0, absent
	}
	return start, end, notRepository(s, start, at, end, ended)
}

// hasLocal reports whether a local part may end at s[at].
func hasLocal(s string, at int) bool {
	return at > 0 && (class[s[at-1]]&local != 0 || s[at-1] == '"' || s[at-1] >= 0x80)
}

// hasDomain reports whether more than one label may begin at s[i].
func hasDomain(s string, i int, ended bool) bool {
	for from := i; i < len(s); i++ {
		if c := s[i]; !isAlnum(c) {
			return c >= 0x80 || i > from && (c == '.' || c == '-' || c == '_') || i == from && c == '['
		}
	}
	return !ended
}

// notRepository spares the fixed role users of clone URLs: git@host:path and
// ssh://git@host/path. They name nobody, and a masked one breaks the call it
// is an argument of.
func notRepository(s string, start, at, end int, ended bool) verdict {
	if user := s[start:at]; user != "git" && user != "hg" {
		return found
	}
	if end == len(s) {
		if !ended {
			return pending
		}
		return found
	}
	switch s[end] {
	case '/':
		if strings.HasSuffix(s[:start], "//") {
			return absent
		}
	case ':':
		if end+1 == len(s) {
			if !ended {
				return pending
			}
			return found
		}
		if c := s[end+1]; c > ' ' && c < 0x7F {
			return absent
		}
	}
	return found
}

// localStart is where the local part that ends at s[at] begins; at itself when
// there is none.
func localStart(s string, at int, unsegmentedDomain bool) int {
	limit := max(0, at-maxLocal)
	i := at
	quoted := s[i-1] == '"'
	if quoted {
		i--
		if i > 0 && s[i-1] == '\\' {
			i-- // a quote inside a JSON string
		}
		limit = max(0, i-maxLocal)
	}
	// Text without spaces ends where an ASCII address begins: 联系alice@example.com.
	// Digits may belong to either, so the script of the domain decides.
	narrow := i > 0 && s[i-1] < 0x80 && (isLetter(s[i-1]) || !unsegmentedDomain)
scan:
	for i > limit {
		c := s[i-1]
		switch {
		case c == '%':
			if r := hexRune(s[:at], i, 2); r >= 0 && r < 0x80 && class[r]&local == 0 {
				i += 2 // %3Calice@example.com: the escape of a delimiter
				break scan
			}
			i--
		case class[c]&local != 0:
			i--
		case c == '\\':
			r, n := escaped(s[:at], i)
			if r < 0 {
				break scan
			}
			if k := kindOfEscaped(r); k == stop {
				i += n
				break scan
			}
			i--
		case c >= 0x80:
			r, n := utf8.DecodeLastRuneInString(s[:i])
			k := kindOf(r, n, c)
			if k == stop || k == unsegmented && narrow || i-n < limit {
				break scan
			}
			i -= n
		default:
			break scan
		}
	}
	if i > 0 && (s[i-1] == '[' || s[i-1] == ';') {
		i = controlEnd(s[:at], i)
	}
	switch {
	case quoted && i > 0 && s[i-1] == '"':
		if i--; i > 0 && s[i-1] == '\\' {
			i--
		}
	default:
		i = trimLocal(s, i, at)
	}
	for j := i; j < at; j++ {
		if isAlnum(s[j]) || s[j] >= 0x80 {
			return i
		}
	}
	return at
}

// trimLocal drops what precedes an address without being part of it.
func trimLocal(s string, i, at int) int {
	for i < at {
		if c := s[i]; c == '.' || c == '-' || c == '\'' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:at])
		if r < 0x80 || !isInvisible(r) {
			break
		}
		i += n
	}
	return i
}

// escaped reads the escape whose backslash is s[i-1], as JSON and Go write it.
// It returns the rune and the number of bytes after the backslash, or -1.
func escaped(s string, i int) (r rune, n int) {
	if i >= len(s) {
		return -1, 0
	}
	switch s[i] {
	case 'n', 'r', 't':
		return '\n', 1
	case 'u':
		if r := hexRune(s, i+1, 4); r >= 0 {
			return r, 5
		}
	case 'x':
		if r := hexRune(s, i+1, 2); r >= 0 {
			return r, 3
		}
	}
	return -1, 0
}

func kindOfEscaped(r rune) runeKind {
	if r < 0x80 {
		if class[r]&local == 0 {
			return stop
		}
		return latin
	}
	return kindOf(r, 2, 0)
}

// localHold is the first position an address could start at whose @ is at e or
// later. It may be too early, never too late.
func localHold(s string, e int) int {
	// The extra bytes are for an encoded @ that has only just begun and for the
	// quotes around a local part.
	i, limit := e, max(0, e-maxLocal-8)
	for i > limit {
		c := s[i-1]
		if c >= 0x80 {
			r, n := utf8.DecodeLastRuneInString(s[:i])
			if kindOf(r, n, c) == stop {
				break
			}
			i -= n
			continue
		}
		if class[c]&local == 0 && c != '\\' && (c != '"' || i != e) {
			break
		}
		i--
	}
	if i > 0 && s[i-1] == '"' {
		i--
		if i > 0 && s[i-1] == '\\' {
			i--
		}
	}
	return i
}

func startsUnsegmented(s string) bool {
	if s == "" || s[0] < 0x80 {
		return false
	}
	r, n := utf8.DecodeRuneInString(s)
	return kindOf(r, n, s[0]) == unsegmented
}
