// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/pipelinetest"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// officialAddresses are what the stand-in's address stands for.
var officialAddresses = []string{
	"https://recherche-entreprises.api.gouv.fr", "https://bodacc-datadila.opendatasoft.com", "https://data.economie.gouv.fr",
	"https://gels-avoirs.dgtresor.gouv.fr", "https://api.gdeltproject.org", "https://api.gleif.org", "https://ec.europa.eu",
}

// comparable is a report's JSON without what tells a live run from a sample run:
// where it was read, and when.
func comparableReport(t *testing.T, r report.Report, address string, dates *strings.Replacer) string {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal(r.JSON(), &m))
	delete(m, "id")
	run, ok := m["run"].(map[string]any)
	require.True(t, ok)
	for _, key := range []string{"mode", "fictional", "hosts", "overrides"} {
		require.Contains(t, run, key)
		delete(run, key)
	}
	raw, err := json.MarshalIndent(m, "", " ")
	require.NoError(t, err)
	text := string(raw)
	for _, official := range officialAddresses {
		text = strings.ReplaceAll(text, official, address)
	}
	return dates.Replace(text)
}

// A live run of each sample supplier, over HTTP and four days later, gives the report
// of its sample run except for where and when the answers were read.
func TestALiveReportEqualsTheSampleReport(t *testing.T) {
	server := httptest.NewServer(sources.SampleHandler())
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	u := server.URL
	later := sources.SampleDate.AddDate(0, 0, 4).Add(3 * time.Hour)
	live, err := sources.New(sources.Options{
		Mode: sources.ModeLive, AllowPrivateHosts: true, RetryWait: time.Microsecond, AsOf: sources.SampleDate,
		BaseURLs: sources.BaseURLs{RechercheEntreprises: u, BODACC: u, Ratios: u, AssetFreezes: u, GDELT: u, GLEIF: u, VIES: u},
		Clock:    func() time.Time { return later },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, live.Close()) })
	c := pipelinetest.Sample(t)
	var pairs []string
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2 January 2006", "02/01/2006"} {
		pairs = append(pairs, later.Format(layout), sources.SampleDate.Format(layout))
	}
	dates := strings.NewReplacer(pairs...)
	var done []string
	for _, query := range append(sources.SampleNames(), "999991052", "999991060", "999991078", "999991086", "5299FICTIF0000000205") {
		a, b := c.Resolve(t.Context(), query), live.Resolve(t.Context(), query)
		require.Equal(t, a, b, query)
		if a.Status != supplier.StatusResolved || slices.Contains(done, a.Subject.LegalName+a.Subject.SIREN) {
			continue
		}
		done = append(done, a.Subject.LegalName+a.Subject.SIREN)
		for _, lang := range []string{"en", "fr"} {
			want := pipelinetest.Research(t, pipeline.Options{Setup: agents.Setup{Model: offline.Model{}}, Lang: lang, Sources: c}, query).Report
			got := pipelinetest.Research(t, pipeline.Options{Setup: agents.Setup{Model: offline.Model{}}, Lang: lang, Sources: live}, query).Report
			require.Equal(t, comparableReport(t, want, u, dates), comparableReport(t, got, u, dates), query)
			require.Equal(t, sources.ModeLive, got.Run.Mode)
			require.Contains(t, string(got.JSON()), later.Format(time.DateOnly), "it was read on another day")
		}
	}
	require.Len(t, done, 14, "all of the set but the one whose registry is down")
}

