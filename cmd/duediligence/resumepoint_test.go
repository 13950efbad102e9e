// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/redistest"
	"github.com/gardefou/gardefou/internal/standin"
)

// told is the command that a resume point names, without the program's name.
func told(t *testing.T, r result) []string {
	t.Helper()
	m := regexp.MustCompile(`(?m)go on with: duediligence (.*)$`).FindStringSubmatch(r.stderr)
	require.Len(t, m, 2, r.stderr)
	return strings.Fields(m[1])
}

// Whoever follows the resume point gets to the end here: the calls that were refused are
// made, though the research has a share only of what is added.
func TestFollowingTheResumePoint(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	dir := t.TempDir()
	r := command(t, "Transports Kervalec", "--model", "gemini-2.5-pro", "--base-url", s.URL, "-o", dir, "--budget", "0.00001")
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.Empty(t, s.Bodies())
	require.Contains(t, r.stderr, "at least $0.006")
	r = command(t, told(t, r)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Len(t, s.Bodies(), 8, "no call was made in vain")
	require.Contains(t, file(t, dir, "report.json"), "TRANSPORTS KERVALEC")
}

// Time ran out: the resume point says so, and names a command with more of it.
func TestResumePointAfterTheTime(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, func(n int, _ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if n == 3 {
			<-r.Context().Done()
			return true
		}
		return false
	})
	dir := t.TempDir()
	r := command(t, runArgs(s.URL, dir, "--timeout", "2s")...)
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.Contains(t, r.stderr, "Resume point: time exhausted")
	require.Equal(t, resumeArgs(s.URL, dir, "--timeout", "4s"), told(t, r))
	require.Equal(t, exitOK, command(t, told(t, r)...).code)
	for d, want := range map[time.Duration]string{10 * time.Minute: "10m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", 30 * time.Second: "30s", 61 * time.Minute: "1h1m"} {
		require.Equal(t, want, shortDuration(d))
	}
}

// Without a person to ask, more money is not what a soft limit needs.
func TestResumePointAtTheSoftLimit(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	dir := t.TempDir()
	r := command(t, runArgs(s.URL, dir, "--budget", "1", "--soft-budget", "0.0001")...)
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.Equal(t, resumeArgs(s.URL, dir), told(t, r))
	require.Contains(t, r.stderr, "approval")
}

// A Redis with a password: it may come from the environment, where no list of processes
// shows it; the resume point never prints it and says where it belongs.
func TestLedgerFromTheEnvironment(t *testing.T) {
	const password = "hunter2hunter2"
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	s.Dear = true
	redis := redistest.StartWith(t, "--appendonly", "yes", "--appendfsync", "always")
	redisPassword(t, redis.Addr, password)
	address := "redis://default:" + password + "@" + redis.Addr

	flagged := t.TempDir()
	r := command(t, runArgs(s.URL, flagged, "--budget", "0.01", "--ledger", address)...)
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.NotContains(t, r.stderr, password)
	line := told(t, r)
	require.Equal(t, resumeArgs(s.URL, flagged, "--ledger", "redis://USER:PASSWORD@"+redis.Addr, "--budget"), line[:7])

	t.Setenv(ledgerVariable, address)
	dir := t.TempDir()
	r = command(t, runArgs(s.URL, dir, "--budget", "0.01")...)
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.NotContains(t, contents(t, r, dir), password)
	require.NoFileExists(t, filepath.Join(dir, "run", "ledger"), "the ledger is the one that the environment names")
	require.NotContains(t, told(t, r), "--ledger")
	s.Dear = false
	for _, d := range []string{dir, flagged} {
		resumed := command(t, resumeArgs(s.URL, d, "--budget", "+1")...)
		require.Equal(t, exitOK, resumed.code, resumed.stderr)
	}
	for _, args := range [][]string{{"--help"}, {"batch", "--help"}, {"serve", "--help"}, {"doctor", "--help"}, {"resume", "--help"}} {
		help := command(t, args...).stdout
		require.Contains(t, help, ledgerVariable)
		require.NotContains(t, help, password)
	}
	doctor := command(t, "doctor", "-o", t.TempDir())
	require.Equal(t, exitOK, doctor.code, doctor.stdout)
	require.Contains(t, doctor.stdout, "ledger: redis")

	// A run with its ledger in its folder keeps to it.
	t.Setenv(ledgerVariable, "redis://127.0.0.1:1")
	r = command(t, runArgs(s.URL, t.TempDir(), "--budget", "1")...)
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, ledgerVariable)
	own := t.TempDir()
	require.Equal(t, exitExhausted, command(t, runArgs(s.URL, own, "--budget", "1", "--ledger", "", "--max-calls", "3")...).code)
	require.Equal(t, exitOK, command(t, resumeArgs(s.URL, own, "--max-calls", "25")...).code)
}

// The journal of a run that never came to a report is read from its folder, and a resumed
// run goes on in the file of --journal.
func TestJournalOfAStoppedRun(t *testing.T) {
	dir, lines := t.TempDir(), filepath.Join(t.TempDir(), "j.jsonl")
	_, s := interrupted(t, 4, dir, "--journal", lines)
	stats := func(path string) (s journal.Stats) {
		t.Helper()
		r := command(t, "journal", "stats", "--json", path)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &s))
		return s
	}
	for _, cmd := range []string{"verify", "stats", "show"} {
		r := command(t, "journal", cmd, dir)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.NotEmpty(t, r.stdout)
	}
	require.Equal(t, map[string]int{"interrupted": 1}, stats(dir).Runs.ByStatus)

	r := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	for _, path := range []string{dir, lines} {
		require.Equal(t, map[string]int{"done": 1}, stats(path).Runs.ByStatus, "both attempts are one run")
		require.Equal(t, exitOK, command(t, "journal", "verify", path).code)
	}
	other := filepath.Join(t.TempDir(), "other.jsonl")
	elsewhere := t.TempDir()
	_, s = interrupted(t, 4, elsewhere, "--journal", lines)
	require.Equal(t, exitOK, command(t, resumeArgs(s.URL, elsewhere, "--journal", other)...).code)
	require.Equal(t, 1, stats(other).Runs.Total)
	require.Equal(t, 2, stats(lines).Runs.Total)

	// A new run in place of a finished one, stopped: its journal, not the old report's.
	interrupted(t, 0, dir, "--replace")
	require.FileExists(t, filepath.Join(dir, journalName))
	require.Equal(t, map[string]int{"interrupted": 1}, stats(dir).Runs.ByStatus)
}
