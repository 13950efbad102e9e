// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

// A Headline is what a page that links to the report says of it, in one language.
type Headline struct {
	Name, Number string
	// Rating and Decision are the words of the report's summary, Score its figure of 0
	// (best) to 100 (worst).
	Rating, Decision, Score string
	// Fictional is the warning of a report on sample data, else empty.
	Fictional string
	// NotDone counts the checks that were not done.
	NotDone int
}

// Headline returns the report in a few words.
func (r Report) Headline(lang Lang) Headline {
	t := texts{lang}
	h := Headline{
		Name: r.Subject.LegalName, Number: t.siren(r.Subject.SIREN),
		Rating: t.say("rating." + string(r.Summary.Rating)), Decision: t.say("decision." + string(r.Summary.Decision)), Score: t.tenths(r.Summary.Score),
	}
	switch {
	case h.Number != "":
	case r.Subject.LEI != "":
		h.Number = r.Subject.LEI
	default:
		h.Number = r.Subject.VAT
	}
	if r.Run.Fictional {
		h.Fictional = t.say("fictional")
	}
	for _, c := range r.Checks {
		if c.Outcome.NotDone() {
			h.NotDone++
		}
	}
	return h
}

// RatingText and DecisionText give the words for the codes of a summary row.
func RatingText(lang Lang, code string) string { return codeText(lang, "rating.", code) }

// DecisionText is [RatingText] for decisions.
func DecisionText(lang Lang, code string) string { return codeText(lang, "decision.", code) }

func codeText(lang Lang, kind, code string) string {
	if code == "" {
		return ""
	}
	return texts{lang}.say(kind + code)
}
