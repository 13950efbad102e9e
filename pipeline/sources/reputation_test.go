// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

func sampleList(t testing.TB) *freezeList {
	t.Helper()
	l, err := parseFreezes(sampleFreezes())
	require.NoError(t, err)
	return l
}

func TestScreenSubject(t *testing.T) {
	l := sampleList(t)
	for _, x := range []struct {
		name        string
		s           supplier.Subject
		class       risk.Sanctions
		contradicts string
	}{
		{"nobody", supplier.Subject{LegalName: "Atelier Brumeval", Country: "FR"}, risk.SanctionsNone, ""},
		{"part of a listed name", supplier.Subject{LegalName: "Talvoria Industrial", Country: "FR"}, risk.SanctionsNone, ""},
		{"more than a listed name", supplier.Subject{LegalName: "Talvoria Industrial Group Services", Country: "FR"}, risk.SanctionsNone, ""},
		{"homonym elsewhere", supplier.Subject{LegalName: "TALVORIA INDUSTRIAL GROUP SARL", Country: "FR"}, risk.SanctionsNameOnly, "country"},
		{"any order", supplier.Subject{LegalName: "Group Talvoria Industrial", Country: "FR"}, risk.SanctionsNameOnly, "country"},
		{"alias", supplier.Subject{LegalName: "Talvoria SAS"}, risk.SanctionsNameOnly, ""},
		{"Cyrillic alias", supplier.Subject{LegalName: "ТАЛВОРИЯ"}, risk.SanctionsNameOnly, ""},
		{"romanised alias", supplier.Subject{LegalName: "Talvoriia"}, risk.SanctionsNameOnly, ""},
		{"trade name", supplier.Subject{LegalName: "Autre", TradeNames: []string{"Talvoria"}}, risk.SanctionsNameOnly, ""},
		{"one word", supplier.Subject{LegalName: "Granit", Country: "FR"}, risk.SanctionsNameOnly, ""},
		{"a ship", supplier.Subject{LegalName: "Brumeval Star", Country: "FR"}, risk.SanctionsNameOnly, "nature"},
		{"a person's surname", supplier.Subject{LegalName: "Taverniol", Country: "FR"}, risk.SanctionsNameOnly, "nature"},
		{"identifier", supplier.Subject{LegalName: "Autre nom", VAT: "7799 000 000"}, risk.SanctionsIdentifier, ""},
		{"city", supplier.Subject{LegalName: "Talvoria Industrial Group", City: "Ville Fictive"}, risk.SanctionsStrong, ""},
		{"nothing to match", supplier.Subject{LegalName: "SAS"}, risk.SanctionsNone, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := l.screenSubject(x.s)
			require.Equal(t, string(x.class), best(got))
			if x.contradicts != "" {
				require.Contains(t, got[0].Contradicts, x.contradicts)
			}
		})
	}
}

func TestScreenOfficers(t *testing.T) {
	l := sampleList(t)
	for _, x := range []struct {
		name string
		o    rechercheOfficer
		want risk.Officers
	}{
		{"birth month", rechercheOfficer{LastName: "TAVERNIOL", FirstNames: "KARL MICHEL", BirthMonth: "1981-11"}, risk.OfficersNameAndBirth},
		{"other month", rechercheOfficer{LastName: "TAVERNIOL", FirstNames: "KARL", BirthMonth: "1981-10"}, risk.OfficersNameOnly},
		{"other year", rechercheOfficer{LastName: "TAVERNIOL", FirstNames: "KARL", BirthMonth: "1955-11"}, risk.OfficersNameOnly},
		{"no birth", rechercheOfficer{LastName: "Taverniol", FirstNames: "Karl"}, risk.OfficersNameOnly},
		{"other first name", rechercheOfficer{LastName: "TAVERNIOL", FirstNames: "ANNE", BirthMonth: "1981-11"}, risk.OfficersNone},
		{"company", rechercheOfficer{Name: "TALVORIA INDUSTRIAL GROUP", SIREN: "999990393"}, risk.OfficersNameOnly},
	} {
		require.Equal(t, string(x.want), best(l.screenOfficer(x.o)), x.name)
	}
}

