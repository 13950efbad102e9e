// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/store"
)

// The numbered hostile cases are those of the due-diligence paper.

// A name that looks like a flag is a name after "--", and a mistake before. (Case 18.)
func TestNamesThatLookLikeFlags(t *testing.T) {
	require.Equal(t, exitNotFound, command(t, "--", "-rf").code)
	require.Equal(t, exitNotFound, command(t, "--", "--output=/etc").code)
	require.Equal(t, exitRefused, command(t, "-rf").code)
	dir := t.TempDir()
	require.Equal(t, exitNotFound, command(t, "-o", dir, "../../etc/passwd").code)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// contents is all that a run printed and wrote.
func contents(t *testing.T, r result, dirs ...string) string {
	t.Helper()
	all := r.stdout + r.stderr
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			all += path + string(data)
			return err
		}))
	}
	return all
}

// Keys in the environment, a proxy with a password, and a server that throws the key
// back at us: none of it is in what is printed, written or kept. (Case 41.)
func TestSecretsStayOut(t *testing.T) {
	const key, password = "sk-0123456789abcdefSECRET", "hunter2hunter2"
	t.Setenv("OPENAI_API_KEY", key)
	t.Setenv("GEMINI_API_KEY", key)
	proxied := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied = true }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, strings.Replace(proxy.URL, "://", "://user:"+password+"@", 1))
	}
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"error":{"message":"wrong key ` + r.Header.Get("Authorization") + `","type":"x","code":"y"}}`))
	}))
	t.Cleanup(echo.Close)
	out, cache := t.TempDir(), t.TempDir()
	args := append(standIn(t, nil), "-o", out, "--cache", cache, "--model", "openai:some", "--base-url", echo.URL, "Transports Kervalec")
	r := command(t, args...)
	require.Contains(t, r.stdout, "TRANSPORTS KERVALEC", r.stderr)
	all := contents(t, r, out, cache)
	require.Contains(t, all, "403", "the failure itself is told")
	for _, secret := range []string{key, password} {
		if strings.Contains(all, secret) { // without printing it all
			t.Errorf("%s got out", secret)
		}
	}
	require.False(t, proxied, "look-ups are not rerouted")

	for _, args := range [][]string{
		{"--source", "live", "--allow-private-hosts", "--source-url", "bodacc=http://user:" + password + "@127.0.0.1", "Acme"},
		{"--model", "openai:some", "--base-url", "http://user:" + password + "@127.0.0.1/v1", "Acme"},
	} {
		r := command(t, args...)
		require.Equal(t, exitRefused, r.code)
		require.NotContains(t, r.stderr, password)
	}

	for _, address := range []string{"redis://user:" + password + "@127.0.0.1:1", "redis://:" + password + "%zz@127.0.0.1:1", "redis:user:" + password + "@127.0.0.1"} {
		dir := t.TempDir()
		r := command(t, "-o", dir, "--ledger", address, "Transports Kervalec")
		require.Equal(t, exitOK, r.code, r.stderr)
		require.FileExists(t, filepath.Join(dir, store.Folder, store.RunFile))
		require.NotContains(t, contents(t, r, dir), password)
		require.Equal(t, exitOK, command(t, "resume", dir).code, "without a budget the ledger is not needed")
	}
}

// A base address is an official one, or named as another. (Case 23.)
func TestBaseAddressesAreTakenApart(t *testing.T) {
	for _, address := range []string{
		"http://127.0.0.1", "https://recherche-entreprises.api.gouv.fr@evil.example", "https://recherche-entreprises.api.gouv.fr.evil.example",
		"http://recherche-entreprises.api.gouv.fr", "file:///etc/passwd",
	} {
		r := command(t, "--source", "live", "--source-url", "recherche-entreprises="+address, "Acme")
		require.Equal(t, exitRefused, r.code, address)
	}
}

// A folder that takes no file is refused before any work. (Case 42; root may write
// anywhere but here.)
func TestReadOnlyFolder(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("no /proc here")
	}
	r := command(t, "-o", "/proc/nowhere", "Transports Kervalec")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "-o:")
	require.NotContains(t, r.stderr, "Subject:")
}

// A recording that could not be kept whole is a failure, a cache that does not work
// is a remark. (Case 42.)
func TestAnswersThatCannotBeKept(t *testing.T) {
	for mode, code := range map[string]int{"record": exitFailed, "live": exitOK} {
		dir := filepath.Join(t.TempDir(), "kept")
		args := standIn(t, func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/search" {
				_ = os.RemoveAll(dir)
			}
			return false
		})
		if mode == "record" {
			args[1] = "record:" + dir
		} else {
			args = append(args, "--cache", dir)
		}
		r := command(t, append(args, "Transports Kervalec")...)
		require.Equal(t, code, r.code, r.stderr)
		require.NotEmpty(t, r.stdout, "the report is there all the same")
		require.Regexp(t, "recording is not whole|cache does not work", r.stderr)
	}
}

// The day the facts are judged at is in the report; one to come is refused. (Case 43.)
func TestAsOf(t *testing.T) {
	for _, day := range []string{"2099-01-01", "2026-11-16", "yesterday", "15/11/2026"} {
		r := command(t, "--as-of", day, "Transports Kervalec")
		require.Equal(t, exitRefused, r.code, day)
	}
	live := append(standIn(t, nil), "--as-of", "2099-01-01", "Transports Kervalec")
	require.Equal(t, exitRefused, command(t, live...).code)

	r := command(t, "--as-of", "2025-06-30", "Conserverie des Embruns")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "| As of | 30 June 2025 |")
	require.Contains(t, r.stdout, "after the as-of date")
	require.NotContains(t, r.stdout, "condamnée", "a story of 2026")
}

// Runs at once about one supplier, into one folder and one cache: those that find another at
// work there are refused, the folder has whole files, and the next run can live on the cache.
// (Case 44.)
func TestTwoRunsAtOnce(t *testing.T) {
	t.Setenv("LC_ALL", "en_US.UTF-8")
	out, cache := t.TempDir(), t.TempDir()
	down := false
	args := standIn(t, func(w http.ResponseWriter, r *http.Request) bool {
		// The register of asset freezes is always asked for its date.
		if down && !strings.HasPrefix(r.URL.Path, "/ApiPublic/") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	args = append(args, "-o", out, "--cache", cache, "Transports Kervalec")
	var wg sync.WaitGroup
	var written atomic.Int32
	for range 4 {
		wg.Go(func() {
			var stdout, stderr bytes.Buffer
			switch code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); {
			case code == exitOK:
				written.Add(1)
			case code != exitRefused || !strings.Contains(stderr.String(), "another process is at work"):
				t.Errorf("exit %d: %s", code, stderr.String())
			}
		})
	}
	wg.Wait()
	require.Positive(t, written.Load())
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Len(t, entries, 7, "six files and the run; no temporary file is left")
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	require.NoError(t, err)
	_, err = report.Parse(data)
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(strings.TrimSpace(string(page)), "</html>"))

	down = true
	r := command(t, args...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.NotContains(t, r.stdout, "unavailable on", "all of it came from the cache")
}
