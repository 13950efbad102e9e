// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch_test

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/batch"
	"github.com/gardefou/gardefou/pipeline/report"
)

// overviewRows are the cells of the overview's table, its header first.
func overviewRows(t *testing.T, dir string) (rows [][]string, page string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	for _, row := range regexp.MustCompile(`<tr.*?</tr>`).FindAllString(string(data), -1) {
		var cells []string
		for _, m := range regexp.MustCompile(`<t[dh][^>]*>(.*?)</t[dh]>`).FindAllStringSubmatch(row, -1) {
			cells = append(cells, html.UnescapeString(m[1]))
		}
		rows = append(rows, cells)
	}
	return rows, string(data)
}

// Every row of the overview begins with its rating, its supplier and why; next step and
// status are those of the summary and of what Done is called with.
func TestTheOverviewSaysWhyAndWhatToDo(t *testing.T) {
	const file = "name\nTransports Kervalec\nBâtisseurs du Menhir\nAtelier Nordet\nZorglub\n\"Transports\" x\nPhare du Raz Négoce\nab\n"
	for lang, want := range map[text.Lang]struct {
		header                   []string
		none, stop, mend, reason string
	}{
		text.English: {[]string{"rating", "supplier", "why", "next step"}, "without a report", "Do not order. A person has to look at this first.", "Correct the row, then run the batch again.", "Open judicial liquidation"},
		text.French:  {[]string{"niveau", "fournisseur", "pourquoi", "suite"}, "sans rapport", "Ne pas commander. Une personne doit d'abord examiner ce dossier.", "Corriger la ligne, puis relancer le lot.", "Liquidation judiciaire ouverte"},
	} {
		dir := t.TempDir()
		o := options(t, dir)
		o.Pipeline.Lang = string(lang)
		said := map[int]batch.Row{}
		o.Done = func(r batch.Row) { said[r.Number] = r }
		_, err := batch.Run(t.Context(), strings.NewReader(file), o)
		require.NoError(t, err)
		rows, page := overviewRows(t, dir)
		require.Equal(t, want.header, rows[0][:4])
		inSummary := map[string]map[string]string{}
		for _, row := range summary(t, dir) {
			inSummary[row["row"]] = row
		}
		require.Len(t, rows, 8)
		words := map[string]bool{}
		for _, cells := range rows[1:] {
			for i, cell := range cells[:5] {
				require.NotEmpty(t, cell, "%v: %d", cells, i)
			}
			kept := inSummary[cells[len(cells)-1]]
			require.Equal(t, kept["next_step"], cells[3])
			require.Equal(t, text.Get(lang, text.Key("run."+kept["status"])), cells[4])
			require.NotContains(t, cells[4], "run.", "each status has a word")
			words[cells[4]] = true
			switch {
			case kept["error"] != "":
				require.Equal(t, []string{want.none, kept["error"]}, []string{cells[0], cells[2]})
			case kept["rating"] == "STOP":
				require.Equal(t, []string{want.reason, want.stop}, cells[2:4])
			}
		}
		require.Len(t, words, 6, "%v", words)
		require.Contains(t, page, `<td class="rating stop">`)
		require.Contains(t, page, `<td class="rating low">`)
		require.Equal(t, want.mend, said[4].Next)
		require.Equal(t, want.stop, said[3].Next)
		require.Equal(t, want.reason, said[3].Why)
		for number, r := range said {
			require.Equal(t, inSummary[strconv.Itoa(number)]["status"], r.Status)
		}
	}
}

// A rating has the colour that it has on the page of a report.
func TestTheOverviewHasTheColoursOfReports(t *testing.T) {
	dir := t.TempDir()
	_, err := batch.Run(t.Context(), strings.NewReader("Transports Kervalec\n"), options(t, dir))
	require.NoError(t, err)
	_, page := overviewRows(t, dir)
	colour := func(style, class string) string {
		m := regexp.MustCompile(class + `\b[^{]*\{[^}]*?(#[0-9a-f]{6})`).FindStringSubmatch(style)
		require.NotNil(t, m, class)
		return m[1]
	}
	for _, tone := range []string{"low", "medium", "high", "critical", "stop", "open"} {
		require.Equal(t, colour(string(report.AnswerStyle), `\.answer\.`+tone), colour(page, `\.rating\.`+tone), tone)
	}
}
