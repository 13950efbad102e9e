// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/batch"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/risk"
)

// foundText says how the file of a batch is read.
func foundText(lang text.Lang, how batch.Found) string {
	separator, by := how.Separator, strings.Join(how.Columns, ", ")
	switch separator {
	case "\t":
		separator = text.Get(lang, text.BatchFoundTab)
	case "":
		separator = text.Get(lang, text.BatchFoundOne)
	}
	if by == "" {
		by = text.Get(lang, text.BatchFoundNoHead)
	}
	return text.Get(lang, text.BatchFound, how.Encoding, separator, by)
}

// rowText says how a row ended, with the word of the overview, its verdict with what to do and
// the first reason, and why there is none.
func rowText(lang text.Lang, r batch.Row, colour bool) string {
	s := text.Get(lang, text.Key("run."+r.Status))
	switch r.Result {
	case batch.ResultFailed:
		return s + text.Get(lang, text.Colon) + r.Err.Error()
	case batch.ResultPartial, batch.ResultKept:
		s += ", " + text.Get(lang, text.Key("batch."+string(r.Result)))
	case batch.ResultRepeated:
		s += ", " + text.Get(lang, text.BatchSameAs)
	}
	verdict := report.Answer{Tone: r.Tone, Verdict: report.RatingText(report.Lang(lang), string(r.Rating)), Next: r.Next}
	if r.Why != "" {
		verdict.Next += " (" + r.Why + ")"
	}
	return s + text.Get(lang, text.Colon) + verdict.VerdictLine(colour)
}

// A tally is what the rows of a batch come to.
type tally struct {
	code    int
	ratings map[risk.Rating]int
}

// add takes a row in. The exit code is 1 where something is wrong, 5 where only a limit
// was reached.
func (t *tally) add(r batch.Row) {
	if r.Result == batch.ResultRepeated {
		return
	}
	if t.ratings == nil {
		t.ratings = make(map[risk.Rating]int)
	}
	t.ratings[r.Rating]++
	own := exitOK
	switch r.Result {
	case batch.ResultFailed:
		own = exitFailed
	case batch.ResultPartial:
		own = exitOf(callbacks.Status(r.Status))
	}
	if t.code != exitFailed {
		t.code = cmp.Or(own, t.code)
	}
}

// text counts the ratings, the gravest first. colour marks those that stop an order.
func (t *tally) text(lang text.Lang, colour bool) string {
	var parts []string
	order := slices.Insert(slices.Clone(ratings), 2, risk.RatingInsufficient)
	for _, rating := range slices.Backward(order) {
		if n := t.ratings[rating]; n > 0 {
			count := report.Answer{Tone: strings.ToLower(string(rating)), Verdict: fmt.Sprintf("%s %d", report.RatingText(report.Lang(lang), string(rating)), n)}
			parts = append(parts, strings.TrimSpace(count.VerdictLine(colour && (rating == risk.RatingStop || rating == risk.RatingCritical))))
		}
	}
	if n := t.ratings[""]; n > 0 {
		parts = append(parts, fmt.Sprintf("%s %d", text.Get(lang, text.BatchNoReport), n))
	}
	return text.Get(lang, text.BatchRatings, strings.Join(parts, ", "))
}

// reaches reports whether a rating is at or above a threshold, or could not be given.
func (t *tally) reaches(threshold int) bool {
	for rating := range t.ratings {
		if i := slices.Index(ratings, rating); i < 0 || i >= threshold {
			return true
		}
	}
	return false
}
