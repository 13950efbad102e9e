// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"html"
	"strings"
	"unicode/utf8"
)

// A model that copies a token may write it in another way: other brackets, another case,
// escaped, spelled apart, cut short. Whatever form it takes, it still shows the nonce of
// the vault; that is what is looked for, not the form.

const (
	nonceLen = 8
	// shortNonce is how many characters of a nonce in a row make a text hold it. Other text
	// has them by chance at 3 of 2^30 positions.
	shortNonce = 6
	// maxEncodings is how many encodings on top of each other are undone. More is no
	// honest text.
	maxEncodings = 8
)

// leftover reports whether s, which holds no whole token, holds what was one.
func (v *Vault) leftover(s string) bool {
	if len(s) < len(":tok-") {
		return false
	}
	for range maxEncodings {
		if v.showsNonce(s) || v.tokenLike(s) {
			return true
		}
		plain := decoded(s)
		if plain == s {
			return false
		}
		s = plain
	}
	return true
}

// byFrequency are the characters of nonces, the commonest in texts first.
const byFrequency = "eaitnorsludcmph2gfbvy35467qkxjzw"

// rarest is the position of the rarest character of a nonce among those that any
// shortNonce characters in a row of it hold.
func rarest(nonce string) int {
	at := nonceLen - shortNonce
	for i := at + 1; i < shortNonce; i++ {
		if strings.IndexByte(byFrequency, nonce[i]) > strings.IndexByte(byFrequency, nonce[at]) {
			at = i
		}
	}
	return at
}

// showsNonce reports whether s holds shortNonce characters in a row of the nonce, in either
// case, whatever stands between them that is no letter or digit.
func (v *Vault) showsNonce(s string) bool {
	return eachFold(s, v.nonce[v.rarest], func(i int) bool {
		n := 1
		for j, k := i+1, v.rarest+1; k < nonceLen && j < len(s); j++ {
			if !isAlnum(s[j]) {
				continue
			}
			if lower(s[j]) != v.nonce[k] {
				break
			}
			n++
			k++
		}
		for j, k := i-1, v.rarest-1; k >= 0 && j >= 0; j-- {
			if !isAlnum(s[j]) {
				continue
			}
			if lower(s[j]) != v.nonce[k] {
				break
			}
			n++
			k--
		}
		return n >= shortNonce
	})
}

// eachFold calls f with the positions of a lower-case c in s, in either case, until it
// returns true, and reports whether it did.
func eachFold(s string, c byte, f func(i int) bool) bool {
	for _, c := range [...]byte{c, upper(c)} {
		for from := 0; ; {
			i := strings.IndexByte(s[from:], c)
			if i < 0 {
				break
			}
			if f(from + i) {
				return true
			}
			from += i + 1
		}
		if !isLetter(c) {
			break
		}
	}
	return false
}

func lower(c byte) byte {
	if isLetter(c) {
		c |= 0x20
	}
	return c
}

func upper(c byte) byte {
	if isLetter(c) {
		c &^= 0x20
	}
	return c
}

// tokenLike reports whether s holds a token without its brackets or its number, of any
// vault, or the first part of one of this vault.
func (v *Vault) tokenLike(s string) bool {
	return eachFold(s, 'k', func(k int) bool {
		i := k - 2
		if i < 0 || k+1 >= len(s) || s[k+1] != '-' && s[k+1] != '_' || !strings.EqualFold(s[i:k], "to") {
			return false
		}
		if i > 0 && isAlnum(s[i-1]) {
			return false
		}
		from, to := i+4, i+4
		for to < len(s) && isAlnum(s[to]) {
			to++
		}
		run, rest := s[from:to], s[to:]
		switch {
		case run == "":
			return i > 0 && s[i-1] == ':'
		case len(run) < nonceLen:
			return strings.HasPrefix(v.nonce, strings.ToLower(run)) && (len(run) > 2 || rest == "")
		case isNonce(run[:nonceLen]) && allDigits(run[nonceLen:]):
			// "tik-tok-tutorial" is a word of somebody else's.
			joined := i > 0 && strings.IndexByte("-_.", s[i-1]) >= 0
			numbered := len(rest) > 1 && (rest[0] == '-' || rest[0] == '_') && isDigit(rest[1])
			return !joined || numbered
		}
		return false
	})
}

