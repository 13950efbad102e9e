// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// ladder lists the values of one fact from best to worst and how to set them.
type ladder struct {
	name  string
	steps int
	set   func(f *Facts, step int)
}

func choices[T any](name string, values []T, field func(*Facts) *T) ladder {
	return ladder{name, len(values), func(f *Facts, step int) { *field(f) = values[step] }}
}

var ladders = []ladder{
	choices("status", []Status{StatusActive, StatusCeased}, func(f *Facts) *Status { return &f.Status }),
	choices("insolvency", []Insolvency{
		InsolvencyNone, InsolvencyClosed, InsolvencyConciliation, InsolvencyPlan, InsolvencySafeguard, InsolvencyReorganisation, InsolvencyLiquidation,
	}, func(f *Facts) *Insolvency { return &f.Insolvency }),
	choices("identity", []Identity{IdentityMatch, IdentityMismatch}, func(f *Facts) *Identity { return &f.Identity }),
	choices("sanctions", []Sanctions{SanctionsNone, SanctionsNameOnly, SanctionsStrong, SanctionsIdentifier}, func(f *Facts) *Sanctions { return &f.Sanctions }),
	choices("officers", []Officers{OfficersNone, OfficersNameOnly, OfficersNameAndBirth}, func(f *Facts) *Officers { return &f.Officers }),
	choices("debarment", []Debarment{DebarmentNone, DebarmentCandidate}, func(f *Facts) *Debarment { return &f.Debarment }),
	choices("country", []Country{CountryEU, CountryOther, CountryFATFIncreased, CountryFATFCall}, func(f *Facts) *Country { return &f.Country }),
	choices("sector", []Sector{SectorNormal, SectorVigilance}, func(f *Facts) *Sector { return &f.Sector }),
	choices("transparency", []Transparency{TransparencyPublic, TransparencyPartial, TransparencyConfidential, TransparencyNoneFiled}, func(f *Facts) *Transparency { return &f.Transparency }),
	{"changes", 5, func(f *Facts, step int) { f.Changes24Months = &[]int{0, 1, 2, 3, 9}[step] }},
	{"created", 5, func(f *Facts, step int) {
		f.Created = []string{"2009-01-01", "2022-06-01", "2024-06-01", "2025-06-01", "2026-06-01"}[step]
	}},
	{"media", 4, func(f *Facts, step int) {
		f.Media = [][]Story{{}, {{25, 2, 2}}, {{80, 2, 2}}, {{80, 2, 2}, {100, 1, 3}}}[step]
	}},
	{"equity", 5, func(f *Facts, step int) { f.Accounts = accountsWith([]float64{40, 25, 15, 5, -5}[step], 2, 160) }},
	{"liquidity", 5, func(f *Facts, step int) { f.Accounts = accountsWith(40, 2, []float64{160, 130, 110, 90, 60}[step]) }},
	{"repayment", 5, func(f *Facts, step int) { f.Accounts = accountsWith(40, []float64{2, 3.5, 6, 12, -2}[step], 160) }},
	{"establishments", 2, func(f *Facts, step int) { f.OpenEstablishments = &[]int{2, 0}[step] }},
}

func accountsWith(equity, repayment, liquidity float64) []Account {
	turnover, result, debt, days := int64(5_000_000), int64(200_000), 50.0, 40.0
	a := Account{
		YearEnd: "2025-12-31", Turnover: &turnover, NetResult: &result, EquityRatio: &equity, DebtRatio: &debt, RepaymentYears: &repayment,
		LiquidityRatio: &liquidity, SupplierDays: &days, Perimeter: "C", Confidentiality: confidentialityPublic,
	}
	b := a
	b.YearEnd = "2024-12-31"
	return []Account{a, b}
}

func rank(r Rating) int { return slices.Index(append(slices.Clone(ratingOrder), RatingStop), r) }

