// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/model"

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
		"Docter": "doctor", "DOCTOR": "doctor", "DOCTER": "doctor", "Resume": "resume", "Serve": "serve", "BATCH": "batch", "bacth": "batch", "hlep": "help",
		"verify": "journal verify", "verfy": "journal verify", "Verify": "journal verify", "stats": "journal stats", "show": "journal show", "SHOW": "journal show",
	} {
		r := command(t, append([]string{word}, live...)...)
		require.Equal(t, exitRefused, r.code, word)
		require.Contains(t, r.stderr, "did you mean duediligence "+want+"?", word)
		require.Contains(t, r.stderr, "duediligence research "+word)
		require.Contains(t, command(t, word, "--lang", "fr").stderr, "vouliez-vous dire duediligence "+want, word)
	}
	// Nor is one with the arguments and the flags of the command that was meant.
	for line, want := range map[string]string{
		"resum dos": "resume", "batc f.csv -o x": "batch", "journl verify dos": "journal", "Resume dos": "resume", "VERIFY dos --json": "journal verify",
		"batc f.csv -j 4": "batch", "serv --address 127.0.0.1:0": "serve", "verify dos --head x": "journal verify", "pirces gpt --backend openai": "prices",
	} {
		r := command(t, append(strings.Fields(line), live...)...)
		require.Equal(t, exitRefused, r.code, line)
		require.Contains(t, r.stderr, "did you mean duediligence "+want+"?", line)
	}
	require.Contains(t, command(t, "resum", "dos").stderr, "duediligence research 'resum dos'")
	require.Zero(t, asked)
	require.Contains(t, command(t, "journal", "Verfy", "x", "--json").stderr, "did you mean verify?")
	for _, args := range [][]string{{"--nonsense"}, {"Transports Kervalec", "--nonsense"}, {"journal", "--nonsense"}, {"doctor", "--nonsense"}} {
		r := command(t, args...)
		require.Equal(t, exitRefused, r.code)
		require.Contains(t, r.stderr, "unknown flag: --nonsense")
	}
	for _, args := range [][]string{{"journal", "verfy"}, {"journal", "verfy", "x"}} {
		r := command(t, args...)
		require.Equal(t, exitRefused, r.code)
		require.Contains(t, r.stderr, "did you mean verify?")
	}
	require.Equal(t, exitRefused, command(t, "journal", "nonsense").code)

	// Names of companies are looked up, and with research whatever they are.
	for _, name := range []string{
		"danone", "docter sarl", "resume dos", "Serve Batch", "journal verify", "serve42", "kervalec transports",
		"Bosch", "bosch", "BASF", "Veritas", "Yelp", "Serge", "Snow", "Match", "Shell", "Fish", "fish",
	} {
		require.NotContains(t, command(t, name).stderr, "did you mean", name)
	}
	for _, name := range []string{"docter", "serve", "batch", "Resume", "VERIFY", "stats", "show", "Zorglub International"} {
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

// Whatever the protocol, the price file and the name: the check before a run and its calls
// find the same price. What the check accepts is called and paid for; what it refuses is not
// called.
func TestWhatIsPricedBeforeARunIsPricedInIt(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	row := func(key, seller, mode string, in, out float64, more string) string {
		return fmt.Sprintf(`{%q: {"litellm_provider": %q, "mode": %q, "input_cost_per_token": %g, "output_cost_per_token": %g%s}}`, key, seller, mode, in, out, more)
	}
	limits := `, "max_input_tokens": 100000, "max_output_tokens": 4096`
	for name, c := range map[string]struct {
		file, model string
		priced      bool
	}{
		"built in":                     {"", "gpt-5-mini", true},
		"built in, dated":              {"", "gpt-5-mini-2025-08-07", true},
		"not built in":                 {"", "q", false},
		"prefix in the name":           {"", "openai:gpt-5-mini", false},
		"own":                          {row("q", "openai", "chat", 1e-7, 2e-7, limits), "q", true},
		"own with its seller":          {row("openai/q", "openai", "chat", 1e-7, 2e-7, limits), "q", true},
		"own without limits":           {row("q", "openai", "chat", 1e-7, 2e-7, ""), "q", true},
		"own with a colon":             {row("q:8b", "openai", "chat", 1e-7, 2e-7, limits), "q:8b", true},
		"own with dearer images":       {row("q", "openai", "chat", 1e-7, 2e-7, `, "output_cost_per_image_token": 1e-6`), "q", true},
		"own by the picture":           {row("q", "openai", "chat", 1e-7, 2e-7, `, "output_cost_per_image": 0.04`), "q", false},
		"own in place of the built-in": {row("gpt-5-mini", "openai", "chat", 1e-7, 2e-7, limits), "gpt-5-mini", true},
		"own beside the built-in":      {row("q", "openai", "chat", 1e-7, 2e-7, limits), "gpt-5-mini", true},
		"own at no price":              {row("gpt-5-mini", "openai", "chat", 0, 0, limits), "gpt-5-mini", false},
		"own of another kind":          {row("q", "openai", "embedding", 1e-7, 2e-7, limits), "q", false},
		"another seller's":             {row("q", "mistral", "chat", 1e-7, 2e-7, limits), "q", false},
		"another model's":              {row("q", "openai", "chat", 1e-7, 2e-7, limits), "r", false},
	} {
		for prefix, serve := range map[string]func(testing.TB, model.LLM, standin.Fault) *standin.Server{"chat:": standin.Chat, "openai:": standin.OpenAI} {
			t.Run(prefix+" "+name, func(t *testing.T) {
				s := serve(t, offline.Model{}, nil)
				flags := []string{"--model", prefix + c.model, "--base-url", s.URL, "--budget", "1"}
				if c.file != "" {
					flags = append(flags, "--price-file", priceFile(t, c.file))
				}
				explain := command(t, append([]string{"explain"}, flags...)...)
				doctor := command(t, append([]string{"doctor", "-o", t.TempDir()}, flags...)...)
				asked := len(s.Bodies())
				r := command(t, append([]string{"Transports Kervalec"}, flags...)...)
				if !c.priced {
					require.Equal(t, []int{exitRefused, exitRefused}, []int{explain.code, r.code}, r.stderr)
					require.Contains(t, doctor.stdout, "FAIL prices: --budget can't be held")
					require.Contains(t, r.stderr, "--price-file")
					require.Len(t, s.Bodies(), asked)
					return
				}
				require.Equal(t, []int{exitOK, exitOK}, []int{explain.code, r.code}, explain.stderr+r.stderr)
				require.NotContains(t, doctor.stdout, "FAIL prices")
				require.Len(t, s.Bodies(), asked+8)
				require.Contains(t, r.stderr, c.model)
				list := command(t, append([]string{"prices", prefix + c.model}, flags[6:]...)...)
				if !strings.Contains(name, "dated") { // which is listed under its model
					require.Equal(t, exitOK, list.code)
					require.Contains(t, list.stdout, c.model)
				}
			})
		}
	}
	for prefix, serve := range map[string]func(testing.TB, model.LLM, standin.Fault) *standin.Server{"chat:": standin.Chat, "openai:": standin.OpenAI} {
		s := serve(t, offline.Model{}, nil)
		r := command(t, "Transports Kervalec", "--model", prefix+"gpt-5-mini", "--base-url", s.URL, "--budget", "0.1")
		require.Equal(t, exitOK, r.code, r.stderr)
	}
}

// A price file that can't be used is refused wherever it is named, with a budget or without,
// before anything is asked or written.
func TestAPriceFileThatCantBeUsedIsRefused(t *testing.T) {
	asked := 0
	live := standIn(t, func(http.ResponseWriter, *http.Request) bool { asked++; return false })
	files := map[string][2]string{
		"missing":    {filepath.Join(t.TempDir(), "none.json"), "none.json"},
		"a folder":   {t.TempDir(), "is a directory"},
		"empty":      {priceFile(t, ""), "unexpected end of JSON input"},
		"no JSON":    {priceFile(t, "root:x:0:0:root:/root:/bin/sh\n"), "invalid character"},
		"a list":     {priceFile(t, "[]"), "cannot unmarshal array"},
		"no model":   {priceFile(t, "{}"), "it lists no model"},
		"no seller":  {priceFile(t, `{"q\u001b[31m": {"mode": "chat"}, "r": 1}`), "it lists no model"},
		"cut off":    {priceFile(t, `{"q": {"litellm_provider": "openai"`), "unexpected end of JSON input"},
		"too large":  {priceFile(t, strings.Repeat(" ", maxPriceFile+1)), "larger than 64 MiB"},
		"whole text": {priceFile(t, `"openai"`), "cannot unmarshal string"},
	}
	dir := filepath.Join(t.TempDir(), "out")
	for what, file := range files {
		for name, args := range map[string][]string{
			"run": append([]string{"Transports Kervalec", "-o", dir}, live...), "research": append([]string{"research", "Transports Kervalec", "-o", dir}, live...),
			"batch": append([]string{"batch", suppliers(t, "Transports Kervalec"), "-o", dir}, live...), "serve": {"serve", "--address", "127.0.0.1:0", "-o", dir},
			"doctor": {"doctor"}, "explain": {"explain"}, "prices": {"prices"},
		} {
			r := command(t, append(args, "--price-file", file[0])...)
			require.Equal(t, exitRefused, r.code, "%s: %s: %s", name, what, r.stderr)
			require.Contains(t, r.stderr, "--price-file: ", what)
			require.Contains(t, r.stderr, file[1], what)
			require.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
			require.NotContains(t, r.stderr, "\x1b")
			require.Empty(t, r.stdout)
		}
	}
	require.Zero(t, asked)
	require.NoDirExists(t, dir)
	// One that can be used is no matter where nothing is priced, and a run goes on without it.
	usable := priceFile(t, `{"q": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-7, "output_cost_per_token": 2e-7}}`)
	r := command(t, "Transports Kervalec", "-o", dir, "--price-file", usable, "--max-calls", "3")
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.NoError(t, os.Remove(usable))
	r = command(t, "resume", dir, "--max-calls", "25")
	require.Equal(t, exitOK, r.code, r.stderr)
}

// priceFile writes a price file.
func priceFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
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