func isNonce(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// encoders are the first bytes of encoded characters; the last three are those of U+00AD,
// U+2000 to U+2FFF and U+FF00 to U+FFFF.
const encoders = "%\\&=\xc2\xe2\xef"

var mayDecode = func() (t [256]bool) {
	for i := range len(encoders) {
		t[encoders[i]] = true
	}
	return t
}()

// decoded undoes one layer of the encodings that text is put into for URLs, JSON, HTML,
// Markdown and mail, and of the forms that characters have in wide and typeset text. It is
// s itself where there is none.
func decoded(s string) string {
	first := len(s)
	for i := range len(encoders) {
		if at := strings.IndexByte(s[:first], encoders[i]); at >= 0 {
			first = at
		}
	}
	var b strings.Builder
	done := 0
	for i := first; i < len(s); {
		if !mayDecode[s[i]] {
			i++
			continue
		}
		n, plain := decodedAt(s, i)
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(plain)
		i += n
		done = i
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// decodedAt returns the length of the encoded character at s[i:], zero if there is none,
// and what it stands for.
func decodedAt(s string, i int) (n int, plain string) {
	switch c := s[i]; {
	case c == '%':
		j := i + 1
		for strings.HasPrefix(s[j:], "25") {
			j += 2
		}
		if j > i+1 && hexRune(s[j:], 0, 2) < 0 {
			j -= 2
		}
		if hexRune(s[j:], 0, 2) >= 0 {
			return j + 2 - i, octet(s[j : j+2])
		}
	case c == '=':
		switch rest := s[i+1:]; {
		case hexRune(rest, 0, 2) >= 0:
			return 3, octet(rest[:2])
		case strings.HasPrefix(rest, "\n"):
			return 2, ""
		case strings.HasPrefix(rest, "\r\n"):
			return 3, ""
		}
	case c == '\\':
		j := i
		for j < len(s) && s[j] == '\\' {
			j++
		}
		switch rest := s[j:]; {
		case strings.HasPrefix(rest, "U") && hexRune(rest[1:], 0, 8) >= 0:
			return j + 9 - i, string(hexRune(rest, 1, 8))
		case strings.HasPrefix(rest, "u"), strings.HasPrefix(rest, "U"):
			if hexRune(rest[1:], 0, 4) >= 0 {
				return j + 5 - i, string(hexRune(rest, 1, 4))
			}
			return j - i, ""
		case strings.HasPrefix(rest, "x"), strings.HasPrefix(rest, "X"):
			if hexRune(rest[1:], 0, 2) >= 0 {
				return j + 3 - i, octet(rest[1:3])
			}
			return j - i, ""
		case rest != "" && mayDecode[rest[0]]:
			break // which comes first
		default:
			return j - i, ""
		}
	case c == '&':
		const longest = 12
		end := strings.IndexByte(s[i:min(len(s), i+longest)], ';')
		if end < 0 {
			break
		}
		entity := s[i : i+end+1]
		if plain := html.UnescapeString(entity); plain != entity {
			return len(entity), plain
		}
	case c >= utf8.RuneSelf:
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= '！' && r <= '～':
			return size, string(r - '！' + '!')
		case r >= '\u2010' && r <= '\u2015', r == '\u2212', r == '\ufe58', r == '\ufe63':
			return size, "-"
		case r >= '\u200b' && r <= '\u200f', r == '\u2060', r == '\ufeff', r == '\u00ad':
			return size, ""
		}
	}
	return 0, ""
}

// octet is the byte that two hexadecimal digits stand for.
func octet(digits string) string { return string([]byte{byte(hexRune(digits, 0, 2))}) }
