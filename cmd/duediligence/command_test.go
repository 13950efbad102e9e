// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/sources"
)

type result struct {
	code           int
	stdout, stderr string
}

func command(t *testing.T, args ...string) result {
	t.Helper()
	return commandIn(t.Context(), t, args...)
}

func commandIn(ctx context.Context, t *testing.T, args ...string) result {
	t.Helper()
	t.Setenv("LC_ALL", "en_US.UTF-8")
	var out, errs bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &errs)
	return result{code, out.String(), errs.String()}
}

func TestReportOnStdoutProgressOnStderr(t *testing.T) {
	r := command(t, "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.True(t, strings.HasPrefix(r.stdout, "# Supplier due diligence: TRANSPORTS KERVALEC\n"))
	require.True(t, strings.HasPrefix(r.stderr, "Source: sample data, fictional companies only"))
	for _, want := range []string{"registry_researcher", "lookup_finances", "approve_report", "Run done: 8 model calls"} {
		require.Contains(t, r.stderr, want)
	}
	require.NotContains(t, r.stderr, "\x1b")
	// Nothing but our own lines: ADK's logging goes nowhere.
	for line := range strings.Lines(r.stderr) {
		require.Regexp(t, `^(Source: |Subject: |Run done|LOW RISK  |  \w+_?\w* +\w+)`, line)
	}

	quiet := command(t, "--quiet", "Transports Kervalec")
	require.Empty(t, quiet.stderr)
	require.Equal(t, r.stdout, quiet.stdout, "the same facts give the same bytes")
}

func TestFrench(t *testing.T) {
	r := command(t, "--lang", "fr", "Transports Kervalec")
	require.Equal(t, exitOK, r.code)
	require.Contains(t, r.stdout, "Données fictives")
	require.Contains(t, r.stderr, "terminé")
	t.Setenv("LC_ALL", "")
	t.Setenv("LC_MESSAGES", "")
	t.Setenv("LANG", "fr_FR.UTF-8")
	var out, errs bytes.Buffer
	require.Equal(t, exitRefused, run(t.Context(), []string{""}, nil, &out, &errs))
	require.Contains(t, errs.String(), "Nom de fournisseur invalide.")
}

func TestRefusedInput(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":            {nil, "which supplier?"},
		"empty":              {[]string{""}, "empty"},
		"blank":              {[]string{" \t"}, ""},
		"too long":           {[]string{strings.Repeat("x", 201)}, "at most 200"},
		"control characters": {[]string{"a\x1b[2Jbc"}, "control"},
		"invalid UTF-8":      {[]string{"ab\xff\xfe"}, "UTF-8"},
		"two names":          {[]string{"Acme SA\nBeta SARL"}, "one supplier"},
		"several arguments":  {[]string{"Transports", "Kervalec"}, "in quotes"},
		"bad SIREN":          {[]string{"999990006"}, ""},
		"unknown flag":       {[]string{"--nope"}, "--help"},
		"language":           {[]string{"--lang", "de", "Acme"}, "en or fr"},
		"source":             {[]string{"--source", "web", "Acme"}, "sample, live"},
		"calls":              {[]string{"--max-calls", "0", "Acme"}, "--max-calls"},
		"time":               {[]string{"--timeout", "-1s", "Acme"}, "--timeout"},
		"source address":     {[]string{"--source", "live", "--source-url", "bodacc=http://127.0.0.1:1", "Acme"}, ""},
		"unknown source":     {[]string{"--source", "live", "--source-url", "x=http://a", "Acme"}, "unknown source"},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, tc.args...)
			require.Equal(t, exitRefused, r.code, r.stderr)
			require.Contains(t, r.stderr, tc.want)
			require.Empty(t, r.stdout)
			require.NotContains(t, r.stderr, "\x1b")
		})
	}
}

func TestAmbiguousListsCommands(t *testing.T) {
	r := command(t, "Atelier Nordet")
	require.Equal(t, exitAmbiguous, r.code)
	require.Empty(t, r.stdout)
	require.Contains(t, r.stderr, "duediligence 999991086")
	require.Contains(t, r.stderr, "several active companies bear this name. Run one of:")
	require.Contains(t, r.stderr, "created on ")
	for query, why := range map[string]string{
		"Kervalec Logistique":   "matched on its trade or former name KERVALEC LOGISTIQUE",
		"Transports Kervallec":  "a similar name",
		"Kervalec":              "part of the name",
		"Nordwick Maschinenbau": "5299FICTIF0000000205",
	} {
		r := command(t, query)
		require.Equal(t, exitAmbiguous, r.code, query)
		require.Contains(t, r.stderr, why, query)
	}
	again := command(t, "999991086")
	require.Equal(t, exitOK, again.code)
}

