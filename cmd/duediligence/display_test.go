// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/internal/text"
)

func TestDisplay(t *testing.T) {
	var out bytes.Buffer
	d := newDisplay(&out, text.English, func() int { return 60 }, 6, 25)
	d.step(callbacks.Event{Step: callbacks.StepModel, Agent: "writer", Attempt: 1, Outcome: callbacks.OutcomeAllowed, Usage: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: 5}})
	first := out.String()
	require.Equal(t, 6, strings.Count(first, "\n"), "a line for each agent, and the run's")
	require.Contains(t, first, "writer                  1/6       15 tok  model done")
	require.Contains(t, first, " 1/25")
	require.NotContains(t, first, "A\r", "nothing to go back over yet")
	out.Reset()
	d.step(callbacks.Event{Step: callbacks.StepTool, Tool: "lookup_registry", Agent: "registry_researcher", Outcome: callbacks.OutcomeRefused, Guard: "args", Reason: strings.Repeat("long ", 30)})
	require.True(t, strings.HasPrefix(out.String(), "\x1b[6A"), "drawn over the last drawing")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len([]rune(strip(line))), 60)
	}
}

func strip(s string) string {
	for _, code := range []string{"\x1b[6A", "\r\x1b[2K", "\x1b[33m", "\x1b[0m", "\n"} {
		s = strings.ReplaceAll(s, code, "")
	}
	return s
}

func TestARealModelFromTheCommandLine(t *testing.T) {
	s := standin.Gemini(t, offline.Model{}, nil)
	s.Version = "other-model-001"
	t.Setenv("GEMINI_API_KEY", standin.Key)
	r := command(t, "--model", "gemini-test", "--base-url", s.URL, "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "gemini-test", "the report says which language model saw the facts")
	require.Contains(t, r.stderr, "Model asked: gemini-test, served: other-model-001.")
	require.NotContains(t, r.stdout+r.stderr, standin.Key)

	o := standin.OpenAI(t, offline.Model{}, nil)
	t.Setenv("OPENAI_API_KEY", "")
	r = command(t, "--model", "openai:local", "--base-url", o.URL+"/v1", "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)

	// The address as local servers print it.
	c := standin.Chat(t, offline.Model{}, nil)
	c.Version = "qwen3-8b"
	r = command(t, "--model", "chat:local", "--base-url", strings.TrimPrefix(c.URL, "http://")+"/v1", "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stderr, "Model asked: local, served: qwen3-8b.")

	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	r = command(t, "--model", "gemini-test", "Transports Kervalec")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "GEMINI_API_KEY")
	require.Equal(t, exitRefused, command(t, "--model", "gpt", "Transports Kervalec").code)
}

// A real model client under a hard cap of a cent: where the other side bills the most it
// was allowed something was billed, something was refused, and its bill is within the
// cap; where it bills what a run costs, the cent is enough for all of it.
func TestBudgetFromTheCommandLine(t *testing.T) {
	s := standin.Gemini(t, offline.Model{}, nil)
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s.Dear = true
	r := command(t, "--model", "gemini-2.5-flash", "--base-url", s.URL, "--budget", "0.01", "Transports Kervalec")
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.Contains(t, r.stdout, "budget exhausted", "the report is there, made from what was there")
	require.Contains(t, r.stderr, "task_budget_exceeded")
	require.Contains(t, r.stderr, "Resume point:")
	require.NotEmpty(t, s.Bodies(), "at least one call was billed")
	bill, err := s.Bill("gemini", "gemini-2.5-flash")
	require.NoError(t, err)
	require.Positive(t, bill)
	require.LessOrEqual(t, bill.USD(), 0.01)
	require.NotContains(t, r.stdout+r.stderr, standin.Key)

	s.Dear = false
	enough := command(t, "--model", "gemini-2.5-flash", "--base-url", s.URL, "--budget", "0.01", "Transports Kervalec")
	require.Equal(t, exitOK, enough.code, enough.stderr)
	require.Contains(t, enough.stderr, "Spent: ")

	require.Equal(t, exitRefused, command(t, "--budget", "1", "Transports Kervalec").code, "the offline model costs nothing")
	require.Equal(t, exitRefused, command(t, "--model", "gemini-2.5-flash", "--budget", "much", "Transports Kervalec").code)
	require.Equal(t, exitRefused, command(t, "--soft-budget", "1", "Transports Kervalec").code)
}

func TestPrices(t *testing.T) {
	r := command(t, "prices", "2.5-flash", "--backend", "gemini")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "days old")
	require.Contains(t, r.stdout, "gemini-2.5-flash")
	require.NotContains(t, r.stdout, "gpt")
	require.Equal(t, exitNotFound, command(t, "prices", "no-such-model").code)
}

// A ledger in a file remembers the run's account; on Redis that is not there, or under
// another name, no call is made.
func TestLedgerFromTheCommandLine(t *testing.T) {
	s := standin.Gemini(t, offline.Model{}, nil)
	t.Setenv("GEMINI_API_KEY", standin.Key)
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	with := func(ledger string) result {
		return command(t, "--model", "gemini-2.5-flash", "--base-url", s.URL, "--budget", "1", "--ledger", ledger, "Transports Kervalec")
	}
	require.Equal(t, exitOK, with("file:"+file).code)
	first, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, first)
	require.Equal(t, exitOK, with("file:"+file).code, "another run goes on in the same file")
	both, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(both, first), "only appended to")

	calls := len(s.Bodies())
	for _, bad := range []string{"redis://127.0.0.1:1", "file:", "file:/no/such/folder/ledger", "disk"} {
		r := with(bad)
		require.Equal(t, exitRefused, r.code, bad)
		require.Contains(t, r.stderr, "--ledger")
	}
	require.Len(t, s.Bodies(), calls)
}

// The question of a soft limit: only a yes is a yes.
func TestApprovalQuestion(t *testing.T) {
	d := &ledger.DeniedError{Balance: ledger.Balance{Limits: ledger.Limits{Soft: 900_000_000, Hard: 1_000_000_000}, Committed: 890_000_000}}
	for answer, want := range map[string]bool{"y\n": true, "Oui\n": true, "": false, "\n": false, "no\n": false, "yesterday\n": false} {
		var out bytes.Buffer
		p := &printer{w: &out, lang: text.English}
		require.Equal(t, want, p.approve(d, strings.NewReader(answer)), answer)
		require.Contains(t, out.String(), "Go on, up to $1")
	}
}
