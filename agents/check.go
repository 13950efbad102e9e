// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// CheckDraft returns what is wrong with a draft, or nil: a section missing, one that
// does not cite although it rests on evidence, evidence that does not exist, a figure
// or date that no statement holds, an address, a verdict no model may give, a check
// presented as passed that was not done. It reads, it understands nothing: what a
// reviewer thinks of the draft comes on top. The words of names and titles that the facts
// hold are no fault where they are quoted: a draft that writes the statements down passes,
// whatever they say.
func CheckDraft(draft string, facts sources.Facts, lang text.Lang) []string {
	want := Sections(facts, lang)
	quoted := quotesOf(facts, want)
	var faults []string
	faults = append(faults, checkSections(draft, want, lang)...)
	faults = append(faults, checkFigures(draft, want, quoted, lang)...)
	return append(faults, checkWords(draft, facts, quoted, lang)...)
}

func checkSections(draft string, want []Section, lang text.Lang) []string {
	var faults []string
	known := make(map[string]bool)
	got := ParseDraft(draft)
	for _, s := range want {
		ids := s.Evidence()
		for _, id := range ids {
			known[id] = true
		}
		i := slices.IndexFunc(got, func(d DraftSection) bool { return d.Title == s.Title })
		if i < 0 || len(got[i].Paragraphs) == 0 {
			faults = append(faults, text.Get(lang, text.DraftNoSection, s.Title))
			continue
		}
		if len(ids) > 0 && !citation.MatchString(strings.Join(got[i].Paragraphs, " ")) {
			faults = append(faults, text.Get(lang, text.DraftNoCitation, s.Title))
		}
	}
	for _, m := range citation.FindAllStringSubmatch(draft, -1) {
		if !known[m[1]] {
			faults = append(faults, text.Get(lang, text.UnknownEvidence, m[1]))
		}
	}
	return faults
}

// figure is a number, a date or an amount, with what stands between its digits.
var figure = regexp.MustCompile(`\d(?:[\d.,/\-\x{00a0}\x{202f} ]*\d)?`)

// checkFigures compares digits only, so that a thousands separator is free but a
// rounded or invented figure is not.
func checkFigures(draft string, want []Section, quoted quotes, lang text.Lang) []string {
	known := quoted.figures
	for _, s := range want {
		for _, st := range s.Statements {
			for _, f := range figure.FindAllString(st.Text, -1) {
				for _, d := range spellings(f) {
					known[d] = true
				}
			}
		}
	}
	var faults []string
	for _, f := range figure.FindAllString(citation.ReplaceAllString(draft, " "), -1) {
		// What a sentence joins, "2024, 2025" in a list say, is looked at apart.
		if !slices.ContainsFunc(spellings(f), func(d string) bool { return known[d] }) && !allKnown(f, known) {
			faults = append(faults, text.Get(lang, text.DraftUnknownFigure, f))
		}
	}
	return faults
}

func allKnown(f string, known map[string]bool) bool {
	for _, part := range strings.FieldsFunc(f, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !strings.ContainsAny(part, "0123456789") {
			continue // a dash between two
		}
		if !slices.ContainsFunc(spellings(part), func(d string) bool { return known[d] }) {
			return false
		}
	}
	return true
}

// spellings returns the digits of a figure, and of a date the digits in both orders.
func spellings(f string) []string {
	digits := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, f)
	out := []string{digits}
	if m := isoDate.FindStringSubmatch(f); m != nil {
		out = append(out, m[3]+m[2]+m[1])
	}
	if m := frenchDate.FindStringSubmatch(f); m != nil {
		out = append(out, m[3]+m[2]+m[1])
	}
	return out
}

var (
	isoDate    = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})$`)
	frenchDate = regexp.MustCompile(`^(\d{2})/(\d{2})/(\d{4})$`)
)

// verdicts are what no text of a model may say, in the words of wordsOf.
var verdicts = phrases(
	"approved supplier", "supplier is approved", "supplier approved", "safe supplier", "supplier is safe", "clean supplier", "no risk", "risk free",
	"recommend approval", "fournisseur approuve", "fournisseur est approuve", "fournisseur agree", "fournisseur sûr", "fournisseur est sûr",
	"sans risque", "aucun risque", "recommande l approbation", "irreprochable",
)

// unscreened are what no text may say where the lists were not read.
var unscreened = phrases(
	"no sanction", "not sanctioned", "not on any sanctions", "no match on", "aucune sanction", "pas de sanction", "non sanctionne", "aucun gel",
)

func phrases(list ...string) [][]string {
	out := make([][]string, len(list))
	for i, p := range list {
		out[i] = wordsOf(p)
	}
	return out
}

func checkWords(draft string, facts sources.Facts, quoted quotes, lang text.Lang) []string {
	var faults []string
	if slices.ContainsFunc(addressesIn(draft), func(a string) bool { return !quoted.addresses[a] }) {
		faults = append(faults, text.Get(lang, text.DraftAddress))
	}
	words := wordsOf(draft)
	refuse := func(phrases [][]string) {
		for _, p := range phrases {
			if quoted.says(words, p) {
				faults = append(faults, text.Get(lang, text.DraftForbidden, strings.ReplaceAll(strings.Join(p, " "), sureWord, "sûr")))
			}
		}
	}
	refuse(verdicts)
	if facts.Reputation == nil || !facts.Reputation.Sanctions.Status.Read() {
		refuse(unscreened)
	}
	return faults
}
