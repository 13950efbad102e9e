// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"strings"
	"unicode"
)

// Lengths, in runes, that [Clean] is called with for what leaves this project:
// long enough to read, too short to hide a page in.
const (
	MaxNameLength  = 200
	MaxTitleLength = 300
)

// Clean makes text from outside safe to show and to hand on as a value: control
// characters, bidirectional controls, zero-width and other invisible characters
// go, blanks of any kind and line breaks become one space, invalid UTF-8
// becomes U+FFFD, and the result holds at most limit runes, the last of them
// "…" when something was cut. A limit of zero or less means no limit. Markup is
// left alone: escaping belongs to whoever knows the output format.
func Clean(s string, limit int) string {
	if cleanASCII(s) && (limit <= 0 || len(s) <= limit) {
		return s
	}
	var b strings.Builder
	pendingSpace := false
	n := 0
	for _, r := range s {
		switch {
		case isBlank(r), r == '\n', r == '\r', r == '\t', r == '\v', r == '\f', r == '\u0085':
			pendingSpace = n > 0
			continue
		case unicode.IsControl(r), invisible(r):
			continue
		}
		need := 1
		if pendingSpace {
			need = 2
		}
		if limit > 0 && n+need > limit {
			return cut(b.String(), limit)
		}
		if pendingSpace {
			b.WriteByte(' ')
			pendingSpace = false
		}
		b.WriteRune(r)
		n += need
	}
	return b.String()
}

// cleanASCII reports whether there is nothing to clean in s: printable ASCII,
// words one blank apart.
func cleanASCII(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

// cut shortens s, which holds at most limit runes, by one if it must and marks
// that it goes on.
func cut(s string, limit int) string {
	runes := []rune(s)
	if len(runes) >= limit {
		runes = runes[:limit-1]
	}
	return strings.TrimRight(string(runes), " ") + "…"
}

// invisible reports format characters: bidirectional controls, zero-width
// joiners and spaces, the soft hyphen, the byte-order mark, tag characters, and
// the fillers that Unicode counts as letters but that draw nothing.
func invisible(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u034f', '\u2028', '\u2029':
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || (r >= 0xfe00 && r <= 0xfe0f)
}

func isBlank(r rune) bool { return unicode.Is(unicode.Zs, r) }
