// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"strconv"
	"time"
)

func (s *scorer) legal() {
	s.status()
	s.insolvency()
	s.age()
	if n := s.facts.Changes24Months; n == nil || *n < 0 {
		s.missing(L4Changes, ReasonNotKnown)
	} else {
		s.measure(L4Changes, strconv.Itoa(*n), whole(int64(*n)))
	}
	switch s.facts.Identity {
	case "":
		s.missing(L5Identity, ReasonNotKnown)
	case IdentityMismatch:
		s.review(ReviewIdentifiersDisagree)
		s.floor(FloorIdentifiersDisagree)
		fallthrough
	default:
		s.choose(L5Identity, string(s.facts.Identity))
	}
}

func (s *scorer) status() {
	switch {
	case s.facts.Status == StatusCeased:
		s.choose(L1Status, "ceased")
		s.stop(StopCeased, L1Status)
	case s.facts.Status != StatusActive:
		s.missing(L1Status, ReasonNotKnown)
	case s.facts.OpenEstablishments != nil && *s.facts.OpenEstablishments == 0:
		s.choose(L1Status, "dormant")
		s.review(ReviewDormant)
		s.floor(FloorDormant)
	default:
		s.choose(L1Status, "active")
	}
}

func (s *scorer) insolvency() {
	if s.facts.Insolvency == "" {
		s.missing(L2Insolvency, ReasonNotKnown)
		return
	}
	s.choose(L2Insolvency, string(s.facts.Insolvency))
	switch s.facts.Insolvency {
	case InsolvencyLiquidation:
		s.stop(StopLiquidation, L2Insolvency)
	case InsolvencyReorganisation:
		s.floor(FloorReorganisation)
	case InsolvencySafeguard:
		s.floor(FloorSafeguard)
	case InsolvencyPlan:
		s.floor(FloorPlan)
	case InsolvencyUnclassified:
		s.floor(FloorUnclassifiedNotice)
		s.review(ReviewUnclassifiedNotice)
	}
	if s.facts.UnclearNotice {
		s.review(ReviewUnclassifiedNotice)
	}
}

func (s *scorer) age() {
	created, err := time.Parse(time.DateOnly, s.facts.Created)
	if err != nil || created.After(s.asOf) {
		why := ReasonNotPublished
		if s.facts.Created != "" {
			why = ReasonInvalidValue
		}
		s.missing(L3Age, why)
		return
	}
	n := WholeMonths(created, s.asOf)
	s.measure(L3Age, strconv.Itoa(n), whole(int64(n)))
}

// WholeMonths counts the whole months from a to b.
func WholeMonths(a, b time.Time) int {
	n := (b.Year()-a.Year())*12 + int(b.Month()) - int(a.Month())
	if b.Day() < a.Day() {
		n--
	}
	return n
}
