// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"slices"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Risk returns what the scorer looks at. annualSpend, in euros, is what the
// buyer spends there in a year; nil when not given.
func (f Facts) Risk(annualSpend *int64) risk.Facts {
	m := mapper{Facts: risk.Facts{
		AnnualSpend: annualSpend, Missing: map[string]risk.Reason{}, Evidence: map[string][]string{},
	}}
	m.registry(f.Registry)
	m.finances(f.Finances)
	m.reputation(f.Reputation)
	m.exposure(f.Subject(), f.Registry)
	return m.Facts
}

// mapper fills a risk.Facts.
type mapper struct{ risk.Facts }

// reasons of a missing factor, by the status of the look-up it rests on.
var missingBecause = map[Status]risk.Reason{
	StatusNotFound: risk.ReasonNotFound, StatusUnavailable: risk.ReasonUnavailable, StatusRateLimited: risk.ReasonUnavailable,
	StatusInvalid: risk.ReasonInvalidAnswer, StatusNotAsked: risk.ReasonNotAsked, StatusNotApplicable: risk.ReasonNotApplicable,
}

func (m *mapper) missing(s Status, factors ...string) {
	why, ok := missingBecause[s]
	if !ok {
		why = risk.ReasonNotPublished
	}
	for _, id := range factors {
		m.Missing[id] = why
	}
}

func (m *mapper) registry(f *RegistryFacts) {
	if f == nil {
		m.missing(StatusNotAsked, risk.L1Status, risk.L2Insolvency, risk.L3Age, risk.L4Changes, risk.L5Identity)
		return
	}
	switch {
	case f.Company.Status == StatusOK && len(f.Company.Items) == 1:
		m.company(f.Company.Items[0])
	case f.Subject.SIREN == "" && len(f.LEI.Items) == 1:
		m.foreign(f.LEI.Items[0])
	default:
		m.missing(f.Company.Status, risk.L1Status, risk.L3Age)
	}
	if m.Identity = f.Identity; m.Identity == "" {
		m.Missing[risk.L5Identity] = risk.ReasonNotPublished
	}
	m.Evidence[risk.L5Identity] = identityEvidence(*f)
	if f.Procedures.Status.Read() {
		m.Insolvency, m.UnclearNotice = f.Insolvency.State, f.Insolvency.Unclear
		m.Evidence[risk.L2Insolvency] = f.Insolvency.Evidence
	} else {
		m.missing(f.Procedures.Status, risk.L2Insolvency)
	}
	if f.Changes.Status.Read() {
		m.Changes24Months = f.RecentChanges
		m.Evidence[risk.L4Changes] = changeEvidence(f)
	} else {
		m.missing(f.Changes.Status, risk.L4Changes)
	}
}

func (m *mapper) company(c Company) {
	m.Status = risk.StatusCeased
	if c.Active {
		m.Status = risk.StatusActive
	}
	m.OpenEstablishments, m.Created = c.OpenEstablishments, c.Created
	for _, id := range []string{risk.L1Status, risk.L3Age} {
		m.Evidence[id] = []string{c.Evidence}
	}
	if m.Created == "" {
		m.Missing[risk.L3Age] = risk.ReasonNotPublished
	}
}

// foreign reads status and age from the LEI record of a company outside
// France.
func (m *mapper) foreign(r LEIRecord) {
	m.Status = risk.StatusCeased
	if r.Active {
		m.Status = risk.StatusActive
	}
	if m.Created = r.Created; m.Created == "" {
		m.Missing[risk.L3Age] = risk.ReasonNotPublished
	}
	for _, id := range []string{risk.L1Status, risk.L3Age} {
		m.Evidence[id] = []string{r.Evidence}
	}
}

func changeEvidence(f *RegistryFacts) []string {
	var ids []string
	if len(f.Changes.Evidence) > 0 {
		ids = append(ids, f.Changes.Evidence[0].ID) // the search, which also shows what was not found
	}
	return ids
}

