// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"cmp"
	"slices"
	"time"
)

// Score rates facts as they stand on the day asOf with the built-in model.
func Score(facts Facts, asOf time.Time) Result { return DefaultModel().Score(facts, asOf) }

// Score rates facts as they stand on the day asOf. It changes nothing in facts.
func (m *Model) Score(facts Facts, asOf time.Time) Result {
	s := &scorer{model: &m.file, facts: facts, asOf: asOf.UTC(), found: map[string]Factor{}}
	s.legal()
	s.finance()
	s.integrity()
	s.exposure()
	r := s.aggregate()
	r.Model, r.ModelHash, r.AsOf = m.Name(), m.Hash(), s.asOf.Format(time.DateOnly)
	return r
}

// scorer collects what the families find.
type scorer struct {
	model    *modelFile
	facts    Facts
	asOf     time.Time
	found    map[string]Factor
	stops    []Stop
	floors   []Floor
	reviews  map[ReviewCode]bool
	rejected []RejectedAccount
}

func (s *scorer) factor(id string) modelFactor {
	for _, fam := range s.model.Families {
		for _, f := range fam.Factors {
			if f.ID == id {
				return f
			}
		}
	}
	panic("risk: no factor " + id) // the model file was checked against the same ids
}

// missing records that a factor is not known; what the caller of Score said
// about it goes before otherwise.
func (s *scorer) missing(id string, otherwise Reason) {
	if why := s.facts.Missing[id]; why != "" {
		otherwise = why
	}
	s.found[id] = Factor{Missing: otherwise}
}

// choose scores a factor by a named choice.
func (s *scorer) choose(id, choice string) {
	points, ok := s.factor(id).Points[choice]
	if !ok {
		s.missing(id, ReasonInvalidValue) // a fact outside the vocabulary is not a fact
		return
	}
	s.found[id] = Factor{Points: &points, Rule: choice, Value: choice}
}

// measure scores a factor by the band of a number, given as a comparison with a
// bound.
func (s *scorer) measure(id, value string, compare func(bound int64) int) {
	f := s.factor(id)
	b := pick(f.Bands, compare)
	s.found[id] = Factor{Points: &b.Points, Rule: b.rule(f.Bands), Value: value}
}

func (s *scorer) stop(code StopCode, factor string) {
	s.stops = append(s.stops, Stop{Code: code, Evidence: s.facts.Evidence[factor]})
}

func (s *scorer) floor(code FloorCode) {
	s.floors = append(s.floors, Floor{Code: code, Value: s.model.Floors[code]})
}

func (s *scorer) review(code ReviewCode) {
	if s.reviews == nil {
		s.reviews = map[ReviewCode]bool{}
	}
	s.reviews[code] = true
}

// aggregate adds the factors up. known is weight known, of 10 000; sum is
// weight times points over the known factors.
func (s *scorer) aggregate() Result {
	r := Result{
		Stops: orEmpty(s.stops), RejectedAccounts: orEmpty(s.rejected),
		MandatoryMissing: []string{}, Reviews: []ReviewCode{}, Notes: []NoteCode{},
	}
	known, sum := 0, 0
	for _, fam := range s.model.Families {
		f := Family{ID: fam.ID, Weight: fam.Weight}
		points := 0
		for _, mf := range fam.Factors {
			x := s.found[mf.ID]
			x.ID, x.Weight, x.Unit, x.Evidence = mf.ID, mf.Weight, mf.Unit, s.facts.Evidence[mf.ID]
			if x.Points != nil {
				f.Coverage += mf.Weight
				points += mf.Weight * *x.Points
			} else if mf.Mandatory {
				r.MandatoryMissing = append(r.MandatoryMissing, mf.ID)
			}
			f.Factors = append(f.Factors, x)
		}
		known += fam.Weight * f.Coverage
		sum += fam.Weight * points
		if f.Coverage > 0 {
			sub := tenths(points, f.Coverage)
			f.Score = &sub
			s.dilution(fam.ID, points, f.Coverage)
		}
		r.Families = append(r.Families, f)
	}
	r.Coverage = tenths(known, 100)
	r.Interval = [2]Tenths{tenths(sum, 10000), tenths(sum+100*(10000-known), 10000)}
	if known > 0 {
		base := tenths(sum, known)
		r.Base = &base
	}
	s.rate(&r, known)
	return r
}

// orEmpty makes a list that JSON writes as [] rather than null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// dilution raises the floor when one family is bad, so that three good ones do
// not hide it.
func (s *scorer) dilution(family string, points, weight int) {
	g := s.model.Dilution
	if weight < g.CoverageMin || slices.Contains(g.Exempt, family) {
		return
	}
	code := FloorFamilyRaised
	switch {
	case points >= g.HighFrom*weight:
		code = FloorFamilyHigh
	case points < g.RaisedFrom*weight:
		return
	}
	s.floors = append(s.floors, Floor{Code: code, Value: s.model.Floors[code], Family: family})
}

func (s *scorer) rate(r *Result, known int) {
	final := r.Base
	for _, f := range s.floors {
		if v := Tenths(f.Value * 10); final == nil || *final < v {
			final = &v
		}
	}
	r.Floors = orEmpty(s.floors)
	if final != nil {
		r.Rating = s.rating(*final)
	}
	if len(r.MandatoryMissing) > 0 {
		s.review(ReviewMandatoryMissing)
		if r.Rating == RatingLow {
			r.Rating = RatingMedium
			r.Notes = append(r.Notes, NoteMandatoryMissing)
		}
	}
	if known < 100*s.model.Coverage.LowForbidden {
		s.review(ReviewLowCoverage)
		if r.Rating == RatingLow {
			r.Rating = RatingMedium
			r.Notes = append(r.Notes, NoteLowCoverage)
		}
	}
	switch {
	case len(r.Stops) > 0:
		r.Rating, final = RatingStop, nil
	case known < 100*s.model.Coverage.Insufficient:
		r.Rating, final = RatingInsufficient, nil
	}
	r.Score = final
	r.Reviews = s.sortedReviews()
	r.Decision = decide(r)
}

func (s *scorer) rating(final Tenths) Rating {
	for _, x := range s.model.Ratings {
		if x.Below == nil || final < Tenths(*x.Below*10) {
			return x.Rating
		}
	}
	panic("risk: the last rating has no bound") // checked with the file
}

func decide(r *Result) Decision {
	switch {
	case r.Rating == RatingStop:
		return DecisionStop
	case len(r.Reviews) > 0, r.Rating != RatingLow && r.Rating != RatingMedium:
		return DecisionReview
	}
	return DecisionStandard
}

// sortedReviews orders the flags by their number.
func (s *scorer) sortedReviews() []ReviewCode {
	out := []ReviewCode{}
	for c := range s.reviews {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b ReviewCode) int { return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b)) })
	return out
}

// number is the figure after the R of a code.
func number(c ReviewCode) int {
	n := 0
	for _, d := range c[1:] {
		if d < '0' || d > '9' {
			break
		}
		n = n*10 + int(d-'0')
	}
	return n
}
