// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// Whatever the supplier, its answer has the tone of its rating, names at most three
// reasons, a stop's first, and fits a terminal with the verdict last.
func TestAnswerOfEverySample(t *testing.T) {
	tones := map[string]bool{}
	for _, name := range samples {
		r := reportOn(t, name)
		for _, lang := range []Lang{English, French} {
			a := r.Answer(lang)
			tones[a.Tone] = true
			want := strings.ToLower(string(r.Summary.Rating))
			switch {
			case r.Summary.Rating == risk.RatingInsufficient:
				want = "open"
			case r.Summary.Rating == risk.RatingLow && r.Summary.Decision != risk.DecisionStandard:
				want = "medium"
				require.NotEqual(t, texts{lang}.say("verdict.LOW"), a.Verdict, "nothing looks well that a person has to review")
			}
			require.Equal(t, want, a.Tone)
			require.LessOrEqual(t, len(a.Reasons), 3)
			if len(r.Summary.Stops) > 0 {
				require.Equal(t, upperFirst(texts{lang}.say("stop."+string(r.Summary.Stops[0].Code))), a.Reasons[0].Text)
				require.NotEmpty(t, a.Reasons[0].Evidence)
			}
			if r.Summary.Decision != risk.DecisionStandard {
				require.NotEmpty(t, a.Reasons, name)
			}
			for _, width := range []int{0, 40, 80, 200} {
				text := a.Terminal(lang, width, false, "")
				lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
				require.LessOrEqual(t, len(lines), 15)
				require.Equal(t, a.Verdict+"  "+a.Next, lines[len(lines)-1])
				for _, l := range lines[:len(lines)-1] {
					require.LessOrEqual(t, utf8.RuneCountInString(l), min(max(width, minWidth), maxWidth), text)
				}
				require.Equal(t, text, strings.NewReplacer(colours[a.Tone]+" ", "", " \x1b[0m", "").Replace(a.Terminal(lang, width, true, "")), "colour stands on the verdict alone")
			}
			page := string(r.HTML(lang))
			require.Less(t, strings.Index(page, `<section class="answer `+a.Tone), strings.Index(page, "<table"), "the answer comes first")
			require.Contains(t, r.Markdown(lang), "**"+a.Verdict+"** — ")
		}
	}
	for _, tone := range []string{"low", "high", "stop"} {
		require.True(t, tones[tone], tone)
	}
}

// Each rating, decision, stop and floor has its words in both languages, and each tone
// its colours.
func TestEveryAnswerHasWords(t *testing.T) {
	for _, lang := range []Lang{English, French} {
		for _, r := range []risk.Rating{risk.RatingLow, risk.RatingMedium, risk.RatingHigh, risk.RatingCritical, risk.RatingStop, risk.RatingInsufficient} {
			require.Contains(t, catalogue[lang], "verdict."+string(r))
			for _, d := range []risk.Decision{risk.DecisionStandard, risk.DecisionReview} {
				c := &composer{r: Report{Summary: Summary{Rating: r, Decision: d}}}
				require.Contains(t, colours, c.tone())
				require.Contains(t, string(AnswerStyle), ".answer."+c.tone())
			}
		}
		for _, d := range []risk.Decision{risk.DecisionStandard, risk.DecisionReview, risk.DecisionStop} {
			require.Contains(t, catalogue[lang], "next."+string(d))
		}
	}
	c := &composer{r: Report{Summary: Summary{Rating: "a rating to come"}}}
	require.Equal(t, "open", c.tone())
}

// A run that ended early leaves no verdict that looks well, in any format.
func TestGapsStandBesideTheVerdict(t *testing.T) {
	r := reportOn(t, "Transports Kervalec")
	require.Equal(t, "LOW RISK", r.Answer(English).Verdict)
	r.Gaps = []string{"The run ended early: calls exhausted."}
	a := r.Answer(English)
	require.Equal(t, "medium", a.Tone)
	require.Equal(t, "LOW RISK, REVIEW NEEDED", a.Verdict)
	require.Equal(t, texts{English}.say("next.human-review"), a.Next)
	for _, text := range []string{a.Terminal(English, 80, false, ""), r.Markdown(English), string(r.HTML(English))} {
		at := strings.Index(text, "The run ended early")
		require.Positive(t, at)
		require.Less(t, at-strings.Index(text, "LOW RISK, REVIEW NEEDED"), 400, "beside the verdict")
	}
}

func FuzzTerminal(f *testing.F) {
	f.Add("CONSERVERIE DES EMBRUNS", "negative equity", 80)
	f.Add(strings.Repeat("x", 300), strings.Repeat("é ", 300), 41)
	f.Fuzz(func(t *testing.T, name, reason string, width int) {
		a := Answer{Name: printable(name), Tone: "stop", Gaps: []string{printable(reason)}, Verdict: "STOP", Next: "Wait.", Reasons: []Reason{{Text: printable(reason)}, {Text: printable(reason)}, {Text: printable(reason)}}, NotChecked: []string{printable(reason)}}
		lines := strings.Split(strings.TrimSuffix(a.Terminal(English, width, false, name), "\n"), "\n")
		if len(lines) > 15 || lines[len(lines)-1] != "STOP  Wait." {
			t.Fatal(lines)
		}
	})
}
