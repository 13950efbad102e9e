// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/internal/text"
)

//go:embed page.html.tmpl
var pageSource string

var pageTemplate = template.Must(template.New("timeline").Parse(pageSource))

// maxRuns bounds a page.
const maxRuns = 100

// HTML writes runs as one page of its own: no script, nothing fetched. Of more than a
// hundred runs it shows the latest hundred and says so. lang is "en" or "fr".
func HTML(runs []*Run, unreadable int, lang string) ([]byte, error) {
	t := texts{text.Parse(lang)}
	p := page{Lang: string(t.lang), t: t}
	if older := len(runs) - maxRuns; older > 0 {
		p.Notes = append(p.Notes, t.get(text.TimelineOlder, older))
		runs = runs[older:]
	}
	if unreadable > 0 {
		p.Notes = append(p.Notes, t.get(text.TimelineBad, unreadable))
	}
	if len(runs) == 0 {
		p.Notes = append(p.Notes, t.get(text.TimelineEmpty))
	}
	for _, r := range runs {
		p.Runs = append(p.Runs, t.view(r))
	}
	var buf bytes.Buffer
	if err := pageTemplate.Execute(&buf, p); err != nil {
		return nil, fmt.Errorf("timeline: %w", err)
	}
	return buf.Bytes(), nil
}

type page struct {
	Lang  string
	Notes []string
	Runs  []runView
	t     texts
}

// Say is a sentence of the catalogue, for the template.
func (p page) Say(key string) string { return p.t.get(text.Key("timeline." + key)) }

type runView struct {
	Heading, Sentence string
	Width, Height     int
	Lanes             []lane
	Ticks             []tick
	Refusals          []row
	Costs             []costBar
	CostHeight        int
	NoMoney           bool
	Steps             []row
}

type lane struct {
	Name string
	Y    int
	Bars []bar
}

type bar struct {
	X, W  float64
	Class string
	Title string
}

type tick struct {
	X     float64
	Label string
}

type row struct{ When, Agent, What, Outcome, Why, Took string }

type costBar struct {
	Name, Label string
	Y           int
	W           float64
}

// Sizes of the drawings, in units of their view boxes.
const (
	laneLeft   = 190
	laneWidth  = 690
	laneHeight = 22
	barWidth   = 320
)

func (t texts) view(r *Run) runView {
	v := runView{
		Heading:  t.get(text.TimelineRun, r.ID, r.Start.UTC().Format(time.DateTime)),
		Sentence: printable(t.ended(r)), Width: laneLeft + laneWidth + 20,
	}
	agents := r.Agents()
	span := max(r.End.Sub(r.Start), time.Millisecond)
	at := func(when time.Time) float64 { return laneLeft + laneWidth*float64(when.Sub(r.Start))/float64(span) }
	for i, name := range agents {
		l := lane{Name: printable(cut(name, 28)), Y: i * laneHeight}
		for _, e := range lines(r) {
			if e.Agent == name {
				x := at(e.Start())
				l.Bars = append(l.Bars, bar{x, max(2, at(e.TS)-x), class(e), printable(t.line(r, e))})
			}
		}
		v.Lanes = append(v.Lanes, l)
	}
	v.Height = len(agents)*laneHeight + 20
	for i := range 5 {
		part := span * time.Duration(i) / 4
		v.Ticks = append(v.Ticks, tick{at(r.Start.Add(part)), seconds(part)})
	}
	for _, e := range r.Refusals {
		v.Refusals = append(v.Refusals, t.row(r, e))
	}
	for _, e := range lines(r) {
		v.Steps = append(v.Steps, t.row(r, e))
	}
	t.costs(r, &v)
	return v
}

func class(e line.Line) string {
	switch {
	case e.Outcome != "allowed" && e.Outcome != "replaced" && e.Outcome != "pending", e.Error:
		return "bad"
	case e.Kind == line.KindTool:
		return "tool"
	default:
		return "model"
	}
}

func (t texts) row(r *Run, e line.Line) row {
	what := e.Model
	switch {
	case e.Tool != "":
		what = e.Tool
	case what == "":
		what = e.Step
	}
	why := t.why(e)
	if e.Code != "" && e.Code != why {
		why += " (" + e.Code + ")"
	}
	return row{
		seconds(e.Start().Sub(r.Start)), printable(e.Agent), printable(what), printable(t.outcome(e)), printable(why),
		fmt.Sprintf("%d ms", e.MS),
	}
}

func (t texts) costs(r *Run, v *runView) {
	costs := r.Costs()
	costs = slices.DeleteFunc(costs, func(c Cost) bool { return c.Calls == 0 && c.Charged == 0 })
	total := Total(costs)
	v.NoMoney = total.Charged == 0
	for i, c := range costs {
		b := costBar{Name: printable(cut(c.Agent, 28)), Y: i * laneHeight, Label: t.get(text.TimelineBar, c.Calls, c.Tokens)}
		share := ratio(float64(c.Tokens), float64(costs[0].Tokens))
		if total.Charged > 0 {
			b.Label = t.get(text.TimelineBarMoney, c.Charged.String(), c.Calls, c.Tokens)
			share = ratio(float64(c.Charged), float64(costs[0].Charged))
		}
		b.W = barWidth * share
		v.Costs = append(v.Costs, b)
	}
	v.CostHeight = len(costs) * laneHeight
}

func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
