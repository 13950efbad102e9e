// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// sliced is a gate of a dollar whose calls cost just under 0.30.
func sliced(t *testing.T, l ledger.Ledger, hard string, set ...string) guards.SpendOptions {
	t.Helper()
	return guards.SpendOptions{
		Ledger: l, Limits: ledger.Limits{Hard: usd(t, hard)}, Prices: dear(t), MinOutput: 1000, Slices: sliceList(t, set...),
		Account: func(*callbacks.Run) ledger.AccountID { return "task" },
	}
}

// sliceList is made of names and limits, in turn.
func sliceList(t *testing.T, set ...string) []guards.Slice {
	t.Helper()
	var list []guards.Slice
	for i := 0; i < len(set); i += 2 {
		list = append(list, guards.Slice{Name: set[i], Limits: ledger.Limits{Hard: usd(t, set[i+1])}})
	}
	return list
}

// team makes agents of one model each, under one gate.
func team(t *testing.T, o guards.SpendOptions, names ...string) (agents []agent.Agent, models map[string]*billing) {
	t.Helper()
	g := guards.Spend(o)
	models = map[string]*billing{}
	for _, name := range names {
		models[name] = &billing{}
		a, err := callbacks.New(g).NewAgent(llmagent.Config{Name: name, Model: models[name]})
		require.NoError(t, err)
		agents = append(agents, a)
	}
	return agents, models
}

// What an agent's slice did not need is there for those after it, and what is set aside
// for an agent that has not begun is not.
func TestSpendReturnsTheRestOfASlice(t *testing.T) {
	for name, tc := range map[string]struct {
		order []string
		calls map[string]int32
	}{
		"after its end":   {[]string{"a", "c", "b"}, map[string]int32{"a": 1, "c": 1, "b": 1}},
		"before its turn": {[]string{"c", "a", "b"}, map[string]int32{"a": 1, "c": 0, "b": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			l := memory(t)
			list, models := team(t, sliced(t, l, "1", "a", "0.55", "b", "0.40"), tc.order...)
			root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: list}})
			require.NoError(t, err)
			out := play(t, root)
			require.NoError(t, out.err)
			for agentName, m := range models {
				require.Equal(t, tc.calls[agentName], m.calls.Load(), agentName)
			}
			b, err := l.Balance(t.Context(), "task")
			require.NoError(t, err)
			require.Zero(t, b.Allocated)
			require.Equal(t, b.Spent, b.Committed)
			require.LessOrEqual(t, b.Spent, usd(t, "1"))
		})
	}
}

// An agent that runs again has what its slice has left, and no more, though the Run has
// more.
func TestSpendSliceIsALimitOverAllTurns(t *testing.T) {
	list, models := team(t, sliced(t, memory(t), "1", "a", "0.65"), "a")
	root, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: list}, MaxIterations: 5})
	require.NoError(t, err)
	out := play(t, root)
	require.NoError(t, out.err)
	require.EqualValues(t, 2, models["a"].calls.Load())
	refusal, denied := guards.Records(callbackstest.InRun(t, out.run)).SpendRefused()
	require.Equal(t, codes.BudgetExhausted, refusal.Code)
	require.Equal(t, ledger.AccountID("task/a.3"), denied.Account)
	require.Positive(t, denied.Missing())
}

// Where the Run has less than a slice promised to its agent's further turn, the agent
// draws on what is there.
func TestSpendSliceWithWhatTheRunHasLeft(t *testing.T) {
	o := sliced(t, memory(t), "0.80", "a", "0.65")
	o.MinOutput = 100
	list, models := team(t, o, "a", "b")
	root, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: list}, MaxIterations: 2})
	require.NoError(t, err)
	out := play(t, root)
	require.NoError(t, out.err)
	require.EqualValues(t, 2, models["a"].calls.Load())
	require.EqualValues(t, 1, models["b"].calls.Load())
	require.LessOrEqual(t, models["a"].billed+models["b"].billed, usd(t, "0.80"))
}

