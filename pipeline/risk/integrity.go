// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import "strconv"

func (s *scorer) integrity() {
	s.sanctions()
	s.officers()
	switch s.facts.Debarment {
	case "":
		s.missing(I3Debarment, ReasonNotAsked)
	case DebarmentCandidate:
		s.review(ReviewDebarment)
		s.floor(FloorDebarment)
		fallthrough
	default:
		s.choose(I3Debarment, string(s.facts.Debarment))
	}
	s.media()
}

func (s *scorer) sanctions() {
	if s.facts.Sanctions == "" {
		s.missing(I1Sanctions, ReasonNotKnown)
		s.review(ReviewSanctionsNotDone)
		return
	}
	s.choose(I1Sanctions, string(s.facts.Sanctions))
	switch s.facts.Sanctions {
	case SanctionsNameOnly:
		s.review(ReviewSanctionsNamesake)
		s.floor(FloorSanctionsNamesake)
	case SanctionsStrong:
		s.review(ReviewSanctionsStrong)
		s.floor(FloorSanctionsStrong)
	case SanctionsIdentifier:
		s.stop(StopSanctioned, I1Sanctions)
	}
}

func (s *scorer) officers() {
	switch s.facts.Officers {
	case "":
		s.missing(I2Officers, ReasonNotKnown)
		return
	case OfficersNameAndBirth:
		s.floor(FloorOfficer)
		s.review(ReviewOfficerNamesake)
	case OfficersNameOnly:
		s.review(ReviewOfficerNamesake)
	}
	s.choose(I2Officers, string(s.facts.Officers))
}

// media adds the stories that several domains carry, each by its gravity and
// its age, and caps the sum.
func (s *scorer) media() {
	if s.facts.Media == nil {
		s.missing(I4Media, ReasonNotKnown)
		s.review(ReviewMediaNotDone)
		return
	}
	rule := s.model.Media
	total, corroborated := 0, 0
	for _, story := range s.facts.Media {
		if story.Domains < rule.Domains {
			s.review(ReviewSingleSourceStory)
			continue
		}
		corroborated++
		weight := min(max(story.Weight, 0), 100)
		// Every term is at most 10⁶: no list that fits in memory overflows the sum.
		total += rule.Share * weight * pick(rule.Decay, whole(int64(story.Months))).Points
	}
	points := min(100, (total+5000)/10000)
	s.found[I4Media] = Factor{Points: &points, Rule: "corroborated stories", Value: strconv.Itoa(corroborated)}
	if points >= rule.FloorFrom {
		s.floor(FloorAdverseCoverage)
		s.review(ReviewCorroboratedStory)
	}
}
