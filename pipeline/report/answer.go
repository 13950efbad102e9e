// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// An Answer is what a buyer asks first, in one language: may I order, why not, and what
// was not looked at. Every page and the terminal begin or end with it.
type Answer struct {
	Name string
	// Number is the supplier's identifier with its kind, City its place; both may be empty.
	Number, City string
	// Tone is the class of the verdict, for its colour: "low", "medium", "high",
	// "critical", "stop" or "open" where no rating could be given.
	Tone string
	// Verdict is the rating in words, Next the sentence that says what to do now.
	Verdict, Next string
	// Rating, Decision and Score are the words of the report's summary.
	Rating, Decision, Score string
	// Gaps say what the run itself could not do: it ended early, or an agent gave nothing.
	// With a gap no verdict looks well.
	Gaps []string
	// Reasons are at most three, the gravest first.
	Reasons []Reason
	// NotChecked names what was not looked at; NotDone counts the planned checks among it.
	NotChecked []string
	NotDone    int
	// AsOf is the day the facts are judged at, Review the day of the next look.
	AsOf, Review string
	// Fictional is the warning of a report on sample data, FictionalTag the same in a
	// few words; both are empty for real suppliers.
	Fictional, FictionalTag string
}

// A Reason is one ground of a verdict and the evidence behind it.
type Reason struct {
	Text     string
	Evidence []string
}

// Answer returns the report's answer in lang.
func (r Report) Answer(lang Lang) Answer {
	c := &composer{texts: texts{lang}, r: r, known: map[string]bool{}}
	for _, e := range r.Evidence {
		c.known[e.ID] = true
	}
	s := r.Summary
	a := Answer{
		Name: printable(r.Subject.LegalName), City: printable(r.Subject.City), Number: c.identifier(), Tone: c.tone(),
		Verdict: c.verdict(), Next: c.next(), Gaps: r.Gaps,
		Rating: c.say("rating." + string(s.Rating)), Decision: c.say("decision." + string(s.Decision)), Score: c.tenths(s.Score),
		Reasons: c.reasons(), NotChecked: c.notChecked(), AsOf: c.date(r.AsOf), Review: c.date(r.SignOff.NextReview),
	}
	for _, k := range r.Checks {
		if k.Outcome.NotDone() {
			a.NotDone++
		}
	}
	if r.Run.Fictional {
		a.Fictional, a.FictionalTag = c.say("fictional"), c.say("fictional.tag")
	}
	return a
}

// plain reports whether nothing asks for a person: neither the score nor the run.
func (c *composer) plain() bool {
	return c.r.Summary.Decision == risk.DecisionStandard && len(c.r.Gaps) == 0
}

// tone is the rating as a class. A rating that is not known here is no good one, and a low
// one that a person has to review is not shown as if all were well.
func (c *composer) tone() string {
	switch r := c.r.Summary.Rating; {
	case r == risk.RatingLow && !c.plain():
		return "medium"
	case slices.Contains([]risk.Rating{risk.RatingLow, risk.RatingMedium, risk.RatingHigh, risk.RatingCritical, risk.RatingStop}, r):
		return strings.ToLower(string(r))
	default:
		return "open"
	}
}

// verdict is the rating in words; one that looks good says so where a person has to review.
func (c *composer) verdict() string {
	rating := c.r.Summary.Rating
	v := c.say("verdict." + string(rating))
	if (rating == risk.RatingLow || rating == risk.RatingMedium) && !c.plain() {
		v += c.say("verdict.review")
	}
	return v
}

// next is what to do now. A file with gaps is reviewed whatever its score.
func (c *composer) next() string {
	decision := c.r.Summary.Decision
	if decision == risk.DecisionStandard && !c.plain() {
		decision = risk.DecisionReview
	}
	return c.say("next." + string(decision))
}

