// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

func seed(f *testing.F, files ...string) {
	for _, name := range files {
		f.Add([]byte(payload(f, name)))
	}
	f.Add([]byte(`{"results":[{"siren":1e999}],"total_results":1}`))
	f.Add([]byte(`{"total_count":1,"total_count":0,"results":[{}]}`))
	f.Add([]byte("<html>"))
	f.Add([]byte(`null`))
}

// requireClean refuses what no text from outside may carry on.
func requireClean(t *testing.T, texts ...string) {
	t.Helper()
	for _, s := range texts {
		require.LessOrEqual(t, len([]rune(s)), supplier.MaxTitleLength)
		require.False(t, strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }), "%q", s)
	}
}

func FuzzRecherche(f *testing.F) {
	seed(f, "recherche_entreprises.search.one.json", "recherche_entreprises.search.homonyms.json", "recherche_entreprises.search.injection_name.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := decodeRecherche(body)
		if err != nil {
			return
		}
		for _, u := range *a.Results {
			c := u.company("E-REG-001")
			require.True(t, supplier.ValidSIREN(c.SIREN))
			requireClean(t, c.LegalName, c.Address, c.City, c.Acronym)
			requireClean(t, c.TradeNames...)
			for _, o := range c.Officers {
				requireClean(t, o.Name, o.Role)
			}
			settle(supplier.Query{Name: "Atelier"}, supplier.Normalize("Atelier"), *a.Results, *a.TotalResults)
		}
	})
}

func FuzzNotices(f *testing.F) {
	seed(f, "bodacc.all.healthy.json", "bodacc.collective.cancelled_notice.json", "bodacc.collective.bad_inner_json.json", "bodacc.vente.two_parties.json", "bodacc.dpc.confidential.json")
	c := sampleClient(f)
	families := []string{familyCollective, familyConciliation, familyRecovery, familyModification, familyStrike, familySale, familyDeposit}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := decodeNotices(body, brumeval, families)
		if err != nil {
			return
		}
		env := Envelope{Status: StatusOK}
		answer := c.noticeAnswer(env, *a.Results, brumeval, "E-BOD", "search")
		for _, n := range answer.Items {
			requireClean(t, n.Nature, n.Text, n.Court)
		}
		state := insolvency(counted(answer.Items), SampleDate)
		require.NotEmpty(t, state.State)
	})
}

func FuzzAccounts(f *testing.F) {
	seed(f, "ratios_inpi_bce.ok.json", "ratios_inpi_bce.unit_mismatch_and_bad_ratio.json", "ratios_inpi_bce.partially_confidential.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := decodeAccounts(body, brumeval)
		if err != nil {
			return
		}
		accounts := []risk.Account{}
		for _, r := range *a.Results {
			account := r.account()
			accounts = append(accounts, account.Account)
			toMap(account)
		}
		risk.Score(risk.Facts{Accounts: accounts}, SampleDate)
	})
}

func FuzzFreezes(f *testing.F) {
	seed(f, "gels_avoirs.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		// Pad what parses, so that the fuzzer gets past the size check.
		i := strings.LastIndex(string(body), "]")
		if i < 0 || i > 1<<16 {
			return
		}
		pad := strings.Repeat(`,{"IdRegistre":1,"Nom":"x"}`, minFreezeEntries)
		l, err := parseFreezes([]byte(string(body[:i]) + pad + string(body[i:])))
		if err != nil {
			return
		}
		for _, m := range l.screenSubject(supplier.Subject{LegalName: "Talvoria Industrial Group", Country: "FR", City: "Fictive"}) {
			requireClean(t, m.Entry, m.LegalBasis)
			require.Contains(t, gravest, m.Class)
		}
		l.screenOfficer(rechercheOfficer{LastName: "TAVERNIOL", FirstNames: "KARL", BirthMonth: "1981-11"})
	})
}

func FuzzNews(f *testing.F) {
	seed(f, "gdelt.artlist.json", "gdelt.injection.json", "gdelt.invalid_escape.json", "gdelt.empty.json", "gdelt.error.rate_limit.txt")
	f.Fuzz(func(t *testing.T, body []byte) {
		articles, err := decodeNews(body)
		if err != nil {
			return
		}
		for _, s := range stories(articles, subject, day(SampleDate)) {
			requireClean(t, s.Title, s.URL)
			requireClean(t, s.Domains...)
			require.True(t, s.URL == "" || strings.HasPrefix(s.URL, "http://") || strings.HasPrefix(s.URL, "https://"))
		}
	})
}

