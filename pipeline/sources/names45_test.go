// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// registryOf serves a registry that holds the companies of the payloads: direct
// look-ups by number, names by any shared word, as the real search does.
func registryOf(t *testing.T) http.Handler {
	var all []rechercheUnit
	var raws []json.RawMessage
	for _, f := range []string{"one", "homonyms", "ceased", "active_but_in_liquidation", "active_no_open_establishment", "non_diffusible", "injection_name"} {
		var a struct {
			Results []json.RawMessage `json:"results"`
		}
		require.NoError(t, json.Unmarshal([]byte(payload(t, "recherche_entreprises.search."+f+".json")), &a))
		for _, raw := range a.Results {
			var u rechercheUnit
			require.NoError(t, json.Unmarshal(raw, &u))
			all, raws = append(all, u), append(raws, raw)
		}
	}
	for _, raw := range []string{
		`{"siren":"999990138","nom_complet":"CAMILLE ESSAI-FICTIF (LE PETIT ETABLI)","nom_raison_sociale":null,"nature_juridique":"1000","etat_administratif":"A",
			"siege":{"nom_commercial":"LE PETIT ETABLI","libelle_commune":"VANNES"},"complements":{"est_entrepreneur_individuel":true}}`,
		`{"siren":"999990146","nom_complet":"COMMUNE DE VELMONT-FICTIF","nom_raison_sociale":"COMMUNE DE VELMONT-FICTIF","nature_juridique":"7210","etat_administratif":"A",
			"siege":{"libelle_commune":"VELMONT"},"complements":{"est_administration":true}}`,
		`{"siren":"999990153","nom_complet":"LUMENOR SYSTEMES (ANCIENNE LAMPISTERIE)","nom_raison_sociale":"LUMENOR SYSTEMES","nature_juridique":"5710","etat_administratif":"A",
			"siege":{"nom_commercial":"ANCIENNE LAMPISTERIE","libelle_commune":"DINAN"}}`,
		`{"siren":"999990161","nom_complet":"ASC","nom_raison_sociale":"ASC","nature_juridique":"6540","etat_administratif":"A","siege":{"libelle_commune":"BREST"}}`,
		`{"siren":"999990179","nom_complet":"ASC","nom_raison_sociale":"ASC","nature_juridique":"5710","etat_administratif":"A","siege":{"libelle_commune":"NIORT"}}`,
		`{"siren":"999990187","nom_complet":"LES AMIS DU PHARE FICTIF","nom_raison_sociale":"LES AMIS DU PHARE FICTIF","nature_juridique":"9220","etat_administratif":"A",
			"siege":{"libelle_commune":"ROSCOFF"},"complements":{"est_association":true,"identifiant_association":"W291234567"}}`,
	} {
		var u rechercheUnit
		require.NoError(t, json.Unmarshal([]byte(raw), &u))
		require.True(t, supplier.ValidSIREN(u.SIREN), u.SIREN)
		all, raws = append(all, u), append(raws, json.RawMessage(raw))
	}
	mux := http.NewServeMux()
	mux.Handle("/", SampleHandler()) // the other sources
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		q, forms := r.URL.Query().Get("q"), r.URL.Query().Get("nature_juridique")
		hits := []json.RawMessage{}
		for i, u := range all {
			if forms != "" && !strings.Contains(forms, u.LegalForm) {
				continue
			}
			if u.SIREN == q || strings.HasPrefix(q, u.SIREN) && len(q) == 14 || u.Complements.RNA == q || sharesWord(u, q) {
				hits = append(hits, raws[i])
			}
		}
		total := len(hits)
		if q == "Orvelle" {
			total = 37 // the payload's own count: more than it shows
		}
		serveJSON(w, 200, map[string]any{"results": hits, "total_results": total, "page": 1, "per_page": 25, "total_pages": 1})
	})
	return mux
}

func sharesWord(u rechercheUnit, q string) bool {
	words := supplier.Words(q)
	for _, w := range words {
		if supplier.IsLegalForm(w) && !slices.Contains(supplier.Words(u.FullName), w) {
			return false // every word counts, and the legal form is rarely in the name
		}
	}
	for _, w := range words {
		for _, h := range supplier.Words(u.FullName + " " + u.HeadOffice.Address + " " + u.HeadOffice.TradeName) {
			if w == h && len(w) > 2 || len(w) > 5 && len(h) > 5 && strings.HasPrefix(w, h[:5]) {
				return true
			}
		}
	}
	return false
}