// One agent's slice is used up: it ends, its siblings go on with theirs.
func TestSpendSliceEndsItsAgentAlone(t *testing.T) {
	list, models := team(t, sliced(t, memory(t), "1", "a", "0.10", "b", "0.40", "c", "0.30"), "a", "b", "c")
	root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: list}})
	require.NoError(t, err)
	out := play(t, root)
	require.NoError(t, out.err)
	require.Zero(t, models["a"].calls.Load())
	require.EqualValues(t, 1, models["b"].calls.Load())
	require.EqualValues(t, 1, models["c"].calls.Load())
	require.Contains(t, texts(out.events), "[guard] Spend limit reached: agent ended.")
	got := out.run.Outcome()
	require.Equal(t, callbacks.StatusBudgetExhausted, got.Status, "what was asked for was not all done")
	require.Equal(t, "a", got.Agent)
	require.Equal(t, "spend", got.Guard)
	require.ErrorIs(t, got.Err, ledger.ErrBudgetExceeded)
}

// A run that a crash cut off in the middle of a call goes on under a higher limit: the
// slice of before keeps what its call may have cost, the new one has what was added.
func TestSpendSlicesOutliveTheirProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	open := func() *ledger.File {
		f, err := ledger.OpenFile(path, ledger.FileOptions{})
		require.NoError(t, err)
		return f
	}
	f := open()
	for _, o := range []ledger.Opening{
		{Account: "task", Limits: ledger.Limits{Hard: usd(t, "0.40")}}, {Account: "task/a", Limits: ledger.Limits{Hard: usd(t, "0.35")}},
	} {
		_, err := f.Open(t.Context(), o)
		require.NoError(t, err)
	}
	_, err := f.Reserve(t.Context(), ledger.Request{Key: ledger.Key{Account: "task/a", Call: "cut-off", Attempt: 1}, Amount: usd(t, "0.30")})
	require.NoError(t, err)
	require.NoError(t, f.CloseFile())

	f = open()
	defer func() { require.NoError(t, f.CloseFile()) }()
	_, err = f.Adjust(t.Context(), ledger.Adjustment{Account: "task", Approval: "resume", Limits: ledger.Limits{Hard: usd(t, "1")}})
	require.NoError(t, err)
	o := sliced(t, f, "1", "a", "0.39")
	list, models := team(t, o, "a", "b")
	root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: list}})
	require.NoError(t, err)
	out := play(t, root)
	require.NoError(t, out.err)
	require.Zero(t, models["a"].calls.Load(), "0.09 is left of its 0.39")
	require.EqualValues(t, 1, models["b"].calls.Load())
	b, err := f.Balance(t.Context(), "task")
	require.NoError(t, err)
	require.Equal(t, usd(t, "0.30"), b.Held, "the call that was cut off stays charged")
	require.LessOrEqual(t, b.Spent+b.Held, usd(t, "1"))
}

// Several agents share a slice: it goes back when the last of them has ended.
func TestSpendSliceOfSeveralAgents(t *testing.T) {
	o := sliced(t, memory(t), "1")
	o.Slices = []guards.Slice{{Name: "research", Agents: []string{"a", "b"}, Limits: ledger.Limits{Hard: usd(t, "0.65")}}}
	list, models := team(t, o, "a", "b", "c")
	research, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "research", SubAgents: list[:2]}})
	require.NoError(t, err)
	writer, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "write", SubAgents: list[2:]}, MaxIterations: 3})
	require.NoError(t, err)
	root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{research, writer}}})
	require.NoError(t, err)
	out := play(t, root)
	require.NoError(t, out.err)
	require.EqualValues(t, 1, models["a"].calls.Load())
	require.EqualValues(t, 1, models["b"].calls.Load())
	require.EqualValues(t, 1, models["c"].calls.Load(), "0.40 is left: 0.35 and what research returned")
}

// The journal's last line says what the Run's outcome says, also where a slice ran out.
func TestSpendSliceShowsInTheJournal(t *testing.T) {
	var journal bytes.Buffer
	m := &billing{}
	a, err := callbacks.New(guards.Journal(&journal), guards.Spend(sliced(t, memory(t), "1", "a", "0.10"))).NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	out.run.Close()
	lines := bytes.Split(bytes.TrimSpace(journal.Bytes()), []byte("\n"))
	var end struct{ Kind, Status, Agent, Guard, Code string }
	for _, line := range lines {
		if bytes.Contains(line, []byte(`"kind":"end"`)) {
			require.NoError(t, json.Unmarshal(line, &end))
		}
	}
	require.Equal(t, "budget_exhausted", end.Status)
	require.Equal(t, "a", end.Agent)
	require.Equal(t, "spend", end.Guard)
	require.Equal(t, string(codes.BudgetExhausted), end.Code)
}
