// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/csv"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/pipeline/runpage"
)

// suppliers writes a list and returns its path.
func suppliers(t *testing.T, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "suppliers.csv")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(rows, "\n")), 0o600))
	return path
}

// summaryOf returns a column of a batch's summary, by SIREN.
func summaryOf(t *testing.T, dir, column string) map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(file(t, dir, "summary.csv"))).ReadAll()
	require.NoError(t, err)
	at := make(map[string]int)
	for i, name := range rows[0] {
		at[name] = i
	}
	out := make(map[string]string)
	for _, row := range rows[1:] {
		out[row[at["siren"]]] = row[at[column]]
	}
	return out
}

// A partial report is not taken for a whole one: the exit code, the line, the summary and the
// overview say what it is, and the next batch, or resume, goes on with its run without asking
// for anything twice.
func TestBatchWithPartialReports(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	for name, tc := range map[string]struct {
		budget       string
		dead         bool
		code         int
		status, word string
	}{
		"no money":     {"0.002", false, exitExhausted, "budget_exhausted", "budget exhausted, partial"},
		"a dead model": {"1", true, exitFailed, "failed", "failed, partial"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := newRequests()
			var dead atomic.Bool
			s := standin.Gemini(t, offline.Model{}, func(n int, w http.ResponseWriter, _ *http.Request, body []byte) bool {
				if dead.Load() && n%7 >= 5 {
					standin.GeminiError(w, http.StatusServiceUnavailable, "overloaded")
					return true
				}
				asked.add(body)
				return false
			})
			dead.Store(tc.dead)
			list := suppliers(t, "Transports Kervalec", "Bâtisseurs du Menhir")
			dir := t.TempDir()
			args := []string{"batch", list, "-o", dir, "-j", "1", "--model", "gemini-2.5-flash", "--base-url", s.URL, "--as-of", "2026-11-15", "--budget"}
			first := command(t, append(args, tc.budget)...)
			require.Equal(t, tc.code, first.code, first.stderr)
			require.Contains(t, first.stderr, tc.word)
			require.Contains(t, first.stderr, "0 researched, 2 partial")
			require.Contains(t, first.stderr, "Run the same batch again")
			require.Equal(t, map[string]string{"999991011": tc.status, "999991029": tc.status}, summaryOf(t, dir, "status"))
			overview := file(t, dir, runpage.IndexFile)
			require.Contains(t, overview, "2 reports are partial")
			require.Contains(t, overview, "<td>"+strings.ReplaceAll(tc.status, "_", " ")+"</td>")
			require.Contains(t, file(t, dir, "999991011", runpage.IndexFile), "duediligence resume "+dir+"/999991011")

			dead.Store(false)
			alone := command(t, "resume", filepath.Join(dir, "999991029"), "--base-url", s.URL, "--budget", "+1")
			require.Equal(t, exitOK, alone.code, alone.stderr)
			second := command(t, append(args, "2")...)
			require.Equal(t, exitOK, second.code, second.stderr)
			require.Contains(t, second.stderr, "1 researched, 0 partial, 1 kept", "the one that was resumed alone is whole")
			require.Zero(t, asked.again(), "no answer is paid for twice")
			require.NotContains(t, file(t, dir, runpage.IndexFile), "partial")
			bill, err := s.Bill("gemini", "gemini-2.5-flash")
			require.NoError(t, err)
			total := 0.0
			for siren, cost := range summaryOf(t, dir, "cost_usd") {
				require.Contains(t, file(t, dir, runpage.IndexFile), "<td>"+cost+"</td>", siren)
				usd, err := strconv.ParseFloat(cost, 64)
				require.NoError(t, err)
				total += usd
			}
			require.InDelta(t, bill.USD(), total, 1e-8, "what all attempts cost")

			third := command(t, append(args, "2")...)
			require.Equal(t, exitOK, third.code, third.stderr)
			require.Contains(t, third.stderr, "2 kept")
		})
	}
}

