// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"net/url"
	"slices"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// report puts together what the Run knows. No model is called.
func (p *Pipeline) report(ctx context.Context, result callbacks.Result) (report.Report, error) {
	rec := agents.RecordOf(ctx)
	lang := text.Parse(p.o.Lang)
	want := agents.Sections(rec.Facts, lang)
	in := report.Input{
		Subject: rec.Subject, Facts: rec.Facts, Mode: p.mode(), Hosts: p.hosts(rec), Overrides: p.o.Sources.Overrides(),
		ToolVersion: p.o.ToolVersion, DraftModel: p.o.DraftModel,
		Narrative: narrative(rec, want, lang, p.o.DraftModel != ""), Gaps: p.gaps(ctx, rec, result, lang),
		AnnualPurchases: p.o.Purchases(), Previous: p.o.Previous,
	}
	if rec.Risk != nil {
		in.Result = *rec.Risk
	}
	return report.New(in)
}

// mode and hosts are the same for a recording and its replay, so that a replayed run
// gives the very files of the recorded one: where the facts were read is in the facts.
func (p *Pipeline) mode() sources.Mode {
	if p.o.Sources.Mode() == sources.ModeRecord {
		return sources.ModeReplay
	}
	return p.o.Sources.Mode()
}

func (p *Pipeline) hosts(rec agents.Record) []string {
	if p.mode() != sources.ModeReplay {
		return p.o.Sources.Hosts()
	}
	var hosts []string
	for _, e := range rec.Facts.Envelopes() {
		if u, err := url.Parse(e.Query.URL); err == nil && u.Hostname() != "" && !slices.Contains(hosts, u.Hostname()) {
			hosts = append(hosts, u.Hostname())
		}
	}
	slices.Sort(hosts)
	return hosts
}

// narrative is the writer's text where the reviewer let it pass and it still holds,
// else the statements themselves.
func narrative(rec agents.Record, want []agents.Section, lang text.Lang, languageModel bool) *report.Narrative {
	if rec.Approved && len(agents.CheckDraft(rec.Draft, rec.Facts, lang)) == 0 {
		return &report.Narrative{Drafted: languageModel, Sections: drafted(rec.Draft, want)}
	}
	n := &report.Narrative{Template: true}
	for _, s := range want {
		sec := report.Section{Title: s.Title}
		for _, st := range s.Statements {
			sec.Paragraphs = append(sec.Paragraphs, report.Paragraph{Text: st.Text, Evidence: st.Evidence})
		}
		n.Sections = append(n.Sections, sec)
	}
	return n
}

func drafted(draft string, want []agents.Section) []report.Section {
	got := agents.ParseDraft(draft)
	out := make([]report.Section, 0, len(want))
	for _, s := range want {
		sec := report.Section{Title: s.Title}
		i := slices.IndexFunc(got, func(d agents.DraftSection) bool { return d.Title == s.Title })
		for _, para := range got[i].Paragraphs {
			sec.Paragraphs = append(sec.Paragraphs, report.Paragraph{Text: agents.StripCitations(para), Evidence: agents.Citations(para)})
		}
		out = append(out, sec)
	}
	return out
}

// gaps says what the run itself could not do; what the sources could not is in the
// report's checks.
func (p *Pipeline) gaps(ctx context.Context, rec agents.Record, result callbacks.Result, lang text.Lang) []string {
	gaps := []string{}
	add := func(s string) {
		if !slices.Contains(gaps, s) {
			gaps = append(gaps, s)
		}
	}
	if result.Status != callbacks.StatusDone && result.Status != callbacks.StatusLanded {
		status := text.Get(lang, text.Key("run."+string(result.Status)))
		if result.Reason != "" {
			status += " (" + result.Reason + ")"
		}
		add(text.Get(lang, text.GapStatus, status))
	}
	for _, g := range guards.Records(ctx).Gaps() {
		add(text.Get(lang, text.GapBranch, g.Agent))
	}
	for _, name := range agents.Researchers() {
		if !slices.ContainsFunc(rec.Findings, func(f agents.Finding) bool { return f.Agent == name }) {
			add(text.Get(lang, text.GapBranch, name))
		}
	}
	for _, name := range rec.Completed {
		add(text.Get(lang, text.GapCompleted, text.Get(lang, text.Key("topic."+name))))
	}
	return gaps
}