func TestNotFoundListsTheSampleNames(t *testing.T) {
	r := command(t, "Zorglub International")
	require.Equal(t, exitNotFound, r.code)
	require.Contains(t, r.stderr, "TRANSPORTS KERVALEC")
	require.Contains(t, r.stderr, "--source live NAME (no key)")
}

func TestOutOfCallsWritesAPartialReport(t *testing.T) {
	dir := t.TempDir()
	r := command(t, "--max-calls", "3", "-o", dir, "Transports Kervalec")
	require.Equal(t, exitExhausted, r.code)
	require.Contains(t, r.stdout, "calls exhausted (calls: 3/3)")
	require.FileExists(t, filepath.Join(dir, "report.json"))
}

func TestUnavailable(t *testing.T) {
	r := command(t, "Phare du Raz Négoce")
	require.Equal(t, exitUnavailable, r.code)
	require.Empty(t, r.stdout)
}

func TestFilesAreWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	journal := filepath.Join(t.TempDir(), "j.jsonl")
	r := command(t, "-o", dir, "--journal", journal, "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	md, err := os.ReadFile(filepath.Join(dir, "report.md"))
	require.NoError(t, err)
	require.Equal(t, r.stdout, string(md))
	raw, err := os.ReadFile(filepath.Join(dir, "report.json"))
	require.NoError(t, err)
	var rep map[string]any
	require.NoError(t, json.Unmarshal(raw, &rep))
	require.Equal(t, "gardefou.report/1", rep["schema"])
	lines, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	require.NoError(t, err)
	for _, j := range []string{dir, journal} {
		v := command(t, "journal", "verify", j)
		require.Equal(t, exitOK, v.code, v.stdout)
	}
	require.Contains(t, string(lines), `"kind":"end"`)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 7, "six files and the run; no temporary file is left")
}

func TestUnwritableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	r := command(t, "-o", filepath.Join(file, "x"), "Transports Kervalec")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "-o:")
}

// A full disk: the device takes no byte, and that is said before anything is paid for.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	r := command(t, "--journal", "/dev/full", "Transports Kervalec")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "--journal")
}

// standIn serves the sample set over HTTP as the public sources would.
func standIn(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) []string {
	t.Helper()
	h := sources.SampleHandler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault == nil || !fault(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	args := []string{"--source", "live", "--allow-private-hosts"}
	for _, name := range []string{"recherche-entreprises", "bodacc", "ratios", "asset-freezes", "gdelt", "gleif", "vies"} {
		args = append(args, "--source-url", name+"="+srv.URL)
	}
	return args
}

func TestLiveAgainstAStandIn(t *testing.T) {
	r := command(t, append(standIn(t, nil), "Transports Kervalec")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.True(t, strings.HasPrefix(r.stderr, "Source: live public registers."))
	require.Contains(t, r.stderr, "Source read at another address")
	require.NotContains(t, r.stdout, "Fictional data")
	require.Contains(t, r.stdout, "127.0.0.1")
	require.Contains(t, r.stdout, "TRANSPORTS KERVALEC")
	require.Contains(t, r.stdout, "E-REG-001")
	require.Contains(t, r.stdout, "/entreprise/999991011")
}

func TestLiveFaults(t *testing.T) {
	down := standIn(t, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return true
	})
	require.Equal(t, exitUnavailable, command(t, append(down, "Transports Kervalec")...).code)
	none := standIn(t, nil)
	require.Equal(t, exitNotFound, command(t, append(none, "Zorglub International")...).code)
}

// Ctrl-C in the middle of a slow source: 130, no report, and a run that can be resumed.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var slow sync.Once
	args := standIn(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.RawQuery, "familleavis") {
			slow.Do(func() {
				cancel()
				select {
				case <-r.Context().Done():
				case <-time.After(time.Minute):
				}
			})
		}
		return false
	})
	dir := t.TempDir()
	r := commandIn(ctx, t, append(args, "-o", dir, "Transports Kervalec")...)
	require.Equal(t, exitInterrupted, r.code, r.stderr)
	require.Contains(t, r.stderr, "Interrupted: no report was written. Go on with: duediligence resume "+dir)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Equal(t, "index.html", entries[0].Name())
	require.Equal(t, "run", entries[1].Name())
	page := file(t, dir, "index.html")
	require.Contains(t, page, "interrupted before it came to a report")
	require.Contains(t, page, "duediligence resume "+dir)
	require.Contains(t, page, "TRANSPORTS KERVALEC")
	require.Contains(t, page, `href="run/journal.jsonl"`)
	require.FileExists(t, filepath.Join(dir, "run", "journal.jsonl"))
	alone := command(t, "resume", dir)
	require.Equal(t, exitRefused, alone.code, "a folder names no host: "+alone.stderr)
	require.Contains(t, alone.stderr, "--source-url recherche-entreprises=http://127.0.0.1:")
	require.Contains(t, alone.stderr, "--allow-private-hosts")
	again := command(t, append([]string{"resume", dir}, args[2:]...)...)
	require.Equal(t, exitOK, again.code, again.stderr)
	require.Contains(t, file(t, dir, "index.html"), "ended as it should")
}

