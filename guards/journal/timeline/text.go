// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/internal/text"
)

// WriteText writes runs as lines for a terminal: when, which agent, what, how it ended
// and why.
func WriteText(w io.Writer, runs []*Run, lang string) error {
	t := texts{text.Parse(lang)}
	var sb strings.Builder
	for i, r := range runs {
		if i > 0 {
			sb.WriteString("\n")
		}
		sb.WriteString(t.get(text.TimelineRun, printable(r.ID), r.Start.UTC().Format(time.DateTime)) + "\n")
		for _, e := range lines(r) {
			sb.WriteString(t.line(r, e) + "\n")
		}
		sb.WriteString("  " + t.ended(r) + "\n")
		_, err := io.WriteString(w, sb.String())
		if err != nil {
			return err
		}
		sb.Reset()
	}
	return nil
}

// lines are steps and, each after its step, refusals that never reached one.
func lines(r *Run) []line.Line {
	out := append([]line.Line(nil), r.Steps...)
	for _, e := range r.Refusals {
		if !hasStep(r, e) {
			out = append(out, e)
		}
	}
	sortByStart(out)
	return out
}

type texts struct{ lang text.Lang }

func (t texts) get(key text.Key, args ...any) string { return text.Get(t.lang, key, args...) }

func (t texts) line(r *Run, e line.Line) string {
	what, detail := e.Step, ""
	switch e.Kind {
	case line.KindModel:
		what = e.Model
		detail = t.get(text.TimelineTokens, e.In, e.Out+e.Thinking)
	case line.KindTool:
		what = e.Tool
		if args, err := json.Marshal(e.Args); err == nil {
			detail = cut(string(args), 60)
		}
	}
	outcome := t.outcome(e)
	if why := t.why(e); why != "" {
		outcome += ": " + why
	}
	return fmt.Sprintf("  %8s  %-22s %-22s %s (%d ms) %s", seconds(e.Start().Sub(r.Start)), printable(e.Agent), printable(what), printable(outcome), e.MS, printable(detail))
}

func (t texts) outcome(e line.Line) string {
	s := t.get(text.Key("outcome." + e.Outcome))
	if e.Landed {
		s += ", " + t.get(text.TimelineLanded)
	}
	if e.Guard != "" {
		s += " [" + e.Guard + "]"
	}
	return s
}

// why is the reason, and the error behind it where the reason does not tell it.
func (t texts) why(e line.Line) string {
	cause := cut(e.Cause, maxCause)
	switch {
	case cause == "", strings.Contains(e.Reason, cause):
		return cmp.Or(e.Reason, e.Code)
	case strings.Contains(cause, e.Reason):
		return cause
	default:
		return e.Reason + ": " + cause
	}
}

// maxCause is how much of an error is shown; the line in the journal has all of it.
const maxCause = 300

func (t texts) status(r *Run) string {
	s := t.get(text.Key("run." + r.Last.Status))
	if r.Last.Reason != "" {
		s += " (" + r.Last.Reason + ")"
	}
	return s
}

// ended is the sentence that sums a run up.
func (t texts) ended(r *Run) string {
	sum := Total(r.Costs())
	s := t.get(text.TimelineEnded, printable(t.status(r)), seconds(r.End.Sub(r.Start)), sum.Calls, tools(r), len(r.Refusals), sum.Tokens)
	if sum.Charged > 0 {
		s += " " + t.get(text.TimelineCharged, sum.Charged.String())
	}
	return s
}

func tools(r *Run) int {
	n := 0
	for _, e := range r.Steps {
		if e.Kind == line.KindTool {
			n++
		}
	}
	return n
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
