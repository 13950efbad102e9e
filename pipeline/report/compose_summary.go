// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// head is the title block: whom, when, with what.
func (c *composer) head() {
	c.heading(1, "title", "name", c.r.Subject.LegalName)
	if c.r.Run.Fictional {
		c.banner(c.say("fictional"))
	}
	if len(c.r.Run.Overrides) > 0 {
		c.banner(c.say("overrides", "list", join(c.r.Run.Overrides, func(s string) string { return s })))
	}
	answer := c.r.Answer(c.lang)
	c.blocks = append(c.blocks, block{Kind: kindAnswer, Answer: &answer})
	hosts := join(c.r.Run.Hosts, func(s string) string { return s })
	if hosts == "" {
		hosts = c.say("hosts.none")
	}
	seen := c.r.Run.DraftModel
	if seen == "" {
		seen = c.say("seen_by.none")
	}
	number := c.siren(c.r.Subject.SIREN)
	if number == "" {
		number = cmp.Or(c.r.Subject.LEI, c.r.Subject.VAT)
	}
	rows := [][]cell{
		{plain(c.say("siren")), plain(number)},
		{plain(c.say("as_of")), plain(c.date(c.r.AsOf))},
		{plain(c.say("mode")), plain(c.say("mode." + string(c.r.Run.Mode)))},
		{plain(c.say("hosts")), plain(hosts)},
		{plain(c.say("seen_by")), plain(seen)},
		{plain(c.say("model")), plain(c.say("model.value", "name", c.r.Risk.Model, "hash", short(c.r.Risk.ModelHash), "lists", c.date(c.r.Run.Lists)))},
		{plain(c.say("report_id")), plain(c.r.ID)},
	}
	if c.r.Subject.SIREN == "" {
		rows[0][0] = plain(c.say("lei"))
		if c.r.Subject.LEI == "" {
			rows[0][0] = plain(c.say("vat"))
		}
	}
	if p := c.r.Run.AnnualPurchases; p != nil {
		rows = append(rows, []cell{plain(c.say("annual_purchases")), plain(c.money(*p))})
	}
	if c.r.Run.ToolVersion != "" {
		rows = append(rows, []cell{plain(c.say("tool")), plain(c.r.Run.ToolVersion)})
	}
	c.tabular(c.columns("field", "value"), rows)
	var notes [][]inline
	for _, n := range c.r.Subject.Notes {
		notes = append(notes, plain(c.say("identified."+string(n))))
	}
	c.list(notes)
}

// short is the start of a hash, enough to compare by eye; the JSON holds all of
// it.
func short(hash string) string {
	if len(hash) > 16 {
		return hash[:16] + "…"
	}
	return hash
}

func (c *composer) summary() {
	s := c.r.Summary
	c.heading(2, "summary")
	rows := [][]cell{
		{plain(c.say("rating")), strong(c.say("rating." + string(s.Rating)))},
		{plain(c.say("decision")), strong(c.say("decision." + string(s.Decision)))},
		{plain(c.say("score")), plain(c.tenths(s.Score))},
		{plain(c.say("interval")), plain(c.say("interval.value", "low", c.tenths(&s.Interval[0]), "high", c.tenths(&s.Interval[1])))},
		{plain(c.say("coverage")), plain(c.tenths(&s.Coverage) + "\u00a0%")},
	}
	if s.Score != nil { // a stop shows no score at all up here
		rows = slices.Insert(rows, 3, []cell{plain(c.say("base_score")), plain(c.tenths(c.r.Risk.Base))})
	}
	c.tabular(c.columns("field", "value"), rows)
	c.scoreChart()
	var items [][]inline
	for _, x := range s.Stops {
		items = append(items, append(strong(c.say("stop", "what", c.say("stop."+string(x.Code)))), c.spaced(x.Evidence)...))
	}
	for _, x := range s.Floors {
		items = append(items, plain(c.say("floor", "value", strconv.Itoa(x.Value), "what", c.say("floor."+string(x.Code)))))
	}
	for _, x := range s.Reviews {
		items = append(items, plain(c.say("review", "what", c.say("review."+string(x)))))
	}
	for _, x := range c.r.Risk.Notes {
		items = append(items, plain(c.say("note."+string(x))))
	}
	c.list(items)
	c.heading(3, "reasons")
	items = nil
	for _, id := range s.Reasons {
		f, _ := c.factor(id)
		text := c.say("factor."+id) + " — " + c.ruleText(f)
		items = append(items, append(plain(text), c.spaced(f.Evidence)...))
	}
	if len(items) == 0 {
		c.sentence("no_reasons")
	}
	c.list(items)
	c.heading(3, "not_checked")
	items = nil
	for _, k := range c.r.Checks {
		if k.Outcome.NotDone() {
			items = append(items, plain(c.say("check."+k.ID)+" — "+c.outcome(k)))
		}
	}
	items = append(items, plain(c.say("debarment")))
	c.list(items)
}

// spaced is refs after a blank.
func (c *composer) spaced(ids []string) []inline {
	refs := c.refs(ids...)
	if len(refs) == 0 {
		return nil
	}
	return append([]inline{{Text: " "}}, refs...)
}

func (c *composer) factor(id string) (risk.Factor, int) {
	for _, fam := range c.r.Risk.Families {
		for _, f := range fam.Factors {
			if f.ID == id {
				return f, fam.Weight
			}
		}
	}
	return risk.Factor{}, 0
}

func (c *composer) scoreChart() {
	s := c.r.Summary
	ch := &chart{
		Title: c.say("chart.title"), Low: int(s.Interval[0]), High: int(s.Interval[1]), Score: -1,
		Caption: c.say("chart.coverage", "known", c.tenths(&s.Coverage), "low", c.tenths(&s.Interval[0]), "high", c.tenths(&s.Interval[1])),
		Bands: []chartBand{
			{0, 250, "low", c.say("rating.LOW")},
			{250, 500, "medium", c.say("rating.MEDIUM")},
			{500, 750, "high", c.say("rating.HIGH")},
			{750, 1000, "critical", c.say("rating.CRITICAL")},
		},
	}
	if s.Score != nil {
		ch.Score = int(*s.Score)
	}
	if s.Rating == risk.RatingStop { // no place on a scale is a stop's
		ch.Bands, ch.Caption = nil, c.say("chart.known", "known", c.tenths(&s.Coverage))
	}
	for _, fam := range c.r.Risk.Families {
		for _, f := range fam.Factors {
			p := -1
			if f.Points != nil {
				p = *f.Points
			}
			ch.Factors = append(ch.Factors, chartFactor{c.say("factor." + f.ID), p})
		}
	}
	c.blocks = append(c.blocks, block{Kind: kindChart, Chart: ch})
}

func (c *composer) checks() {
	c.heading(2, "checks")
	var rows [][]cell
	for _, k := range c.r.Checks {
		var refs cell
		if len(k.Evidence) > 0 {
			refs = c.refs(k.Evidence[0])
		}
		rows = append(rows, []cell{plain(c.say("check." + k.ID)), plain(c.outcome(k)), refs})
	}
	c.tabular(c.columns("check", "check.result", "evidence_column"), rows)
}