// A batch that was killed in the middle of a run goes on with that run; nothing of its own is
// left lying about.
func TestAKilledBatchGoesOn(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	asked := newRequests()
	reached := make(chan struct{})
	var killed atomic.Bool
	s := standin.Gemini(t, offline.Model{}, func(n int, _ http.ResponseWriter, r *http.Request, body []byte) bool {
		if n == 6 && killed.CompareAndSwap(false, true) {
			close(reached)
			<-r.Context().Done()
			return true
		}
		asked.add(body)
		return false
	})
	list := suppliers(t, "Transports Kervalec")
	dir := t.TempDir()
	args := []string{"batch", list, "-o", dir, "--model", "gemini-2.5-flash", "--base-url", s.URL, "--as-of", "2026-11-15", "--budget", "1"}
	cmd, out := start(t, args...)
	<-reached
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), out)
	left, err := filepath.Glob(filepath.Join(dir, ".rows-*"))
	require.NoError(t, err)
	require.NotEmpty(t, left)

	again := command(t, args...)
	require.Equal(t, exitOK, again.code, again.stderr)
	require.Equal(t, 8, asked.all())
	require.Zero(t, asked.again())
	left, err = filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, exitOK, command(t, "journal", "verify", filepath.Join(dir, "999991011")).code)
}

// A row without a number is known by its name; one with neither is named as it stands.
func TestBatchRowsWithoutANumber(t *testing.T) {
	dir := t.TempDir()
	r := command(t, "batch", suppliers(t, "siren;name;city", ";Transports Kervalec;Quimper", ";;Brest"), "-o", dir)
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, "row 2: Transports Kervalec: done: LOW  Nothing stands against your standard process.")
	require.Contains(t, r.stderr, "row 3: ;;Brest: unreadable: the row names nobody")
}

// Ctrl-C ends a batch with 130, whatever row is read next.
func TestABatchIsInterruptedAtALongLine(t *testing.T) {
	reached := make(chan struct{})
	var once atomic.Bool
	s := standin.Gemini(t, offline.Model{}, func(_ int, _ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if once.CompareAndSwap(false, true) {
			close(reached)
		}
		<-r.Context().Done()
		return true
	})
	long := strings.Repeat("x", 70<<10)
	list, dir := suppliers(t, "name", "Transports Kervalec", long, long, long, "Conserverie des Embruns"), t.TempDir()
	cmd, out := start(t, "batch", list, "-o", dir, "-j", "1", "--model", "gemini-2.5-flash", "--base-url", s.URL)
	<-reached
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), out)
	require.NotContains(t, out.String(), "panic")
	require.Contains(t, out.String(), "Interrupted: 1 begun, 0 finished, 1 not begun; "+dir+"/index.html")
	require.Equal(t, "interrupted", summaryOf(t, dir, "status")["999991011"])
	require.Equal(t, "999991011", summaryOf(t, dir, "folder")["999991011"])
	require.DirExists(t, filepath.Join(dir, "999991011"))
	require.Contains(t, file(t, dir, runpage.IndexFile), "Interrupted: 1 begun, 0 finished, 1 not begun.")
}

// A row is checked as a single run is: a number that belongs to another name is refused.
func TestBatchChecksNameAgainstNumber(t *testing.T) {
	single := command(t, "Conserverie des Embruns", "--siren", "999991029")
	require.Equal(t, exitRefused, single.code)
	dir := t.TempDir()
	r := command(t, "batch", suppliers(t, "vendor;Fournisseur;TVA", "V1;Conserverie des Embruns;FR70999991029"), "-o", dir, "--lang", "fr")
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, "fournisseurs d'après Fournisseur, TVA.")
	require.Contains(t, r.stderr, "ligne 2 : Conserverie des Embruns FR70999991029 : refusé : le numéro appartient à un autre nom que celui donné à côté : BATISSEURS DU MENHIR")
	require.NoDirExists(t, filepath.Join(dir, "999991029"))
	require.Contains(t, single.stderr, "the number belongs to another name than the one given beside it")
}

func TestBatchRefusesWhatIsNoList(t *testing.T) {
	for name, x := range map[string]struct{ rows, want string }{
		"empty":          {"", "it is empty"},
		"a header":       {"name;siren", "ends after its header"},
		"unknown header": {"Kontrahent;Ort\nTransports Kervalec;Quimper", "--column"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		r := command(t, "batch", suppliers(t, x.rows), "-o", dir)
		require.Equal(t, exitRefused, r.code, name)
		require.Contains(t, r.stderr, x.want, name)
		require.NoDirExists(t, dir, name)
	}
	dir := t.TempDir()
	r := command(t, "batch", suppliers(t, "Kontrahent;Ort", "Transports Kervalec;Quimper"), "-o", dir, "--column", "Kontrahent")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stderr, "suppliers by Kontrahent.")
}

