// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var asOf = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

// golden is one vector of the reference model; its sentences are matched to our
// codes by goldenFloors and by the letter and number that start them.
type golden struct {
	Facts    Facts `json:"facts"`
	Expected struct {
		Score            *Tenths   `json:"score"`
		Base             *Tenths   `json:"base_score"`
		Interval         [2]Tenths `json:"interval"`
		Coverage         Tenths    `json:"coverage"`
		Rating           Rating    `json:"rating"`
		Decision         Decision  `json:"decision"`
		Stops            []string  `json:"stops"`
		MandatoryMissing []string  `json:"mandatory_missing"`
		Floors           []string  `json:"floors"`
		Reviews          []string  `json:"reviews"`
		Notes            []string  `json:"notes"`
		Rejected         []struct {
			Date string `json:"date"`
			Type string `json:"type"`
		} `json:"rejected_accounts"`
		Families map[string]struct {
			Score    *Tenths `json:"score"`
			Coverage int     `json:"coverage"`
			Factors  map[string]struct {
				Points *int `json:"points"`
			} `json:"factors"`
		} `json:"families"`
	} `json:"expected"`
}

var goldenFloors = map[FloorCode]string{
	FloorDormant: "presumed dormant", FloorPlan: "reorganisation or safeguard plan", FloorSafeguard: "open safeguard",
	FloorReorganisation: "open judicial reorganisation", FloorUnclassifiedNotice: "unclassified collective",
	FloorIdentifiersDisagree: "identifiers disagree", FloorNegativeEquity: "negative equity", FloorSanctionsNamesake: "unresolved namesake",
	FloorSanctionsStrong: "strong sanctions", FloorOfficer: "officer sanctions candidate", FloorDebarment: "debarment candidate",
	FloorAdverseCoverage: "corroborated adverse coverage", FloorFATFCall: "FATF call", FloorFamilyHigh: "family ", FloorFamilyRaised: "family ",
}

func TestGoldenScores(t *testing.T) {
	data, err := os.ReadFile("testdata/score.golden.json")
	require.NoError(t, err)
	data = []byte(strings.NewReplacer(
		"date_cloture_exercice", "year_end", "chiffre_d_affaires", "turnover", "resultat_net", "net_result",
		"autonomie_financiere", "equity_ratio_pct", "taux_d_endettement", "debt_ratio_pct",
		"capacite_de_remboursement", "repayment_years", "ratio_de_liquidite", "liquidity_ratio_pct",
		"credit_fournisseurs_jours", "supplier_days", "type_bilan", "perimeter",
	).Replace(string(data)))
	var vectors map[string]golden
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.Len(t, vectors, 17)
	for name, v := range vectors {
		t.Run(name, func(t *testing.T) {
			got, want := Score(v.Facts, asOf), v.Expected
			require.Equal(t, want.Score, got.Score)
			require.Equal(t, want.Base, got.Base)
			require.Equal(t, want.Interval, got.Interval)
			require.Equal(t, want.Coverage, got.Coverage)
			require.Equal(t, want.Rating, got.Rating)
			require.Equal(t, want.Decision, got.Decision)
			require.ElementsMatch(t, want.MandatoryMissing, got.MandatoryMissing)
			require.Len(t, got.Notes, len(want.Notes))
			var stops, reviews []string
			for _, s := range got.Stops {
				stops = append(stops, string(s.Code))
			}
			for _, r := range got.Reviews {
				reviews = append(reviews, string(r))
			}
			requireSameNumbers(t, want.Stops, stops)
			requireSameNumbers(t, want.Reviews, reviews)
			require.Len(t, got.Floors, len(want.Floors))
			for i, f := range got.Floors {
				require.True(t, strings.HasPrefix(want.Floors[i], goldenFloors[f.Code]), "%s is not %q", f.Code, want.Floors[i])
			}
			require.Len(t, got.RejectedAccounts, len(want.Rejected))
			for i, r := range got.RejectedAccounts {
				require.Equal(t, want.Rejected[i].Date+want.Rejected[i].Type, r.YearEnd+r.Perimeter)
			}
			for _, fam := range got.Families {
				w := want.Families[fam.ID]
				require.Equal(t, w.Score, fam.Score, fam.ID)
				require.Equal(t, w.Coverage, fam.Coverage, fam.ID)
				require.Len(t, fam.Factors, len(w.Factors))
				for _, f := range fam.Factors {
					require.Equal(t, w.Factors[f.ID].Points, f.Points, f.ID)
					require.Equal(t, f.Points == nil, f.Missing != "", f.ID)
				}
			}
		})
	}
}

// requireSameNumbers compares "R4 ask the supplier" with "R4_ask_for_accounts".
func requireSameNumbers(t *testing.T, want, got []string) {
	t.Helper()
	number := func(s string) string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '_' })[0]
	}
	var a, b []string
	for _, s := range want {
		a = append(a, number(s))
	}
	for _, s := range got {
		b = append(b, number(s))
	}
	require.ElementsMatch(t, a, b)
}
