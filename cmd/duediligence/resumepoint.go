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
	"github.com/gardefou/gardefou/pipeline/keptrun"
)

// goOn is the command that resumes the run, or "" where it is not kept.
func (j *job) goOn() string {
	if j.kept == nil {
		return ""
	}
	return j.resumeCommand(dossiers.Dossier{Dir: j.out, Run: j.kept.Store.Run()})
}

// resumeCommand is the command that resumes a dossier's run. It names the hosts that the run
// was begun with, which are never taken from a folder.
func (c *config) resumeCommand(d dossiers.Dossier) string {
	again := "duediligence resume " + quoted(d.Dir)
	var kept config
	if json.Unmarshal(d.Run.Settings, &kept) != nil {
		return again
	}
	kept.model.BaseURL, kept.model.AllowHTTP = cmp.Or(c.model.BaseURL, kept.model.BaseURL), c.model.AllowHTTP
	for _, h := range c.hosts(kept, given{}) {
		again += " " + h.flag
	}
	place := keptrun.LedgerPlace{Address: kept.ledger, Login: kept.ledgerLogin}
	if kept.budget != "" && place.Remote() && keptrun.PlaceOf(os.Getenv(ledgerVariable)).Address != kept.ledger {
		address := kept.ledger
		if kept.ledgerLogin {
			address = strings.Replace(address, "://", "://USER:PASSWORD@", 1)
		}
		again += " " + c.named(&c.ledger) + " " + quotedAddress(address)
	}
	return again
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
func (j *job) goOnAfter(o *pipeline.Outcome) string {
	again := j.goOn()
	if again == "" || o.AgentLimit() {
		return ""
	}
	if d := o.Denied; d != nil && errors.Is(d, ledger.ErrBudgetExceeded) {
		// The calls after the refused one carry more, and need more: room for one twice as dear.
		raise := keptrun.RaiseFor(j.hard, d.Missing()+d.Need)
		return again + " " + j.named(&j.raise) + " +" + strings.TrimPrefix(raise.String(), "$")
	}
	switch o.Result.Status {
	case callbacks.StatusCallsExhausted:
		again += fmt.Sprintf(" %s %d", j.named(&j.options.MaxCalls), 2*j.options.MaxCalls)
	case callbacks.StatusTimeExhausted:
		again += " " + j.named(&j.options.MaxTime) + " " + shortDuration(2*j.options.MaxTime)
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
func (j *job) stillThere(o *pipeline.Outcome) string {
	switch {
	case j.kept == nil:
		return text.Get(j.lang, text.KeptNothing)
	case j.kept.Store.Err() != nil:
		return text.Get(j.lang, text.KeptPart, j.out, j.kept.Store.Err()) + "\n" + text.Get(j.lang, text.KeptRest, j.goOnAfter(o))
	default:
		return text.Get(j.lang, text.KeptFiles, j.goOnAfter(o))
	}
}
