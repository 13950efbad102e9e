// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"slices"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// report puts together what the Run knows. No model is called.
func (p *Pipeline) report(ctx context.Context, subject supplier.Subject, result callbacks.Result) report.Report {
	rec := agents.RecordOf(ctx)
	lang := text.Parse(p.o.Lang)
	want := agents.Sections(rec.Facts, lang)
	r := report.Report{
		Schema: report.Schema, Lang: string(lang), Mode: string(p.o.Sources.Mode()), AsOf: p.o.Sources.AsOf().Format("2006-01-02"),
		Hosts: notNil(p.o.Sources.Hosts()), Overrides: notNil(p.o.Sources.Overrides()), Subject: subject,
		Status: string(result.Status), Reason: result.Reason, Facts: rec.Facts, Evidence: rec.Facts.Evidence(),
		Risk: riskOf(rec), Gaps: p.gaps(ctx, rec, want, lang),
	}
	r.Narrative, r.Sections = narrative(rec, want, lang)
	for _, f := range rec.Findings {
		r.Findings = append(r.Findings, report.Finding{
			Agent: f.Agent, Summary: f.Summary, Evidence: notNil(f.Evidence), Gaps: notNil(f.Gaps), Confidence: f.Confidence,
		})
	}
	return r
}

func riskOf(rec agents.Record) risk.Result {
	if rec.Risk == nil {
		return risk.Result{}
	}
	return *rec.Risk
}

// narrative is the writer's text where the reviewer let it pass and it still holds,
// else the statements themselves.
func narrative(rec agents.Record, want []agents.Section, lang text.Lang) (string, []report.Section) {
	if rec.Approved && len(agents.CheckDraft(rec.Draft, want, lang)) == 0 {
		return "model", drafted(rec.Draft, want)
	}
	out := make([]report.Section, 0, len(want))
	for _, s := range want {
		sec := report.Section{ID: s.ID, Title: s.Title}
		for _, st := range s.Statements {
			sec.Paragraphs = append(sec.Paragraphs, report.Paragraph{Text: st.Text, Evidence: st.Evidence})
		}
		out = append(out, sec)
	}
	return "template", out
}

func drafted(draft string, want []agents.Section) []report.Section {
	got := agents.ParseDraft(draft)
	out := make([]report.Section, 0, len(want))
	for _, s := range want {
		sec := report.Section{ID: s.ID, Title: s.Title}
		i := slices.IndexFunc(got, func(d agents.DraftSection) bool { return d.Title == s.Title })
		for _, para := range got[i].Paragraphs {
			sec.Paragraphs = append(sec.Paragraphs, report.Paragraph{Text: para, Evidence: agents.Citations(para)})
		}
		out = append(out, sec)
	}
	return out
}

func (p *Pipeline) gaps(ctx context.Context, rec agents.Record, want []agents.Section, lang text.Lang) []string {
	gaps := []string{}
	for _, g := range guards.Gaps(ctx) {
		gaps = append(gaps, text.Get(lang, text.GapBranch, g.Agent))
	}
	for _, name := range agents.Researchers() {
		gap := text.Get(lang, text.GapBranch, name)
		if !slices.ContainsFunc(rec.Findings, func(f agents.Finding) bool { return f.Agent == name }) && !slices.Contains(gaps, gap) {
			gaps = append(gaps, gap)
		}
	}
	for _, name := range rec.Completed {
		gaps = append(gaps, text.Get(lang, text.GapCompleted, text.Get(lang, text.Key("topic."+name))))
	}
	for _, s := range want {
		for _, g := range s.Gaps {
			if !slices.Contains(gaps, g) {
				gaps = append(gaps, g)
			}
		}
	}
	return gaps
}

func notNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
