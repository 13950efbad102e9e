// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import "strings"

// maxControl bounds the parameters of a terminal control sequence.
const maxControl = 16

// controlEnd is the end of the terminal control sequence (ECMA-48: escape,
// bracket, parameters, a letter) whose parameters s[i] is in or right after; i
// if there is none. Coloured logs glue its letter to the value behind it.
func controlEnd(s string, i int) int {
	isParameter := func(c byte) bool { return isDigit(c) || c == ';' }
	j := i
	for j > 0 && i-j < maxControl && isParameter(s[j-1]) {
		j--
	}
	if j < 2 || s[j-1] != '[' || !endsInEscape(s[:j-1]) {
		return i
	}
	end := i
	for end < len(s) && isParameter(s[end]) {
		end++
	}
	if end < len(s) && isLetter(s[end]) {
		return end + 1
	}
	return i
}

// endsInEscape knows the escape character as it is and as JSON and shells write
// it.
func endsInEscape(s string) bool {
	if s[len(s)-1] == 0x1B {
		return true
	}
	for _, written := range []string{`\u001b`, `\u001B`, `\x1b`, `\x1B`, `\033`, `\e`} {
		if strings.HasSuffix(s, written) {
			return true
		}
	}
	return false
}
