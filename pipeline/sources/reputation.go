// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"fmt"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// ReputationFacts is what sanctions lists and the press say about a subject.
type ReputationFacts struct {
	Subject supplier.Subject `json:"subject"`
	// Sanctions are the list entries that match the subject, Officers those
	// that match one of its officers.
	Sanctions Answer[ListMatch] `json:"sanctions"`
	Officers  Answer[ListMatch] `json:"officers"`
	// News are the stories whose title names the subject.
	News Answer[Story] `json:"news"`
	// List describes the list; nil when it could not be read.
	List *ListInfo `json:"list"`
	// The gravest match of each kind; empty where the list could not be read.
	SanctionsMatch risk.Sanctions `json:"sanctions_match,omitempty"`
	OfficersMatch  risk.Officers  `json:"officers_match,omitempty"`
}

// ListMatch is an entry of a sanctions list that may be the subject or one of
// its officers. It is a candidate for a person to confirm or discard.
type ListMatch struct {
	Evidence      string   `json:"evidence"`
	Class         string   `json:"class"` // of risk.Sanctions or risk.Officers
	Searched      string   `json:"searched"`
	Entry         string   `json:"entry"` // the listed name that matched
	Nature        string   `json:"nature"`
	Agrees        []string `json:"agrees,omitempty"`
	Contradicts   []string `json:"contradicts,omitempty"`
	LegalBasis    string   `json:"legal_basis,omitempty"`
	RegisterEntry int      `json:"register_entry"`
}

// Envelopes returns the envelope of each look-up, in a fixed order.
func (f ReputationFacts) Envelopes() []Envelope {
	return []Envelope{f.Sanctions.Envelope, f.Officers.Envelope, f.News.Envelope}
}

// Map returns f as plain JSON values, for a tool result.
func (f ReputationFacts) Map() map[string]any { return toMap(f) }

// ListInfo describes the list that was screened.
type ListInfo struct {
	Entries int `json:"entries"`
	Ignored int `json:"ignored_names"` // too short or too generic to match anything by
}

// Reputation screens the subject and its officers against the register of asset
// freezes, and searches the press for the subject's name.
func (c *Client) Reputation(ctx context.Context, subject supplier.Subject) ReputationFacts {
	f := ReputationFacts{Subject: subject}
	env, list := c.freezeRegister(ctx)
	if list == nil {
		f.Sanctions = Answer[ListMatch]{Envelope: env, Items: []ListMatch{}}
		f.Officers = Answer[ListMatch]{Envelope: env, Items: []ListMatch{}}
	} else {
		f.List = &ListInfo{Entries: len(list.entries), Ignored: list.ignored}
		f.Sanctions = screening(env, "E-GEL", "Asset freezes: "+cleanName(subject.LegalName), list.screenSubject(subject))
		f.SanctionsMatch = risk.Sanctions(best(f.Sanctions.Items))
		f.Officers = c.screenOfficers(ctx, env, list, subject)
		if f.Officers.Status.Read() {
			f.OfficersMatch = risk.Officers(best(f.Officers.Items))
		}
	}
	f.News = c.news(ctx, subject)
	return f
}

// masked is how the registry writes what a person withheld.
const masked = "[NON-DIFFUSIBLE]"

// screenOfficers reads the officers from the registry, whose months of birth
// stay in here, and screens those that are published.
func (c *Client) screenOfficers(ctx context.Context, env Envelope, list *freezeList, subject supplier.Subject) Answer[ListMatch] {
	if !supplier.ValidSIREN(subject.SIREN) {
		return notAsked[ListMatch](c.freezes, StatusNotAsked, FailNoSource, "no connected source publishes the officers of this company")
	}
	registry, unit := c.unitBySIREN(ctx, subject.SIREN)
	if registry.Status != StatusOK {
		a := Answer[ListMatch]{Envelope: registry, Items: []ListMatch{}}
		a.Evidence = []Evidence{}
		return a
	}
	var matches []ListMatch
	screened := 0
	for _, o := range unit.Officers {
		if o.LastName == masked || o.LastName == "" && o.Name == "" {
			continue
		}
		screened++
		matches = append(matches, list.screenOfficer(o)...)
	}
	if screened == 0 {
		return notAsked[ListMatch](c.freezes, StatusNotAsked, FailNoOfficers, "the registry publishes no officer of this company")
	}
	return screening(env, "E-OFF", fmt.Sprintf("Asset freezes: %d officers of %s", screened, cleanName(subject.LegalName)), orEmpty(matches))
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
