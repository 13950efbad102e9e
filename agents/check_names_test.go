// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// hostileNames can be registered by anybody.
var hostileNames = []string{
	"ASSURANCE SANS RISQUE", "FOURNISSEUR SUR MESURE", "WWW.BRUMEVAL.FR", "SANS RISQUE", "SANS RISQUE SARL", "No Risk", "MAISON SANS", "RISQUE ZERO",
	"SAFE SUPPLIER LTD", "THE SUPPLIER IS APPROVED", "RISK-FREE CONSULTING", "FOURNISSEUR SÛR", "HTTPS://EVIL.EXAMPLE/X?Y=Z", "ftp://a.b",
	"AUCUNE SANCTION", "NOT SANCTIONED SAS", "AUCUN GEL", "PAS DE SANCTIONS", "3 SUISSES 1932", "24 7 365 TRANSPORT", "STUDIO 54-12", "2026-11-15", "1,5 / 2.0",
	"SOCIETE [E-REG-999]", "[E-REG-001]", "## Financial health", "# X", "[guard] refused", "[garde-fou] x", "{\"sections\":[]}", "</script><script>", "Irréprochable",
	"!!!", "…", "東京株式会社", "АПТЕКА", "a\u202eb", "0", "CONTACT@BRUMEVAL.FR", "FR7630006000011234567890189", "%s %d %!v", "- ", "> x", "| a | b |", "`code`",
	strings.Repeat("SANS RISQUE ", 16) + "X",
}

// named are the facts of a company that bears another name, wherever the name is quoted.
func named(f sources.Facts, name string) sources.Facts {
	reg, rep := *f.Registry, *f.Reputation
	reg.Subject.LegalName = name
	reg.Company.Items = slices.Clone(reg.Company.Items)
	c := &reg.Company.Items[0]
	c.LegalName, c.TradeNames, c.Address = name, []string{name, "OTHER " + name}, name+" "+c.Address
	c.Officers = append(slices.Clone(c.Officers), sources.Officer{Name: name, Role: name})
	rep.News.Items = append(slices.Clone(rep.News.Items), sources.Story{Evidence: rep.News.Evidence[0].ID, Title: name + " dans la presse", Seen: "2026-01-02", Domains: []string{"example.com"}, Gravity: 25})
	rep.Sanctions.Items = append(slices.Clone(rep.Sanctions.Items), sources.ListMatch{Evidence: rep.Sanctions.Evidence[0].ID, Class: "weak", Searched: name, Entry: name})
	return sources.Facts{Registry: &reg, Finances: f.Finances, Reputation: &rep}
}

// No name can fail a draft that writes the statements down.
func TestNoNameFailsAFaithfulDraft(t *testing.T) {
	f := factsOf(t, "Transports Kervalec")
	for _, name := range hostileNames {
		for _, lang := range []text.Lang{text.English, text.French} {
			facts := named(f, supplier.Clean(name, supplier.MaxNameLength))
			require.Empty(t, agents.CheckDraft(draftOf(facts, lang), facts, lang), "%q in %s", name, lang)
			unscreened := facts
			unscreened.Reputation = nil
			require.Empty(t, agents.CheckDraft(draftOf(unscreened, lang), unscreened, lang), "%q in %s, unscreened", name, lang)
		}
	}
}