func FuzzRegisters(f *testing.F) {
	seed(f, "gleif.lei-records.one.json", "gleif.lei-records.german.json", "vies.get.valid.json", "vies.get.ip_blocked.json", "vies.post.error_wrappers.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		if l, err := decodeLEIs(body); err == nil {
			for _, r := range *l.Data {
				lei := r.lei()
				require.True(t, supplier.ValidLEI(lei.LEI))
				requireClean(t, lei.LegalName, lei.City)
			}
		}
		if v, err := decodeVAT(body, "05999990005"); err == nil {
			requireClean(t, v.disclosed())
			require.NotNil(t, v.Valid)
		}
	})
}

func FuzzFrenchDate(f *testing.F) {
	for _, s := range []string{"2026-06-16", "1er janvier 2020", "16/06/2026", "27 novembre 2008"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d := frenchDate(s); d != "" {
			_, err := time.Parse(time.DateOnly, d)
			require.NoError(t, err)
		}
	})
}

// bigList is a list of the register's size: about 6 300 entries with aliases,
// addresses and reasons, 12 MB of JSON.
func bigList(b *testing.B) []byte {
	var entries []string
	reason := strings.Repeat("Motif fictif de longueur réelle. ", 48)
	for i := range 6300 {
		entries = append(entries, fmt.Sprintf(`{"IdRegistre":%d,"Nature":"Personne morale","Nom":"Société Fictive %d Industrie","RegistreDetail":[`+
			`{"TypeChamp":"ALIAS","Valeur":[{"Alias":"Fictive %d"},{"Alias":"ФИКТИВ %d"}]},{"TypeChamp":"ADRESSE_PM","Valeur":[{"Adresse":"%d rue des Essais","Pays":"FRANCE"}]},`+
			`{"TypeChamp":"MOTIFS","Valeur":[{"Motifs":"%s"}]}]}`, i, i, i, i, i, reason))
	}
	return listOf(entries...)
}

// screenLinearly is the plain way: compare the name with every name of every
// entry. It exists to measure the index against.
func (l *freezeList) screenLinearly(names []supplier.Name, n supplier.Name) (hits int) {
	for _, m := range names {
		if supplier.CompareNames(n, m) == supplier.MatchExact {
			hits++
		}
	}
	return hits
}

func BenchmarkScreenOneName(b *testing.B) {
	data := bigList(b)
	start := time.Now()
	l, err := parseFreezes(data)
	require.NoError(b, err)
	built := time.Since(start)
	var names []supplier.Name
	for i := range l.entries {
		for _, text := range []string{fmt.Sprintf("Société Fictive %d Industrie", i), fmt.Sprintf("Fictive %d", i), fmt.Sprintf("FIKTIV %d", i)} {
			names = append(names, supplier.Normalize(text))
		}
	}
	s := supplier.Subject{LegalName: "Société Fictive 4242 Industrie", Country: "FR"}
	n := supplier.Normalize(s.LegalName)
	require.Len(b, l.screenSubject(s), 1)
	require.Equal(b, 1, l.screenLinearly(names, n))
	var indexed, linear time.Duration
	for b.Loop() {
		t0 := time.Now()
		l.screenSubject(s)
		t1 := time.Now()
		l.screenLinearly(names, n)
		indexed, linear = indexed+t1.Sub(t0), linear+time.Since(t1)
	}
	b.ReportMetric(float64(len(data))/1e6, "MB_list")
	b.ReportMetric(float64(built.Milliseconds()), "ms/index")
	b.ReportMetric(float64(indexed.Microseconds())/float64(b.N), "µs/indexed")
	b.ReportMetric(float64(linear.Microseconds())/float64(b.N), "µs/linear")
	b.ReportMetric(float64(linear)/float64(indexed), "linear/indexed")
}

func BenchmarkResolveOver10000Candidates(b *testing.B) {
	units := make([]rechercheUnit, 10_000)
	for i := range units {
		units[i] = rechercheUnit{SIREN: "999990005", State: "A", LegalName: fmt.Sprintf("Atelier Brumeval %d", i), Acronym: "AB", HeadOffice: rechercheSite{TradeName: "Brumeval Services"}}
	}
	units[9_999].LegalName = "Atelier Brumeval"
	q := supplier.Query{Name: "Atelier Brumeval"}
	n := supplier.Normalize(q.Name)
	for b.Loop() {
		if r := settle(q, n, units, len(units)); r.Status != supplier.StatusResolved {
			b.Fatal(r.Reason)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/10000_candidates")
}
