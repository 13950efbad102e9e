// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package timeline shows a journal to people: as text for a terminal and as one HTML
// page with a timeline per agent. It knows no ADK.
package timeline

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/guards/ledger"
)

// A Run is what a journal holds of one run.
type Run struct {
	ID string
	// Start is when its first step began, End when its last line was written.
	Start, End time.Time
	// Steps are its model and tool calls, in the order they began, Refusals what was
	// refused.
	Steps    []line.Line
	Refusals []line.Line
	Spend    []line.Line
	// Last is the end line; its Status is "unfinished" where there is none.
	Last line.Line
}

// Runs sorts the lines of a journal by run, in the order the runs began. Lines that
// can't be read are left out and counted.
func Runs(entries iter.Seq2[line.Line, error]) (runs []*Run, unreadable int, err error) {
	byID := make(map[string]*Run)
	for e, err := range entries {
		var bad *journal.LineError
		switch {
		case errors.As(err, &bad):
			unreadable++
			continue
		case err != nil:
			return nil, unreadable, err
		case e.Run == "": // the chain's own records
			continue
		}
		r := byID[e.Run]
		if r == nil {
			r = &Run{ID: e.Run, Start: e.Start(), Last: line.Line{Status: journal.StatusUnfinished}}
			byID[e.Run] = r
			runs = append(runs, r)
		}
		r.add(e)
	}
	for _, r := range runs {
		sortByStart(r.Steps)
	}
	return runs, unreadable, nil
}

func (r *Run) add(e line.Line) {
	if start := e.Start(); start.Before(r.Start) {
		r.Start = start
	}
	if e.TS.After(r.End) {
		r.End = e.TS
	}
	switch e.Kind {
	case line.KindModel, line.KindTool:
		r.Steps = append(r.Steps, e)
	case line.KindRefusal:
		r.Refusals = append(r.Refusals, e)
	case line.KindSpend:
		r.Spend = append(r.Spend, e)
	case line.KindEnd:
		r.Last = e
	}
}

// Agents returns the names of the agents in the order they began.
func (r *Run) Agents() []string {
	var names []string
	for _, list := range [][]line.Line{r.Steps, r.Refusals, r.Spend} {
		for _, e := range list {
			if !slices.Contains(names, e.Agent) {
				names = append(names, e.Agent)
			}
		}
	}
	return names
}

// Cost is what one agent used.
type Cost struct {
	Agent   string
	Calls   int
	Tokens  int64
	Charged ledger.Nano
}

// Costs returns what each agent used, the dearest first.
func (r *Run) Costs() []Cost {
	var costs []Cost
	for _, name := range r.Agents() {
		c := Cost{Agent: name}
		var sofar ledger.Nano // as the steps say, for a run that was killed before its spend lines
		for _, e := range r.Steps {
			if e.Agent == name {
				c.Calls += e.Attempts
				c.Tokens += e.In + e.Out + e.Thinking
				sofar += ledger.Nano(e.Charged)
			}
		}
		spent := false
		for _, e := range r.Spend {
			if e.Agent == name {
				c.Charged += ledger.Nano(e.Charged)
				spent = true
			}
		}
		if !spent {
			c.Charged = sofar
		}
		costs = append(costs, c)
	}
	dearestFirst(costs)
	return costs
}

// CostsOf returns what each agent used in several runs, the attempts of one say, the dearest
// first.
func CostsOf(runs []*Run) []Cost {
	var costs []Cost
	for _, r := range runs {
		for _, c := range r.Costs() {
			i := slices.IndexFunc(costs, func(have Cost) bool { return have.Agent == c.Agent })
			if i < 0 {
				costs = append(costs, c)
				continue
			}
			costs[i].Calls += c.Calls
			costs[i].Tokens += c.Tokens
			costs[i].Charged += c.Charged
		}
	}
	dearestFirst(costs)
	return costs
}

func dearestFirst(costs []Cost) {
	slices.SortStableFunc(costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Charged, a.Charged), cmp.Compare(b.Tokens, a.Tokens))
	})
}

// Total sums costs up.
func Total(costs []Cost) Cost {
	var t Cost
	for _, c := range costs {
		t.Calls += c.Calls
		t.Tokens += c.Tokens
		t.Charged += c.Charged
	}
	return t
}

// printable takes out what could steer a terminal or turn a line around.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '�'
		}
		return r
	}, s)
}

// hasStep says that a refusal is about a step that has a line of its own.
func hasStep(r *Run, refusal line.Line) bool {
	return slices.ContainsFunc(r.Steps, func(e line.Line) bool {
		return e.Kind == refusal.Step && e.Agent == refusal.Agent && e.Tool == refusal.Tool && e.Outcome == refusal.Outcome &&
			e.Code == refusal.Code && e.Guard == refusal.Guard && refusal.TS.Sub(e.TS).Abs() < 50*time.Millisecond
	})
}

func sortByStart(entries []line.Line) {
	slices.SortStableFunc(entries, func(a, b line.Line) int { return a.Start().Compare(b.Start()) })
}
