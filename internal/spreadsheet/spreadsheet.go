// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package spreadsheet makes cells safe to open in a program that runs formulas.
package spreadsheet

import (
	"regexp"
	"strings"
	"unicode"
)

// number is a figure with a sign: it has to stay one.
var number = regexp.MustCompile(`^[+-][0-9][0-9 .,]*$`)

// Safe returns values with an apostrophe in front of each that a spreadsheet would run
// as a formula. Control characters go, but for line feeds and tabs inside a cell, and
// bytes that are no UTF-8 become U+FFFD.
func Safe(values ...string) []string {
	for i, v := range values {
		v = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(v, "\ufffd"))
		if formula(v) {
			v = "'" + v
		}
		values[i] = v
	}
	return values
}

// formula reports whether v begins like one, blanks in front of it aside.
func formula(v string) bool {
	first := strings.TrimLeftFunc(v, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	if first != v && v[0] == '\t' {
		return true
	}
	return strings.IndexAny(first, "=+-@＝＋－＠") == 0 && !number.MatchString(v)
}