// The 45 ways to name a supplier, all of them by number. A case that another
// package tests names the test, one that needs a source which is not connected yet
// says which.
func TestTheFortyFiveWaysToNameASupplier(t *testing.T) {
	const (
		resolved   = supplier.StatusResolved
		candidates = supplier.StatusCandidates
		notFound   = supplier.StatusNotFound
		refused    = supplier.StatusRefused
	)
	up, down := standIn(t, registryOf(t)), standIn(t, answering(503, "text/html", "<html>"))
	covered := map[int]bool{}
	for _, x := range []struct {
		n      int
		in     string
		status supplier.Status
		reason supplier.Reason
		siren  string
		note   supplier.Note
	}{
		{1, "999990005", resolved, "", "999990005", ""},
		{2, "999 990 005", resolved, "", "999990005", ""},
		{2, "999.990.005", resolved, "", "999990005", ""},
		{2, "999\u00a0990\u00a0005", resolved, "", "999990005", ""},
		{3, "99999000500012", resolved, "", "999990005", supplier.NoteEstablishment},
		{3, "99999004700022", resolved, "", "999990047", supplier.NoteEstablishmentMiss},
		{4, "fr 05 999990005", resolved, "", "999990005", ""},
		{5, "FR06999990005", refused, supplier.ReasonBadVATKey, "", ""},
		{6, "999990006", refused, supplier.ReasonBadChecksum, "", ""},
		{7, "99999000", refused, supplier.ReasonWrongLength, "", ""},
		{7, "9999900050", refused, supplier.ReasonWrongLength, "", ""},
		{8, "552081317", notFound, supplier.ReasonUnknownIdentifier, "", ""},
		{9, "35600000049837", notFound, supplier.ReasonUnknownIdentifier, "", ""}, // accepted, then looked up
		{10, "DE999999999", notFound, supplier.ReasonNameNotDisclosed, "", ""},
		{11, "5299FICTIF0000000205", resolved, "", "", ""},
		{12, "Atelier Brumeval", resolved, "", "999990005", supplier.NoteResolvedByName},
		{13, "SAS Atelier Brumeval", resolved, "", "999990005", supplier.NoteResolvedByName},
		{13, "Atelier Brumeval S.A.S.", resolved, "", "999990005", supplier.NoteResolvedByName},
		{13, "Atelier Brumeval SARL", resolved, "", "999990005", supplier.NoteFormDiffers},
		{14, "SCI ASC", candidates, supplier.ReasonWeakName, "", ""},
		{15, "Orvelle", candidates, supplier.ReasonNotFullyRead, "", ""},
		{16, "Orvelle Paris", candidates, supplier.ReasonNoExactMatch, "", ""},
		{16, "Orvelle, Paris", candidates, supplier.ReasonNotFullyRead, "", ""}, // 37 results, 3 shown: others may be in Paris
		{17, "ATELIER BRUMEVALL", candidates, supplier.ReasonNoExactMatch, "", ""},
		{18, "Atélier Brumevàl", resolved, "", "999990005", ""},
		{19, "Quai de Velmont", resolved, "", "999990112", ""},
		{20, "Ferrigny & Distribution", candidates, supplier.ReasonNoExactMatch, "", ""}, // "et" is a word of the name
		{21, "St Brumeval", candidates, supplier.ReasonNoExactMatch, "", ""},
		{22, "Œuvres & Cœur", notFound, supplier.ReasonUnknownName, "", ""},
		{23, "Garage des Tilleuls", resolved, "", "999990070", ""}, // its legal name; the trade name is tested below
		{24, "SNCF", notFound, supplier.ReasonUnknownName, "", ""},
		{25, "Brumeval", candidates, supplier.ReasonNoExactMatch, "", ""}, // part of a longer name: never merged
		{26, "Ferrigny Distribution", candidates, supplier.ReasonOnlyCeased, "", ""},
		{26, "999990047", resolved, "", "999990047", ""},
		{27, "999990047", resolved, "", "999990047", ""}, // later: the successor, in INSEE Sirene's succession links, which want a key
		{28, "999990112", resolved, "", "999990112", ""},
		{29, "Lorvane BTP", resolved, "", "999990013", ""},
		{30, "999990096", resolved, "", "999990096", ""},
		{31, "Camille Essai-Fictif", candidates, supplier.ReasonPersonsName, "", ""},
		{31, "999990138", resolved, "", "999990138", ""},
		{32, "W123456789", notFound, supplier.ReasonUnknownIdentifier, "", ""},
		{32, "W291234567", resolved, "", "999990187", ""},
		{32, "Les Amis du phare fictif", resolved, "", "999990187", ""},
		{33, "Commune de Velmont-Fictif", resolved, "", "999990146", ""},
		{34, "Ancienne Lampisterie", candidates, supplier.ReasonNoExactMatch, "", ""}, // kept as a trade name; later: the names that only INSEE Sirene's history holds
		{35, "ab", refused, supplier.ReasonTooShort, "", ""},
		{36, "", refused, supplier.ReasonEmpty, "", ""},
		{36, "   ", refused, supplier.ReasonBlank, "", ""},
		{36, "---", refused, supplier.ReasonNoLetters, "", ""},
		{36, "🙂🙂🙂", refused, supplier.ReasonNoLetters, "", ""},
		{37, "12 rue des Forges Tours", candidates, supplier.ReasonNoExactMatch, "", ""},
		{38, "Газпром", notFound, supplier.ReasonUnknownName, "", ""},
		{38, "株式会社架空", notFound, supplier.ReasonUnknownName, "", ""},
		{39, "Nordwick Maschinenbau G.m.b.H.", candidates, supplier.ReasonForeignCandidates, "", ""},
		{40, "11420 CORP", notFound, supplier.ReasonUnknownName, "", ""},
		{40, "1001 Listes", notFound, supplier.ReasonUnknownName, "", ""},
		{41, "GRANIT", notFound, supplier.ReasonUnknownName, "", ""},
		{42, "Alpha SAS / Beta SARL", refused, supplier.ReasonSeveralNames, "", ""},
		{42, "Alpha\nBeta", refused, supplier.ReasonSeveralNames, "", ""},
		{44, "999990005 Lorvane BTP", refused, supplier.ReasonNameMismatch, "", ""},
		{44, "999990005 Atelier Brumeval", resolved, "", "999990005", ""},
		{45, "Atelier Brumeval", supplier.StatusUnavailable, supplier.ReasonSourceUnavailable, "", ""},
	} {
		c := up
		if x.n == 45 {
			c = down
		}
		covered[x.n] = true
		r := c.Resolve(t.Context(), x.in)
		require.Equal(t, x.status, r.Status, "case %d %q: %s %s", x.n, x.in, r.Reason, r.Detail)
		if x.reason != "" {
			require.Equal(t, x.reason, r.Reason, "case %d %q", x.n, x.in)
		}
		require.Equal(t, x.siren, r.Subject.SIREN, "case %d %q", x.n, x.in)
		if x.note != "" {
			require.Contains(t, r.Subject.Notes, x.note, "case %d %q", x.n, x.in)
		}
		require.LessOrEqual(t, len(r.Candidates), supplier.MaxCandidates)
		if x.status == candidates {
			require.NotEmpty(t, r.Candidates, "case %d %q", x.n, x.in)
		}
	}
	// Case 43, a list of suppliers, is the batch's.
	batch, err := os.ReadFile("../batch/batch_test.go")
	require.NoError(t, err)
	require.Contains(t, string(batch), "func TestRowsAreRead(")
	covered[43] = true
	for n := 1; n <= 45; n++ {
		require.True(t, covered[n], "case %d", n)
	}
}