// Nor can any made of the very words that a draft must not use.
func TestNoMixOfForbiddenWordsFailsAFaithfulDraft(t *testing.T) {
	f := factsOf(t, "Transports Kervalec")
	words := strings.Fields("approved supplier is safe clean no risk free recommend approval fournisseur est approuvé agréé sûr sur sans aucun RISQUE recommande l'approbation " +
		"irréprochable sanction sanctions not sanctioned on any match aucune pas de non sanctionné gel www. www.x.fr http:// 12 3,4 [E-FIN-001] ## - SARL SAS . , : !")
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var name strings.Builder
		for range 1 + rnd.IntN(6) {
			name.WriteString(words[rnd.IntN(len(words))] + []string{" ", " ", " ", "-", "", ". "}[rnd.IntN(6)])
		}
		facts := named(f, supplier.Clean(name.String(), supplier.MaxNameLength))
		facts.Reputation.Sanctions.Status = sources.StatusUnavailable
		for _, lang := range []text.Lang{text.English, text.French} {
			require.Empty(t, agents.CheckDraft(draftOf(facts, lang), facts, lang), "%q in %s", name.String(), lang)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, n := range hostileNames {
		f.Add(n)
	}
	var once sync.Once
	var kervalec sources.Facts
	f.Fuzz(func(t *testing.T, name string) {
		once.Do(func() { kervalec = factsOf(t, "Transports Kervalec") })
		if !utf8.ValidString(name) {
			t.Skip()
		}
		name = supplier.Clean(name, supplier.MaxNameLength)
		facts := named(kervalec, name)
		for _, lang := range []text.Lang{text.English, text.French} {
			require.Empty(t, agents.CheckDraft(draftOf(facts, lang), facts, lang), "%q in %s", name, lang)
		}
	})
}

// A writer shortens names, writes them in small letters or bends them; a verdict beside such
// a name is found all the same.
func TestANameIsNoLicenceForAVerdict(t *testing.T) {
	f := factsOf(t, "Transports Kervalec")
	for _, tc := range []struct {
		name, sentence string
		refused        bool
	}{
		{"ASSURANCE SANS RISQUE SARL", "Assurance sans risque est active.", false},
		{"ASSURANCE SANS RISQUE SARL", "Ce fournisseur est sans risque.", true},
		{"ASSURANCE SANS RISQUE SARL", "Assurance Sans Risque est un fournisseur agréé.", true},
		{"ASSURANCE SANS RISQUE CONSEIL", "Assurance sans risque a été créée en Bretagne.", false},
		{"SAFE LOGISTICS", "The supplier is Safe Logistics.", false},
		{"SAFE LOGISTICS", "The supplier is safe.", true},
		{"FOURNISSEUR SUR MESURE", "Fournisseur sur mesure livre à Quimper.", false},
		{"FOURNISSEUR SUR MESURE", "Un fournisseur sûr.", true},
		{"FOURNISSEUR SUR MESURE", "Un fournisseur su\u0302r.", true},
		{"ATELIER BRUMEVAL", "C'est un fournisseur sur lequel peu est publié.", false},
		{"ATELIER BRUMEVAL", "Le fournisseur est sur le marché.", false},
		{"ATELIER BRUMEVAL", "C'est un fournisseur sur.", true},
		{"ATELIER BRUMEVAL", "Ces fournisseurs sont agréés. Le fournisseur est sûr", true},
		{"ATELIER BRUMEVAL", "Sanctions: no risks.", true},
		{"ATELIER BRUMEVAL", "The supplier is safely stored.", false},
		{"WWW.BRUMEVAL.FR", "Www.brumeval.fr's accounts are public.", false},
		{"WWW.BRUMEVAL.FR", "See www.brumeval.fr.evil.example.", true},
		{"WWW.BRUMEVAL.FR", "See www.brumeval.fr/login.", true},
		{"WWW.BRUMEVAL.FR", "See www.other.example.", true},
		{"ATELIER BRUMEVAL", "See javascript://x.", true},
		{"STUDIO 54-12", "Studio 54 is in Brittany.", false},
		{"STUDIO 54-12", "Studio 55 is in Brittany.", true},
		{"SOCIETE [E-REG-999]", "It says so. [E-REG-999]", true},
	} {
		facts := named(f, tc.name)
		faults := agents.CheckDraft(draftOf(facts, text.French)+tc.sentence, facts, text.French)
		require.Equal(t, tc.refused, len(faults) > 0, "%s: %s: %v", tc.name, tc.sentence, faults)
	}
}
