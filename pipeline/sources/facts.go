// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Facts gathers what the look-ups found. A nil part was not asked.
type Facts struct {
	Registry   *RegistryFacts   `json:"registry"`
	Finances   *FinanceFacts    `json:"finances"`
	Reputation *ReputationFacts `json:"reputation"`
}

// ErrFacts is what every error of [FactsFromMaps] is.
var ErrFacts = errors.New("sources: not the facts of a look-up")

// FactsFromMaps reads back what the Map methods wrote, wherever it was kept in
// between. A nil map is a look-up that was not made. All parts must be about
// the same subject.
func FactsFromMaps(registry, finances, reputation map[string]any) (Facts, error) {
	var f Facts
	if err := errors.Join(fromMap(registry, &f.Registry), fromMap(finances, &f.Finances), fromMap(reputation, &f.Reputation)); err != nil {
		return Facts{}, err
	}
	var sirens []string
	for _, s := range f.subjects() {
		sirens = append(sirens, s.SIREN+s.LEI)
	}
	if len(slices.Compact(sirens)) > 1 {
		return Facts{}, fmt.Errorf("%w: the look-ups are about different subjects", ErrFacts)
	}
	return f, nil
}

func fromMap[T any](m map[string]any, into **T) error {
	if m == nil {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFacts, err)
	}
	v := new(T)
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrFacts, err)
	}
	*into = v
	return nil
}

func (f Facts) subjects() []supplier.Subject {
	var out []supplier.Subject
	if f.Registry != nil {
		out = append(out, f.Registry.Subject)
	}
	if f.Finances != nil {
		out = append(out, f.Finances.Subject)
	}
	if f.Reputation != nil {
		out = append(out, f.Reputation.Subject)
	}
	return out
}

// Subject returns whom the facts are about, the zero value when nothing was
// asked.
func (f Facts) Subject() supplier.Subject {
	if s := f.subjects(); len(s) > 0 {
		return s[0]
	}
	return supplier.Subject{}
}

// Envelopes returns the envelope of every look-up that was made, registry
// first.
func (f Facts) Envelopes() []Envelope {
	var out []Envelope
	if f.Registry != nil {
		out = append(out, f.Registry.Envelopes()...)
	}
	if f.Finances != nil {
		out = append(out, f.Finances.Envelopes()...)
	}
	if f.Reputation != nil {
		out = append(out, f.Reputation.Envelopes()...)
	}
	return out
}

// Evidence returns every piece of evidence, in the order of [Facts.Envelopes].
func (f Facts) Evidence() []Evidence {
	var out []Evidence
	for _, e := range f.Envelopes() {
		out = append(out, e.Evidence...)
	}
	return out
}
