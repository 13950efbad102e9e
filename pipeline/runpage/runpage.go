// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runpage makes the files of a run's folder: the report, the journal, and
// index.html, which says in one look what happened, what it cost and what to do next.
package runpage

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/timeline"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/report"
)

// Names of the files in a run's folder.
const (
	IndexFile      = "index.html"
	ReportHTML     = "report.html"
	ReportMarkdown = "report.md"
	ReportJSON     = "report.json"
	JournalFile    = "journal.jsonl"
	JournalHTML    = "journal.html"
)

//go:embed index.html.tmpl
var pageSource string

var pageTemplate = template.Must(template.New("index").Parse(pageSource))

// Files returns the files of the folder of one run. lines is its closed journal, head
// names its last line. goOn is the command that resumes the run, "" where it is not
// kept. lang is "en" or "fr".
func Files(o *pipeline.Outcome, lines []byte, head journal.Head, lang, goOn string) ([]files.File, error) {
	rl := report.Lang(text.Parse(lang))
	runs, unreadable, err := timeline.Runs(journal.Entries(bytes.NewReader(lines)))
	if err != nil {
		return nil, fmt.Errorf("runpage: %w", err)
	}
	view, err := timeline.HTML(runs, unreadable, lang)
	if err != nil {
		return nil, fmt.Errorf("runpage: %w", err)
	}
	index, err := index(o, runs, head, text.Parse(lang), goOn)
	if err != nil {
		return nil, err
	}
	return []files.File{
		{Name: ReportMarkdown, Data: []byte(o.Report.Markdown(rl))},
		{Name: ReportHTML, Data: o.Report.HTML(rl)},
		{Name: ReportJSON, Data: o.Report.JSON()},
		{Name: JournalFile, Data: lines},
		{Name: JournalHTML, Data: view},
		{Name: IndexFile, Data: index},
	}, nil
}

type page struct {
	Lang     string
	Title    string
	Banner   string
	Answer   template.HTML // "" where there is no report
	Style    template.CSS
	Sentence string
	Good     bool
	Facts    []pair
	Next     []string
	Gaps     []string
	Costs    []costRow
	Total    costRow
	Links    []link
	Head     string
	t        text.Lang
}

type pair struct{ Name, Value string }

type costRow struct{ Agent, Calls, Tokens, Money string }

type link struct{ File, What string }

// Say is a sentence of the catalogue, for the template.
func (p page) Say(key string) string { return text.Get(p.t, text.Key("runpage."+key)) }

func index(o *pipeline.Outcome, runs []*timeline.Run, head journal.Head, lang text.Lang, goOn string) ([]byte, error) {
	h := o.Report.Answer(report.Lang(lang))
	p := page{
		Answer: h.HTML(report.Lang(lang), ReportHTML), Style: report.AnswerStyle,
		Lang: string(lang), Title: h.Name, Banner: h.Fictional, Head: head.String(), t: lang, Gaps: o.Report.Gaps,
		Sentence: sentence(o, lang), Good: finished(o) && len(o.Report.Gaps) == 0,
		Facts: []pair{
			{text.Get(lang, text.PageSupplier), strings.TrimSpace(h.Name + " " + h.Number)},
			{text.Get(lang, text.PageScore), h.Score},
			{text.Get(lang, text.PageAsOf), h.AsOf},
		},
		Next: next(o, h, lang, goOn),
		Links: []link{
			{ReportHTML, text.Get(lang, text.PageReport)},
			{JournalHTML, text.Get(lang, text.PageJournal)},
			{ReportMarkdown, text.Get(lang, text.PageMarkdown)},
			{ReportJSON, text.Get(lang, text.PageJSON)},
			{JournalFile, text.Get(lang, text.PageLines)},
		},
	}
	return p.html(runs)
}