func TestListNamesThatMatchNothing(t *testing.T) { // hostile case 30
	entries := make([]string, 0, minFreezeEntries)
	for i := range minFreezeEntries - 3 {
		entries = append(entries, fmt.Sprintf(`{"IdRegistre":%d,"Nature":"Personne morale","Nom":"Inventé %d"}`, i, i))
	}
	entries = append(entries, `{"IdRegistre":5001,"Nature":"Personne morale","Nom":""}`,
		`{"IdRegistre":5002,"Nature":"Personne morale","Nom":"A"}`,
		`{"IdRegistre":5003,"Nature":"Personne morale","Nom":"SAS","RegistreDetail":[{"TypeChamp":"ALIAS","Valeur":["Tolérant", 5, {"Alias":"B"}]}]}`)
	l, err := parseFreezes(listOf(entries...))
	require.NoError(t, err)
	require.Equal(t, 5, l.ignored) // the empty name, A, SAS, B, and the value that is no text
	require.Empty(t, l.screenSubject(supplier.Subject{LegalName: "A SAS"}))
	require.Len(t, l.screenSubject(supplier.Subject{LegalName: "Tolérant"}), 1, "a bare string is a value too")
}

func listOf(entries ...string) []byte {
	return []byte(`{"Publications":{"DatePublication":"2026-11-14T09:12:31.1234567+01:00","PublicationDetail":[` + strings.Join(entries, ",") + `]}}`)
}

// screenWith runs a screening against a register that answers date and file.
func screenWith(t *testing.T, date, file http.Handler) ReputationFacts {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("GET "+freezePath+"derniere-publication-date", date)
	mux.Handle("GET "+freezePath+"derniere-publication-fichier-json", file)
	mux.Handle("/", SampleHandler())
	return standIn(t, mux).Reputation(t.Context(), supplier.Subject{LegalName: "TRANSPORTS KERVALEC", SIREN: "999991011", Country: "FR"})
}

// A list that is not whole, not the latest or unreadable never reads as "no
// match": the check counts as not done. (Hostile case 29.)
func TestListThatMustNotBeScreened(t *testing.T) {
	whole := string(sampleFreezes())
	dated := func(s string) http.Handler {
		return answering(200, "application/json", strings.Replace(whole, "2026-11-14T09:12:31.1234567+01:00", s, 1))
	}
	date := answering(200, "text/plain", `"14/11/2026 09:12:31"`)
	down := answering(503, "text/plain", "")
	for _, x := range []struct {
		name       string
		date, file http.Handler
		status     Status
		code       string
	}{
		{"three entries", date, answering(200, "application/json", payload(t, "gels_avoirs.json")), StatusInvalid, FailMalformed},
		{"cut", date, answering(200, "application/json", whole[:len(whole)-100]), StatusInvalid, FailMalformed},
		{"no date", date, dated("yesterday"), StatusInvalid, FailMalformed},
		{"future", date, dated("2027-11-14T09:12:31+01:00"), StatusInvalid, FailStale},
		{"not the latest", date, dated("2026-11-01T09:12:31+01:00"), StatusInvalid, FailStale},
		{"old, date unknown", down, dated("2026-11-01T09:12:31+01:00"), StatusInvalid, FailStale},
		{"down", date, down, StatusUnavailable, FailHTTPStatus},
	} {
		t.Run(x.name, func(t *testing.T) {
			f := screenWith(t, x.date, x.file)
			require.Equal(t, x.status, f.Sanctions.Status)
			require.Equal(t, x.code, f.Sanctions.Error.Code)
			require.Empty(t, f.SanctionsMatch)
			require.Empty(t, f.OfficersMatch)
			result := risk.Score(Facts{Reputation: &f}.Risk(nil), SampleDate)
			require.Contains(t, result.MandatoryMissing, risk.I1Sanctions)
		})
	}
	for name, date := range map[string]http.Handler{"announced": date, "date down, list fresh": down} {
		f := screenWith(t, date, dated("2026-11-14T09:12:31.1234567+01:00"))
		require.Equal(t, risk.SanctionsNone, f.SanctionsMatch, name)
		require.Equal(t, "2026-11-14T09:12:31.1234567+01:00", *f.Sanctions.ListVersion)
		require.NotEmpty(t, f.Sanctions.SHA256)
	}
	old := screenWith(t, answering(200, "text/plain", "01/11/2026 09:12:31"), dated("2026-11-01T09:12:31+01:00"))
	require.Equal(t, risk.SanctionsNone, old.SanctionsMatch, "nothing was published since: the old list is the current one")
}