// A source that never answers: the time allowed ends the run, the report is there.
func TestSlowSource(t *testing.T) {
	args := standIn(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.RawQuery, "familleavis") {
			<-r.Context().Done()
		}
		return false
	})
	r := command(t, append(args, "--timeout", "1s", "Transports Kervalec")...)
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.Contains(t, r.stdout, "time exhausted")
}

func TestHelp(t *testing.T) {
	r := command(t, "--help")
	require.Equal(t, exitOK, r.code)
	for _, want := range []string{"Examples:", "--source live", "Exit codes:", "--max-calls"} {
		require.Contains(t, r.stdout, want)
	}
	require.Equal(t, exitOK, command(t, "--version").code)
}

func TestFormats(t *testing.T) {
	r := command(t, "--format", "json", "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.True(t, json.Valid([]byte(r.stdout)))
	require.Contains(t, command(t, "--format", "html", "Transports Kervalec").stdout, "<!DOCTYPE html>")
	require.Contains(t, command(t, "--format", "csv", "Transports Kervalec").stdout, "999991011")
	require.Equal(t, exitRefused, command(t, "--format", "pdf", "Transports Kervalec").code)
}

func TestFailOn(t *testing.T) {
	require.Equal(t, exitOK, command(t, "--fail-on", "high", "Transports Kervalec").code)
	r := command(t, "--fail-on", "high", "Bâtisseurs du Menhir")
	require.Equal(t, exitRating, r.code)
	require.NotEmpty(t, r.stdout, "the report is written all the same")
	require.Equal(t, exitRefused, command(t, "--fail-on", "low", "Transports Kervalec").code)
}

func TestSinceSaysWhatChanged(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, command(t, "-o", dir, "Transports Kervalec").code)
	old := filepath.Join(dir, "report.json")
	r := command(t, "--since", old, "--annual-purchases", "3000000", "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.NotEqual(t, command(t, "Transports Kervalec").stdout, r.stdout)
	other := command(t, "--since", old, "Bâtisseurs du Menhir", "-o", filepath.Join(dir, "other"))
	require.Equal(t, exitRefused, other.code, "a report about somebody else")
	require.Contains(t, other.stderr, "another supplier, TRANSPORTS KERVALEC")
	require.NotContains(t, other.stderr, "Subject:", "before any work")
	require.NoDirExists(t, filepath.Join(dir, "other"))
	require.NoError(t, os.WriteFile(old, []byte("{}"), 0o600))
	require.Equal(t, exitRefused, command(t, "--since", old, "Transports Kervalec").code)
}

func TestSIRENAndNameMustAgree(t *testing.T) {
	require.Equal(t, exitOK, command(t, "--siren", "999991011").code)
	require.Equal(t, exitOK, command(t, "--siren", "999991011", "Transports Kervalec").code)
	r := command(t, "--siren", "999991011", "Bâtisseurs du Menhir")
	require.Equal(t, exitRefused, r.code, r.stderr)
	require.Contains(t, r.stderr, "the number belongs to another name")
	for _, siren := range []string{"-", "Quimper"} {
		r := command(t, "--siren", siren, "Transports Kervalec")
		require.Equal(t, exitRefused, r.code, r.stderr)
		require.Contains(t, r.stderr, "no SIREN")
	}
	numbers := command(t, "--siren", "999991011", "999991029")
	require.Equal(t, exitRefused, numbers.code, numbers.stderr)
}

// A name beside --siren is a name, whatever it begins or ends with.
func TestANameBesideSIRENIsANameWithDigitsToo(t *testing.T) {
	for _, name := range []string{"3M", "1001 VIS ECROUS", "STUDIO 54", "4 MURS 2000", "AB"} {
		args := append(registeredAs(t, name), "--siren", "999991011", "--as-of", "2026-11-15")
		r := command(t, append(args, name)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Contains(t, r.stdout, name)
		other := command(t, append(args, "2 RIVES")...)
		require.Equal(t, exitRefused, other.code, other.stderr)
		require.Contains(t, other.stderr, "the number belongs to another name")
	}
}

// What was recorded is read again, byte for byte, with no source there: for every
// sample supplier.
func TestRecordAndReplay(t *testing.T) {
	queries := []string{"999991052", "999991060", "999991078", "999991086", "5299FICTIF0000000205"} // what no name finds
	for _, name := range sources.SampleNames() {
		if name != "PHARE DU RAZ NEGOCE" { // its registry is down: there is no report
			queries = append(queries, name)
		}
	}
	written := 0
	for i, query := range queries {
		lang := []string{"en", "fr"}[i%2]
		rec, one, two := filepath.Join(t.TempDir(), "rec"), t.TempDir(), t.TempDir()
		replaying := false
		args := append(standIn(t, func(http.ResponseWriter, *http.Request) bool {
			if replaying {
				t.Error("a replay asked a source")
			}
			return false
		}), "--lang", lang)
		args[1] = "record:" + rec
		recorded := command(t, append(args, "-o", one, query)...)
		args[1], replaying = "replay:"+rec, true
		replayed := command(t, append(args, "-o", two, query)...)
		require.Equal(t, recorded.code, replayed.code, "%s: %s", query, replayed.stderr)
		require.Equal(t, recorded.stdout, replayed.stdout, query)
		if recorded.code != exitOK {
			require.Equal(t, exitAmbiguous, recorded.code, "%s: %s", query, recorded.stderr)
			continue
		}
		written++
		for _, file := range []string{"report.json", "report.md", "report.html"} {
			a, err := os.ReadFile(filepath.Join(one, file))
			require.NoError(t, err)
			b, err := os.ReadFile(filepath.Join(two, file))
			require.NoError(t, err)
			require.Equal(t, string(a), string(b), "%s of %s", file, query)
		}
	}
	require.Equal(t, 14, written)
}

func TestBatchCommand(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "list.csv")
	require.NoError(t, os.WriteFile(list, []byte("\ufeffname;amount\r\nTransports Kervalec;1\r\nBâtisseurs du Menhir;2\r\n999991011;3\r\nNobody Anywhere;4\r\n\"broken;5\r\nAtelier Nordet;6\r\n"), 0o600))
	out := filepath.Join(dir, "out")
	r := command(t, "batch", list, "-o", out, "-j", "2")
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, "Batch done: 2 researched, 0 partial, 0 kept from before, 1 repeated, 3 without a report.")
	sum, err := os.ReadFile(filepath.Join(out, "summary.csv"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(sum)), "\r\n")
	require.Len(t, lines, 7)
	require.Contains(t, lines[1], "KERVALEC")
	require.Contains(t, lines[2], "STOP")
	require.Contains(t, r.stderr, "row 3: Bâtisseurs du Menhir: done: STOP  Do not order")
	require.Contains(t, r.stderr, "Ratings: STOP 1, LOW 1, without a report 3.\n")
	require.FileExists(t, filepath.Join(out, "999991011", "report.html"))

	// Long after the first batch.
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(out, "999991011", "report.json"), old, old))
	again := command(t, "batch", list, "-o", out)
	require.Contains(t, again.stderr, "0 researched, 0 partial, 2 kept from before, 1 repeated")
	sum2, err := os.ReadFile(filepath.Join(out, "summary.csv"))
	require.NoError(t, err)
	require.Equal(t, string(sum), string(sum2))
	require.Equal(t, exitRefused, command(t, "batch", list).code)
	require.Equal(t, exitRefused, command(t, "batch", filepath.Join(dir, "none.csv"), "-o", out).code)
}
