// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package unresolved says in words why a query means no one company. The command, for
// one supplier, a batch, for each row, and the chat of the server say it alike.
package unresolved

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Why says why res names no one company, without its candidates.
func Why(res supplier.Resolution, lang text.Lang) string {
	switch res.Status {
	case supplier.StatusCandidates:
		return text.Get(lang, text.Key("candidates."+string(res.Reason)))
	case supplier.StatusRefused:
		return Refused(&supplier.RefusedError{Reason: res.Reason}, lang)
	}
	if res.Reason == supplier.ReasonUnknownName && res.Detail != "" {
		return text.Get(lang, text.NobodyGLEIFUnread)
	}
	why := text.Get(lang, text.Key("nobody."+string(res.Reason)))
	if res.Status != supplier.StatusNotFound && res.Detail != "" {
		why += " (" + res.Detail + ")" // what a source itself said, as it came
	}
	return why
}

// shortened is how a spreadsheet writes a long number in a cell of numbers.
var shortened = regexp.MustCompile(`^[0-9][.,][0-9]+E\+?[0-9]+$`)

// Refused says what is wrong with what was typed, and shows it.
func Refused(e *supplier.RefusedError, lang text.Lang) string {
	var args []any
	key := text.Key("refused." + string(e.Reason))
	switch e.Reason {
	case supplier.ReasonTooShort:
		args = []any{supplier.MinQueryLength}
	case supplier.ReasonTooLong:
		args = []any{supplier.MaxQueryLength}
	case supplier.ReasonBadVATKey:
		args = []any{e.SIREN}
	case supplier.ReasonNoNumber:
		if shortened.MatchString(e.Input) {
			key = text.RefusedShortened
		}
	}
	why := text.Get(lang, key, args...)
	if e.Input != "" {
		why += fmt.Sprintf(" (%q)", e.Input)
	}
	return why
}

// Describe says in a line who a candidate is.
func Describe(c supplier.Candidate, lang text.Lang) string {
	state := text.Get(lang, text.StateActive)
	if c.Ceased {
		state = text.Get(lang, text.StateCeased)
	}
	var parts []string
	for _, p := range []string{c.LegalName, Number(c), c.City, c.Activity, state} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if c.Created != "" {
		parts = append(parts, text.Get(lang, text.CandidateCreated, text.Date(lang, c.Created)))
	}
	if why := matched(c, lang); why != "" {
		parts = append(parts, why)
	}
	return strings.Join(parts, ", ")
}

var matchTexts = map[supplier.Match]text.Key{
	supplier.MatchVariant: text.CandidateVariant, supplier.MatchTypo: text.CandidateTypo, supplier.MatchPartial: text.CandidatePartial,
}

// matched says what a candidate was found by, "" where it bears the very name.
func matched(c supplier.Candidate, lang text.Lang) string {
	switch c.MatchedOn {
	case supplier.MatchedTradeName:
		return text.Get(lang, text.CandidateTradeName, c.Name)
	case supplier.MatchedAcronym:
		return text.Get(lang, text.CandidateAcronym, c.Name)
	case supplier.MatchedAddress:
		return text.Get(lang, text.CandidateAddress)
	}
	if key, ok := matchTexts[c.Match]; ok {
		return text.Get(lang, key)
	}
	return ""
}

// Number is the number a candidate is meant by.
func Number(c supplier.Candidate) string {
	if c.SIREN != "" {
		return c.SIREN
	}
	return c.LEI
}
