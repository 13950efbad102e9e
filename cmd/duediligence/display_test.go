// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/callbacks"
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

	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	r = command(t, "--model", "gemini-test", "Transports Kervalec")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "GEMINI_API_KEY")
	require.Equal(t, exitRefused, command(t, "--model", "gpt", "Transports Kervalec").code)
}
