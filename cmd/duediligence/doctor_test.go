// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/redistest"
	"github.com/gardefou/gardefou/internal/standin"
)

func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	r := command(t, "doctor", "-o", dir)
	require.Equal(t, exitOK, r.code, r.stdout)
	for _, want := range []string{"ok   model: offline", "ok   sources: sample", "ok   ledger: memory", "ok   disk", "ok   clock", "prices: the table is"} {
		require.Contains(t, r.stdout, want)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, "nothing is left")
	require.Contains(t, command(t, "doctor", "-o", dir, "--lang", "fr").stdout, "disque")
	require.Equal(t, exitRefused, command(t, "doctor", "--source", "web").code)

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	r = command(t, "doctor", "-o", filepath.Join(file, "x"), "--ledger", "redis://127.0.0.1:1")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stdout, "FAIL disk")
	require.Contains(t, r.stdout, "FAIL ledger")
	down := standIn(t, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return true
	})
	require.Contains(t, command(t, append([]string{"doctor", "-o", dir}, down...)...).stdout, "FAIL sources")
}

// A look changes nothing: a folder that is not there is not made.
func TestDoctorMakesNoFolder(t *testing.T) {
	there := t.TempDir()
	for _, dir := range []string{filepath.Join(there, "new"), filepath.Join(there, "new", "newer")} {
		r := command(t, "doctor", "-o", dir)
		require.Equal(t, exitOK, r.code, r.stdout)
		require.Contains(t, r.stdout, dir+" is not there yet; "+there)
	}
	entries, err := os.ReadDir(there)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestDoctorOnTheModel(t *testing.T) {
	answer, off, list := http.StatusOK, time.Duration(0), `{"models": []}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		if r.Header.Get("x-goog-api-key") != standin.Key {
			answer = http.StatusBadRequest
		}
		w.WriteHeader(answer)
		_, _ = w.Write([]byte(list))
	}))
	defer srv.Close()
	doctor := func() result {
		return command(t, "doctor", "-o", t.TempDir(), "--model", "gemini-2.5-flash", "--base-url", srv.URL)
	}
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	require.Contains(t, doctor().stdout, "GEMINI_API_KEY")
	t.Setenv("GEMINI_API_KEY", standin.Key)
	r := doctor()
	require.Equal(t, exitOK, r.code, r.stdout)
	require.Contains(t, r.stdout, "takes the key")
	require.Contains(t, r.stdout, "ok   clock: within")
	off = time.Hour
	require.Contains(t, doctor().stdout, "FAIL clock")
	off = 0
	for code, want := range map[int]string{http.StatusForbidden: "does not take the key", http.StatusTooManyRequests: "quota", http.StatusServiceUnavailable: "overloaded"} {
		answer = code
		r := doctor()
		require.Equal(t, exitFailed, r.code)
		require.Contains(t, r.stdout, want)
		require.NotContains(t, r.stdout+r.stderr, standin.Key)
	}
	for _, code := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		answer = code
		require.Contains(t, doctor().stdout, "!    model", code)
		require.Contains(t, doctor().stdout, "the key was not checked", code)
	}
	answer, list = http.StatusOK, "<html>It works!</html>"
	r = doctor()
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stdout, "no such API at this address")

	t.Setenv("OPENAI_API_KEY", "")
	local := standin.OpenAI(t, offline.Model{}, nil)
	openai := func() string {
		dir := t.TempDir()
		r := command(t, "doctor", "-o", dir, "--model", "openai:qwen3", "--base-url", local.URL, "--lang", "fr")
		require.NotContains(t, r.stdout, "accepte la clé")
		chat := command(t, "doctor", "-o", dir, "--model", "chat:qwen3", "--base-url", strings.TrimPrefix(local.URL, "http://"), "--lang", "fr")
		clock := regexp.MustCompile(`à \d+s près`)
		require.Equal(t, clock.ReplaceAllString(r.stdout, ""), clock.ReplaceAllString(chat.stdout, ""))
		return r.stdout
	}
	require.Contains(t, openai(), "la clé n'a pas été vérifiée")
	lists := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"object":"list","data":[]}`)) }))
	defer lists.Close()
	local.URL = lists.URL
	require.Contains(t, openai(), "aucune clé donnée")
	srv.Close()
	require.Contains(t, doctor().stdout, "can't be reached")
}

func TestDoctorOnRedis(t *testing.T) {
	s := redistest.Start(t)
	r := command(t, "doctor", "-o", t.TempDir(), "--ledger", "redis://"+s.Addr)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stdout, "acknowledged writes", "this Redis would forget what was spent")
	s = redistest.StartWith(t, "--appendonly", "yes", "--appendfsync", "always")
	r = command(t, "doctor", "-o", t.TempDir(), "--ledger", "redis://"+s.Addr)
	require.Equal(t, exitOK, r.code, r.stdout)
	require.Contains(t, r.stdout, "ok   ledger: redis")
}

func TestVersionSaysTheCommit(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.modified", Value: "true"}, {Key: "vcs.time", Value: "2026-11-15T09:00:00Z"}}}
	require.Equal(t, "(devel) commit abc123+changes of 2026-11-15T09:00:00Z", versionOf(info))
	require.Contains(t, command(t, "--version").stdout, "go1.")
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := command(t, "completion", shell)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Contains(t, r.stdout, "duediligence")
	}
	for word, want := range map[string]string{"--format": "json", "--fail-on": "critical", "--lang": "fr"} {
		require.Contains(t, command(t, "__complete", word, "").stdout, want)
	}
}
