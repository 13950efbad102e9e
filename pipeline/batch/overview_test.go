// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch_test

import (
	"context"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/batch"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/sources"
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

// A batch that is interrupted leaves an overview and a summary that say which runs were begun,
// where they are kept, and which rows have none; the next batch goes on with them.
func TestAnInterruptedBatchLeavesAnOverview(t *testing.T) {
	const list = "name\nTransports Kervalec\n\nZorglub\nBâtisseurs du Menhir\n\"open\n"
	for name, keep := range map[string]bool{"kept": true, "not kept": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			q := question{Day: sources.SampleDate}
			o := q.ask(t, dir, sources.Options{})
			o.Jobs = 1
			o.Pipeline.Model = brittle{calls: new(atomic.Int64), failAt: 4, end: cancel}
			folder := "999991011"
			if !keep {
				o.Keep, folder = nil, ""
			}
			got, err := batch.Run(ctx, strings.NewReader(list), o)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, batch.Summary{Interrupted: 1, NotBegun: 2, Failed: 1}, got)
			var statuses []string
			rows := summary(t, dir)
			for _, row := range rows {
				statuses = append(statuses, row["status"])
			}
			require.Equal(t, []string{"interrupted", "blank", "not_begun", "not_begun", "unreadable"}, statuses)
			require.Equal(t, folder, rows[0]["folder"])
			require.Equal(t, "Bâtisseurs du Menhir", rows[3]["name"])
			table, page := overviewRows(t, dir)
			require.Contains(t, page, "Interrupted: 1 begun, 0 finished, 2 not begun.")
			require.NotContains(t, page, "partial")
			require.Len(t, table, 5)
			require.Equal(t, []string{"unreadable", "interrupted", "not begun", "not begun"}, []string{table[1][4], table[2][4], table[3][4], table[4][4]})
			require.Contains(t, table[2][1], "999991011")
			if keep {
				require.Equal(t, "Run the batch again: it goes on with the run in 999991011.", table[2][3])
				require.Equal(t, table[2][3], rows[0]["next_step"])
			}
			left, err := filepath.Glob(filepath.Join(dir, ".*"))
			require.NoError(t, err)
			require.Empty(t, left)

			got, err = batch.Run(t.Context(), strings.NewReader(list), q.ask(t, dir, sources.Options{}))
			require.NoError(t, err)
			require.Equal(t, batch.Summary{Done: 2, Failed: 2}, got)
			_, page = overviewRows(t, dir)
			require.NotContains(t, page, "Interrupted")
			require.Equal(t, "999991011", summary(t, dir)[0]["folder"])
		})
	}
}
