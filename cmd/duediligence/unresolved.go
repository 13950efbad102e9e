// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// refusedQuery tells why what was typed can't be asked.
func (f flags) refusedQuery(err error, lang text.Lang) error {
	return &exitError{exitRefused, text.Get(lang, text.CmdRefused, err)}
}

// unresolved tells why no agent was started, and what to do.
func (f flags) unresolved(res supplier.Resolution, client *sources.Client, lang text.Lang) error {
	switch res.Status {
	case supplier.StatusCandidates:
		return &exitError{exitAmbiguous, f.candidates(res, lang)}
	case supplier.StatusNotFound:
		if client.Mode() == sources.ModeSample {
			return &exitError{exitNotFound, text.Get(lang, text.CmdNotInSample, strings.Join(sources.SampleNames(), ", "))}
		}
		return &exitError{exitNotFound, text.Get(lang, text.CmdNotFound, res.Detail)}
	case supplier.StatusRefused:
		return &exitError{exitRefused, text.Get(lang, text.CmdRefused, res.Detail)}
	default:
		return &exitError{exitUnavailable, text.Get(lang, text.CmdUnavailable, res.Detail)}
	}
}

// candidates lists who could be meant, each with the command that means it.
func (f flags) candidates(res supplier.Resolution, lang text.Lang) string {
	var sb strings.Builder
	sb.WriteString(text.Get(lang, text.CmdAmbiguous))
	for _, c := range res.Candidates {
		state := text.Get(lang, text.StateActive)
		if c.Ceased {
			state = text.Get(lang, text.StateCeased)
		}
		fmt.Fprintf(&sb, "\n  %s, %s, %s, %s, %s\n      duediligence%s %s", c.LegalName, c.SIREN, c.City, c.Activity, state, f.again(), c.SIREN)
	}
	return sb.String()
}

func (f flags) again() string {
	if f.source != string(sources.ModeSample) {
		return " --source " + f.source
	}
	return ""
}
