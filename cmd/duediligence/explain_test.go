// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	r := command(t, "explain", "--model", "offline", "--max-calls", "4", "--journal", "none")
	require.Equal(t, exitRefused, r.code, "flags of a run that explain has not")

	r = command(t, "explain", "--max-calls", "4")
	require.Equal(t, exitOK, r.code, r.stderr)
	for _, want := range []string{
		"registry_researcher\n", "reviewer\n", "4 model calls per run", "last call is for the answer through report_finding",
		`unreachable: agent "writer", guard "call_budget": 6 calls of the agent are never reached: the run ends at 4`,
		`unknown: agent "risk_scorer"`,
	} {
		require.Contains(t, r.stdout, want)
	}
	require.NotContains(t, r.stdout, "warning:")
	require.Equal(t, exitRefused, command(t, "explain", "Transports Kervalec").code)

	r = command(t, "explain", "--json")
	require.Equal(t, exitOK, r.code, r.stderr)
	var got struct {
		Agents []struct {
			Agent  string
			Guards []struct{ Name string }
		}
		Problems []struct{ Kind, Agent string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
	require.Len(t, got.Agents, 5)
	require.Equal(t, "contain", got.Agents[0].Guards[0].Name)
	require.Len(t, got.Problems, 1, "only the agent that is code of ours can't be looked into: %v", got.Problems)
	require.Equal(t, "risk_scorer", got.Problems[0].Agent)
}

// The time given to a run is that of its budgets too: they would end it before.
func TestTheTimeOfARunIsThatOfItsBudgets(t *testing.T) {
	r := command(t, "explain", "--timeout", "20m")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "25 model calls per run; 1200 s per run")
	require.Contains(t, r.stdout, "1200 s per agent")
	require.NotContains(t, r.stdout, "; 300 s")
}

// A recorded run played again says what tighter limits would have refused, and refuses
// nothing.
func TestExplainReplay(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "rec")
	at := standIn(t, nil)
	args := append([]string{"--source", "record:" + rec, "Transports Kervalec"}, at[2:]...)
	explain := func(more ...string) result {
		return command(t, slices.Concat([]string{"explain", "--replay"}, more, at[2:])...)
	}
	require.Equal(t, exitOK, command(t, args...).code)

	r := explain(rec, "Transports Kervalec")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, "Nothing would have been refused.\n", r.stdout)
	r = explain(rec, "Transports Kervalec", "--max-calls", "6", "--lang", "fr")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, "writer: run_call_budget aurait refusé: model, calls: 6/6\nreviewer: run_call_budget aurait refusé: model, calls: 6/6\n", r.stdout)
	r = explain(rec, "Transports Kervalec", "--max-calls", "7", "--json")
	var got []wouldRefuse
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
	require.Equal(t, []wouldRefuse{{Agent: "reviewer", Step: "model", Guard: "run_call_budget", Code: "calls_exhausted", Reason: "calls: 7/7"}}, got)
	which := explain(rec)
	require.Equal(t, exitRefused, which.code)
	require.Contains(t, which.stderr, `duediligence explain "Transports Kervalec" --replay `+rec, "the command that was meant")

	out := t.TempDir()
	require.Equal(t, exitOK, command(t, "-o", out, "Transports Kervalec").code)
	for _, args := range [][]string{{out}, {out, "Transports Kervalec"}, {out, "--lang", "fr"}} {
		r = explain(args...)
		require.Equal(t, exitRefused, r.code)
		require.Contains(t, r.stderr, "duediligence 'Transports Kervalec' --source record:", args)
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(out, "none")} {
		for _, r := range []result{explain(dir, "Transports Kervalec"), command(t, "--source", "replay:"+dir, "Transports Kervalec")} {
			require.Equal(t, exitRefused, r.code)
			require.Contains(t, r.stderr, "holds no recording")
			require.Contains(t, r.stderr, "--source record:")
		}
	}
}