func (m *mapper) finances(f *FinanceFacts) {
	factors := []string{
		risk.F1Equity, risk.F2Repayment, risk.F3Liquidity, risk.F4Result, risk.F5RevenueTrend, risk.F6Payment, risk.F7Transparency,
	}
	if f == nil {
		m.missing(StatusNotAsked, factors...)
		return
	}
	if !f.Accounts.Status.Read() {
		m.missing(f.Accounts.Status, factors...)
		return
	}
	m.Accounts, m.Transparency = []risk.Account{}, f.Transparency
	ids := []string{}
	for _, a := range f.Accounts.Items {
		m.Accounts = append(m.Accounts, a.Account)
		ids = append(ids, a.Evidence)
	}
	if len(ids) == 0 && len(f.Accounts.Evidence) > 0 {
		ids = []string{f.Accounts.Evidence[0].ID}
	}
	for _, id := range append(factors, risk.X3Dependency) { // the latter divides by the turnover
		m.Evidence[id] = ids
	}
	if f.Transparency == "" {
		m.missing(f.Deposits.Status, risk.F7Transparency)
	}
	if len(f.Deposits.Evidence) > 0 {
		m.Evidence[risk.F7Transparency] = append(slices.Clone(ids), f.Deposits.Evidence[0].ID)
	}
}

func (m *mapper) reputation(f *ReputationFacts) {
	if f == nil {
		m.missing(StatusNotAsked, risk.I1Sanctions, risk.I2Officers, risk.I4Media)
		return
	}
	if m.Sanctions = f.SanctionsMatch; m.Sanctions == "" {
		m.missing(f.Sanctions.Status, risk.I1Sanctions)
	}
	if m.Officers = f.OfficersMatch; m.Officers == "" {
		m.missing(f.Officers.Status, risk.I2Officers)
	}
	m.Evidence[risk.I1Sanctions] = evidenceIDs(f.Sanctions.Envelope)
	m.Evidence[risk.I2Officers] = evidenceIDs(f.Officers.Envelope)
	if f.Officers.Error != nil && f.Officers.Error.Code == FailNoOfficers {
		m.Missing[risk.I2Officers] = risk.ReasonNotPublished
	}
	if f.News.Status.Read() {
		m.Media = media(f.News.Items)
	} else {
		m.missing(f.News.Status, risk.I4Media)
	}
	m.Evidence[risk.I4Media] = evidenceIDs(f.News.Envelope)
}

// media turns stories into what the scorer weighs. A story that a person has to
// read first counts as uncorroborated: it raises a flag and no points.
func media(stories []Story) []risk.Story {
	out := []risk.Story{}
	for _, s := range stories {
		if s.Gravity == 0 {
			continue
		}
		domains := len(s.Domains)
		if s.ToRead != "" {
			domains = min(domains, 1)
		}
		out = append(out, risk.Story{Weight: s.Gravity, Months: s.Months, Domains: domains})
	}
	return out
}

func evidenceIDs(e Envelope) []string {
	ids := []string{}
	for _, x := range e.Evidence {
		ids = append(ids, x.ID)
	}
	return ids
}

func (m *mapper) exposure(s supplier.Subject, f *RegistryFacts) {
	m.Country = risk.CountryOf(s.Country)
	if f != nil && len(f.LEI.Items) == 1 && s.SIREN == "" {
		m.Evidence[risk.X1Country] = []string{f.LEI.Items[0].Evidence}
	}
	if f == nil || f.Company.Status != StatusOK || len(f.Company.Items) != 1 {
		status := StatusNotAsked
		if f != nil {
			status = f.Company.Status
		}
		m.missing(status, risk.X2Sector)
		return
	}
	company := f.Company.Items[0]
	m.Sector = risk.SectorOf(company.Activity)
	m.Evidence[risk.X1Country], m.Evidence[risk.X2Sector] = []string{company.Evidence}, []string{company.Evidence}
}
