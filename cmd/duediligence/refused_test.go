// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/standin"
)

// What the money gate refuses stands in the journal, also where the run is kept in a folder
// and a plugin masks what is stored there.
func TestTheJournalOfAKeptRunHasItsRefusals(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	s.Dear = true
	dir := t.TempDir()
	r := command(t, runArgs(s.URL, dir, "--budget", "0.003")...)
	require.Equal(t, exitExhausted, r.code, r.stderr)
	raw, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	require.NoError(t, err)
	refused := 0
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var entry struct{ Step, Outcome, Guard, Code string }
		require.NoError(t, json.Unmarshal([]byte(line), &entry))
		if entry.Step == "model" && entry.Outcome == "refused" {
			refused++
			require.Equal(t, "spend", entry.Guard)
			require.Equal(t, "budget_exhausted", entry.Code)
		}
	}
	require.Positive(t, refused)
}