// Making one fact worse never makes the rating or the score better.
func TestMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	pairs := 0
	for range 12_000 {
		var f Facts
		for _, l := range ladders {
			if r.IntN(8) > 0 { // sometimes not known
				l.set(&f, r.IntN(l.steps))
			}
		}
		l := ladders[r.IntN(len(ladders))]
		step := r.IntN(l.steps - 1)
		better, worse := f, f
		l.set(&better, step)
		l.set(&worse, step+1)
		a, b := Score(better, asOf), Score(worse, asOf)
		if pairs%100 == 0 {
			require.Equal(t, a, Score(better, asOf), "the same facts give the same result")
		}
		if a.Interval[0] > a.Interval[1] || a.Base != nil && (a.Interval[0] > *a.Base || *a.Base > a.Interval[1]) {
			t.Fatalf("interval %v around %v: %v", a.Interval, a.Base, better)
		}
		if a.Rating == RatingInsufficient || b.Rating == RatingInsufficient {
			continue
		}
		pairs++
		if rank(a.Rating) > rank(b.Rating) || a.Score != nil && b.Score != nil && *a.Score > *b.Score ||
			a.Decision != DecisionStandard && b.Decision == DecisionStandard {
			t.Fatalf("%s from step %d makes %s %v better: %s %v", l.name, step, a.Rating, a.Score, b.Rating, b.Score)
		}
	}
	require.Greater(t, pairs, 5_000)
}

// Forgetting a fact never turns a supplier LOW that was not: hidden data do not
// improve the rating of a mandatory check.
func TestAMissingMandatoryCheckIsNeverLow(t *testing.T) {
	full := Facts{Media: []Story{}, Accounts: accountsWith(40, 2, 160)}
	for _, l := range ladders {
		l.set(&full, 0)
	}
	require.Equal(t, RatingLow, Score(full, asOf).Rating)
	for name, forget := range map[string]func(*Facts){
		L1Status: func(f *Facts) { f.Status = "" }, L2Insolvency: func(f *Facts) { f.Insolvency = "" }, I1Sanctions: func(f *Facts) { f.Sanctions = "" },
	} {
		f := full
		forget(&f)
		r := Score(f, asOf)
		require.Equal(t, RatingMedium, r.Rating, name)
		require.Equal(t, DecisionReview, r.Decision)
		require.Equal(t, []string{name}, r.MandatoryMissing)
	}
}

func TestContributionsAddUpByHand(t *testing.T) {
	var f Facts
	for _, l := range ladders {
		l.set(&f, l.steps-1)
	}
	r := Score(f, asOf)
	sum, known := 0, 0
	for _, fam := range r.Families {
		for _, x := range fam.Factors {
			if x.Points != nil {
				sum += fam.Weight * x.Weight * *x.Points
				known += fam.Weight * x.Weight
			}
		}
	}
	require.Equal(t, tenths(sum, known), *r.Base)
	require.Equal(t, tenths(known, 100), r.Coverage)
}

func FuzzScore(f *testing.F) {
	f.Add([]byte(`{"status":"A","insolvency":"none","accounts":[{"year_end":"2025-12-31","turnover":1}]}`))
	f.Add([]byte(`{"accounts":[{"year_end":"2025-12-31","perimeter":"C","turnover":9223372036854775807,"equity_ratio_pct":1e308}],"annual_spend":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var facts Facts
		if json.Unmarshal(data, &facts) != nil {
			return
		}
		r := Score(facts, asOf)
		require.NotEmpty(t, r.Rating)
		require.GreaterOrEqual(t, r.Coverage, Tenths(0))
		require.LessOrEqual(t, r.Coverage, Tenths(1000))
		require.LessOrEqual(t, r.Interval[1], Tenths(1000))
		if r.Score != nil {
			require.LessOrEqual(t, *r.Score, Tenths(1000))
		}
	})
}

func BenchmarkScore(b *testing.B) {
	var f Facts
	for _, l := range ladders {
		l.set(&f, 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		Score(f, asOf)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "µs/score")
}
