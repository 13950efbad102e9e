// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/dossiers"
)

// goOn is the command that resumes the run, or "" where it is not kept.
func (f *flags) goOn() string {
	if f.kept == nil {
		return ""
	}
	return f.resumeCommand(dossiers.Dossier{Dir: f.out, Run: f.kept.Run()})
}

// resumeCommand is the command that resumes a dossier's run. It names the hosts that the run
// was begun with, which are never taken from a folder.
func (f *flags) resumeCommand(d dossiers.Dossier) string {
	again := "duediligence resume " + quoted(d.Dir)
	var s settings
	if json.Unmarshal(d.Run.Settings, &s) != nil {
		return again
	}
	named := &hosts{}
	if base := cmp.Or(f.baseURL, s.BaseURL); base != "" {
		named.add(base, "--base-url")
	}
	if f.allowHTTP != "" {
		named.add(f.allowHTTP, "--allow-http")
	}
	for _, name := range sourceNames {
		if url := s.SourceURLs[name]; url != "" {
			named.add(url, "--source-url", name+"=")
		}
	}
	if s.AllowPrivate && len(s.SourceURLs) > 0 {
		named.flags = append(named.flags, "--allow-private-hosts")
	}
	if fromEnv, _ := ledgerPlace(os.Getenv(ledgerVariable)); s.Budget != "" && strings.Contains(s.Ledger, "://") && fromEnv != s.Ledger {
		address := s.Ledger
		if s.LedgerLogin {
			address = strings.Replace(address, "://", "://USER:PASSWORD@", 1)
		}
		named.add(address, "--ledger")
	}
	return strings.Join(append([]string{again}, named.flags...), " ")
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// resumePoint says where a run stands that was stopped: made by code from what is there,
// at no cost. goOn is the command that resumes it, or empty.
func (p *printer) resumePoint(o *pipeline.Outcome, goOn string) {
	done, left := progressOf(o)
	none := text.Get(p.lang, text.CmdNone)
	join := func(names []string) string {
		if len(names) == 0 {
			return none
		}
		return strings.Join(names, ", ")
	}
	p.line("%s", text.Get(p.lang, text.CmdResumePoint, cmp.Or(o.Result.Reason, text.Get(p.lang, text.Key("run."+string(o.Result.Status))))))
	if d := o.Denied; d != nil {
		p.line("%s", text.Get(p.lang, text.CmdResumeAccount, d.Account, d.Balance.Limits.Hard.String(), d.Balance.Spent.String(), d.Balance.Held.String(), d.Missing().String()))
	}
	p.line("%s", text.Get(p.lang, text.CmdResumeDone, join(done), join(left)))
	if goOn == "" {
		switch {
		case o.AgentLimit():
			p.line("%s", text.Get(p.lang, text.CmdResumeNoUse, o.Result.Agent))
		case p.unkept == "":
			p.line("%s", text.Get(p.lang, text.CmdResumeNot))
		}
		return
	}
	p.line("%s", text.Get(p.lang, text.CmdResumeToken, goOn))
}

// goOnAfter is the command that resumes a run with more of what it ran out of, or "" where
// it is not kept.
func (f *flags) goOnAfter(o *pipeline.Outcome) string {
	again := f.goOn()
	if again == "" || o.AgentLimit() {
		return ""
	}
	if d := o.Denied; d != nil && errors.Is(d, ledger.ErrBudgetExceeded) {
		// The calls after the refused one carry more, and need more: room for one twice as dear.
		return again + " --budget +" + strings.TrimPrefix(raiseFor(f.hard, d.Missing()+d.Need).String(), "$")
	}
	switch o.Result.Status {
	case callbacks.StatusCallsExhausted:
		again += fmt.Sprintf(" --max-calls %d", 2*f.maxCalls)
	case callbacks.StatusTimeExhausted:
		again += " --timeout " + shortDuration(2*f.timeout)
	}
	return again
}

// shortDuration is a duration as a person types it: 10m, not 10m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	for _, unit := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, unit) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// raiseFor is how much a budget must rise, in whole cents, for each of its parts to get
// what is missing in one: a slice gets its share of any raise only, and so does what is
// left beside it.
func raiseFor(hard, missing ledger.Nano) ledger.Nano {
	raise := missing
	for {
		least := raise
		rest := raise
		before := agents.Slices(hard)
		for i, s := range agents.Slices(hard + raise) {
			gain := s.Limits.Hard
			if i < len(before) {
				gain -= before[i].Limits.Hard
			}
			least, rest = min(least, gain), rest-gain
		}
		if least = min(least, rest); least >= missing {
			return roundUp(raise)
		}
		raise += missing - least
	}
}

// roundUp is an amount in whole cents, at least one.
func roundUp(n ledger.Nano) ledger.Nano {
	const cent = 10_000_000
	return max(1, (n+cent-1)/cent) * cent
}

// progressOf names the agents that are done and those that are left.
func progressOf(o *pipeline.Outcome) (done, left []string) {
	for _, name := range agents.Researchers() {
		reported := slices.ContainsFunc(o.Findings, func(f agents.Finding) bool { return f.Agent == name })
		if reported {
			done = append(done, name)
		} else {
			left = append(left, name)
		}
	}
	if o.Approved {
		return append(done, agents.Writer, agents.Reviewer), left
	}
	if o.Drafted {
		return append(done, agents.Writer), append(left, agents.Reviewer)
	}
	return done, append(left, agents.Writer, agents.Reviewer)
}

// stillThere says what is left of a run whose files could not be written, and how to get
// them.
func (f *flags) stillThere(o *pipeline.Outcome, lang text.Lang) string {
	switch {
	case f.kept == nil:
		return text.Get(lang, text.KeptNothing)
	case f.kept.Err() != nil:
		return text.Get(lang, text.KeptPart, f.out, f.kept.Err()) + "\n" + text.Get(lang, text.KeptRest, f.goOnAfter(o))
	default:
		return text.Get(lang, text.KeptFiles, f.goOnAfter(o))
	}
}
