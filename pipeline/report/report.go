// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Schema names the version of the JSON form. It changes when a field changes
// its meaning or goes.
const Schema = "gardefou.report/1"

// ErrReport is what every error of [New] and [Parse] is.
var ErrReport = errors.New("report: cannot be made")

// Input is what a report is made of. Only Facts, Result and Mode are required.
type Input struct {
	// Subject is whom the report is about where no look-up was made; the facts know
	// it otherwise.
	Subject supplier.Subject
	Facts   sources.Facts
	Result  risk.Result // of these facts
	Mode    sources.Mode
	// Hosts and Overrides are those of the client that fetched the facts.
	Hosts, Overrides []string
	// ToolVersion is printed; empty prints nothing.
	ToolVersion string
	// DraftModel names the language model that saw the facts; empty means that
	// none did.
	DraftModel string
	// Narrative is prose over the facts; nil leaves the section out.
	Narrative *Narrative
	// Gaps says, one short sentence each in the report's language, what the run
	// could not do: an agent stopped, a budget reached.
	Gaps []string
	// AnnualPurchases is what the buyer spends there in a year, in euros; nil
	// when not given.
	AnnualPurchases *int64
	// Previous is the last report on this subject, to say what changed; nil for
	// a first one. It must be about the same subject.
	Previous *Report
}

// Narrative is prose whose every paragraph cites evidence.
type Narrative struct {
	// Drafted tells that a language model wrote it; the report marks it so.
	Drafted bool `json:"drafted"`
	// Template tells that the model's draft was refused and code wrote this.
	Template bool      `json:"template"`
	Sections []Section `json:"sections"`
}

// Section is a titled part of a narrative.
type Section struct {
	Title      string      `json:"title"`
	Paragraphs []Paragraph `json:"paragraphs"`
}

