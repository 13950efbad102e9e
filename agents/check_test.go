// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
)

func factsOf(t *testing.T, name string) sources.Facts {
	t.Helper()
	c, err := sources.New(sources.Options{})
	require.NoError(t, err)
	r := c.Resolve(t.Context(), name)
	reg, fin, rep := c.Registry(t.Context(), r.Subject), c.Finances(t.Context(), r.Subject), c.Reputation(t.Context(), r.Subject)
	return sources.Facts{Registry: &reg, Finances: &fin, Reputation: &rep}
}

// draftOf writes the statements down, as a faithful writer would.
func draftOf(f sources.Facts, lang text.Lang) string {
	var sb strings.Builder
	for _, s := range agents.Sections(f, lang) {
		fmt.Fprintf(&sb, "## %s\n\n", s.Title)
		for _, st := range s.Statements {
			sb.WriteString(st.Text)
			for _, id := range st.Evidence {
				fmt.Fprintf(&sb, " [%s]", id)
			}
			sb.WriteString("\n")
		}
		sb.WriteString("\n")
	}
	return sb.String()
}

func TestAFaithfulDraftPasses(t *testing.T) {
	for _, name := range []string{"Transports Kervalec", "999991052", "Bâtisseurs du Menhir", "Horlogerie du Léguer", "{x} Négoce Briochin"} {
		f := factsOf(t, name)
		for _, lang := range []text.Lang{text.English, text.French} {
			require.Empty(t, agents.CheckDraft(draftOf(f, lang), f, lang), "%s in %s", name, lang)
		}
	}
}

func TestCheckDraftFindsWhatIsWrong(t *testing.T) {
	f := factsOf(t, "Transports Kervalec")
	good := draftOf(f, text.English)
	unscreened := factsOf(t, "Transports Kervalec")
	unscreened.Reputation.Sanctions = sources.Answer[sources.ListMatch]{Envelope: sources.Envelope{Source: "gels_avoirs", Status: sources.StatusUnavailable}}
	for name, tc := range map[string]struct {
		draft string
		facts sources.Facts
		want  string
	}{
		"nothing":            {"", f, "section missing"},
		"a section left out": {strings.Replace(good, "## Financial health", "## Money", 1), f, "section missing: Financial health"},
		"no citation":        {strings.ReplaceAll(good, "[E-RAT", "[X-RAT"), f, ""},
		"invented evidence":  {good + "More. [E-REG-999]", f, "unknown evidence: E-REG-999"},
		"invented figure":    {good + "Turnover will be 7,200,000 EUR.", f, "a figure that no statement holds: 7,200,000"},
		"a wrong year":       {good + "Founded in 1999.", f, "1999"},
		"a rounded figure":   {good + "About 6.1 million.", f, "6.1"},
		"an address":         {good + "See https://example.com/report.", f, "an address"},
		"a verdict":          {good + "This is an approved supplier.", f, "approved supplier"},
		"a French verdict":   {good + "Ce fournisseur est sûr.", f, "fournisseur est sûr"},
		"a check not done":   {draftOf(unscreened, text.English) + "No sanctions were found.", unscreened, "no sanction"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := agents.CheckDraft(tc.draft, tc.facts, text.English)
			require.NotEmpty(t, faults)
			require.Contains(t, strings.Join(faults, "\n"), tc.want)
		})
	}
	require.Empty(t, agents.CheckDraft(good+"Turnover was 6 140 000 EUR, for the year closed on 31/12/2025.", f, text.English), "another way of writing the same")
	require.Empty(t, agents.CheckDraft(good+"No sanctions were found.", f, text.English), "where the list was read it may be said")
}
