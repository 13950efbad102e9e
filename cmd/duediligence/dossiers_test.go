// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/store"
)

// bytesOf are the files under a folder, with what stands in them.
func bytesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// A folder that a run did not write is refused before any work, with what is in it; not one
// byte of it changes.
func TestAFolderOfSomebodyElseIsRefused(t *testing.T) {
	for name, path := range map[string]string{
		"a page": "index.html", "a report": "report.md", "another file": "notes.txt", "a folder": "src/main.go", "a folder named as a run's": "run/main.go",
		"a folder named as a dossier's": "2026-11-15/notes.txt",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte("my own"), 0o600))
			before := bytesOf(t, dir)
			for _, more := range [][]string{nil, {"--fresh"}, {"--replace"}, {"--lang", "fr"}} {
				r := command(t, append(more, "Transports Kervalec", "-o", dir, "--as-of", "2026-11-15")...)
				require.Equal(t, exitRefused, r.code, r.stderr)
				require.Contains(t, r.stderr, strings.Split(path, "/")[0])
				require.NotContains(t, r.stderr, "Subject:")
				require.Empty(t, r.stdout)
			}
			require.Equal(t, before, bytesOf(t, dir))
		})
	}
	hidden := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(hidden, ".DS_Store"), nil, 0o600))
	require.Equal(t, exitOK, command(t, "Transports Kervalec", "-o", hidden).code, "no file of a dossier is hidden")
	many := t.TempDir()
	for _, n := range []string{"a", "b\x1b[31m", "c", "d", "e", "f"} {
		require.NoError(t, os.WriteFile(filepath.Join(many, n), nil, 0o600))
	}
	r := command(t, "Transports Kervalec", "-o", many)
	require.Contains(t, r.stderr, "a, b[31m, c, d, e, …")
	require.NotContains(t, r.stderr, "\x1b")
}

func TestAnotherSuppliersDossierIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, command(t, "Transports Kervalec", "-o", dir).code)
	before := bytesOf(t, dir)
	for _, more := range [][]string{nil, {"--fresh"}, {"--replace"}} {
		r := command(t, append(more, "Bâtisseurs du Menhir", "-o", dir)...)
		require.Equal(t, exitRefused, r.code, r.stderr)
		require.Contains(t, r.stderr, "another supplier, TRANSPORTS KERVALEC, and not of BATISSEURS DU MENHIR")
	}
	require.Equal(t, before, bytesOf(t, dir))
}

// The next dossier on the same supplier stands beside the first, and the commands that take
// a folder find both.
func TestDossiersStandBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	args := []string{"Transports Kervalec", "-o", dir}
	require.Equal(t, exitOK, command(t, append(args, "--as-of", "2026-10-01")...).code)
	first := bytesOf(t, dir)
	second := filepath.Join(dir, "2026-11-01")
	for _, want := range []string{second, second + "-2"} {
		r := command(t, append(args, "--as-of", "2026-11-01")...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Contains(t, r.stderr, "which stays as it is. This one is written to "+want+".")
		require.Contains(t, r.stderr, "Written to "+want)
		require.Equal(t, r.stdout, file(t, want, "report.md"))
	}
	now := bytesOf(t, dir)
	for path, data := range first {
		require.Equal(t, data, now[path], path)
	}

	since := command(t, "Transports Kervalec", "--since", dir, "--as-of", "2026-11-14", "--format", "json")
	require.Equal(t, exitOK, since.code, since.stderr)
	require.Contains(t, since.stdout, `"before": "2026-11-01"`, "the newest is compared with")
	require.Equal(t, exitRefused, command(t, "Transports Kervalec", "--since", t.TempDir()).code)

	verified := command(t, "journal", "verify", dir)
	require.Equal(t, exitOK, verified.code, verified.stderr)
	for _, d := range []string{dir, second, second + "-2"} {
		require.Contains(t, verified.stdout, filepath.Join(d, journalName)+"\n")
		require.Equal(t, exitOK, command(t, "journal", "verify", d).code)
	}
	require.Equal(t, 3, strings.Count(command(t, "journal", "verify", dir, "--json").stdout, `"lines"`))
	require.Equal(t, 3, strings.Count("\n"+command(t, "journal", "show", dir).stdout, "\nRun "))
	head := command(t, "journal", "verify", dir, "--head", "1:"+strings.Repeat("0", 64))
	require.Equal(t, exitRefused, head.code)
	require.Contains(t, head.stderr, second)
	journal := filepath.Join(second, journalName)
	require.NoError(t, os.WriteFile(journal, []byte(strings.Replace(file(t, journal), "done", "dome", 1)), 0o600))
	require.Equal(t, exitFailed, command(t, "journal", "verify", dir).code, "a fault in any of them is one of the folder")

	r := command(t, append(args, "--replace", "--as-of", "2026-11-14")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stderr, "is replaced")
	require.Contains(t, file(t, dir, "report.json"), "2026-11-14")
	require.Equal(t, now[filepath.Join(second, "report.json")], file(t, second, "report.json"))
}

