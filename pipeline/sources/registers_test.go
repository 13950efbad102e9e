// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

func TestVATPayloads(t *testing.T) {
	for _, x := range []struct {
		file   string
		status Status
		valid  bool
		name   string
	}{
		{"vies.get.valid.json", StatusOK, true, "SAS ATELIER BRUMEVAL"},
		{"vies.get.invalid.json", StatusInvalid, false, ""}, // answers about FR00999990005
		{"vies.get.ms_unavailable.json", StatusUnavailable, false, ""},
		{"vies.get.ip_blocked.json", StatusUnavailable, false, ""},
		{"vies.post.error_wrappers.json", StatusInvalid, false, ""},
	} {
		c := standIn(t, answering(200, "application/json", payload(t, x.file)))
		a := c.vatCheck(t.Context(), subject, []string{"FR05999990005"})
		require.Equal(t, x.status, a.Status, "%s %+v", x.file, a.Error)
		if x.status == StatusOK {
			require.Equal(t, x.valid, a.Items[0].Valid, x.file)
			require.Equal(t, x.name, a.Items[0].Name, x.file)
		}
	}
}

// Only the code INVALID makes a number invalid; a company without a number is
// not asked about.
func TestInvalidVATIsAContradictionAndAbsenceIsNot(t *testing.T) {
	invalid := `{"isValid":false,"userError":"INVALID","name":"---","vatNumber":"05999990005"}`
	c := standIn(t, answering(200, "application/json", invalid))
	a := c.vatCheck(t.Context(), subject, []string{"FR05999990005"})
	require.Equal(t, StatusOK, a.Status)
	f := RegistryFacts{Subject: subject, VAT: a}
	require.Equal(t, risk.IdentityMismatch, identity(f))
	require.Equal(t, StatusNotApplicable, c.vatCheck(t.Context(), subject, nil).Status)
	require.Empty(t, identity(RegistryFacts{Subject: subject}))
}

func TestLEIPayloads(t *testing.T) {
	ask := func(file string, s supplier.Subject) Answer[LEIRecord] {
		return standIn(t, answering(200, "application/json", payload(t, file))).leiRecord(t.Context(), s)
	}
	one := ask("gleif.lei-records.one.json", subject)
	require.Equal(t, StatusOK, one.Status)
	require.Equal(t, "9695FICTIF0000000109", one.Items[0].LEI)
	require.Equal(t, "2026-11-15", one.DataAsOf)
	require.Equal(t, StatusNotFound, ask("gleif.lei-records.none.json", subject).Status)
	lapsed := ask("gleif.lei-records.lapsed.json", supplier.Subject{SIREN: "999990021"})
	require.Equal(t, "LAPSED", lapsed.Items[0].Registration)
	require.True(t, lapsed.Items[0].Active, "an unpaid renewal is no insolvency")
	require.Equal(t, FailOtherCompany, ask("gleif.lei-records.german.json", subject).Error.Code)
	require.Equal(t, FailMalformed, ask("gleif.direct-parent.404.json", subject).Error.Code)
	missing := standIn(t, answering(404, "application/json", payload(t, "gleif.direct-parent.404.json")))
	require.Equal(t, StatusNotFound, missing.leiRecord(t.Context(), supplier.Subject{LEI: "9695FICTIF0000000109"}).Status)
}

func TestAFrenchLEILeadsToTheRegistry(t *testing.T) { // case 11
	c := sampleClient(t)
	f := c.Registry(t.Context(), c.Resolve(t.Context(), "Transports Kervalec").Subject)
	r := c.Resolve(t.Context(), f.LEI.Items[0].LEI)
	require.Equal(t, supplier.StatusResolved, r.Status)
	require.Equal(t, "999991011", r.Subject.SIREN)
	require.Equal(t, f.LEI.Items[0].LEI, r.Subject.LEI)
}

func TestForeignCompanyIsResearchedAsFarAsSourcesGo(t *testing.T) {
	c := sampleClient(t)
	r := c.Resolve(t.Context(), "5299FICTIF0000000205")
	require.Equal(t, "DE", r.Subject.Country)
	f := research(t, c, r.Subject)
	for _, e := range []Envelope{f.Registry.Company.Envelope, f.Registry.Procedures.Envelope, f.Finances.Accounts.Envelope, f.Reputation.Officers.Envelope} {
		require.Equal(t, StatusNotAsked, e.Status, "it applies: nobody looked")
		require.Equal(t, FailNoSource, e.Error.Code)
	}
	require.Equal(t, risk.SanctionsNone, f.Reputation.SanctionsMatch)
	result := risk.Score(f.Risk(nil), c.AsOf())
	require.Equal(t, risk.DecisionReview, result.Decision)
	require.Contains(t, result.MandatoryMissing, risk.L2Insolvency)
	require.Equal(t, 0, *result.Families[0].Factors[0].Points, "the LEI record says active")
}

