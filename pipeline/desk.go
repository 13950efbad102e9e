// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"iter"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/internal/unresolved"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// DeskOptions are what [Pipeline.Desk] needs besides the pipeline.
type DeskOptions struct {
	// Admit is called before a run and may wait or refuse; release is called after it.
	// Nil admits everybody.
	Admit func(context.Context) (release func(), err error)
	// Bound limits a run, in time say. Nil bounds nothing.
	Bound func(context.Context) (context.Context, context.CancelFunc)
	// Done is called when a run has ended and its journal is closed; outcome is nil
	// where there is no report. What it returns stands below the report.
	Done func(run string, outcome *Outcome) string
}

// Desk returns an agent that takes a supplier's name from the user's message, as ADK's web
// UI and REST API send it, and answers with the report. The pipeline's agents are its
// sub-agents, so that each of their steps can be seen. Which company is meant is settled
// by code before any agent starts; where that is not certain the answer lists who could
// be. Every message is one run with its own budgets.
func (p *Pipeline) Desk(o DeskOptions) (agent.Agent, error) {
	d := &desk{p: p, o: o, lang: text.Parse(p.o.Lang)}
	return agent.New(agent.Config{
		Name: AppName, Description: text.Get(d.lang, text.DeskDescription), SubAgents: []agent.Agent{p.team.Root}, Run: d.run,
	})
}

type desk struct {
	p    *Pipeline
	o    DeskOptions
	lang text.Lang
}

func (d *desk) run(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		say := func(s string) bool { return yield(d.event(ctx, s), nil) }
		if d.o.Admit != nil {
			release, err := d.o.Admit(ctx)
			if err != nil {
				say(text.Get(d.lang, text.DeskBusy))
				return
			}
			defer release()
		}
		typed := strings.TrimSpace(typedText(ctx.UserContent()))
		res := d.p.o.Sources.Resolve(ctx, typed)
		if res.Status != supplier.StatusResolved {
			say(d.unresolved(res))
			return
		}
		if d.o.Bound != nil {
			bounded, cancel := d.o.Bound(ctx)
			defer cancel()
			ctx = ctx.WithContext(bounded)
		}
		d.research(ctx, res.Subject, yield)
	}
}

func (d *desk) research(ctx agent.InvocationContext, subject supplier.Subject, yield func(*session.Event, error) bool) {
	runCtx, run := callbacks.StartOptions{Lang: d.p.o.Lang}.Start(ctx)
	defer run.Close()
	agents.SetSubject(runCtx, subject)
	gone := false
	for ev, err := range run.Events(d.p.team.Root.Run(ctx.WithContext(runCtx))) {
		if err != nil {
			break // the report is made by code from what is there
		}
		if !yield(ev, nil) {
			gone = true
			break
		}
	}
	var out *Outcome
	if !gone {
		// Without a report there is an interrupted run, which its journal tells.
		out, _ = d.p.outcome(runCtx, run)
	}
	run.Close()
	more := ""
	if d.o.Done != nil {
		more = d.o.Done(run.ID(), out)
	}
	switch {
	case gone:
	case out == nil:
		yield(d.event(ctx, text.Get(d.lang, text.CmdInterrupted)), nil)
	default:
		yield(d.event(ctx, out.Report.Markdown(report.Lang(d.lang))+more), nil)
	}
}

func (d *desk) event(ctx agent.InvocationContext, s string) *session.Event {
	ev := session.NewEvent(ctx, ctx.InvocationID())
	ev.Author, ev.Branch = AppName, ctx.Branch()
	ev.LLMResponse = model.LLMResponse{Content: genai.NewContentFromText(s, genai.RoleModel)}
	return ev
}

func (d *desk) unresolved(res supplier.Resolution) string {
	why := supplier.Clean(unresolved.Why(res, d.lang), maxWhy)
	if res.Status != supplier.StatusCandidates {
		return text.Get(d.lang, text.DeskUnknown, why)
	}
	var sb strings.Builder
	sb.WriteString(text.Get(d.lang, text.DeskWhich, why))
	for _, c := range res.Candidates {
		sb.WriteString("\n- " + unresolved.Describe(c, d.lang))
	}
	return sb.String()
}

// maxWhy is how much of a reason is shown: what a source said may be any text.
const maxWhy = 600

func typedText(c *genai.Content) string {
	var sb strings.Builder
	if c != nil {
		for _, p := range c.Parts {
			sb.WriteString(p.Text)
		}
	}
	return sb.String()
}
