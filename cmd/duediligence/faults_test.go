// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/internal/redistest"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
)

// soak makes the fault tests try every position instead of a few: make soak.
func soak() bool { return os.Getenv("GARDEFOU_SOAK") != "" }

// paid is what the journal of one run says was charged and held, in USD.
func paid(t *testing.T, file string) (s journal.Stats, charged, reserved float64) {
	t.Helper()
	r, err := journal.VerifyFiles(journal.VerifyOptions{}, file)
	require.NoError(t, err)
	require.True(t, r.OK(), r.Faults)
	s, err = journal.Count(journal.FileEntries(file))
	require.NoError(t, err)
	require.Equal(t, 1, s.Runs.Total, "one run, with one end")
	require.Zero(t, s.Runs.ByStatus[journal.StatusUnfinished])
	return s, float64(s.Charged) / 1e9, float64(s.Reserved) / 1e9
}

// A model that answers 429 or 503, or hangs, from a call on or at one call only: there
// is a report, the status is honest, the account agrees with the bill.
func TestFaultyModel(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	faults := map[string]func(http.ResponseWriter, *http.Request){
		"429": func(w http.ResponseWriter, _ *http.Request) {
			standin.GeminiError(w, http.StatusTooManyRequests, "quota")
		},
		"503": func(w http.ResponseWriter, _ *http.Request) {
			standin.GeminiError(w, http.StatusServiceUnavailable, "overloaded")
		},
		"hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	}
	positions := []int{0, 4}
	if soak() {
		positions = []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	for name, fault := range faults {
		for _, at := range positions {
			for _, once := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s at %d once %t", name, at, once), func(t *testing.T) {
					s := standin.Gemini(t, offline.Model{}, func(n int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
						if n < at || once && n > at {
							return false
						}
						fault(w, r)
						return true
					})
					file := filepath.Join(t.TempDir(), "j.jsonl")
					start := time.Now()
					r := command(t, "--journal", file, "--model", "gemini-2.5-flash", "--base-url", s.URL, "--model-timeout", "400ms", "--budget", "1", "--timeout", "20s", "Transports Kervalec")
					require.Less(t, time.Since(start), 20*time.Second, "a hanging call ends by its own time-out")
					require.Equal(t, exitFailed, r.code, r.stderr)
					require.Contains(t, r.stdout, "# Supplier due diligence: TRANSPORTS KERVALEC")
					stats, charged, reserved := paid(t, file)
					bill, err := s.Bill("gemini", "gemini-2.5-flash")
					require.NoError(t, err)
					failed := 0
					for e, err := range journal.FileEntries(file) {
						require.NoError(t, err)
						if e.Kind == line.KindModel && e.Outcome != "allowed" {
							failed++
						}
					}
					require.Positive(t, failed, "the journal names the call that failed")
					require.Equal(t, map[string]int{"failed": 1}, stats.Runs.ByStatus)
					require.GreaterOrEqual(t, charged+1e-9, bill.USD(), "all that was billed is on the account")
					require.LessOrEqual(t, charged, reserved+1e-9)
					if name != "hang" { // whether a call that was cut off is billed, nobody knows: it is held
						require.InDelta(t, bill.USD(), charged, 1e-8, "and nothing twice")
					}
				})
			}
		}
	}
}

