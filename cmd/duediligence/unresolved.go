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
	"github.com/gardefou/gardefou/internal/unresolved"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// unresolved tells why no agent was started, and what to do.
func (c *config) unresolved(res supplier.Resolution, client *sources.Client, lang text.Lang) error {
	switch res.Status {
	case supplier.StatusCandidates:
		return &exitError{exitAmbiguous, c.candidates(res, lang)}
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

func whyRefused(e *supplier.RefusedError, lang text.Lang) string { return unresolved.Refused(e, lang) }

func whyNobody(res supplier.Resolution, lang text.Lang) string { return unresolved.Why(res, lang) }

// candidates lists who could be meant, each with the command that means it.
func (c *config) candidates(res supplier.Resolution, lang text.Lang) string {
	var sb strings.Builder
	sb.WriteString(text.Get(lang, text.CmdAmbiguous, unresolved.Why(res, lang)))
	for _, one := range res.Candidates {
		again := "duediligence"
		if c.source != string(sources.ModeSample) {
			again += " --source " + c.source
		}
		fmt.Fprintf(&sb, "\n  %s\n      %s %s", unresolved.Describe(one, lang), again, unresolved.Number(one))
	}
	return sb.String()
}

// ask puts a numbered question and returns the identifier of the answer.
func (c *config) ask(res supplier.Resolution, lang text.Lang, std streams) (string, error) {
	fmt.Fprintln(std.err, text.Get(lang, text.CmdWhich, unresolved.Why(res, lang)))
	for i, one := range res.Candidates {
		fmt.Fprintf(std.err, "  %d. %s\n", i+1, unresolved.Describe(one, lang))
	}
	fmt.Fprint(std.err, text.Get(lang, text.CmdNumber, len(res.Candidates)))
	line, err := bufio.NewReader(std.in).ReadString('\n')
	n, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil && line == "" || bad != nil || n < 1 || n > len(res.Candidates) {
		return "", &exitError{exitAmbiguous, c.candidates(res, lang)}
	}
	return unresolved.Number(res.Candidates[n-1]), nil
}

func isTerminalInput(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
