// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
)

func TestJournalVerify(t *testing.T) {
	dir := t.TempDir()
	r := command(t, "-o", dir, "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	head := regexp.MustCompile(`\d+:[0-9a-f]{64}`).FindString(r.stderr)
	require.NotEmpty(t, head)

	ok := command(t, "journal", "verify", dir, "--head", head)
	require.Equal(t, exitOK, ok.code, ok.stderr)
	require.Contains(t, ok.stdout, "whole")
	require.NotContains(t, ok.stdout, "Without --head")
	require.Contains(t, command(t, "journal", "verify", dir).stdout, "Without --head")

	file := filepath.Join(dir, journalName)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines[4] = bytes.Replace(lines[4], []byte(`"agent":"`), []byte(`"agent":"x`), 1)
	require.NoError(t, os.WriteFile(file, bytes.Join(lines, nil), 0o600))
	bad := command(t, "journal", "verify", file)
	require.Equal(t, exitFailed, bad.code)
	require.Contains(t, bad.stdout, "line 5: edited")
	french := command(t, "journal", "verify", file, "--lang", "fr")
	require.Contains(t, french.stdout, "ligne 5 : modifiée")
	var rep journal.Report
	require.NoError(t, json.Unmarshal([]byte(command(t, "journal", "verify", file, "--json").stdout), &rep))
	require.Equal(t, []journal.Fault{{Kind: journal.FaultEdited, File: file, Line: 5}}, rep.Faults)

	require.Equal(t, exitRefused, command(t, "journal", "verify", filepath.Join(dir, "none")).code)
	require.Equal(t, exitRefused, command(t, "journal", "verify", file, "--head", "7").code)
	require.Equal(t, exitRefused, command(t, "journal", "verify").code)
	require.Contains(t, command(t, "journal", "--help").stdout, "verify")
}

// One journal of several runs that grew into several files verifies as one.
func TestJournalOfSeveralRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	for range 3 {
		r := command(t, "--journal", file, "--journal-max-bytes", "4000", "Transports Kervalec")
		require.Equal(t, exitOK, r.code, r.stderr)
	}
	require.Greater(t, len(journal.Files(file)), 3)
	ok := command(t, "journal", "verify", file)
	require.Equal(t, exitOK, ok.code, ok.stdout)
	ends := 0
	for e, err := range journal.FileEntries(journal.Files(file)...) {
		require.NoError(t, err)
		if e.Kind == line.KindEnd {
			ends++
			require.Equal(t, 8, e.ModelCalls)
		}
	}
	require.Equal(t, 3, ends)
	require.NoError(t, os.Remove(journal.Files(file)[1]))
	require.Equal(t, exitFailed, command(t, "journal", "verify", file).code)

	held, err := journal.OpenFile(file, journal.FileOptions{})
	require.NoError(t, err)
	defer held.Close()
	busy := command(t, "--journal", file, "Transports Kervalec")
	require.Equal(t, exitRefused, busy.code)
	require.Contains(t, busy.stderr, "another process")
}

// A folder stands for its whole journal, whatever is given beside it.
func TestJournalOfSeveralFolders(t *testing.T) {
	folder := func() string {
		dir := t.TempDir()
		r := command(t, "--journal", filepath.Join(dir, "other.jsonl"), "Transports Kervalec")
		require.Equal(t, exitOK, r.code, r.stderr)
		for range 2 {
			r = command(t, "--journal", filepath.Join(dir, journalName), "--journal-max-bytes", "4000", "Transports Kervalec")
			require.Equal(t, exitOK, r.code, r.stderr)
		}
		require.Greater(t, len(journal.Files(filepath.Join(dir, journalName))), 2)
		return dir
	}
	one, two := folder(), folder()
	for _, tc := range []struct {
		args []string
		want int
	}{
		{[]string{one}, 2},
		{[]string{one, two}, 4},
		{[]string{one, filepath.Join(two, "other.jsonl")}, 3},
		{[]string{filepath.Join(two, "other.jsonl"), one}, 3},
	} {
		var s journal.Stats
		r := command(t, append([]string{"journal", "stats", "--json"}, tc.args...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &s))
		require.Equal(t, map[string]int{"done": tc.want}, s.Runs.ByStatus, tc.args)
	}
}

func TestJournalShowAndStats(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitExhausted, command(t, "--journal", filepath.Join(dir, journalName), "--max-calls", "3", "Transports Kervalec").code)
	require.Equal(t, exitOK, command(t, "--journal", filepath.Join(dir, journalName), "Transports Kervalec").code)

	show := command(t, "journal", "show", dir)
	require.Equal(t, exitOK, show.code, show.stderr)
	require.Equal(t, 2, strings.Count("\n"+show.stdout, "\nRun "))
	require.Contains(t, show.stdout, "[run_call_budget]: calls: 3/3")
	id := strings.TrimSuffix(strings.Fields(show.stdout)[1], ",")
	one := command(t, "journal", "show", dir, "--run", id)
	require.True(t, strings.HasPrefix(show.stdout, one.stdout))
	require.Less(t, len(one.stdout), len(show.stdout))
	require.Equal(t, exitNotFound, command(t, "journal", "show", dir, "--run", "NONE").code)
	require.Contains(t, command(t, "journal", "show", dir, "--html", "--lang", "fr").stdout, `<html lang="fr">`)

	stats := command(t, "journal", "stats", dir)
	require.Equal(t, exitOK, stats.code, stats.stderr)
	require.Contains(t, stats.stdout, "Runs: 2; ended otherwise than done: 50 %")
	var s journal.Stats
	require.NoError(t, json.Unmarshal([]byte(command(t, "journal", "stats", dir, "--json").stdout), &s))
	require.Equal(t, map[string]int{"done": 1, "calls_exhausted": 1}, s.Runs.ByStatus)
	calls := 0
	for _, a := range s.Agents {
		calls += a.Calls
	}
	require.Equal(t, 3+8, calls)
	require.Equal(t, exitRefused, command(t, "journal", "stats", filepath.Join(dir, "none")).code)
	require.Equal(t, exitRefused, command(t, "journal", "show", filepath.Join(dir, "none")).code)
}

// A file that can't be read says so in every form, and not nothing.
func TestJournalShowOfAnUnreadableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(path, []byte("one\ntwo\n"), 0o600))
	for _, args := range [][]string{{"show"}, {"show", "--html"}, {"stats"}} {
		require.Contains(t, command(t, append(append([]string{"journal"}, args...), path)...).stdout, "2 lines could not be read", args)
	}
	r := command(t, "journal", "show", "--lang", "fr", path)
	require.Contains(t, r.stdout, "2 lignes sont illisibles")
	require.Contains(t, r.stdout, "aucune exécution")
	require.NotContains(t, command(t, "journal", "show", "--lang", "fr", path).stdout, "%!")
}