// identifier is the supplier's number and what kind of number it is.
func (c *composer) identifier() string {
	s := c.r.Subject
	switch {
	case s.SIREN != "":
		return c.say("siren") + " " + c.siren(s.SIREN)
	case s.LEI != "":
		return c.say("lei") + " " + s.LEI
	case s.VAT != "":
		return c.say("vat") + " " + s.VAT
	default:
		return ""
	}
}

// explains names the factor whose value says what a stop, a floor or a review is about.
var explains = map[string]string{
	string(risk.StopCeased): risk.L1Status, string(risk.StopLiquidation): risk.L2Insolvency, string(risk.StopSanctioned): risk.I1Sanctions,
	string(risk.FloorDormant): risk.L1Status, string(risk.FloorPlan): risk.L2Insolvency, string(risk.FloorSafeguard): risk.L2Insolvency,
	string(risk.FloorReorganisation): risk.L2Insolvency, string(risk.FloorUnclassifiedNotice): risk.L2Insolvency,
	string(risk.FloorIdentifiersDisagree): risk.L5Identity, string(risk.FloorNegativeEquity): risk.F1Equity,
	string(risk.FloorSanctionsNamesake): risk.I1Sanctions, string(risk.FloorSanctionsStrong): risk.I1Sanctions,
	string(risk.FloorOfficer): risk.I2Officers, string(risk.FloorDebarment): risk.I3Debarment,
	string(risk.FloorAdverseCoverage): risk.I4Media, string(risk.FloorFATFCall): risk.X1Country,
	string(risk.ReviewDormant): risk.L1Status, string(risk.ReviewUnclassifiedNotice): risk.L2Insolvency, string(risk.ReviewIdentifiersDisagree): risk.L5Identity,
	string(risk.ReviewAskAccounts): risk.F7Transparency, string(risk.ReviewSanctionsNotDone): risk.I1Sanctions, string(risk.ReviewSanctionsNamesake): risk.I1Sanctions,
	string(risk.ReviewSanctionsStrong): risk.I1Sanctions, string(risk.ReviewOfficerNamesake): risk.I2Officers, string(risk.ReviewDebarment): risk.I3Debarment,
	string(risk.ReviewSingleSourceStory): risk.I4Media, string(risk.ReviewCorroboratedStory): risk.I4Media, string(risk.ReviewMediaNotDone): risk.I4Media,
}

// reasons are the stops, then what is missing where no rating could be given, then the
// floors that hold the score up, then what a person has to look at, then the factors that
// weigh most; each thing once.
func (c *composer) reasons() []Reason {
	s := c.r.Summary
	var out []Reason
	said := map[string]bool{}
	add := func(text, factor string, evidence []string) {
		key := cmp.Or(factor, text)
		if said[key] || len(out) == mainReasons {
			return
		}
		said[key] = true
		out = append(out, Reason{upperFirst(text), slices.DeleteFunc(slices.Clone(evidence), func(id string) bool { return !c.known[id] })})
	}
	for _, x := range s.Stops {
		f, _ := c.factor(explains[string(x.Code)])
		evidence := x.Evidence
		if len(evidence) == 0 {
			evidence = f.Evidence
		}
		add(c.say("stop."+string(x.Code)), f.ID, evidence)
	}
	reviews := func() {
		for _, x := range s.Reviews {
			f, _ := c.factor(explains[string(x)])
			add(c.say("review."+string(x)), f.ID, f.Evidence)
		}
	}
	if s.Rating == risk.RatingInsufficient {
		reviews()
	}
	floors := slices.Clone(s.Floors)
	slices.SortStableFunc(floors, func(a, b risk.Floor) int { return cmp.Compare(b.Value, a.Value) })
	for _, x := range floors {
		// What makes a family bad is named by its factors.
		if x.Family == "" {
			f, _ := c.factor(explains[string(x.Code)])
			add(c.floorReason(x, f), f.ID, f.Evidence)
		}
	}
	reviews()
	for _, id := range s.Reasons {
		f, _ := c.factor(id)
		add(c.say("factor."+id)+c.say("colon")+c.ruleText(f), id, f.Evidence)
	}
	return out
}