// The list is asked for once, then only its date, and again only when that
// changes.
func TestListIsDownloadedOnlyWhenItChanges(t *testing.T) {
	dates, files := 0, 0
	published := "14/11/2026 09:12:31"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+freezePath+"derniere-publication-date", func(w http.ResponseWriter, _ *http.Request) {
		dates++
		_, _ = w.Write([]byte(published))
	})
	mux.HandleFunc("GET "+freezePath+"derniere-publication-fichier-json", func(w http.ResponseWriter, r *http.Request) {
		files++
		serveFreezes(w, r)
	})
	synctest.Test(t, func(t *testing.T) {
		now := SampleDate
		c, err := New(Options{Mode: ModeLive, Transport: handlerTransport{mux}, Clock: func() time.Time { return now }})
		require.NoError(t, err)
		ask := func() *freezeList {
			_, l := c.freezeRegister(context.Background())
			return l
		}
		require.NotNil(t, ask())
		require.NotNil(t, ask())
		require.Equal(t, []int{1, 1}, []int{dates, files})
		now = now.Add(freezesFresh)
		require.NotNil(t, ask())
		require.Equal(t, []int{2, 1}, []int{dates, files})
		now, published = now.Add(freezesFresh), "17/11/2026 08:00:00"
		require.Nil(t, ask(), "the register announces a list that it does not serve yet")
		require.Equal(t, []int{3, 2}, []int{dates, files})
	})
}

func TestNewsPayloads(t *testing.T) {
	kestramar := supplier.Subject{LegalName: "KESTRAMAR LOGISTIQUE", SIREN: "999990021", Country: "FR"}
	ask := func(s supplier.Subject, body string) Answer[Story] {
		return standIn(t, answering(200, "text/html; charset=utf-8", body)).news(t.Context(), s)
	}
	a := ask(kestramar, payload(t, "gdelt.artlist.json"))
	require.Equal(t, StatusOK, a.Status)
	require.Len(t, a.Items, 2)
	require.Equal(t, Story{
		Evidence: "E-NEW-002", Title: "Kestramar Logistique condamnée pour travail dissimulé", URL: "https://news.example.org/a1",
		Seen: "2026-09-18", Months: 1, Domains: []string{"example.net", "example.org"}, Gravity: 100,
	}, a.Items[1])
	require.Zero(t, a.Items[0].Gravity)

	require.Equal(t, StatusNotFound, ask(kestramar, payload(t, "gdelt.empty.json")).Status)
	require.Equal(t, StatusRateLimited, ask(kestramar, payload(t, "gdelt.error.rate_limit.txt")).Status)
	require.Equal(t, StatusNotAsked, ask(kestramar, payload(t, "gdelt.error.phrase_too_short.txt")).Status)
	require.Equal(t, StatusInvalid, ask(kestramar, `Queries containing OR'd terms must be surrounded by ().`).Status)
	require.Equal(t, StatusInvalid, ask(kestramar, `{"error":"x"}`).Status, "only {} means that nothing was found")
	require.Equal(t, StatusInvalid, ask(kestramar, `{"articles":null}`).Status)
	escaped := ask(supplier.Subject{LegalName: "Brumeval", Country: "FR"}, payload(t, "gdelt.invalid_escape.json"))
	require.Equal(t, StatusOK, escaped.Status)
	require.Equal(t, "Prix d'excellence pour Brumeval", escaped.Items[0].Title)
}

