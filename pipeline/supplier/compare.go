// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Match says how well a registered name answers a query, best first.
type Match string

// The classes of [CompareNames]. Only MatchExact may resolve a query.
const (
	MatchExact   Match = "exact"   // the same words
	MatchVariant Match = "variant" // the same words once st, ste and saint agree
	MatchTypo    Match = "typo"    // every word is there, a letter or two off
	MatchPartial Match = "partial" // every word of the query is in the name, which has more
	MatchNone    Match = "none"
)

// CompareNames says how registered answers query. It asks for every word of the
// query to be covered: a similarity score alone says yes to subsidiaries
// ("Orange", "Orange Bank") and no to reordered words.
func CompareNames(query, registered Name) Match {
	switch {
	case len(query.Tokens) == 0 || len(registered.Tokens) == 0:
		return MatchNone
	case query.Equal(registered):
		return MatchExact
	}
	q, r := saints(query.Tokens), saints(registered.Tokens)
	switch {
	case len(q) == len(r) && setKey(q) == setKey(r):
		return MatchVariant
	case typo(q, r):
		return MatchTypo
	case covers(r, q):
		return MatchPartial
	}
	return MatchNone
}

// saints returns tokens with every spelling of saint as one, the same slice
// when there is none.
func saints(tokens []string) []string {
	isSaint := func(t string) bool { return t == "st" || t == "ste" || t == "sainte" }
	if !slices.ContainsFunc(tokens, isSaint) {
		return tokens
	}
	out := slices.Clone(tokens)
	for i, t := range out {
		if isSaint(t) {
			out[i] = "saint"
		}
	}
	return out
}

func covers(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}

// typo pairs each word of a with one of b and allows it one edit, two from
// eight letters on; words of three letters or fewer must agree.
func typo(a, b []string) bool {
	if len(a) != len(b) {
		// "brume val" for "brumeval": compare the words run together.
		return abs(len(a)-len(b)) == 1 && near(strings.Join(a, ""), strings.Join(b, ""))
	}
	left := slices.Clone(b)
	for _, word := range a {
		i := slices.Index(left, word)
		if i < 0 {
			i = slices.IndexFunc(left, func(w string) bool { return near(word, w) })
		}
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func near(a, b string) bool {
	n := min(len([]rune(a)), len([]rune(b)))
	switch {
	case n <= 3:
		return false
	case n < 8:
		return levenshtein.ComputeDistance(a, b) <= 1
	}
	return levenshtein.ComputeDistance(a, b) <= 2
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
