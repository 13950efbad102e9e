// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/pipeline/store"
)

// The report can't be written into the folder, but the run is kept there: what is told is
// the command that writes the files, and it pays for nothing.
func TestFilesThatCouldNotBeWritten(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "report.md")
	s := standin.Gemini(t, offline.Model{}, func(n int, _ http.ResponseWriter, _ *http.Request, _ []byte) bool {
		if n == 0 {
			_ = os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700)
		}
		return false
	})
	r := command(t, runArgs(s.URL, dir, "--budget", "1")...)
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, "report.md")
	require.Contains(t, r.stderr, "costs nothing again: duediligence resume "+dir)
	require.NotContains(t, r.stderr, "give it a folder")
	require.Contains(t, r.stdout, "TRANSPORTS KERVALEC")
	calls := len(s.Bodies())

	require.NoError(t, os.RemoveAll(inTheWay))
	again := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitOK, again.code, again.stderr)
	require.Len(t, s.Bodies(), calls)
	require.Equal(t, r.stdout, file(t, inTheWay))
}

// What a resumed run is refused for names what a resumed run has: no -o, no other file.
func TestResumeWithAForeignJournal(t *testing.T) {
	dir := t.TempDir()
	_, s := interrupted(t, 4, dir)
	calls := len(s.Bodies())
	path := filepath.Join(dir, store.Folder, journalName)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(whole, "a note\n"...), 0o600))
	r := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitRefused, r.code)
	require.NotContains(t, r.stderr, "-o")
	require.NotContains(t, r.stderr, "name another")
	require.Contains(t, r.stderr, path)
	require.Contains(t, r.stderr, "remove it to go on")
	require.Len(t, s.Bodies(), calls)
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	require.Equal(t, exitOK, command(t, resumeArgs(s.URL, dir)...).code)
}

// Nothing of what was answered is there any longer: that is said before it is paid again.
func TestResumeWithoutItsSession(t *testing.T) {
	dir := t.TempDir()
	_, s := interrupted(t, 4, dir)
	for _, name := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, store.Folder, store.SessionFile+name)))
	}
	r := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stderr, "every call is made, and paid for, from the start")
}

// A budget that gives a resumed run nothing to go on with is a mistake, and is told with
// what was spent.
func TestResumeWithABudgetThatAddsNothing(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	s.Dear = true
	dir := t.TempDir()
	require.Equal(t, exitExhausted, command(t, runArgs(s.URL, dir, "--budget", "0.02")...).code)
	before := file(t, dir, store.Folder, store.LedgerFile)
	calls := len(s.Bodies())
	for budget, want := range map[string]string{"0": "adds nothing", "+0": "adds nothing", "+0.00": "adds nothing", "0.001": "has spent or holds"} {
		r := command(t, "resume", dir, "--base-url", s.URL, "--budget", budget)
		require.Equal(t, exitRefused, r.code, "%s: %s", budget, r.stderr)
		require.Contains(t, r.stderr, want)
	}
	require.Len(t, s.Bodies(), calls)
	require.Equal(t, before, file(t, dir, store.Folder, store.LedgerFile), "the account was not touched")
	s.Dear = false
	require.Equal(t, exitOK, command(t, "resume", dir, "--base-url", s.URL, "--budget", "1").code)
}