// With any one source down the report says so, in its own words, and the rating is
// what the model makes of the rest.
func TestTheReportWithOneSourceDown(t *testing.T) {
	c := pipelinetest.Sample(t)
	whole := pipelinetest.Subject(t, c, pipelinetest.Kervalec)
	all := pipelinetest.Research(t, pipeline.Options{Setup: agents.Setup{Model: offline.Model{}}, Sources: c}, pipelinetest.Kervalec).Report
	for name, tc := range map[string]struct {
		path     string
		checks   []string
		mandated string // the mandatory factor that is missing
		rating   risk.Rating
		decision risk.Decision
		en, fr   string
	}{
		"recherche_entreprises": {
			"/search",
			[]string{"company", "figures", "officers"},
			risk.L1Status, risk.RatingMedium, risk.DecisionReview,
			"Annuaire des entreprises unavailable on 15 November 2026: check not done.", "Annuaire des entreprises\u00a0: source indisponible le 15/11/2026, contrôle non effectué.",
		},
		"bodacc": {
			"/annonces-",
			[]string{"procedures", "changes", "deposits"},
			risk.L2Insolvency, risk.RatingMedium, risk.DecisionReview,
			"BODACC unavailable on 15 November 2026: check not done.", "BODACC\u00a0: source indisponible le 15/11/2026, contrôle non effectué.",
		},
		"ratios_inpi_bce": {
			"/ratios_inpi_bce/",
			[]string{"accounts"},
			"", risk.RatingMedium, risk.DecisionReview,
			"INPI/BCE ratios unavailable on 15 November 2026: check not done.", "Ratios INPI/BCE\u00a0: source indisponible le 15/11/2026, contrôle non effectué.",
		},
		"gels_avoirs": {
			"/ApiPublic/",
			[]string{"sanctions", "officers"},
			risk.I1Sanctions, risk.RatingMedium, risk.DecisionReview,
			"The register of asset freezes unavailable on 15 November 2026: check not done.", "Registre des gels des avoirs\u00a0: source indisponible le 15/11/2026, contrôle non effectué.",
		},
		"gdelt": {
			"/api/v2/doc/doc",
			[]string{"news"},
			"", risk.RatingLow, risk.DecisionReview,
			"GDELT unavailable on 15 November 2026: check not done.", "GDELT\u00a0: source indisponible le 15/11/2026, contrôle non effectué.",
		},
		"gleif": {
			"/api/v1/lei-records",
			[]string{"lei"},
			"", risk.RatingLow, risk.DecisionStandard,
			"GLEIF unavailable on 15 November 2026: check not done.", "GLEIF\u00a0: source indisponible le 15/11/2026, contrôle non effectué.",
		},
		"vies": {
			"/taxation_customs/",
			[]string{"vat"},
			"", risk.RatingLow, risk.DecisionStandard,
			"VIES unavailable on 15 November 2026: check not done.", "VIES\u00a0: source indisponible le 15/11/2026, contrôle non effectué.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lang := range []report.Lang{report.English, report.French} {
				client := pipelinetest.Sources(t, func(w http.ResponseWriter, r *http.Request) bool {
					if strings.Contains(r.URL.Path, tc.path) {
						http.Error(w, "<html>down</html>", http.StatusServiceUnavailable)
						return true
					}
					return false
				})
				p, err := pipeline.New(pipeline.Options{Setup: agents.Setup{Model: offline.Model{}}, Lang: string(lang), Sources: client})
				require.NoError(t, err)
				out, err := p.Run(t.Context(), whole, pipelinetest.Kervalec)
				require.NoError(t, err)
				r := out.Report
				var notDone []string
				for _, k := range r.Checks {
					if k.Outcome.NotDone() {
						notDone = append(notDone, k.ID)
					}
				}
				require.ElementsMatch(t, tc.checks, notDone)
				require.Equal(t, tc.rating, r.Summary.Rating)
				require.Equal(t, tc.decision, r.Summary.Decision)
				require.Equal(t, tc.mandated != "", slices.Contains(r.Risk.MandatoryMissing, tc.mandated))
				require.Equal(t, risk.Score(r.Facts.Risk(nil), sources.SampleDate), r.Risk, "the model's own rating of these facts")
				want := tc.en
				if lang == report.French {
					want = tc.fr
				}
				md := r.Markdown(lang)
				require.Contains(t, md, want)
				require.Contains(t, string(r.HTML(lang)), want)
				require.GreaterOrEqual(t, r.Risk.Interval[1], all.Risk.Interval[1], "what is hidden widens the interval")
				require.LessOrEqual(t, r.Risk.Coverage, all.Risk.Coverage)
			}
		})
	}
}
