// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	"github.com/gardefou/gardefou/pipeline/sources"
)

// Outcome is how a check ended. It decides which of the standing sentences the
// report uses.
type Outcome string

// NotDone reports whether nobody looked.
func (o Outcome) NotDone() bool {
	return o == OutcomeUnavailable || o == OutcomeUnusable || o == OutcomeNotAsked
}

// Check is one look-up and how it ended.
type Check struct {
	ID       string   `json:"id"` // what was looked up: "company", "procedures", …
	Source   string   `json:"source"`
	Outcome  Outcome  `json:"outcome"`
	On       string   `json:"on,omitempty"`   // ISO date
	Code     string   `json:"code,omitempty"` // of the failure
	Partial  bool     `json:"partial"`        // the source holds more than was read
	Evidence []string `json:"evidence"`
}

var outcomes = map[sources.Status]Outcome{
	sources.StatusOK: OutcomeFound, sources.StatusNotFound: OutcomeNothing, sources.StatusUnavailable: OutcomeUnavailable,
	sources.StatusRateLimited: OutcomeUnavailable, sources.StatusInvalid: OutcomeUnusable, sources.StatusNotAsked: OutcomeNotAsked,
	sources.StatusNotApplicable: OutcomeNotApplicable,
}

func checks(f sources.Facts) []Check {
	list := []Check{}
	add := func(ids []string, envelopes []sources.Envelope) {
		for i, id := range ids {
			if envelopes == nil {
				list = append(list, Check{ID: id, Outcome: OutcomeNotAsked, Evidence: []string{}})
				continue
			}
			list = append(list, check(id, envelopes[i]))
		}
	}
	var registry, finances, reputation []sources.Envelope
	if f.Registry != nil {
		registry = f.Registry.Envelopes()
	}
	if f.Finances != nil {
		finances = f.Finances.Envelopes()
	}
	if f.Reputation != nil {
		reputation = f.Reputation.Envelopes()
	}
	add(registryChecks, registry)
	add(financeChecks, finances)
	add(reputationChecks, reputation)
	return list
}

func check(id string, e sources.Envelope) Check {
	c := Check{ID: id, Source: e.Source, Outcome: outcomes[e.Status], Partial: e.Truncated, Evidence: []string{}}
	if !e.RetrievedAt.IsZero() {
		c.On = e.RetrievedAt.Format(time.DateOnly)
	}
	if e.Error != nil {
		c.Code = e.Error.Code
	}
	for _, x := range e.Evidence {
		c.Evidence = append(c.Evidence, x.ID)
	}
	return c
}

// The outcomes of a check.
const (
	OutcomeFound         Outcome = "found"
	OutcomeNothing       Outcome = "nothing_found"
	OutcomeUnavailable   Outcome = "unavailable" // not done: the source could not be read
	OutcomeUnusable      Outcome = "unusable"    // not done: its answer could not be used
	OutcomeNotAsked      Outcome = "not_asked"   // not done
	OutcomeNotApplicable Outcome = "not_applicable"
)

// The ids of the checks, in the order of the envelopes of each look-up.
var (
	registryChecks   = []string{"company", "lei", "vat", "procedures", "changes"}
	financeChecks    = []string{"figures", "accounts", "deposits"}
	reputationChecks = []string{"sanctions", "officers", "news"}
)
