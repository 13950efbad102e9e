// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// Markdown returns the report as Markdown in its language. Data is escaped: no name
// or title can make a heading, a link or an image.
func (r Report) Markdown() string {
	w := &markdown{lang: text.Parse(r.Lang)}
	w.head(r)
	w.summary(r)
	for _, s := range r.Sections {
		w.line("## %s\n", escape(s.Title))
		for _, p := range s.Paragraphs {
			w.line("%s%s\n", escape(p.Text), cite(missing(p)))
		}
	}
	w.score(r.Risk)
	w.list(text.TitleGaps, r.Gaps)
	w.evidence(r.Evidence)
	w.line("## %s\n\n%s\n", w.t(text.TitleLimits), w.t(text.Limits))
	if len(r.Hosts) > 0 {
		w.line("%s\n", w.t(text.HostsContacted, strings.Join(r.Hosts, ", ")))
	}
	return strings.TrimRight(w.sb.String(), "\n") + "\n"
}

type markdown struct {
	lang text.Lang
	sb   strings.Builder
}

func (w *markdown) t(key text.Key, args ...any) string { return text.Get(w.lang, key, args...) }

func (w *markdown) line(format string, args ...any) { fmt.Fprintf(&w.sb, format+"\n", args...) }

func (w *markdown) head(r Report) {
	w.line("# %s\n", escape(w.t(text.ReportTitle, r.Subject.LegalName)))
	if r.Mode == string(sources.ModeSample) {
		w.line("> **%s**\n", w.t(text.SampleBanner))
	}
	for _, o := range r.Overrides {
		w.line("> %s\n", escape(w.t(text.SourceOverridden, o)))
	}
	w.line("| | |\n|---|---|")
	for _, row := range [][2]string{
		{"SIREN", r.Subject.SIREN},
		{w.t(text.LabelAsOf), text.Date(w.lang, r.AsOf)},
		{w.t(text.LabelMode), r.Mode},
		{w.t(text.LabelStatus), strings.TrimSpace(w.t(text.Key("run."+r.Status)) + " " + parens(r.Reason))},
		{w.t(text.LabelModel), r.Risk.Model + " (" + short(r.Risk.ModelHash) + ")"},
		{w.t(text.LabelNarrative), w.t(text.Key("narrative." + r.Narrative))},
	} {
		if row[1] != "" {
			w.line("| %s | %s |", escape(row[0]), escape(row[1]))
		}
	}
	w.line("")
}

func parens(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func short(hash string) string { return hash[:min(12, len(hash))] }

func (w *markdown) summary(r Report) {
	w.line("## %s\n", w.t(text.TitleSummary))
	score := w.t(text.NoScore)
	if r.Risk.Score != nil {
		score = number(w.lang, *r.Risk.Score) + "/100"
	}
	w.line("- **%s**: %s", w.t(text.LabelRating), escape(w.t(text.Key("rating."+string(r.Risk.Rating)))))
	w.line("- **%s**: %s (%s)", w.t(text.LabelScore), score,
		w.t(text.IntervalAndCoverage, number(w.lang, r.Risk.Interval[0]), number(w.lang, r.Risk.Interval[1]), number(w.lang, r.Risk.Coverage)))
	w.line("- **%s**: %s", w.t(text.LabelDecision), w.t(text.Key("decision."+string(r.Risk.Decision))))
	for _, s := range r.Risk.Stops {
		w.line("- **%s**: %s%s", w.t(text.LabelStop), w.t(text.Key("stop."+string(s.Code))), cite(s.Evidence))
	}
	for _, f := range r.Risk.Floors {
		w.line("- %s: %s (%d)", w.t(text.LabelFloor), escape(string(f.Code)), f.Value)
	}
	for _, rv := range r.Risk.Reviews {
		w.line("- %s: %s", w.t(text.LabelReview), escape(w.t(text.Key("review."+string(rv)))))
	}
	w.line("")
}

func (w *markdown) score(r risk.Result) {
	w.line("## %s\n", w.t(text.TitleScore))
	w.line("| %s | %s | %s | %s | %s |", w.t(text.LabelFactor), w.t(text.LabelValue), w.t(text.LabelRule), w.t(text.LabelPoints), w.t(text.LabelWeight))
	w.line("|---|---|---|---:|---:|")
	for _, f := range r.Families {
		for _, x := range f.Factors {
			points, value := "–", w.t(text.Key("missing."+string(x.Missing)))
			if x.Points != nil {
				points, value = strconv.Itoa(*x.Points), strings.TrimSpace(x.Value+" "+x.Unit)
			}
			w.line("| %s | %s%s | %s | %s | %d × %d |", escape(x.ID), escape(value), cite(x.Evidence), escape(x.Rule), points, f.Weight, x.Weight)
		}
	}
	w.line("")
}

func (w *markdown) list(title text.Key, items []string) {
	if len(items) == 0 {
		return
	}
	w.line("## %s\n", w.t(title))
	for _, s := range items {
		w.line("- %s", escape(s))
	}
	w.line("")
}

func (w *markdown) evidence(list []sources.Evidence) {
	w.line("## %s\n", w.t(text.TitleEvidence))
	for _, e := range list {
		link := ""
		// Only links that a connector made are made clickable.
		if strings.HasPrefix(e.URL, "https://") {
			link = " <" + strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "").Replace(e.URL) + ">"
		}
		w.line("- **%s** %s %s%s", escape(e.ID), escape(e.Label), parens(text.Date(w.lang, e.Date)), link)
	}
	w.line("")
}

func cite(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return " \\[" + strings.Join(ids, ", ") + "\\]"
}

func number(lang text.Lang, v fmt.Stringer) string {
	s := v.String()
	if lang == text.French {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s
}

var markup = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;",
	"#", "\\#", "|", "\\|", "!", "\\!", "~", "\\~", "\n", " ", "\r", " ",
)

// escape makes plain text of data.
func escape(s string) string {
	s = markup.Replace(s)
	// What would begin a list, a rule or a table line.
	if t := strings.TrimLeft(s, " "); strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+") || strings.HasPrefix(t, "=") {
		return "\\" + t
	}
	return s
}

// missing returns the evidence of a paragraph that its text does not cite itself.
func missing(p Paragraph) []string {
	var out []string
	for _, id := range p.Evidence {
		if !strings.Contains(p.Text, "["+id+"]") {
			out = append(out, id)
		}
	}
	return out
}
