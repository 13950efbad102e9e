// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Name is a company or person name made comparable. It is never for display.
// Make one with [Normalize]; the zero value is a name of nobody.
type Name struct {
	Tokens       []string // folded words in their order, legal form removed
	Form         string   // legal form found at either end, "" when none
	Weak         bool     // too short or too generic to identify anyone by
	MixedScripts bool     // one word mixes Latin with Cyrillic or Greek letters
	umlauts      bool     // ä, ö or ü in the original
	key          string
}

// letters that canonical decomposition leaves alone.
var plainLetters = strings.NewReplacer(
	"œ", "oe", "æ", "ae", "ß", "ss", "ł", "l", "ø", "o", "đ", "d", "ð", "d", "þ", "th", "ı", "i",
)

// Normalize folds a name for comparison: compatibility decomposition, accents
// off, case folded, œ æ ß ł ø đ þ spelled out, "&", "+" and "and" read as "et",
// apostrophes, hyphens and all other punctuation as blanks, dotted letters
// joined ("S.A.S." is "sas"), and a legal form at either end set apart. At most
// [MaxQueryLength] runes are read.
func Normalize(s string) Name {
	s = Clean(s, MaxQueryLength)
	var n Name
	n.MixedScripts = !isASCII(s) && mixedScripts(s)
	n.umlauts = strings.ContainsAny(norm.NFC.String(s), "äöüÄÖÜ")
	n.Tokens, n.Form = splitForm(Words(s))
	n.Weak, n.key = weak(n.Tokens), setKey(n.Tokens)
	return n
}

// foldMarks takes accents off and turns everything that is neither letter nor
// digit into a blank.
func foldMarks(lower string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(plainLetters.Replace(lower)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r), unicode.IsNumber(r):
			b.WriteRune(r)
		case r == '&', r == '+':
			b.WriteString(" et ")
		default:
			b.WriteByte(' ')
		}
	}
	return cases.Fold().String(b.String())
}

// Fold lower-cases text, takes accents off and keeps only letters and digits,
// words one blank apart: for looking words up in text, whatever its spelling.
func Fold(s string) string {
	if isASCII(s) {
		return foldASCII(s)
	}
	return strings.Join(strings.Fields(foldMarks(cases.Fold().String(norm.NFKC.String(s)))), " ")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldASCII is [Fold] for what most names are made of, at a tenth of the time.
func foldASCII(s string) string {
	b := make([]byte, 0, len(s)+8)
	space := func() {
		if len(b) > 0 && b[len(b)-1] != ' ' {
			b = append(b, ' ')
		}
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			b = append(b, c-'A'+'a')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b = append(b, c)
		case c == '&' || c == '+':
			space()
			b = append(b, "et "...)
		default:
			space()
		}
	}
	return string(bytes.TrimRight(b, " "))
}

// Words splits text into words folded the way [Normalize] folds those of a name.
func Words(s string) []string { return joinSingles(strings.Fields(Fold(s))) }

// joinSingles writes runs of single letters as one word, so that "S.A.S.",
// "S A S" and "SAS" agree, and "and" as "et".
func joinSingles(tokens []string) []string {
	var out []string
	run := ""
	flush := func() {
		if run != "" {
			out = append(out, run)
			run = ""
		}
	}
	for _, t := range tokens {
		if r := []rune(t); len(r) == 1 && unicode.IsLetter(r[0]) {
			run += t
			continue
		}
		flush()
		if t == "and" || t == "und" {
			t = "et"
		}
		out = append(out, t)
	}
	flush()
	return out
}

// linkWords carry no identity; genericWords are shared by so many companies
// that a name made of them alone says nothing.
var (
	linkWords    = wordSet("de la le les du des et d l a au aux en of the")
	genericWords = wordSet(`granit conseil conseils service services france groupe group holding international
		consulting solutions solution distribution transport transports batiment immobilier immobiliere travaux
		commerce industrie industries technologie technologies tech corp company compagnie societe entreprise
		garage boulangerie restaurant pharmacie securite nettoyage formation europe sud nord est ouest centre`)
)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

func weak(tokens []string) bool {
	var significant []string
	numbers := false
	for _, t := range tokens {
		switch {
		case digitsOnly(t):
			numbers = true
		case linkWords[t] || genericWords[t]:
		default:
			significant = append(significant, t)
		}
	}
	switch len(significant) {
	case 0:
		return true
	case 1:
		return numbers || len([]rune(significant[0])) <= 4
	}
	return false
}

func mixedScripts(s string) bool {
	for word := range strings.FieldsSeq(s) {
		latin, other := false, false
		for _, r := range word {
			latin = latin || unicode.Is(unicode.Latin, r)
			other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
		}
		if latin && other {
			return true
		}
	}
	return false
}

// Key is the name's words as a set, spelled as one string: names with the same
// key are [Name.Equal], save for German umlauts.
func (n Name) Key() string { return n.key }

var digraphs = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// germanKey reads ae, oe and ue as umlauts, and so as a, o and u.
func (n Name) germanKey() string {
	folded := make([]string, len(n.Tokens))
	for i, t := range n.Tokens {
		folded[i] = digraphs.Replace(t)
	}
	return setKey(folded)
}

func setKey(tokens []string) string {
	sorted := slices.Clone(tokens)
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), " ")
}

// Equal reports whether both names hold the same words, whatever their order
// and legal form. Two empty names are not equal.
func (n Name) Equal(m Name) bool {
	if len(n.Tokens) == 0 || len(m.Tokens) == 0 {
		return false
	}
	if n.key == m.key {
		return true
	}
	german := n.umlauts || m.umlauts || germanForms[n.Form] || germanForms[m.Form]
	return german && n.germanKey() == m.germanKey()
}