func TestGLEIFDownDoesNotHideWhatTheRegistrySaid(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/", SampleHandler())
	mux.Handle("GET "+gleifPath, answering(503, "text/plain", ""))
	r := standIn(t, mux).Resolve(t.Context(), "Nobody By This Name")
	require.Equal(t, supplier.StatusNotFound, r.Status)
	require.Contains(t, r.Detail, "GLEIF")
}

func TestSaleRoles(t *testing.T) {
	person := func(siren string) string {
		return `{"personne":{"numeroImmatriculation":{"numeroIdentification":"` + siren + `"}}}`
	}
	n := bodaccNotice{Persons: person("999 990 062")}
	require.Equal(t, RoleBuyer, n.saleRole("999990062", &Notice{}))
	n.FormerOwner = person("999 990 054")
	require.Equal(t, RoleSeller, n.saleRole("999990054", &Notice{}))
	require.Equal(t, RoleBuyer, n.saleRole("999990062", &Notice{}))
	require.Equal(t, RoleUnknown, n.saleRole("999990005", &Notice{}))
	c := standIn(t, answering(200, "application/json", payload(t, "bodacc.vente.two_parties.json")))
	require.Equal(t, RoleUnknown, c.changes(t.Context(), "999990062").Items[0].Role, "two persons and no former owner: nobody can tell")
}

func TestStrikingOff(t *testing.T) {
	struck := Notice{Family: familyStrike, Evidence: "E-MOD-001", Published: "2026-01-05"}
	_, ok := strikeOff([]Notice{struck})
	require.True(t, ok)
	_, ok = strikeOff([]Notice{struck, {Family: familyRegistration}})
	require.False(t, ok, "registered again since")
	_, ok = strikeOff([]Notice{{Family: familyStrike, Text: "Transfert du siège hors ressort"}})
	require.False(t, ok)
	active := RegistryFacts{
		Company: Answer[Company]{Envelope: Envelope{Status: StatusOK, DataAsOf: "2026-11-10"}, Items: []Company{{Evidence: "E-REG-001", Active: true}}},
		Changes: Answer[Notice]{Items: []Notice{struck}},
	}
	require.Equal(t, []Contradiction{{Code: ContradictionActiveStruckOff, Evidence: []string{"E-REG-001", "E-MOD-001"}, Dates: []string{"2026-11-10", "2026-01-05"}}}, contradictions(active))
}

func TestDeposits(t *testing.T) {
	c := standIn(t, answering(200, "application/json", payload(t, "bodacc.dpc.confidential.json")))
	f := FinanceFacts{Deposits: c.deposits(t.Context(), "999990039")}
	require.Equal(t, "2025-12-31", f.Deposits.Items[0].YearEnd)
	f.Accounts.Status = StatusNotFound
	require.Equal(t, risk.TransparencyConfidential, transparency(f, "2010-01-01", c.AsOf()))
	f.Deposits.Items = nil
	require.Equal(t, risk.TransparencyNoneFiled, transparency(f, "2010-01-01", c.AsOf()))
	require.Equal(t, risk.TransparencyNotDue, transparency(f, "2026-01-01", c.AsOf()))
	f.Deposits.Status = StatusUnavailable
	require.Empty(t, transparency(f, "2010-01-01", c.AsOf()), "nobody looked")
}

func TestRatioPayloads(t *testing.T) {
	ask := func(file, siren string) Answer[Account] {
		return standIn(t, answering(200, "application/json", payload(t, file))).accounts(t.Context(), siren)
	}
	partial := ask("ratios_inpi_bce.partially_confidential.json", "999990054").Items[0]
	require.Nil(t, partial.Turnover, "zero is how the register writes not declared")
	require.EqualValues(t, 15750, *partial.NetResult)
	mixed := ask("ratios_inpi_bce.unit_mismatch_and_bad_ratio.json", jsonSIREN(t, "ratios_inpi_bce.unit_mismatch_and_bad_ratio.json"))
	require.Len(t, mixed.Items, 3)
	require.Equal(t, FailMalformed, ask("ratios_inpi_bce.v1_legacy_shape.json", brumeval).Error.Code)
	holding := ask("ratios_inpi_bce.holding_result_over_revenue.json", jsonSIREN(t, "ratios_inpi_bce.holding_result_over_revenue.json")).Items[0]
	require.Greater(t, *holding.NetResult, *holding.Turnover, "legitimate in a holding")
}
