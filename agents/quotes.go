// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// quotes are the words that a draft must be able to write down whatever they are, because
// they are somebody's: anybody can register a name that holds a verdict or an address.
type quotes struct {
	names     [][]string // whole, also without their legal form
	sentences [][]string // the statements, which hold names in their place
	addresses map[string]bool
	figures   map[string]bool // the digits in names
}

func quotesOf(facts sources.Facts, sections []Section) quotes {
	q := quotes{addresses: make(map[string]bool), figures: make(map[string]bool)}
	add := func(names ...string) {
		for _, name := range names {
			for _, words := range [][]string{wordsOf(name), supplier.Normalize(name).Tokens} {
				if len(words) > 0 {
					q.names = append(q.names, words)
				}
			}
			for _, digits := range digitRun.FindAllString(name, -1) {
				q.figures[digits] = true
			}
		}
	}
	if r := facts.Registry; r != nil {
		add(r.Subject.LegalName)
		for _, c := range r.Company.Items {
			add(c.LegalName, c.Address)
			add(c.TradeNames...)
			for _, o := range c.Officers {
				add(o.Name, o.Role)
			}
		}
	}
	if r := facts.Reputation; r != nil {
		for _, m := range slices.Concat(r.Sanctions.Items, r.Officers.Items) {
			add(m.Searched, m.Entry)
		}
		for _, s := range r.News.Items {
			add(s.Title)
			add(s.Domains...)
		}
	}
	for _, s := range sections {
		for _, st := range s.Statements {
			q.sentences = append(q.sentences, wordsOf(st.Text))
			for _, a := range addressesIn(st.Text) {
				q.addresses[a] = true
			}
		}
	}
	return q
}

var digitRun = regexp.MustCompile(`\d+`)

// address is what a reader could take for a link.
var address = regexp.MustCompile(`(?:[a-z][a-z0-9+.\-]*://|www\.)[^\s<>()\[\]{}"'` + "`" + `’»|]*|://`)

func addressesIn(s string) []string {
	found := address.FindAllString(strings.ToLower(s), -1)
	for i, a := range found {
		found[i] = strings.TrimRight(a, ".,;:!?…*_")
	}
	return found
}

// sure is the French for safe: folded it is a preposition ("sur"), except with its accent or
// at the end of a sentence.
var sure = regexp.MustCompile(`(?i)\bs(?:û|u\x{0302})r(e?s?)\b|\bsur(e?s?)(\s*(?:[.,;:!?)]|\n|$))`)

// wordsOf are the words of a text, folded as supplier.Fold does, with a word of its own for
// "sûr".
func wordsOf(s string) []string {
	return strings.Fields(supplier.Fold(sure.ReplaceAllString(s, sureWord+"${1}${2}${3}")))
}

// sureWord stands for "sûr" in the words of [wordsOf].
const sureWord = "surxsur"

// says reports whether words hold a phrase that is not quoted. The last word of a phrase may
// be in the plural or feminine.
func (q *quotes) says(words, phrase []string) bool {
	var quoted []bool
	for i := 0; i+len(phrase) <= len(words); i++ {
		if !begins(words[i:], phrase) {
			continue
		}
		if quoted == nil {
			quoted = q.mark(words)
		}
		if slices.Contains(quoted[i:i+len(phrase)], true) || q.inSentence(words, i, len(phrase)) {
			continue
		}
		return true
	}
	return false
}

func begins(words, phrase []string) bool {
	last := len(phrase) - 1
	if !slices.Equal(words[:last], phrase[:last]) {
		return false
	}
	ending, ok := strings.CutPrefix(words[last], phrase[last])
	return ok && slices.Contains([]string{"", "s", "e", "es"}, ending)
}

// mark says which words belong to a name that is written out.
func (q *quotes) mark(words []string) []bool {
	marked := make([]bool, len(words))
	for _, name := range q.names {
		for i := 0; i+len(name) <= len(words); i++ {
			if slices.Equal(words[i:i+len(name)], name) {
				for j := range name {
					marked[i+j] = true
				}
			}
		}
	}
	return marked
}

// inSentence reports whether the n words at i stand in a statement or a name too, beside the
// same word as there: part of a name that is shortened.
func (q *quotes) inSentence(words []string, i, n int) bool {
	for _, s := range slices.Concat(q.names, q.sentences) {
		for k := 0; k+n <= len(s); k++ {
			if !slices.Equal(s[k:k+n], words[i:i+n]) {
				continue
			}
			before := k > 0 && i > 0 && s[k-1] == words[i-1]
			after := k+n < len(s) && i+n < len(words) && s[k+n] == words[i+n]
			if before || after {
				return true
			}
		}
	}
	return false
}
