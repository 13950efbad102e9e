// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"

	regexp2v1 "github.com/dlclark/regexp2"
	"github.com/dlclark/regexp2/v2"
	"github.com/gardefou/gardefou/redact"
	scalibr "github.com/google/osv-scalibr/veles/sensitiveinformation/iban"

	"github.com/google/osv-scalibr/veles/sensitiveinformation"
)

// The kinds of values compared, as the vectors name them.
const (
	email = "EMAIL"
	iban  = "IBAN"
)

// span is a stretch of a text in bytes.
type span struct{ from, to int }

// engine is a way to find values, for the kinds it knows.
type engine struct {
	name string
	find map[string]func(text string) []span
}

// standard names the engine that the others' speed is a multiple of.
const standard = "regexp (standard library)"

// The expressions are those that most code uses: an address with a top-level
// domain; two letters, two digits and groups, checked by mod 97.
const (
	emailExpr = `[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}`
	ibanExpr  = `\b[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}\b`
)

func newEngines() ([]engine, error) {
	std := map[string]func(string) []span{}
	v1 := map[string]func(string) []span{}
	v2 := map[string]func(string) []span{}
	own := map[string]func(string) []span{}
	for kind, expr := range map[string]string{email: emailExpr, iban: ibanExpr} {
		check := func(string) bool { return true }
		if kind == iban {
			check = hasCheckDigits
		}
		a := regexp.MustCompile(expr)
		std[kind] = func(text string) []span { return checked(text, a.FindAllStringIndex(text, -1), check) }
		b, err := regexp2.Compile(expr)
		if err != nil {
			return nil, err
		}
		v2[kind] = func(text string) []span {
			all, _ := b.FindAllStringIndex(text, -1) // no time limit is set
			return checked(text, all, check)
		}
		c, err := regexp2v1.Compile(expr, regexp2v1.None)
		if err != nil {
			return nil, err
		}
		v1[kind] = func(text string) []span { return checked(text, findAllV1(c, text), check) }
		r, err := redact.New(redact.Options{Types: []redact.Type{redact.Type(kind)}})
		if err != nil {
			return nil, err
		}
		own[kind] = func(text string) []span {
			var all []span
			for _, f := range r.Find(text) {
				all = append(all, span{f.Start, f.End})
			}
			return all
		}
	}
	return []engine{
		{standard, std},
		{"redact", own},
		{"regexp2/v2", v2},
		{"regexp2 v1", v1},
		{"osv-scalibr", map[string]func(string) []span{iban: findScalibr}},
	}, nil
}

func checked(text string, found [][]int, check func(string) bool) []span {
	var all []span
	for _, f := range found {
		if check(text[f[0]:f[1]]) {
			all = append(all, span{f[0], f[1]})
		}
	}
	return all
}

// findAllV1 turns the rune offsets of version 1 into byte offsets.
func findAllV1(re *regexp2v1.Regexp, text string) [][]int {
	var all [][]int
	runes, i := 0, 0
	offset := func(n int) int {
		for j := range text[i:] {
			if runes == n {
				i += j
				return i
			}
			runes++
		}
		i = len(text)
		return i
	}
	for m, _ := re.FindStringMatch(text); m != nil; m, _ = re.FindNextMatch(m) {
		from := offset(m.Index)
		all = append(all, []int{from, from + len(m.String())})
	}
	return all
}

var detector = scalibr.NewDetector()

func findScalibr(text string) []span {
	secrets, starts := detector.Detect([]byte(text))
	var all []span
	for i, s := range secrets {
		if info, ok := s.(sensitiveinformation.SensitiveInformation); ok {
			all = append(all, span{starts[i], starts[i] + len(info.Raw)})
		}
	}
	return all
}

// hasCheckDigits is the check that the regular expressions are used with.
func hasCheckDigits(value string) bool {
	compact := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(value))
	return remainder(compact[4:]+compact[:4]) == 1
}

// remainder is that of ISO 7064 mod 97-10.
func remainder(s string) int {
	m := 0
	for _, c := range []byte(s) {
		if c <= '9' {
			m = (m*10 + int(c-'0')) % 97
		} else {
			m = (m*100 + int(c-'A') + 10) % 97
		}
	}
	return m
}