// html is the page with what each run took and cost.
func (p page) html(runs []*timeline.Run) ([]byte, error) {
	for _, r := range runs {
		p.Facts = append(p.Facts, pair{text.Get(p.t, text.PageRun), attempt(r, p.t)})
	}
	costs := timeline.CostsOf(runs)
	for _, c := range costs {
		p.Costs = append(p.Costs, row(c))
	}
	p.Total = row(timeline.Total(costs))
	var buf bytes.Buffer
	if err := pageTemplate.Execute(&buf, p); err != nil {
		return nil, fmt.Errorf("runpage: %w", err)
	}
	return buf.Bytes(), nil
}

// attempt says when a run of the journal was, how long it took and how it ended.
func attempt(r *timeline.Run, lang text.Lang) string {
	return fmt.Sprintf("%s, %s UTC, %s: %s", r.ID, r.Start.UTC().Format(time.DateTime), r.End.Sub(r.Start).Round(time.Millisecond), text.Get(lang, text.Key("run."+r.Last.Status)))
}

func row(c timeline.Cost) costRow {
	money := ""
	if c.Charged > 0 {
		money = c.Charged.String()
	}
	return costRow{c.Agent, fmt.Sprint(c.Calls), fmt.Sprint(c.Tokens), money}
}

func finished(o *pipeline.Outcome) bool {
	return o.Result.Status == callbacks.StatusDone || o.Result.Status == callbacks.StatusLanded
}

func sentence(o *pipeline.Outcome, lang text.Lang) string {
	status := text.Get(lang, text.Key("run."+string(o.Result.Status)))
	if o.Result.Reason != "" {
		status += " (" + o.Result.Reason + ")"
	}
	switch {
	case !finished(o):
		return text.Get(lang, text.PagePartial, status)
	case len(o.Report.Gaps) > 0:
		return text.Get(lang, text.PageGaps, status)
	default:
		return text.Get(lang, text.PageWhole, status)
	}
}

// nextBefore is what to do before a run that did not finish goes on or is begun again,
// nextAnew how to begin one that is not kept.
var (
	nextBefore = map[callbacks.Status]text.Key{
		callbacks.StatusLoopDetected: text.PageNextJournal,
		callbacks.StatusDenied:       text.PageNextJournal,
		callbacks.StatusFailed:       text.PageNextFailed,
	}
	nextAnew = map[callbacks.Status]text.Key{
		callbacks.StatusCallsExhausted:  text.PageNextCalls,
		callbacks.StatusTimeExhausted:   text.PageNextTime,
		callbacks.StatusBudgetExhausted: text.PageNextBudget,
		callbacks.StatusFailed:          text.PageNextAgain,
		callbacks.StatusLoopDetected:    text.PageNextAgain,
		callbacks.StatusDenied:          text.PageNextAgain,
	}
)

// beforeByCode goes before nextBefore.
var beforeByCode = map[codes.Code]text.Key{
	codes.LedgerFailed:   text.PageNextStore,
	codes.CountersFailed: text.PageNextStore,
}

func next(o *pipeline.Outcome, h report.Answer, lang text.Lang, goOn string) []string {
	var steps []string
	if !finished(o) {
		key, ok := beforeByCode[o.Result.Code]
		if !ok {
			key, ok = nextBefore[o.Result.Status]
		}
		if ok {
			steps = append(steps, text.Get(lang, key))
		}
		if o.AgentLimit() {
			steps = append(steps, text.Get(lang, text.PageNextNoUse, o.Result.Agent))
		} else if goOn != "" {
			steps = append(steps, text.Get(lang, text.PageNextResume, goOn))
		} else if key, ok := nextAnew[o.Result.Status]; ok {
			steps = append(steps, text.Get(lang, key))
		}
	}
	steps = append(steps, text.Get(lang, text.PageNextDecision))
	if h.NotDone > 0 {
		steps = append(steps, text.Get(lang, text.PageNextChecks, h.NotDone))
	}
	return append(steps, text.Get(lang, text.PageNextReview, h.Review), text.Get(lang, text.PageNextKeep))
}
