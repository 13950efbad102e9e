// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

func (s *scorer) exposure() {
	if s.facts.Country == "" {
		s.missing(X1Country, ReasonNotKnown)
	} else {
		s.choose(X1Country, string(s.facts.Country))
		if s.facts.Country == CountryFATFCall {
			s.floor(FloorFATFCall)
		}
	}
	if s.facts.Sector == "" {
		s.missing(X2Sector, ReasonNotKnown)
	} else {
		s.choose(X2Sector, string(s.facts.Sector))
	}
	s.dependency()
}

// dependency compares the buyer's yearly spend with the supplier's last
// readable turnover, however old.
func (s *scorer) dependency() {
	spend := s.facts.AnnualSpend
	if spend == nil || *spend <= 0 {
		s.missing(X3Dependency, ReasonNotAsked)
		return
	}
	if *spend > maxEuros {
		s.missing(X3Dependency, ReasonInvalidValue)
		return
	}
	usable, _ := usableAccounts(s.facts.Accounts, s.asOf)
	for _, f := range usable {
		if t := f.turnover(); t != nil && *t > 0 {
			s.measure(X3Dependency, percentText(*spend, *t), percentOf(*spend, *t))
			return
		}
	}
	s.missing(X3Dependency, ReasonNotPublished)
}
