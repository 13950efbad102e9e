// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pipeline assembles the agents into one due-diligence run: the subject is
// already known, three researchers work in parallel, code rates what they found, a
// writer and a reviewer make the text. Whatever happens on the way, a report comes
// out, made by code from what is there, with its gaps named. It is a part of the product, no
// library: its names change without notice.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/sinks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
	"github.com/gardefou/gardefou/redact"
)

// AppName and UserID are those of the sessions in Options.Sessions.
const (
	AppName = "duediligence"
	UserID  = "buyer"
)

// Options are what a pipeline is built from.
type Options struct {
	// Setup is what the team is built from.
	agents.Setup
	// Sources answer the look-ups. Required.
	Sources *sources.Client
	// Lang is the language of the report and of the texts a model reads: "en" or
	// "fr", or a locale. Empty means English.
	Lang string
	// Journal gets a JSON line for each step. Nil means none. JournalError is
	// called when a line can't be written; nil ignores it.
	Journal      io.Writer
	JournalError func(error)
	// AttemptOf names, in the journal, the run that every run of this pipeline is an attempt of;
	// empty means that each is on its own.
	AttemptOf string
	// Observe is called with every step as it ends, by several goroutines, and under Monitor
	// with what the guards would have refused. Nil means none.
	Observe func(callbacks.Event)
	// Streaming asks models for streams.
	Streaming bool
	// Sessions stores the events, masked. Nil means in memory, for this run only.
	Sessions session.Service
	// Session names the session in Sessions; it must be a new one. Empty means the id of
	// the Run.
	Session string
	// ToolVersion and DraftModel are printed in the report: what made it, and which
	// language model saw the facts. Empty means none.
	ToolVersion, DraftModel string
	// Previous is the last report on the same subject, to say what changed; nil for a
	// first one.
	Previous *report.Report
}

// A Pipeline runs due diligences, one or several at a time.
type Pipeline struct {
	o       Options
	team    *agents.Team
	runner  *runner.Runner
	service session.Service
}

// New builds the pipeline. It fails where a chain does.
func New(o Options) (*Pipeline, error) {
	if o.Sources == nil {
		return nil, errors.New("pipeline: no sources")
	}
	to := agents.Options{Setup: o.Setup, Sources: o.Sources, Observe: observer(o.Observe)}
	if o.Journal != nil {
		to.Journal = guards.JournalOptions{Writer: o.Journal, OnError: o.JournalError, AttemptOf: o.AttemptOf}.Guard()
	}
	team, err := agents.New(to)
	if err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	p := &Pipeline{o: o, team: team, service: o.Sessions}
	if p.service == nil {
		p.service = session.InMemoryService()
	}
	var plugins []*plugin.Plugin
	if team.Plugin != nil {
		plugins = append(plugins, team.Plugin)
	}
	cfg := runner.Config{
		AppName: AppName, Agent: team.Root, SessionService: p.service, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: plugins},
	}
	if o.Sessions != nil {
		// Whatever way an event takes to the store, what is personal in it stays out.
		if cfg, err = sinks.WrapWith(cfg, sinks.Options{Redact: redact.Options{Language: string(text.Parse(o.Lang))}}); err != nil {
			return nil, fmt.Errorf("pipeline: %w", err)
		}
	}
	p.runner, err = runner.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	return p, nil
}

// Chains returns the chain of each agent, for Explain.
func (p *Pipeline) Chains() []agents.NamedChain { return p.team.Chains() }

// Check returns what is probably not meant in the agents and guards it is built of; nil
// means that it found nothing.
func (p *Pipeline) Check() []inspect.Problem {
	if p.team.Plugin == nil {
		return callbacks.Check(p.team.Root)
	}
	return callbacks.Check(p.team.Root, p.team.Chains()[0].Chain)
}

// An Outcome is a report and how the run that made it went.
type Outcome struct {
	Report report.Report
	Result callbacks.Result
	// Spent is what the run cost, by agent and model, where a money gate stood.
	Spent []guards.SpendLine
	// Denied is the first refusal of the money gate: which account, and how much more it
	// needed. Nil where there was none.
	Denied *ledger.DeniedError
	// Findings are what the researchers reported.
	Findings []agents.Finding
	// Drafted says that there is a text, Approved that the reviewer let it pass.
	Drafted, Approved bool
	Stats             Stats
	// Session is the id of the session in Options.Sessions.
	Session string
}

// AgentLimit reports whether the run ended at a limit of one agent's own calls or tokens,
// which more of them for the run do not raise. Played again it ends at the same place.
func (o *Outcome) AgentLimit() bool {
	switch o.Result.Status {
	case callbacks.StatusCallsExhausted, callbacks.StatusTokensExhausted:
		return o.Result.Guard != agents.RunBudget
	default:
		return false
	}
}

// Run researches subject, as the user typed it, and returns the report. It returns
// an error only where there is no report to return: the context was cancelled. A
// run that ran out of calls or of time, or whose model failed, has a report and a
// Result that says so. An agent that failed makes the whole run StatusFailed: the
// report was made without its part.
func (p *Pipeline) Run(ctx context.Context, subject supplier.Subject, typed string) (*Outcome, error) {
	ctx, run := callbacks.StartOptions{Lang: p.o.Lang}.Start(ctx)
	defer run.Close()
	agents.SetSubject(ctx, subject)

	mode := agent.StreamingModeNone
	if p.o.Streaming {
		mode = agent.StreamingModeSSE
	}
	msg := genai.NewContentFromText(text.Get(text.Parse(p.o.Lang), text.UserMessage, typed), genai.RoleUser)
	sessionID := cmp.Or(p.o.Session, run.ID())
	for _, err := range run.Events(p.runner.Run(ctx, UserID, sessionID, msg, agent.RunConfig{StreamingMode: mode})) {
		if err != nil {
			// ADK would let followers run after an error; the report is made by code
			// from what is there.
			break
		}
	}
	out, err := p.outcome(ctx, run)
	if out != nil {
		out.Session = sessionID
	}
	return out, err
}

// outcome makes the report of a run whose agents have ended.
func (p *Pipeline) outcome(ctx context.Context, run *callbacks.Run) (*Outcome, error) {
	if err := tellFailed(ctx); err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	result := run.Outcome()
	_, denied := guards.Records(ctx).SpendRefused()
	if result.Status == callbacks.StatusInterrupted || errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Canceled
	}
	if agents.RecordOf(ctx).Risk == nil {
		if err := p.team.Score(ctx); err != nil {
			return nil, fmt.Errorf("pipeline: %w", err)
		}
	}
	rep, err := p.report(ctx, result)
	if err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	rec := agents.RecordOf(ctx)
	return &Outcome{
		Report: rep, Result: result, Findings: rec.Findings, Drafted: rec.Draft != "", Approved: rec.Approved, Spent: guards.Records(ctx).Spent(), Denied: denied, Stats: statsOf(ctx), Session: run.ID(),
	}, nil
}
