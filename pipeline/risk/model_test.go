// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseModelRefusesNonsense(t *testing.T) {
	good := string(DefaultModelFile())
	for name, change := range map[string][2]string{
		"no name":             {`"name": "sdd-1.0.0"`, `"name": ""`},
		"family weights":      {`"id": "legal", "weight": 25`, `"id": "legal", "weight": 26`},
		"factor weights":      {`"id": "L1_status", "weight": 15`, `"id": "L1_status", "weight": 16`},
		"unknown factor":      {`"L1_status"`, `"L9_status"`},
		"unknown family":      {`"id": "finance"`, `"id": "finances"`},
		"missing choice":      {`"active": 0, `, ``},
		"unknown choice":      {`"active": 0`, `"activ": 0`},
		"points over 100":     {`"ceased": 100`, `"ceased": 101`},
		"negative points":     {`"active": 0`, `"active": -1`},
		"falling bands":       {`{"below": 24, "points": 70}`, `{"below": 6, "points": 70}`},
		"no catch-all":        {`{"below": 60, "points": 25}, {"points": 0}`, `{"below": 60, "points": 25}`},
		"two catch-alls":      {`{"below": 12, "points": 100}`, `{"points": 100}`},
		"both bounds":         {`{"below": 12, "points": 100}`, `{"below": 12, "upto": 13, "points": 100}`},
		"missing floor":       {`"dormant": 25, "plan"`, `"plan"`},
		"unknown floor":       {`"dormant": 25`, `"asleep": 25`},
		"ratings order":       {`{"below": 25, "rating": "LOW"}`, `{"below": 60, "rating": "LOW"}`},
		"rating name":         {`"rating": "LOW"`, `"rating": "FINE"`},
		"coverage":            {`"insufficient_below": 40`, `"insufficient_below": 70`},
		"unknown key":         {`"name": `, `"nickname": "x", "name": `},
		"not JSON":            {`{`, `[`},
		"months":              {`"accounts_usable_months": 36`, `"accounts_usable_months": 0`},
		"text after the file": {`"thin_margin_below_pct": 1` + "\n}", `"thin_margin_below_pct": 1` + "\n} {}"},
	} {
		changed := strings.Replace(good, change[0], change[1], 1)
		require.NotEqual(t, good, changed, name)
		_, err := ParseModel([]byte(changed))
		require.ErrorIs(t, err, ErrModel, name)
	}
}

func TestAModelOfOnesOwn(t *testing.T) {
	file := bytes.Replace(DefaultModelFile(), []byte(`"name": "sdd-1.0.0"`), []byte(`"name": "acme-2"`), 1)
	file = bytes.Replace(file, []byte(`"dormant": 70`), []byte(`"dormant": 100`), 1)
	m, err := ParseModel(file)
	require.NoError(t, err)
	zero := 0
	f := Facts{Status: StatusActive, OpenEstablishments: &zero}
	r := m.Score(f, asOf)
	require.Equal(t, "acme-2", r.Model)
	require.Equal(t, m.Hash(), r.ModelHash)
	require.NotEqual(t, DefaultModel().Hash(), m.Hash())
	require.Equal(t, 100, *r.Families[0].Factors[0].Points)
}

func TestTenths(t *testing.T) {
	for _, x := range []struct {
		num, den int
		want     string
	}{{0, 1, "0.0"}, {8625, 100, "86.3"}, {1, 3, "0.3"}, {2, 3, "0.7"}, {1, 20, "0.1"}, {1, 21, "0.0"}, {1000000, 10000, "100.0"}} {
		require.Equal(t, x.want, tenths(x.num, x.den).String())
	}
	b, err := json.Marshal(struct{ X Tenths }{500})
	require.NoError(t, err)
	require.JSONEq(t, `{"X":50.0}`, string(b))
	require.Contains(t, string(b), "50.0", "always one decimal")
	var back struct{ X Tenths }
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, Tenths(500), back.X)
	require.Error(t, json.Unmarshal([]byte(`{"X":100.1}`), &back))
	require.Error(t, json.Unmarshal([]byte(`{"X":"a"}`), &back))
}

func ptr[T any](v T) *T { return &v }

func account(change func(*Account)) Account {
	a := accountsWith(40, 2, 160)[0]
	change(&a)
	return a
}