// Without its form a name is searched among the companies of that form first. (Case 14.)
func TestALegalFormNarrowsTheSecondSearch(t *testing.T) {
	var asked []string
	inner := registryOf(t)
	c := standIn(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/search" {
			asked = append(asked, r.URL.Query().Get("q")+"|"+r.URL.Query().Get("nature_juridique"))
		}
		inner.ServeHTTP(w, r)
	}))
	r := c.Resolve(t.Context(), "SCI ASC")
	require.Equal(t, []string{"SCI ASC|", "asc|6540"}, asked)
	require.Len(t, r.Candidates, 1, "the SAS of that name is not meant")
	require.Equal(t, "999990161", r.Candidates[0].SIREN)
	asked = nil
	c.Resolve(t.Context(), "Atelier Brumeval SARL")
	require.Equal(t, []string{"Atelier Brumeval SARL|", "atelier brumeval|5499,5498", "atelier brumeval|"}, asked, "nobody of that form: the form may be wrong")
}

// A person's name is no company's: it is shown, with no more than the register's
// own words, and never chosen. (Case 31.)
func TestSoleTradersAreCandidates(t *testing.T) {
	c := standIn(t, registryOf(t))
	r := c.Resolve(t.Context(), "Camille Essai-Fictif")
	require.Equal(t, supplier.MatchExact, r.Candidates[0].Match)
	require.Equal(t, "CAMILLE ESSAI-FICTIF", r.Candidates[0].LegalName, "the trade name stands apart")
	f := research(t, c, c.Resolve(t.Context(), "999990138").Subject)
	require.Equal(t, StatusNotApplicable, f.Finances.Accounts.Status)
}

// What a public body or an association does not have is no risk. (Cases 32 and 33.)
func TestBodiesThatFileNoAccounts(t *testing.T) {
	c := standIn(t, registryOf(t))
	for _, q := range []string{"999990146", "W291234567"} {
		f := research(t, c, c.Resolve(t.Context(), q).Subject)
		require.Equal(t, StatusNotApplicable, f.Finances.Accounts.Status, q)
		require.Equal(t, StatusNotApplicable, f.Finances.Deposits.Status, q)
		for _, x := range risk.Score(f.Risk(nil), c.AsOf()).Families[1].Factors {
			require.Nil(t, x.Points, "%s: %s", q, x.ID)
			require.Equal(t, risk.ReasonNotApplicable, x.Missing, "%s: %s", q, x.ID)
		}
	}
}

