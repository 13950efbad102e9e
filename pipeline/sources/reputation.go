// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"

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
	// The best match of each kind; empty where the list could not be read.
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

// Story is one press story, the same wherever it appears.
type Story struct {
	Evidence string   `json:"evidence"`
	Title    string   `json:"title"`
	Seen     string   `json:"seen"`    // ISO date of the oldest copy
	Domains  []string `json:"domains"` // registrable domains that carry it, sorted
	Gravity  int      `json:"gravity"` // 0 none, 25 minor, 50 civil or labour, 80 criminal inquiry, 100 conviction or sanction
	Review   string   `json:"review,omitempty"`
}

// Envelopes returns the envelope of each look-up, in a fixed order.
func (f ReputationFacts) Envelopes() []Envelope {
	return []Envelope{f.Sanctions.Envelope, f.Officers.Envelope, f.News.Envelope}
}

// Map returns f as plain JSON values, for a tool result.
func (f ReputationFacts) Map() map[string]any { return toMap(f) }

// Reputation screens the subject and its officers and searches the press.
func (c *Client) Reputation(_ context.Context, subject supplier.Subject) ReputationFacts {
	const why = "this source is not connected"
	return ReputationFacts{
		Subject:   subject,
		Sanctions: notAsked[ListMatch](c.freezes, StatusNotAsked, FailNotConnected, why),
		Officers:  notAsked[ListMatch](c.freezes, StatusNotAsked, FailNotConnected, why),
		News:      notAsked[Story](c.gdelt, StatusNotAsked, FailNotConnected, why),
	}
}