// Paragraph is text and the ids of the evidence behind it.
type Paragraph struct {
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// Report is one due-diligence file. Make one with [New] or [Parse].
type Report struct {
	Schema         string                  `json:"schema"`
	ID             string                  `json:"id"` // hash of everything below: the same content has the same id
	AsOf           string                  `json:"as_of"`
	Run            Run                     `json:"run"`
	Subject        supplier.Subject        `json:"subject"`
	Summary        Summary                 `json:"summary"`
	Checks         []Check                 `json:"checks"`
	Contradictions []sources.Contradiction `json:"contradictions"`
	Changes        []Change                `json:"changes"` // since the previous report; null without one
	Documents      []Document              `json:"documents"`
	SignOff        SignOff                 `json:"sign_off"`
	Narrative      *Narrative              `json:"narrative"`
	Gaps           []string                `json:"gaps"`
	Risk           risk.Result             `json:"risk"`
	Facts          sources.Facts           `json:"facts"`
	Evidence       []EvidenceLine          `json:"evidence"`
}

// Run says how the facts were obtained.
type Run struct {
	Mode        sources.Mode `json:"mode"`
	Fictional   bool         `json:"fictional"` // from the sample set: no such company exists
	Hosts       []string     `json:"hosts"`
	Overrides   []string     `json:"overrides"`
	ToolVersion string       `json:"tool_version,omitempty"`
	DraftModel  string       `json:"draft_model,omitempty"` // the language model that saw the facts
	// AnnualPurchases is what the buyer said it spends there in a year, in euros.
	AnnualPurchases *int64 `json:"annual_purchases,omitempty"`
	Lists           string `json:"lists"` // version of the country and sector lists
}

// Summary is the first thing to read.
type Summary struct {
	Rating   risk.Rating       `json:"rating"`
	Decision risk.Decision     `json:"decision"`
	Score    *risk.Tenths      `json:"score"`
	Interval [2]risk.Tenths    `json:"interval"`
	Coverage risk.Tenths       `json:"coverage"`
	Stops    []risk.Stop       `json:"stops"`
	Floors   []risk.Floor      `json:"floors"`
	Reviews  []risk.ReviewCode `json:"reviews"`
	// Reasons are the ids of the factors that weigh most, heaviest first.
	Reasons []string `json:"reasons"`
}

// SignOff is the block that a person fills in; the program only proposes the
// date of the next review.
type SignOff struct {
	NextReview string `json:"next_review"`
}

// EvidenceLine is a piece of evidence with all it takes to find it again.
type EvidenceLine struct {
	sources.Evidence
	Source      string        `json:"source"`
	Query       sources.Query `json:"query"`
	RetrievedAt time.Time     `json:"retrieved_at,omitzero"`
	DataAsOf    string        `json:"data_as_of,omitempty"`
	Licence     string        `json:"licence"`
	ListVersion *string       `json:"list_version"`
	SHA256      string        `json:"sha256,omitempty"`
}

// New makes a report, or an error that is an [ErrReport] when the parts do not
// fit together: a narrative that cites unknown evidence, or a previous report
// about somebody else.
func New(in Input) (Report, error) {
	asOf, err := time.Parse(time.DateOnly, in.Result.AsOf)
	if err != nil {
		return Report{}, fmt.Errorf("%w: the result has no as-of date", ErrReport)
	}
	subject := in.Facts.Subject()
	if subject.LegalName == "" {
		subject = in.Subject
	}
	r := Report{
		Schema: Schema, AsOf: in.Result.AsOf, Subject: subject, Risk: in.Result, Facts: in.Facts, Narrative: in.Narrative,
		Run: Run{
			Mode: in.Mode, Fictional: in.Mode == sources.ModeSample, Hosts: orEmpty(slices.Clone(in.Hosts)),
			Overrides: orEmpty(slices.Clone(in.Overrides)), ToolVersion: in.ToolVersion, DraftModel: in.DraftModel, AnnualPurchases: in.AnnualPurchases, Lists: risk.ListsVersion(),
		},
		Summary: summary(in.Result), Checks: checks(in.Facts), Contradictions: []sources.Contradiction{},
		Documents: documents(in.Facts, in.Result, in.AnnualPurchases, asOf), Gaps: orEmpty(slices.Clone(in.Gaps)),
		SignOff: SignOff{NextReview: asOf.AddDate(0, reviewMonths, 0).Format(time.DateOnly)}, Evidence: evidence(in.Facts),
	}
	if in.Facts.Registry != nil {
		r.Contradictions = orEmpty(in.Facts.Registry.Contradictions)
	}
	if err := r.checkNarrative(); err != nil {
		return Report{}, err
	}
	if in.Previous != nil {
		if !in.Previous.Subject.Same(subject) {
			return Report{}, fmt.Errorf("%w: the previous report is about another supplier", ErrReport)
		}
		r.Changes = changes(*in.Previous, r)
	}
	r.ID = r.contentID()
	return r, nil
}

// reviewMonths is the rhythm of the duty of vigilance (Code du travail L8222-1,
// D8222-5): every six months until the contract ends.
const reviewMonths = 6

// contentID hashes everything but the id.
func (r Report) contentID() string {
	r.ID = ""
	data, err := json.Marshal(r)
	if err != nil {
		panic("report: plain values: " + err.Error()) // no channel, no cycle, no NaN
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

func (r Report) checkNarrative() error {
	if r.Narrative == nil {
		return nil
	}
	known := map[string]bool{}
	for _, e := range r.Evidence {
		known[e.ID] = true
	}
	for _, s := range r.Narrative.Sections {
		for _, p := range s.Paragraphs {
			for _, id := range p.Evidence {
				if !known[id] {
					return fmt.Errorf("%w: the narrative cites unknown evidence %q", ErrReport, supplier.Clean(id, 40))
				}
			}
		}
	}
	return nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// mainReasons is how many factors a summary names.
const mainReasons = 3

func summary(r risk.Result) Summary {
	type weighed struct {
		id      string
		product int
	}
	var all []weighed
	for _, fam := range r.Families {
		for _, f := range fam.Factors {
			if f.Points != nil && *f.Points > 0 {
				all = append(all, weighed{f.ID, fam.Weight * f.Weight * *f.Points})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return b.product - a.product })
	s := Summary{
		Rating: r.Rating, Decision: r.Decision, Score: r.Score, Interval: r.Interval, Coverage: r.Coverage,
		Stops: r.Stops, Floors: r.Floors, Reviews: r.Reviews, Reasons: []string{},
	}
	for _, w := range all[:min(len(all), mainReasons)] {
		s.Reasons = append(s.Reasons, w.id)
	}
	return s
}

func evidence(f sources.Facts) []EvidenceLine {
	list := []EvidenceLine{}
	for _, e := range f.Envelopes() {
		for _, x := range e.Evidence {
			list = append(list, EvidenceLine{
				Evidence: x, Source: e.Source, Query: e.Query, RetrievedAt: e.RetrievedAt, DataAsOf: e.DataAsOf,
				Licence: e.Licence, ListVersion: e.ListVersion, SHA256: e.SHA256,
			})
		}
	}
	return list
}