// Titles are data: nothing in them moves the score, and no address from them is
// a link. (Hostile cases 3 to 8 and 22.)
func TestInjectedNewsChangesNothing(t *testing.T) {
	c := standIn(t, answering(200, "application/json", payload(t, "gdelt.injection.json")))
	a := c.news(t.Context(), subject)
	require.Equal(t, StatusOK, a.Status)
	require.NotEmpty(t, a.Items)
	for _, s := range a.Items {
		require.Zero(t, s.Gravity)
		require.NotContains(t, s.Title, "\x1b")
		require.NotContains(t, s.Title, "\u202e")
		require.NotContains(t, s.URL, "javascript")
	}
	for _, e := range a.Evidence {
		require.True(t, strings.HasPrefix(e.URL, c.gdelt.base), e.URL)
	}
	require.Empty(t, media(a.Items))
}

func TestStoriesAboutOthersOrDenialsAreForAPersonToRead(t *testing.T) { // hostile cases 31 to 33
	art := func(title, country, domain string) gdeltArticle {
		return gdeltArticle{URL: "https://" + domain + "/x", Title: title, Seen: "20261001T000000Z", Domain: domain, Country: country}
	}
	s := supplier.Subject{LegalName: "Orvelle Industrie", Country: "FR"}
	for _, x := range []struct {
		name string
		arts []gdeltArticle
		want []risk.Story
	}{
		{"elsewhere", []gdeltArticle{art("Orvelle Industrie condamnée pour fraude", "Canada", "a.example.com"), art("Orvelle Industrie condamnée pour fraude", "Canada", "b.example.net")}, []risk.Story{{Weight: 100, Months: 1, Domains: 1}}},
		{"denial", []gdeltArticle{art("Orvelle Industrie dément toute fraude", "France", "a.example.com"), art("Orvelle Industrie dément toute fraude", "France", "b.example.net")}, []risk.Story{{Weight: 80, Months: 1, Domains: 1}}},
		{"acquittal", []gdeltArticle{art("Orvelle Industrie acquittée de corruption", "France", "a.example.com")}, []risk.Story{{Weight: 80, Months: 1, Domains: 1}}},
		{"one publisher, many hosts", []gdeltArticle{art("Orvelle Industrie : enquête pour fraude", "France", "a.example.com"), art("Enquête pour fraude : Orvelle Industrie", "France", "b.example.com")}, []risk.Story{{Weight: 80, Months: 1, Domains: 1}}},
		{"another company", []gdeltArticle{art("Orvelle condamnée", "France", "a.example.com")}, []risk.Story{}},
		{"an address for a domain", []gdeltArticle{art("Orvelle Industrie condamnée", "France", "10.0.0.1")}, []risk.Story{{Weight: 100, Months: 1, Domains: 0}}},
	} {
		require.Equal(t, x.want, media(stories(x.arts, s, day(SampleDate))), x.name)
	}
	var mirrors []gdeltArticle
	for i := range 10_000 {
		mirrors = append(mirrors, art("Orvelle Industrie condamnée pour fraude", "France", fmt.Sprintf("m%d.example.com", i)))
	}
	body, err := json.Marshal(gdeltAnswer{Articles: mirrors})
	require.NoError(t, err)
	read, err := decodeNews(body)
	require.NoError(t, err)
	require.Len(t, read, maxArticles)
	require.Len(t, stories(read, s, day(SampleDate)), 1)
}

func TestNewsQuery(t *testing.T) { // hostile case 17
	for in, want := range map[string]string{
		`Atelier "Brumeval" OR (x)`: `"Atelier Brumeval OR x"`, "sourcelang:french Brumeval": `"sourcelang french Brumeval"`, "L'Étoile d’Or": `"L'Étoile d’Or"`,
	} {
		got, ok := newsQuery(in)
		require.True(t, ok)
		require.Equal(t, want, got)
		require.Equal(t, 2, strings.Count(got, `"`))
	}
	for _, weak := range []string{"Or", "GRANIT", "Services France", "3M", ""} {
		_, ok := newsQuery(weak)
		require.False(t, ok, weak)
	}
}
