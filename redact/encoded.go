// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import "strings"

// encodedAt judges whether the digit s[d], the first of its run, belongs to an
// @ as a URL (%40, %2540), JSON (\u0040, \x40) or HTML (&#64;, &#x40;) write it,
// and returns the bytes that the @ takes.
func encodedAt(s string, d int, ended bool) (at, after int, v verdict) {
	if d < 2 {
		return 0, 0, absent
	}
	rest := s[d:]
	switch p := s[d-1]; {
	case p == '%':
		return oneOf(d-1, d, rest, ended, "40", "2540")
	case p == 'u' && s[d-2] == '\\':
		return oneOf(backslashes(s, d-2), d, rest, ended, "0040")
	case p == 'x' && s[d-2] == '\\':
		return oneOf(backslashes(s, d-2), d, rest, ended, "40")
	case p == '#' && s[d-2] == '&':
		return oneOf(d-2, d, rest, ended, "64;", "064;")
	case (p == 'x' || p == 'X') && s[d-2] == '#' && d >= 3 && s[d-3] == '&':
		return oneOf(d-3, d, rest, ended, "40;", "040;")
	}
	return 0, 0, absent
}

// mayEncode reports whether an encoded @ has c before its first digit.
func mayEncode(c byte) bool { return c == '%' || c == '#' || c == 'u' || c|0x20 == 'x' }

func oneOf(at, d int, rest string, ended bool, codes ...string) (int, int, verdict) {
	v := absent
	for _, code := range codes {
		if strings.HasPrefix(rest, code) {
			return at, d + len(code), found
		}
		if !ended && strings.HasPrefix(code, rest) {
			v = pending
		}
	}
	return at, len(rest) + d, v
}

// maxBackslashes is how many backslashes one escape may have: JSON within JSON
// doubles them.
const maxBackslashes = 4

// backslashes is the start of the run of backslashes that s[i] ends.
func backslashes(s string, i int) int {
	for last := i; i > 0 && last-i < maxBackslashes-1 && s[i-1] == '\\'; {
		i--
	}
	return i
}

// encodedTail is the start of an encoded @ at the end of s that has no digit
// yet, len(s) if there is none.
func encodedTail(s string) int {
	for n := min(3, len(s)); n > 0; n-- {
		switch s[len(s)-n:] {
		case "&#x", "&#X", "&#", "&", "%", `\u`, `\x`, `\`:
			return backslashes(s, len(s)-n)
		}
	}
	return len(s)
}
