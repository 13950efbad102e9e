// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/standin"
)

// A slip in a command is never looked up: no register is asked for a company "docter".
func TestAMisspeltCommandIsNotLookedUp(t *testing.T) {
	asked := 0
	live := standIn(t, func(http.ResponseWriter, *http.Request) bool { asked++; return false })
	for word, want := range map[string]string{
		"docter": "doctor", "serv": "serve", "reserch": "research", "jurnal": "journal", "resum": "resume", "bach": "batch", "price": "prices", "explian": "explain",
		"redcat": "redact", "verison": "version", "helo": "help", "completon": "completion",
	} {
		r := command(t, append([]string{word}, live...)...)
		require.Equal(t, exitRefused, r.code, word)
		require.Contains(t, r.stderr, "did you mean "+want+"?", word)
		require.Contains(t, r.stderr, "duediligence research "+word)
		require.Contains(t, command(t, word, "--lang", "fr").stderr, "vouliez-vous dire "+want, word)
	}
	require.Zero(t, asked)
	for _, args := range [][]string{{"journal", "verfy"}, {"journal", "verfy", "x"}} {
		r := command(t, args...)
		require.Equal(t, exitRefused, r.code)
		require.Contains(t, r.stderr, "did you mean verify?")
	}
	require.Equal(t, exitRefused, command(t, "journal", "nonsense").code)

	// Names of companies are looked up, and with research whatever they are.
	for _, name := range []string{"Docter", "DOCTER", "danone", "docter sarl", "serve42", "kervalec transports"} {
		require.NotContains(t, command(t, name).stderr, "did you mean", name)
	}
	for _, name := range []string{"docter", "serve", "batch", "Zorglub International"} {
		require.Equal(t, exitNotFound, command(t, "research", name).code, name)
	}
	require.Equal(t, command(t, "Transports Kervalec").stdout, command(t, "research", "Transports Kervalec").stdout)
	require.Equal(t, exitOK, command(t, "research", "--siren", "999991011", "-o", t.TempDir()).code)
}

// A model whose calls have no price can't be held to a budget: that is said before the first
// call, by doctor and explain too, with what to do.
func TestABudgetWithoutAPriceIsRefusedBeforeTheRun(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	s := standin.OpenAI(t, offline.Model{}, nil)
	own := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(own, []byte(`{"openai/nope": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-7, "output_cost_per_token": 2e-7, "max_input_tokens": 100000, "max_output_tokens": 4096}}`), 0o600))
	flags := []string{"--model", "openai:nope", "--base-url", s.URL, "--budget", "0.1"}
	dir := filepath.Join(t.TempDir(), "out")
	list := suppliers(t, "Transports Kervalec")
	for name, args := range map[string][]string{
		"run": {"Transports Kervalec", "-o", dir}, "explain": {"explain"}, "batch": {"batch", list, "-o", t.TempDir()}, "serve": {"serve", "--address", "127.0.0.1:0"},
	} {
		r := command(t, append(args, flags...)...)
		require.Equal(t, exitRefused, r.code, "%s: %s", name, r.stderr)
		require.Contains(t, r.stderr, "--price-file", name)
		require.Contains(t, r.stderr, "openai:nope")
	}
	require.NoDirExists(t, dir)
	doctor := command(t, append([]string{"doctor", "-o", t.TempDir()}, flags...)...)
	require.Equal(t, exitFailed, doctor.code)
	require.Contains(t, doctor.stdout, "FAIL prices: --budget can't be held")
	require.Empty(t, s.Bodies()[min(len(s.Bodies()), 1):], "doctor asks for the list of models, nothing else was asked")

	priced := command(t, append(append([]string{"Transports Kervalec"}, flags...), "--price-file", own)...)
	require.Equal(t, exitOK, priced.code, priced.stderr)
	require.Equal(t, exitRefused, command(t, "doctor", "--budget", "nonsense", "--model", "openai:nope", "--base-url", s.URL).code)
}

// A row of the price file that can't be used is said: the model that was meant may be in it.
func TestRowsOfThePriceFileThatCantBeUsedAreSaid(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	own := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(own, []byte(`{
		"gemini/gemini-2.5-flash": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 1e-7, "output_cost_per_token": 2e-7, "max_input_tokens": 100000, "max_output_tokens": 4096},
		"gemini/free-\u001b[31m": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0},
		"sellerless": {"mode": "chat", "input_cost_per_token": 1e-7, "output_cost_per_token": 2e-7}
	}`), 0o600))
	flags := []string{"--model", "gemini-2.5-flash", "--base-url", s.URL, "--budget", "1", "--price-file", own}
	const said = "Rows of the price file that can't be used: 2."
	for name, args := range map[string][]string{
		"run": {"Transports Kervalec"}, "batch": {"batch", suppliers(t, "Transports Kervalec", "Bâtisseurs du Menhir"), "-o", t.TempDir()},
	} {
		r := command(t, append(args, flags...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Equal(t, 1, strings.Count(r.stderr, said), "%s: %s", name, r.stderr)
		require.Contains(t, r.stderr, "duediligence prices --price-file "+own, name)
	}
	require.Contains(t, command(t, append([]string{"doctor", "-o", t.TempDir()}, flags...)...).stdout, said)
	french := command(t, append([]string{"Transports Kervalec", "--lang", "fr"}, flags...)...)
	require.Contains(t, french.stderr, "Lignes inutilisables du fichier de prix : 2.")

	list := command(t, "prices", "--price-file", own)
	require.Equal(t, exitOK, list.code)
	require.Contains(t, list.stdout, "Rows that can't be used: 2.")
	require.Contains(t, list.stdout, "sellerless")
	require.NotContains(t, list.stdout, "\x1b")
	one := command(t, "prices", "seller", "--price-file", own)
	require.Equal(t, exitNotFound, one.code)
	require.Contains(t, one.stdout, "Rows that can't be used: 1.")
	require.Contains(t, one.stdout, "sellerless")
	require.NotContains(t, command(t, "prices").stdout, "can't be used")
}