// Each row says its rating, and so does the last line; --fail-on looks at all of them.
func TestBatchSaysTheRatings(t *testing.T) {
	list := suppliers(t, "name", "Transports Kervalec", "Bâtisseurs du Menhir", "Conserverie des Embruns", "999991029")
	dir := t.TempDir()
	r := command(t, "batch", list, "-o", dir, "-j", "1", "--fail-on", "critical")
	require.Equal(t, exitRating, r.code, r.stderr)
	require.Contains(t, r.stderr, "row 2: Transports Kervalec: done: LOW  ")
	require.Contains(t, r.stderr, "row 3: Bâtisseurs du Menhir: done: STOP  Do not order. A person has to look at this first. (Open judicial liquidation)")
	require.Contains(t, r.stderr, "row 5: 999991029: done, a supplier of another row: STOP  ")
	require.True(t, strings.HasSuffix(r.stderr, "Ratings: STOP 1, HIGH 1, LOW 1.\n"), r.stderr)
	require.Equal(t, exitOK, command(t, "batch", suppliers(t, "name", "Transports Kervalec"), "-o", t.TempDir(), "--fail-on", "high").code)
	kept := command(t, "batch", list, "-o", dir, "-j", "1", "--lang", "fr")
	require.Contains(t, kept.stderr, "ligne 3 : Bâtisseurs du Menhir : terminé, conservé : ARRÊT  Ne pas commander.")
}

// Next month's batch leaves this month's dossiers as they are; the summary, the overview and
// the commands that take a folder find the new ones.
func TestALaterBatchLeavesTheDossiers(t *testing.T) {
	list, dir := suppliers(t, "name", "Transports Kervalec", "Bâtisseurs du Menhir"), t.TempDir()
	batch := func(day string, more ...string) {
		t.Helper()
		r := command(t, append([]string{"batch", list, "-o", dir, "--as-of", day}, more...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
	}
	batch("2026-08-15")
	home := filepath.Join(dir, "999991011")
	before := bytesOf(t, home)
	batch("2026-09-15", "--lang", "fr")
	now := bytesOf(t, home)
	for path, data := range before {
		require.Equal(t, data, now[path], path)
	}
	require.Equal(t, map[string]string{"999991011": "999991011/2026-09-15", "999991029": "999991029/2026-09-15"}, summaryOf(t, dir, "folder"))
	require.Equal(t, map[string]string{"999991011": "2026-09-15", "999991029": "2026-09-15"}, summaryOf(t, dir, "as_of"))
	require.Contains(t, file(t, dir, runpage.IndexFile), `<a href="999991011/2026-09-15/index.html">`)
	require.Contains(t, file(t, home, "2026-09-15", runpage.IndexFile), "15/09/2026")

	since := command(t, "Transports Kervalec", "--since", home, "--as-of", "2026-09-20", "--format", "json")
	require.Equal(t, exitOK, since.code, since.stderr)
	require.Contains(t, since.stdout, `"before": "2026-09-15"`)
	verified := command(t, "journal", "verify", home)
	require.Equal(t, exitOK, verified.code, verified.stderr)
	require.Contains(t, verified.stdout, filepath.Join(home, "2026-09-15", journalName))

	// A single run on the same supplier stands beside both, and the next batch takes it over.
	single := command(t, "Transports Kervalec", "-o", home, "--as-of", "2026-10-15")
	require.Equal(t, exitOK, single.code, single.stderr)
	batch("2026-10-15")
	require.Equal(t, map[string]string{"999991011": "999991011/2026-10-15", "999991029": "999991029/2026-10-15"}, summaryOf(t, dir, "folder"))

	r := command(t, "batch", list, "-o", dir, "--as-of", "2026-11-15", "--max-calls", "3")
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.Contains(t, file(t, home, "2026-11-15", runpage.IndexFile), "duediligence resume "+home+"/2026-11-15 --max-calls 6")
	resumed := command(t, "resume", home, "--max-calls", "25")
	require.Equal(t, exitOK, resumed.code, resumed.stderr)
	require.Contains(t, resumed.stderr, "Written to "+filepath.Join(home, "2026-11-15"))
}

// A batch replaces what a batch wrote and nothing else.
func TestABatchIsRefusedWhereItWouldReplaceAFile(t *testing.T) {
	list := suppliers(t, "name", "Transports Kervalec")
	single := t.TempDir()
	require.Equal(t, exitOK, command(t, "Transports Kervalec", "-o", single).code)
	page := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(page, runpage.IndexFile), []byte("my own page"), 0o600))
	for dir, want := range map[string]string{single: "holds a finished dossier or a run", page: "was written by no batch"} {
		before := bytesOf(t, dir)
		r := command(t, "batch", list, "-o", dir)
		require.Equal(t, exitRefused, r.code, r.stderr)
		require.Contains(t, r.stderr, want)
		require.Equal(t, before, bytesOf(t, dir))
	}
}