// floorReason is a floor with the figure behind it, where there is one.
func (c *composer) floorReason(x risk.Floor, f risk.Factor) string {
	text := c.say("floor." + string(x.Code))
	if x.Code == risk.FloorNegativeEquity && f.Points != nil {
		text += c.say("colon") + c.ruleText(f)
	}
	return text
}

// notChecked names what was not looked up.
func (c *composer) notChecked() []string {
	var out []string
	for _, k := range c.r.Checks {
		if k.Outcome.NotDone() {
			out = append(out, c.say("check."+k.ID))
		}
	}
	out = append(out, c.say("debarment.short"))
	if c.r.Run.AnnualPurchases == nil {
		out = append(out, c.say("dependency.short"))
	}
	return out
}

// AnswerStyle is the style sheet of [Answer.HTML].
const AnswerStyle template.CSS = `
.answer { margin: 1rem 0; padding: 1rem 1.25rem; border-left: .5rem solid var(--fg); background: var(--bg); break-inside: avoid; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.answer.low { --fg: #1d6b3a; --bg: #e7f5ec; } .answer.medium { --fg: #7a5d00; --bg: #fff8dc; } .answer.high { --fg: #9a4a00; --bg: #fff1e2; }
.answer.critical, .answer.stop { --fg: #8f1d1d; --bg: #fdecec; } .answer.open { --fg: #4a5563; --bg: #eef1f4; }
.answer p { margin: 0 0 .4rem; }
.answer .verdict { font-size: 2rem; line-height: 1.1; font-weight: 700; color: var(--fg); }
.answer .next { font-size: 1.15rem; font-weight: 600; }
.answer .gap { padding: .3rem .6rem; border: 2px solid #7a5d00; background: #fff8dc; }
.answer h2 { margin: .8rem 0 .3rem; font-size: 1rem; border: 0; }
.answer ol, .answer ul { margin: 0; padding-left: 1.4rem; }
.answer .small { margin: .8rem 0 0; font-size: .875rem; color: #404a56; }
`

const answerSource = `<section class="answer {{.A.Tone}}" id="answer">
<p class="verdict">{{.A.Verdict}}</p>
<p class="next">{{.A.Next}}</p>
{{- if not .Page}}{{range .A.Gaps}}
<p class="gap">{{.}}</p>
{{- end}}{{end}}
{{- if .A.Reasons}}
<h2>{{.Say "answer.why"}}</h2>
<ol>{{range .A.Reasons}}<li>{{.Text}}{{range .Evidence}} <a class="ref" href="{{$.Page}}#{{.}}">[{{.}}]</a>{{end}}</li>{{end}}</ol>
{{- end}}
<h2>{{.Say "not_checked"}}</h2>
<ul>{{range .A.NotChecked}}<li>{{.}}</li>{{end}}</ul>
<p class="small">{{.Say "as_of"}} {{.A.AsOf}} · {{.Say "answer.review"}} {{.A.Review}}</p>
</section>`

var answerTemplate = template.Must(template.New("answer").Parse(answerSource))

// HTML is the answer as a section with the class "answer". page is the address of the
// report that holds the evidence, "" where the section stands in it.
func (a Answer) HTML(lang Lang, page string) template.HTML {
	var b strings.Builder
	data := struct {
		A    Answer
		Page string
		texts
	}{a, page, texts{lang}}
	if err := answerTemplate.Execute(&b, data); err != nil {
		panic("report: the answer's template fits it: " + err.Error()) // nothing else can fail in memory
	}
	return template.HTML(b.String()) //nolint:gosec // made by html/template just above
}

// Say is a text of the catalogue, for the template.
func (t texts) Say(key string) string { return t.say(key) }

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
