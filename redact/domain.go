// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"strings"
	"unicode/utf8"
)

// label is one label of a domain while it is read.
type label struct {
	start, end             int // end is after the last character that counts
	letters, digits        int
	foreign, plain, broken bool // non-Latin letters; ASCII or Latin ones; - or _ inside
}

// topLevel says whether l can end a domain. There is no list of top-level
// domains on purpose: a list is out of date on the day it is built and would
// let .local and .corp addresses pass.
func (l *label) topLevel(s string) bool {
	if l.end-l.start > 4 && strings.EqualFold(s[l.start:l.start+4], "xn--") {
		return true
	}
	if l.broken || l.letters < 2 {
		return false
	}
	// Four digits after the letters are no TLD but a number glued to one.
	return l.digits == 0 || l.digits >= 4 && !isDigit(s[l.start])
}

// domainEnd is where the domain that begins at s[i] ends. A domain is at least
// two labels, the last one alphabetic; the longest prefix that is one counts.
func domainEnd(s string, i int, ended bool) (end int, v verdict) {
	if i < len(s) && s[i] == '[' {
		return addressLiteral(s, i, ended)
	}
	var (
		first, second, top label // top ends the longest prefix that is a domain
		cur                = label{start: i, end: i}
		labels, topLabels  int // closed ones, and those before top
		pos                = i
	)
	usable := func() bool { return labels > 0 && cur.end > cur.start && cur.topLevel(s) }
	capped := false
read:
	for {
		if pos-i >= maxDomain {
			capped = true
			break
		}
		if pos == len(s) {
			if !ended {
				return len(s), pending
			}
			break
		}
		switch c := s[pos]; {
		case isLetter(c):
			if cur.foreign && usable() {
				break read
			}
			cur.letters++
			cur.plain = true
			pos++
			cur.end = pos
		case isDigit(c):
			cur.digits++
			pos++
			cur.end = pos
		case c == '.':
			if cur.end == cur.start {
				break read
			}
			if usable() {
				top, topLabels = cur, labels
			}
			switch labels {
			case 0:
				first = cur
			case 1:
				second = cur
			}
			labels++
			pos++
			cur = label{start: pos, end: pos}
		case c == '-':
			if cur.end == cur.start {
				break read
			}
			if usable() {
				top, topLabels = cur, labels // example.com-Paris
			}
			cur.broken = true
			pos++
		case c == '_':
			if usable() {
				break read // _alice@example.com_
			}
			cur.broken = true
			pos++
			cur.end = pos
		case c >= 0x80:
			if !ended && !utf8.FullRuneInString(s[pos:]) {
				return len(s), pending
			}
			r, n := utf8.DecodeRuneInString(s[pos:])
			k := kindOf(r, n, c)
			if k == stop || k > latin && cur.plain && usable() || k > latin && cur.end == cur.start && topLabels > 0 {
				break read
			}
			pos += n
			if k == invisible {
				continue
			}
			cur.letters++
			cur.end = pos
			if k == latin {
				cur.plain = true
			} else {
				cur.foreign = true
			}
		default:
			break read
		}
	}
	if !capped && usable() {
		top, topLabels = cur, labels
	}
	if labels == 1 {
		second = cur
	}
	if topLabels == 0 || isVersion(s, first, second) || isPicture(s, first, top) || topLabels == 1 && isUnit(s, top) {
		return 0, absent
	}
	return top.end, found
}

// isVersion spares pkg@1.2.3, pkg@v0.16.1.tar.gz and image@3.11-slim.bookworm.
func isVersion(s string, first, second label) bool {
	major := s[first.start:first.end]
	if len(major) > 1 && (major[0] == 'v' || major[0] == 'V') {
		major = major[1:]
	}
	if strings.TrimLeft(major, "0123456789") != "" {
		return false
	}
	minor := s[second.start:second.end]
	rest := strings.TrimLeft(minor, "0123456789")
	return minor == "x" || rest != minor && (rest == "" || rest[0] == '-' || rest == "x")
}

// isVersionStart reports whether a domain that was cut off began like a version.
func isVersionStart(s string) bool {
	s = strings.TrimLeft(s, "vV")
	return s != "" && isDigit(s[0]) && strings.TrimLeft(s, "0123456789.") == ""
}

// isUnit spares the instances of systemd templates: getty@tty1.service.
func isUnit(s string, suffix label) bool {
	switch strings.ToLower(s[suffix.start:suffix.end]) {
	case "service", "socket", "timer", "mount", "automount", "slice", "scope", "swap", "device", "path":
		return true
	}
	return false
}

// isPicture spares pictures for dense screens: logo@2x.png.
func isPicture(s string, density, suffix label) bool {
	name := strings.ToLower(s[density.start:density.end])
	if times := strings.TrimLeft(name, "0123456789"); times == name || times != "x" {
		return false
	}
	switch strings.ToLower(s[suffix.start:suffix.end]) {
	case "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "bmp", "ico", "tiff":
		return true
	}
	return false
}

// maxLiteral is the longest address literal: an IPv6 address with a dotted
// tail, its tag and the brackets.
const maxLiteral = 64

// addressLiteral reads [192.0.2.25] and [IPv6:2001:db8::1] (RFC 5321, 4.1.3).
func addressLiteral(s string, i int, ended bool) (end int, v verdict) {
	digits, marks := 0, 0
	for pos := i + 1; ; pos++ {
		switch {
		case pos-i >= maxLiteral:
			return 0, absent
		case pos == len(s):
			if !ended {
				return len(s), pending
			}
			return 0, absent
		case s[pos] == ']':
			if digits == 0 || marks < 2 {
				return 0, absent
			}
			return pos + 1, found
		case isDigit(s[pos]):
			digits++
		case s[pos] == '.', s[pos] == ':':
			marks++
		case !isLetter(s[pos]):
			return 0, absent
		}
	}
}
