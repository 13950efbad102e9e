// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// unresolved tells why no agent was started, and what to do.
func (f *flags) unresolved(res supplier.Resolution, client *sources.Client, lang text.Lang) error {
	switch res.Status {
	case supplier.StatusCandidates:
		return &exitError{exitAmbiguous, f.candidates(res, lang)}
	case supplier.StatusNotFound:
		if client.Mode() == sources.ModeSample {
			return &exitError{exitNotFound, text.Get(lang, text.CmdNotInSample, strings.Join(sources.SampleNames(), ", "))}
		}
		return &exitError{exitNotFound, text.Get(lang, text.CmdNotFound, whyNobody(res, lang))}
	case supplier.StatusRefused:
		return &exitError{exitRefused, text.Get(lang, text.CmdRefused, whyRefused(&supplier.RefusedError{Reason: res.Reason}, lang))}
	default:
		return &exitError{exitUnavailable, text.Get(lang, text.CmdUnavailable, whyNobody(res, lang))}
	}
}

// whyRefused says what is wrong with what was typed, and shows it.
func whyRefused(e *supplier.RefusedError, lang text.Lang) string {
	var args []any
	switch e.Reason {
	case supplier.ReasonTooShort:
		args = []any{supplier.MinQueryLength}
	case supplier.ReasonTooLong:
		args = []any{supplier.MaxQueryLength}
	case supplier.ReasonBadVATKey:
		args = []any{e.SIREN}
	}
	why := text.Get(lang, text.Key("refused."+string(e.Reason)), args...)
	if e.Input != "" {
		why += fmt.Sprintf(" (%q)", e.Input)
	}
	return why
}

// whyNobody says why nobody was identified; what a source itself said follows as it came.
func whyNobody(res supplier.Resolution, lang text.Lang) string {
	if res.Reason == supplier.ReasonUnknownName && res.Detail != "" {
		return text.Get(lang, text.NobodyGLEIFUnread)
	}
	why := text.Get(lang, text.Key("nobody."+string(res.Reason)))
	if res.Status != supplier.StatusNotFound && res.Detail != "" {
		why += " (" + res.Detail + ")"
	}
	return why
}

// candidates lists who could be meant, each with the command that means it.
func (f *flags) candidates(res supplier.Resolution, lang text.Lang) string {
	var sb strings.Builder
	sb.WriteString(text.Get(lang, text.CmdAmbiguous, whyUncertain(res, lang)))
	for _, c := range res.Candidates {
		again := "duediligence"
		if f.source != string(sources.ModeSample) {
			again += " --source " + f.source
		}
		fmt.Fprintf(&sb, "\n  %s\n      %s %s", describe(c, lang), again, identifier(c))
	}
	return sb.String()
}

func whyUncertain(res supplier.Resolution, lang text.Lang) string {
	return text.Get(lang, text.Key("candidates."+string(res.Reason)))
}

func describe(c supplier.Candidate, lang text.Lang) string {
	state := text.Get(lang, text.StateActive)
	if c.Ceased {
		state = text.Get(lang, text.StateCeased)
	}
	var parts []string
	for _, p := range []string{c.LegalName, identifier(c), c.City, c.Activity, state} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if c.Created != "" {
		parts = append(parts, text.Get(lang, text.CandidateCreated, text.Date(lang, c.Created)))
	}
	if why := whyMatched(c, lang); why != "" {
		parts = append(parts, why)
	}
	return strings.Join(parts, ", ")
}

var matchTexts = map[supplier.Match]text.Key{
	supplier.MatchVariant: text.CandidateVariant, supplier.MatchTypo: text.CandidateTypo, supplier.MatchPartial: text.CandidatePartial,
}

// whyMatched says what a candidate was found by, "" where it bears the very name.
func whyMatched(c supplier.Candidate, lang text.Lang) string {
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

func identifier(c supplier.Candidate) string {
	if c.SIREN != "" {
		return c.SIREN
	}
	return c.LEI
}

// ask puts a numbered question and returns the identifier of the answer.
func (f *flags) ask(res supplier.Resolution, lang text.Lang, stdin io.Reader, stderr io.Writer) (string, error) {
	fmt.Fprintln(stderr, text.Get(lang, text.CmdWhich, whyUncertain(res, lang)))
	for i, c := range res.Candidates {
		fmt.Fprintf(stderr, "  %d. %s\n", i+1, describe(c, lang))
	}
	fmt.Fprint(stderr, text.Get(lang, text.CmdNumber, len(res.Candidates)))
	line, err := bufio.NewReader(stdin).ReadString('\n')
	n, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil && line == "" || bad != nil || n < 1 || n > len(res.Candidates) {
		return "", &exitError{exitAmbiguous, f.candidates(res, lang)}
	}
	return identifier(res.Candidates[n-1]), nil
}

func isTerminalInput(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
