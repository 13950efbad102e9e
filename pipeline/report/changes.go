// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// Change is one thing that differs from the previous report. Before or After is
// empty where there was nothing.
type Change struct {
	ID     string `json:"id"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// changes compares what a person reviewing a supplier looks for.
func changes(old, now Report) []Change {
	a, b := watched(old), watched(now)
	out := []Change{}
	for i := range a {
		if a[i].value != b[i].value {
			out = append(out, Change{ID: a[i].id, Before: a[i].value, After: b[i].value})
		}
	}
	return out
}

type watchedFact struct{ id, value string }

// watched lists the compared facts, always the same ones in the same order.
func watched(r Report) []watchedFact {
	list := []watchedFact{
		{"as_of", r.AsOf},
		{"rating", string(r.Risk.Rating)},
		{"decision", string(r.Risk.Decision)},
		{"score", tenths(r.Risk.Score)},
		{"coverage", r.Risk.Coverage.String()},
		{"stops", join(r.Risk.Stops, func(s risk.Stop) string { return string(s.Code) })},
		{"reviews", join(r.Risk.Reviews, func(c risk.ReviewCode) string { return string(c) })},
		{"model", r.Risk.Model},
		{"legal_name", r.Subject.LegalName},
	}
	list = append(list, r.watchedRegistry()...)
	list = append(list, r.watchedFinances()...)
	sanctions, officers, news := "", "", ""
	if f := r.Facts.Reputation; f != nil {
		sanctions, officers = string(f.SanctionsMatch), string(f.OfficersMatch)
		if f.News.Status.Read() {
			news = fmt.Sprint(len(f.News.Items))
		}
	}
	list = append(list, watchedFact{"sanctions", sanctions}, watchedFact{"officer_screening", officers}, watchedFact{"stories", news})
	var notDone []string
	for _, c := range r.Checks {
		if c.Outcome.NotDone() {
			notDone = append(notDone, c.ID)
		}
	}
	return append(list, watchedFact{"not_checked", strings.Join(notDone, ", ")})
}

func (r Report) watchedRegistry() []watchedFact {
	var status, address, form, officers, procedure, establishments string
	if f := r.Facts.Registry; f != nil {
		procedure = string(f.Insolvency.State)
		if len(f.Company.Items) == 1 {
			c := f.Company.Items[0]
			status = "ceased"
			if c.Active {
				status = "active"
			}
			address, form = c.Address, c.LegalForm
			if c.OpenEstablishments != nil {
				establishments = fmt.Sprint(*c.OpenEstablishments)
			}
			var names []string
			for _, o := range c.Officers {
				names = append(names, o.Name)
			}
			slices.Sort(names)
			officers = strings.Join(names, ", ")
		}
	}
	return []watchedFact{
		{"status", status},
		{"procedure", procedure},
		{"address", address},
		{"legal_form", form},
		{"open_establishments", establishments},
		{"officers", officers},
	}
}

func (r Report) watchedFinances() []watchedFact {
	var year, turnover, result, equity string
	if f := r.Facts.Finances; f != nil && len(f.Accounts.Items) > 0 {
		last := f.Accounts.Items[len(f.Accounts.Items)-1]
		year = last.YearEnd
		turnover, result = integer(last.Turnover), integer(last.NetResult)
		if last.EquityRatio != nil {
			equity = fmt.Sprint(*last.EquityRatio)
		}
	}
	return []watchedFact{{"last_accounts", year}, {"turnover", turnover}, {"net_result", result}, {"equity_ratio", equity}}
}

func tenths(t *risk.Tenths) string {
	if t == nil {
		return ""
	}
	return t.String()
}

func integer(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func join[T any](list []T, text func(T) string) string {
	var out []string
	for _, x := range list {
		out = append(out, text(x))
	}
	return strings.Join(out, ", ")
}