func TestAPlaceNarrowsAName(t *testing.T) { // case 16
	c := sampleClient(t)
	for in, siren := range map[string]string{
		"Atelier Nordet 69": "999991078", "Atelier Nordet, Lyon": "999991078", "Atelier Nordet (59000)": "999991086", "Atelier Nordet 35": "999991060",
		"Atelier Nordet, rennes": "999991060",
	} {
		r := c.Resolve(t.Context(), in)
		require.Equal(t, supplier.StatusResolved, r.Status, "%s: %s", in, r.Reason)
		require.Equal(t, siren, r.Subject.SIREN, in)
	}
	require.Equal(t, supplier.StatusCandidates, c.Resolve(t.Context(), "Atelier Nordet 13").Status, "nobody there: the same name elsewhere is a candidate")
	require.Equal(t, supplier.StatusCandidates, c.Resolve(t.Context(), "Atelier Nordet").Status)
}

func TestRefusedInputAsksNobody(t *testing.T) {
	c := standIn(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }))
	for _, in := range []string{"999990006", "99999000", "FR06999990005", "ab", "", "\x00\x01\x02", strings.Repeat("a", 201)} {
		require.Equal(t, supplier.StatusRefused, c.Resolve(t.Context(), in).Status, in)
	}
	require.Empty(t, c.Hosts())
}

func TestRegistryDownIsUnavailable(t *testing.T) { // case 45
	for status, want := range map[int]supplier.Reason{503: supplier.ReasonSourceUnavailable, 429: supplier.ReasonRateLimited, 200: supplier.ReasonInvalidAnswer} {
		c := standIn(t, answering(status, "text/html", "<html>"))
		for _, q := range []string{"Atelier Brumeval", "999990005"} {
			r := c.Resolve(t.Context(), q)
			require.Equal(t, supplier.StatusUnavailable, r.Status)
			require.Equal(t, want, r.Reason)
			require.Zero(t, r.Subject)
		}
	}
}

func TestCandidatesSayWhyTheyMatched(t *testing.T) {
	c := standIn(t, registryOf(t))
	first := func(q string) supplier.Candidate { return c.Resolve(t.Context(), q).Candidates[0] }
	require.Equal(t, supplier.MatchTypo, first("ATELIER BRUMEVALL").Match)
	require.Equal(t, supplier.MatchedAddress, first("12 rue des Forges Tours").MatchedOn)
	require.True(t, first("Ferrigny Distribution").Ceased)
	last := c.Resolve(t.Context(), "Orvelle").Candidates[2] // case 23: legal names go before trade names
	require.Equal(t, supplier.MatchedTradeName, last.MatchedOn)
	require.Equal(t, "GARAGE DES TILLEULS", last.LegalName)
	require.Equal(t, "ORVELLE", last.Name)
	renamed := first("Ancienne Lampisterie") // case 34
	require.Equal(t, supplier.MatchedTradeName, renamed.MatchedOn)
	require.Equal(t, "LUMENOR SYSTEMES", renamed.LegalName)
}

func TestMaskedPersonsStayMasked(t *testing.T) { // case 30
	c := standIn(t, registryOf(t))
	r := c.Resolve(t.Context(), "999990096")
	f := research(t, c, r.Subject)
	require.True(t, f.Registry.Company.Items[0].Masked)
	require.Equal(t, "[NON-DIFFUSIBLE]", f.Registry.Company.Items[0].LegalName)
	require.Equal(t, StatusNotApplicable, f.Finances.Accounts.Status, "a sole trader files none")
	require.Equal(t, FailNoOfficers, f.Reputation.Officers.Error.Code)
	result := risk.Score(f.Risk(nil), c.AsOf())
	require.Equal(t, risk.ReasonNotApplicable, result.Families[1].Factors[0].Missing)
	require.Equal(t, risk.ReasonNotPublished, result.Families[2].Factors[1].Missing)
}

func TestDormantAndInLiquidation(t *testing.T) { // cases 28 and 29
	sample, err := New(Options{})
	require.NoError(t, err)
	f := research(t, sample, sample.Resolve(t.Context(), "Bâtisseurs du Menhir").Subject)
	require.Equal(t, ContradictionActiveInProcedure, f.Registry.Contradictions[0].Code)
	require.Equal(t, []string{"2026-11-10", "2026-10-20"}, f.Registry.Contradictions[0].Dates)
	c := standIn(t, registryOf(t))
	dormant := risk.Score(research(t, c, c.Resolve(t.Context(), "999990112").Subject).Risk(nil), c.AsOf())
	require.Equal(t, 70, *dormant.Families[0].Factors[0].Points)
}
