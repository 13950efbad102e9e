// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
)

func count(t *testing.T, lines ...string) journal.Stats {
	t.Helper()
	s, err := journal.Count(journal.Entries(strings.NewReader(strings.Join(lines, "\n") + "\n")))
	require.NoError(t, err)
	return s
}

func runOf(id string, calls int, status string) []string {
	lines := []string{fmt.Sprintf(`{"kind":"run","run":%q}`, id)}
	for i := range calls {
		lines = append(lines, fmt.Sprintf(`{"kind":"model","run":%q,"agent":"a","attempts":1,"tokens_in":100,"tokens_out":10,"tokens_thinking":5,"tokens_cached":25,"landed":%t,"outcome":"allowed","ms":%d}`, id, status == "landed" && i == calls-1, i))
	}
	if status != "" {
		lines = append(lines, fmt.Sprintf(`{"kind":"end","run":%q,"status":%q}`, id, status))
	}
	return lines
}

func TestCount(t *testing.T) {
	var lines []string
	for i := range 90 { // 90 runs of two calls, 8 of five, one landed with six, one killed
		lines = append(lines, runOf(fmt.Sprint("r", i), 2, "done")...)
	}
	for i := range 8 {
		lines = append(lines, runOf(fmt.Sprint("s", i), 5, "calls_exhausted")...)
	}
	lines = append(lines, runOf("t", 6, "landed")...)
	lines = append(lines, runOf("u", 1, "")...)
	lines = append(
		lines,
		`{"kind":"tool","run":"u","agent":"a","tool":"look","ms":40,"outcome":"allowed"}`,
		`{"kind":"tool","run":"u","agent":"a","tool":"look","ms":20,"error":true,"outcome":"refused","guard":"args","code":"invalid"}`,
		`{"kind":"refusal","run":"u","agent":"a","step":"tool","tool":"look","guard":"args","code":"invalid","outcome":"refused"}`,
		`{"kind":"spend","run":"u","agent":"a","what":"m","calls":3,"reserved":"0.50","charged":"0.20"}`,
		`{"kind":"spend","run":"u","agent":"a","what":"look","calls":1,"reserved":"0.10","charged":"0.05"}`,
		`{"kind":"lost","lines":4}`,
		`half a li`,
	)
	s := count(t, lines...)
	require.Equal(t, 100, s.Runs.Total)
	require.Equal(t, map[string]int{"done": 90, "calls_exhausted": 8, "landed": 1, "unfinished": 1}, s.Runs.ByStatus)
	require.InDelta(t, 0.09, s.Runs.OtherThanDone, 1e-9)
	require.Len(t, s.Agents, 1)
	a := s.Agents[0]
	require.Equal(t, 100, a.Runs)
	require.Equal(t, 90*2+8*5+6+1, a.Calls)
	require.EqualValues(t, 100*a.Calls, a.In)
	require.InDelta(t, 0.25, a.CacheShare, 1e-9)
	require.Equal(t, 1, a.Landings)
	require.InDelta(t, 0.01, a.LandingRate, 1e-9)
	require.Equal(t, []int{2, 5, 6}, []int{a.P50, a.P95, a.Suggested})
	require.Equal(t, map[int]int{1: 1, 2: 90, 5: 8, 6: 1}, s.Turns)
	require.Equal(t, "$0.25", a.Charged.String())
	require.Equal(t, []journal.GuardStats{{Guard: "args", Code: "invalid", Refusals: 1}}, s.Guards)
	require.Equal(t, 2, s.Tools[0].Calls)
	require.Equal(t, 1, s.Tools[0].Errors)
	require.Equal(t, 1, s.Tools[0].Refusals)
	require.EqualValues(t, 30, s.Tools[0].MeanMS)
	require.Equal(t, "$0.05", s.Tools[0].Charged.String())
	require.Len(t, s.Slowest, 10)
	require.EqualValues(t, 40, s.Slowest[0].MS)
	require.EqualValues(t, 20, s.Slowest[1].MS)
	require.Equal(t, 1, s.Unreadable)
	require.EqualValues(t, 4, s.Lost)
	require.Zero(t, count(t).Runs.Total)
}

func TestCountFailsWhereReadingFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := journal.Count(journal.Entries(iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	_, err = journal.Count(journal.FileEntries("/no/such/file"))
	require.Error(t, err)
}

// The attempts of a run count as one run, which ended as the last of them; what a killed one
// was charged stands in its steps.
func TestCountOfAttempts(t *testing.T) {
	s := count(
		t,
		`{"kind":"run","run":"1","attempt_of":"x"}`,
		`{"kind":"model","run":"1","agent":"a","model":"m","attempts":1,"charged":"0.01","outcome":"allowed"}`,
		`{"kind":"tool","run":"1","agent":"a","tool":"look","charged":"0.02","outcome":"allowed"}`,
		`{"kind":"run","run":"2","attempt_of":"x"}`,
		`{"kind":"model","run":"2","agent":"a","model":"m","attempts":0,"outcome":"allowed"}`,
		`{"kind":"model","run":"2","agent":"a","model":"m","attempts":1,"charged":"0.04","outcome":"allowed"}`,
		`{"kind":"spend","run":"2","agent":"a","what":"m","calls":1,"reserved":"0.50","charged":"0.05"}`,
		`{"kind":"end","run":"2","status":"budget_exhausted"}`,
		`{"kind":"run","run":"3","attempt_of":"x"}`,
		`{"kind":"model","run":"3","agent":"a","model":"m","attempts":1,"charged":"0.10","outcome":"allowed"}`,
		`{"kind":"spend","run":"3","agent":"a","what":"m","calls":1,"reserved":"0.20","charged":"0.10"}`,
		`{"kind":"end","run":"3","status":"done"}`,
		`{"kind":"run","run":"4","attempt_of":"y"}`,
		`{"kind":"model","run":"4","agent":"a","model":"m","attempts":3,"outcome":"allowed"}`,
	)
	require.Equal(t, map[string]int{"done": 1, "unfinished": 1}, s.Runs.ByStatus)
	require.Equal(t, 2, s.Agents[0].Runs)
	require.Equal(t, map[int]int{3: 2}, s.Turns)
	require.Equal(t, 4, s.Agents[0].Suggested)
	require.Equal(t, "$0.18", s.Charged.String())
	require.Equal(t, "$0.02", s.Tools[0].Charged.String())
}

// What a line says of money can be read, the overrun too.
func TestEntriesHaveTheOverrun(t *testing.T) {
	const spent = `{"kind":"spend","run":"1","agent":"a","what":"m","estimated":"0.5","reserved":"0.2","charged":"0.3","overrun":"0.1"}` + "\n"
	for l, err := range journal.Entries(strings.NewReader(spent)) {
		require.NoError(t, err)
		require.Equal(t, line.Line{
			Kind: line.KindSpend, Run: "1", Agent: "a", What: "m", Estimated: 5e8, Reserved: 2e8, Charged: 3e8, Overrun: 1e8,
		}, l)
	}
}
