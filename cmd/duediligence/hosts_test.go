// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/standin"
)

// A server that redirects gets the key; the host it redirects to gets nothing, neither of
// doctor nor of a run.
func TestTheKeyFollowsNoRedirect(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	t.Setenv("OPENAI_API_KEY", standin.Key)
	var asked, arrived atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	for _, model := range []string{"gemini-2.5-flash", "openai:x", "chat:x"} {
		asked.Store(0)
		r := command(t, "doctor", "-o", t.TempDir(), "--model", model, "--base-url", first.URL)
		require.Equal(t, exitFailed, r.code, r.stdout)
		require.Contains(t, r.stdout, "redirect to another host")
		require.EqualValues(t, 1, asked.Load())
		r = command(t, "Transports Kervalec", "--model", model, "--base-url", first.URL)
		require.Equal(t, exitFailed, r.code, r.stderr)
		require.Greater(t, asked.Load(), int32(1))
	}
	require.Zero(t, arrived.Load())
}

func TestAKeyOverPlainHTTPIsRefusedBeforeTheRun(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	args := []string{"--model", "gemini-2.5-flash", "--base-url", "http://models.example.com"}
	r := command(t, append(args, "Transports Kervalec")...)
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "models.example.com over plain http")
	require.Contains(t, r.stderr, "--allow-http models.example.com")
	r = command(t, append(args, "doctor", "-o", t.TempDir())...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stdout, "--allow-http models.example.com")
	require.Equal(t, exitOK, command(t, append(args, "explain", "--allow-http", "models.example.com")...).code)
}

// What is missing is said, and nothing that contradicts it.
func TestAMissingKeyIsNamed(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	r := command(t, "Transports Kervalec", "--model", "gemini-2.5-flash")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "--model: gemini-2.5-flash needs a key in GEMINI_API_KEY or GOOGLE_API_KEY")
	require.NotContains(t, r.stderr, "no such model")
	require.Contains(t, command(t, "Transports Kervalec", "--model", "gpt").stderr, "--model: no such model")
	for _, args := range [][]string{{"--help"}, {"doctor", "--help"}, {"batch", "--help"}, {"serve", "--help"}} {
		require.Contains(t, command(t, args...).stdout, "OPENAI_API_KEY", args)
	}
}