// A model that is dead, or whose key is refused, for all agents or for one of them: the run
// failed, and everything that tells of it says so, with the cause, and how to go on.
func TestAModelThatCannotBeUsed(t *testing.T) {
	refuse := func(from, to int) standin.Fault {
		return func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			if n < from || n > to {
				return false
			}
			standin.GeminiError(w, http.StatusServiceUnavailable, "overloaded, write to ops@example.fr")
			return true
		}
	}
	blocked := func(_ int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
		standin.GeminiAnswer(w, r, map[string]any{"finishReason": "SAFETY", "finishMessage": "blocked"}, nil)
		return true
	}
	for name, tc := range map[string]struct {
		key   string
		fault standin.Fault
		cause string
		lang  string
	}{
		"dead":           {standin.Key, refuse(0, 1000), "overloaded", "en"},
		"a wrong key":    {"wrong", nil, "API key not valid", "fr"},
		"one researcher": {standin.Key, refuse(0, 0), "overloaded", "en"},
		"the reviewer":   {standin.Key, refuse(7, 1000), "overloaded", "en"},
		"all is blocked": {standin.Key, blocked, "SAFETY", "en"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GEMINI_API_KEY", tc.key)
			s := standin.Gemini(t, offline.Model{}, tc.fault)
			dir := t.TempDir()
			r := command(t, runArgs(s.URL, dir, "--budget", "1", "--lang", tc.lang)...)
			require.Equal(t, exitFailed, r.code, r.stderr)
			require.Contains(t, r.stderr, tc.cause)
			require.Contains(t, r.stdout, "TRANSPORTS KERVALEC")
			require.Contains(t, file(t, dir, store.Folder, store.RunFile), `"status": "failed"`)
			page := html.UnescapeString(file(t, dir, runpage.IndexFile))
			require.NotContains(t, page, "ended as it should")
			require.NotContains(t, page, "s'est terminée normalement")
			require.NotContains(t, page, `class="status good"`)
			require.Contains(t, page, tc.cause)
			require.Contains(t, page, "duediligence doctor")
			require.Contains(t, page, "duediligence resume "+dir)
			require.Contains(t, command(t, "journal", "show", dir).stdout, tc.cause)
			stats, err := journal.Count(journal.FileEntries(filepath.Join(dir, runpage.JournalFile)))
			require.NoError(t, err)
			require.Equal(t, map[string]int{"failed": 1}, stats.Runs.ByStatus)
			for _, text := range []string{r.stderr, r.stdout, page, command(t, "journal", "show", "--html", dir).stdout} {
				require.NotContains(t, text, "ops@example.fr")
			}
		})
	}
}

// Redis goes in the middle of a run and comes back: no call is made that no account
// holds, and the next run works.
func TestRedisGoesAndComesBack(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	positions := []int{2}
	if soak() {
		positions = []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	for _, at := range positions {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			redis := redistest.StartWith(t, "--appendonly", "yes", "--appendfsync", "always")
			var stopped atomic.Bool
			s := standin.Gemini(t, offline.Model{}, func(n int, _ http.ResponseWriter, _ *http.Request, _ []byte) bool {
				if n == at && stopped.CompareAndSwap(false, true) {
					redis.Stop()
				}
				return false
			})
			run := func(file string) result {
				return command(t, "--journal", file, "--model", "gemini-2.5-flash", "--base-url", s.URL, "--budget", "1", "--ledger", "redis://"+redis.Addr, "--timeout", "30s", "Transports Kervalec")
			}
			first := filepath.Join(t.TempDir(), "first.jsonl")
			r := run(first)
			require.Contains(t, []int{exitOK, exitFailed, exitExhausted}, r.code, r.stderr)
			require.Contains(t, r.stdout, "# Supplier due diligence: TRANSPORTS KERVALEC")
			stats, charged, reserved := paid(t, first)
			if r.code != exitOK { // after the last call there is nothing left to refuse
				require.Zero(t, stats.Runs.ByStatus["done"])
			}
			billed, err := s.Bill("gemini", "gemini-2.5-flash")
			require.NoError(t, err)
			require.GreaterOrEqual(t, reserved+1e-8, billed.USD(), "what was billed was held before")
			// A call that could not be settled counts with all that was held for it.
			require.LessOrEqual(t, charged, reserved+1e-8)
			attempts := 0
			for _, a := range stats.Agents {
				attempts += a.Calls
			}
			require.Len(t, s.Bodies(), attempts, "every call that went out is in the journal, none went out again")

			redis.Restart()
			second := filepath.Join(t.TempDir(), "second.jsonl")
			r = run(second)
			require.Equal(t, exitOK, r.code, r.stderr)
			_, charged, _ = paid(t, second)
			all, err := s.Bill("gemini", "gemini-2.5-flash")
			require.NoError(t, err)
			require.InDelta(t, all.USD()-billed.USD(), charged, 1e-8)
		})
	}
}

// A folder on a file system that takes nothing: said before anything is paid for.
func TestAFolderThatTakesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	s := standin.Gemini(t, offline.Model{}, nil)
	t.Setenv("GEMINI_API_KEY", standin.Key)
	for _, args := range [][]string{{"-o", "/proc/duediligence"}, {"-o", "/proc"}, {"--journal", "/proc/duediligence.jsonl"}, {"--ledger", "file:/proc/ledger"}} {
		r := command(t, slices.Concat(args, []string{"--model", "gemini-2.5-flash", "--base-url", s.URL, "--budget", "1", "Transports Kervalec"})...)
		require.Equal(t, exitRefused, r.code, r.stderr)
		require.Contains(t, r.stderr, args[0])
	}
	require.Empty(t, s.Bodies())
}