func TestBandEdges(t *testing.T) {
	points := func(f Facts, id string) int {
		for _, fam := range Score(f, asOf).Families {
			for _, x := range fam.Factors {
				if x.ID == id {
					require.NotNil(t, x.Points, id)
					return *x.Points
				}
			}
		}
		return -1
	}
	trend := func(before, now int64) Facts {
		return Facts{Accounts: []Account{
			account(func(a *Account) { a.Turnover = &now }),
			account(func(a *Account) { a.YearEnd, a.Turnover = "2024-12-31", &before }),
		}}
	}
	for _, x := range []struct {
		before, now int64
		want        int
	}{{100, 100, 0}, {1000, 999, 15}, {1000, 901, 15}, {1000, 900, 40}, {1000, 800, 70}, {1000, 700, 90}, {100, 70, 90}, {1000, 701, 70}} {
		require.Equal(t, x.want, points(trend(x.before, x.now), F5RevenueTrend), "%d to %d", x.before, x.now)
	}
	for days, want := range map[float64]int{60: 0, 60.01: 50, 89.9: 50, 90: 80} {
		require.Equal(t, want, points(Facts{Accounts: []Account{account(func(a *Account) { a.SupplierDays = &days })}}, F6Payment))
	}
	for created, want := range map[string]int{"2025-11-15": 70, "2025-11-16": 100, "2021-11-15": 0, "2021-11-16": 25} {
		require.Equal(t, want, points(Facts{Created: created}, L3Age), created)
	}
	spend := Facts{Accounts: []Account{account(func(*Account) {})}, AnnualSpend: ptr(int64(500_000))}
	require.Equal(t, 20, points(spend, X3Dependency), "ten per cent exactly is in the upper band")
}

func TestImplausibleAccounts(t *testing.T) {
	good := account(func(*Account) {})
	for _, x := range []struct {
		why    string
		change func(*Account)
	}{
		{"closing_date_in_future", func(a *Account) { a.YearEnd = "2026-12-31" }},
		{"unreadable_date", func(a *Account) { a.YearEnd = "31/12/2025" }},
		{"equity_ratio_out_of_range", func(a *Account) { a.EquityRatio = ptr(179.52) }},
		{"figure_out_of_range", func(a *Account) { a.Turnover = ptr(int64(1) << 62) }},
	} {
		r := Score(Facts{Accounts: []Account{account(x.change)}}, asOf)
		require.Equal(t, x.why, r.RejectedAccounts[0].Why)
		require.Equal(t, ReasonInvalidValue, r.Families[1].Factors[0].Missing, x.why)
	}
	require.Empty(t, Score(Facts{Accounts: []Account{good, good}}, asOf).RejectedAccounts, "the same filing twice is one filing")
	conflict := account(func(a *Account) { a.NetResult = ptr(int64(1)) })
	require.Len(t, Score(Facts{Accounts: []Account{good, conflict}}, asOf).RejectedAccounts, 2)
	thousands := account(func(a *Account) { a.YearEnd, a.Turnover = "2024-12-31", ptr(int64(5_000)) })
	require.Equal(t, ReasonNotPublished, Score(Facts{Accounts: []Account{good, thousands}}, asOf).Families[1].Factors[4].Missing, "no trend across a change of unit")
	old := account(func(a *Account) { a.YearEnd = "2022-12-31" })
	require.Equal(t, ReasonNotFound, Score(Facts{Accounts: []Account{old}}, asOf).Families[1].Factors[0].Missing, "older than 36 months is history")
	group := account(func(a *Account) { a.Perimeter, a.EquityRatio = "K", ptr(5.0) })
	require.Equal(t, 0, *Score(Facts{Accounts: []Account{good, group}}, asOf).Families[1].Factors[0].Points, "company accounts go before the group's")
}

func TestFactsOutsideTheVocabularyAreMissing(t *testing.T) {
	r := Score(Facts{Status: "X", Insolvency: "bad", Sanctions: "maybe", Country: "??"}, asOf)
	for _, fam := range r.Families {
		for _, x := range fam.Factors {
			require.Nil(t, x.Points, x.ID)
		}
	}
	require.Equal(t, RatingInsufficient, r.Rating)
}

func TestLists(t *testing.T) {
	require.Equal(t, CountryEU, CountryOf("FR"))
	require.Equal(t, CountryEU, CountryOf("NO"))
	require.Equal(t, CountryOther, CountryOf("CH"))
	require.Equal(t, CountryFATFIncreased, CountryOf("BG"), "a FATF list outweighs the Union")
	require.Equal(t, CountryFATFCall, CountryOf("IR"))
	require.Empty(t, CountryOf("France"))
	require.Empty(t, CountryOf(""))
	require.Equal(t, SectorVigilance, SectorOf("49.41A"))
	require.Equal(t, SectorNormal, SectorOf("49.10Z"))
	require.Empty(t, SectorOf(""))
}