// A later dossier that was stopped is the one to go on with.
func TestResumeFindsALaterDossier(t *testing.T) {
	dir := t.TempDir()
	_, s := interrupted(t, 4, dir)
	require.Equal(t, exitOK, command(t, resumeArgs(s.URL, dir)...).code)
	first := bytesOf(t, dir)
	later := filepath.Join(dir, "2026-11-15")
	r, s := interrupted(t, 4, dir)
	require.Contains(t, r.stderr, "duediligence resume "+later)
	again := command(t, runArgs(s.URL, dir, "--budget", "1")...)
	require.Equal(t, exitRefused, again.code)
	require.Contains(t, again.stderr, "duediligence resume "+later+" --base-url "+s.URL)
	require.Equal(t, exitRefused, command(t, runArgs(s.URL, dir, "--budget", "1", "--replace")...).code, "what is not finished was paid for")
	resumed := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitOK, resumed.code, resumed.stderr)
	require.Contains(t, resumed.stderr, "Written to "+later)
	now := bytesOf(t, dir)
	for path, data := range first {
		require.Equal(t, data, now[path], path)
	}
}

func TestResumeOfAFinishedRunChangesNothing(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitOK, command(t, "Transports Kervalec", "-o", dir).code)
	before := bytesOf(t, dir)
	r := command(t, "resume", dir)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Regexp(t, `The run on TRANSPORTS KERVALEC finished on 20\d\d-\d\d-\d\d, there is nothing to resume: see `+dir, r.stderr)
	require.Empty(t, r.stdout)
	require.Equal(t, before, bytesOf(t, dir))
}

// Whatever commands are given on a folder, no byte of a dossier that was finished changes
// without --replace.
func TestNoByteOfADossierChanges(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range 4 {
		dir := filepath.Join(t.TempDir(), "d")
		kept := map[string]string{}
		require.Equal(t, exitOK, command(t, "Transports Kervalec", "-o", dir, "--as-of", "2026-11-14").code)
		keepWhole(t, dir, kept)
		for range 8 {
			args := [][]string{
				{"Transports Kervalec", "-o", dir},
				{"Transports Kervalec", "-o", dir, "--fresh"},
				{"Transports Kervalec", "-o", dir, "--max-calls", "3"},
				{"research", "Transports Kervalec", "-o", dir, "--fresh", "--max-calls", "3"},
				{"Bâtisseurs du Menhir", "-o", dir},
				{"Bâtisseurs du Menhir", "-o", dir, "--replace"},
				{"resume", dir},
				{"resume", dir, "--max-calls", "25"},
				{"journal", "verify", dir},
				{"doctor", "-o", dir},
				{"serve", "-o", dir, "--address", "256.0.0.1:1"},
				{"Transports Kervalec", "--journal", filepath.Join(dir, journalName)},
				{"Transports Kervalec", "--since", dir, "-o", dir},
				{"Transports Kervalec", "-o", filepath.Join(dir, "2026-11-15")},
			}[rnd.IntN(14)]
			if args[0] != "resume" && args[0] != "journal" {
				args = append(args, "--as-of", []string{"2026-11-14", "2026-11-15"}[rnd.IntN(2)])
			}
			if args[0] == "serve" || args[0] == "doctor" {
				args = args[:len(args)-2]
			}
			r := command(t, args...)
			now := map[string]string{}
			if _, err := os.Stat(dir); err == nil {
				now = bytesOf(t, dir)
			}
			for path, data := range kept {
				require.Equal(t, data, now[path], "%v: %s: %s", args, path, r.stderr)
			}
			keepWhole(t, dir, kept)
		}
	}
}

// keepWhole adds the files of the dossiers that are finished.
func keepWhole(t *testing.T, dir string, kept map[string]string) {
	t.Helper()
	all, err := dossiers.In(dir)
	require.NoError(t, err)
	for _, d := range all {
		if !d.Whole() {
			continue
		}
		for path, data := range bytesOf(t, d.Dir) {
			if !slices.ContainsFunc(dossiers.Folders(d.Dir)[1:], func(later string) bool { return strings.HasPrefix(path, later+string(filepath.Separator)) }) {
				kept[path] = data
			}
		}
	}
}

// No host is taken from a folder: who wrote the folder would get the key.
func TestResumeTakesNoHostFromTheFolder(t *testing.T) {
	dir := t.TempDir()
	_, s := interrupted(t, 4, dir)
	calls := len(s.Bodies())
	path := filepath.Join(dir, store.Folder, store.RunFile)
	own := file(t, path)
	for _, tampered := range []string{own, strings.ReplaceAll(own, s.URL, "http://localhost:1")} {
		require.NoError(t, os.WriteFile(path, []byte(tampered), 0o600))
		r := command(t, "resume", dir)
		require.Equal(t, exitRefused, r.code, r.stderr)
		require.Contains(t, r.stderr, "no host is taken from a folder")
		require.Contains(t, r.stderr, "--base-url http://")
	}
	require.Len(t, s.Bodies(), calls)
	// The command line decides, whatever the folder says.
	r := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitOK, r.code, r.stderr)

	// A folder that asks for more than it was begun with: a ledger elsewhere.
	dir = t.TempDir()
	_, s = interrupted(t, 4, dir)
	path = filepath.Join(dir, store.Folder, store.RunFile)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(file(t, path), `"budget"`, `"ledger": "redis://evil.example:6379", "budget"`, 1)), 0o600))
	r = command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitRefused, r.code, r.stderr)
	require.Contains(t, r.stderr, "--ledger redis://evil.example:6379")
}
