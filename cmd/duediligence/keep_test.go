// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/pipeline/store"
)

// interrupted begins a run in dir and sends Ctrl-C during the model call numbered at, from 0.
func interrupted(t *testing.T, at int, dir string, more ...string) (r result, s *standin.Server) {
	t.Helper()
	t.Setenv("GEMINI_API_KEY", standin.Key)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s = standin.Gemini(t, offline.Model{}, func(n int, _ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if n == at {
			cancel()
			<-r.Context().Done()
			return true
		}
		return false
	})
	r = commandIn(ctx, t, runArgs(s.URL, dir, append([]string{"--budget", "1"}, more...)...)...)
	require.Equal(t, exitInterrupted, r.code, r.stderr)
	return r, s
}

// A run that was paid for and is not finished is not thrown away by giving the same command
// again; one that is finished may be replaced.
func TestTheSameCommandAgainKeepsAnUnfinishedRun(t *testing.T) {
	dir := t.TempDir()
	_, s := interrupted(t, 4, dir)
	before := contents(t, result{}, dir)
	calls := len(s.Bodies())
	args := runArgs(s.URL, dir, "--budget", "1")
	for lang, want := range map[string][]string{
		"en": {"not finished", "duediligence resume " + dir, "--fresh", "TRANSPORTS KERVALEC"},
		"fr": {"inachevé", "duediligence resume " + dir, "--fresh", "Ou recommencer"},
	} {
		r := command(t, append(args, "--lang", lang)...)
		require.Equal(t, exitRefused, r.code, r.stderr)
		for _, w := range want {
			require.Contains(t, r.stderr, w)
		}
	}
	require.Len(t, s.Bodies(), calls, "nothing was paid for")
	require.Equal(t, before, contents(t, result{}, dir), "nothing was changed")

	resumed := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitOK, resumed.code, resumed.stderr)
	require.Contains(t, resumed.stderr, "are there already")
	again := command(t, append(args, "--replace")...)
	require.Equal(t, exitOK, again.code, "a finished run may be replaced: "+again.stderr)
	require.Contains(t, again.stderr, "The dossier in "+dir+" on TRANSPORTS KERVALEC, finished on ")

	interruptedAgain := t.TempDir()
	_, s = interrupted(t, 2, interruptedAgain)
	calls = len(s.Bodies())
	fresh := command(t, runArgs(s.URL, interruptedAgain, "--budget", "1", "--fresh")...)
	require.Equal(t, exitOK, fresh.code, fresh.stderr)
	require.Len(t, s.Bodies(), calls+8)

	require.NoError(t, os.WriteFile(filepath.Join(dir, store.Folder, store.RunFile), []byte("{"), 0o600))
	broken := command(t, args...)
	require.Equal(t, exitRefused, broken.code)
	require.Contains(t, broken.stderr, "--replace")
	require.Equal(t, exitRefused, command(t, append(args, "--fresh")...).code)
	require.Equal(t, exitOK, command(t, append(args, "--replace")...).code)
}

// Refused before its first step: nothing was paid for that could be lost.
func TestARunThatNeverBeganMayBeReplaced(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	dir := t.TempDir()
	r := command(t, runArgs(s.URL, dir, "--budget", "1", "--ledger", "redis://127.0.0.1:1")...)
	require.Equal(t, exitRefused, r.code, r.stderr)
	require.Equal(t, exitOK, command(t, runArgs(s.URL, dir, "--budget", "1")...).code)
}

// Two runs in one folder at once: the second is refused before it pays for anything, and
// the first keeps its journal and report.
func TestTwoRunsInOneFolder(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	arrived, release := make(chan struct{}), make(chan struct{})
	s := standin.Gemini(t, offline.Model{}, func(n int, _ http.ResponseWriter, _ *http.Request, _ []byte) bool {
		if n == 0 {
			close(arrived)
			<-release
		}
		return false
	})
	dir := t.TempDir()
	cmd, out := start(t, runArgs(s.URL, dir, "--budget", "1")...)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-arrived:
	case err := <-ended:
		require.NoError(t, err, out.String())
	case <-time.After(time.Minute):
		require.Fail(t, "no call came")
	}
	for _, more := range [][]string{nil, {"--fresh"}, {"--ledger", "memory"}} {
		second := command(t, runArgs(s.URL, dir, append(more, "--budget", "1")...)...)
		require.Equal(t, exitRefused, second.code, second.stderr)
		require.Contains(t, second.stderr, "another process")
		require.Empty(t, second.stdout)
	}
	require.Equal(t, exitRefused, command(t, resumeArgs(s.URL, dir)...).code)
	close(release)
	require.NoError(t, <-ended, out.String())
	require.Len(t, s.Bodies(), 8, "the first run's calls only")
	require.Equal(t, exitOK, command(t, "journal", "verify", dir).code)
	require.FileExists(t, filepath.Join(dir, "report.json"))
}
