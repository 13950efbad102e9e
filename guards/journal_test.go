// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// An argument that JSON has no form for is written as text: the line is not lost.
func TestJournalKeepsALineWithWhatJSONDoesNotKnow(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	args := map[string]any{"nan": math.NaN(), "deep": []any{map[string]any{"inf": math.Inf(1), "less": float32(math.Inf(-1)), "ok": 1.5}}, "to": mail, "loop": cyclic, "chan": make(chan int), "typed": []float64{math.NaN()}}
	// A model's arguments are JSON; a hook may put anything there.
	put := callbacks.Guard{Name: "put", BeforeTool: func(_ agent.Context, _ tool.Tool, given map[string]any) (map[string]any, error) {
		for k, v := range args {
			given[k] = v
		}
		return nil, nil
	}}
	var journal bytes.Buffer
	g := guards.JournalWith(guards.JournalOptions{Writer: &journal, OnError: func(err error) { t.Error(err) }})
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done"))
	a, err := callbacks.New(put, g).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	out := play(t, a)
	out.run.Close()
	for line := range bytes.Lines(journal.Bytes()) {
		var l struct {
			Kind string
			Args map[string]any
		}
		require.NoError(t, json.Unmarshal(line, &l))
		if l.Kind != "tool" {
			continue
		}
		require.Equal(t, "NaN", l.Args["nan"])
		require.Equal(t, map[string]any{"inf": "+Inf", "less": "-Inf", "ok": 1.5}, l.Args["deep"].([]any)[0])
		require.Equal(t, "[email redacted]", l.Args["to"])
		return
	}
	t.Fatal("the line is lost")
}

// What counts as an error is the same for the journal and for what is kept.
func TestJournalTellsErrorsAsStashDoes(t *testing.T) {
	for name, tc := range map[string]struct {
		result map[string]any
		failed bool
	}{
		"none": {map[string]any{"data": 1}, false}, "nil": {map[string]any{"error": nil, "data": 1}, false}, "empty": {map[string]any{"error": "", "data": 1}, false},
		"text": {map[string]any{"error": "no"}, true}, "object": {map[string]any{"error": map[string]any{}}, true}, "later": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var buf lines
			guards.Journal(&buf).Observe(callbackstest.Context(t), callbacks.Event{Step: callbacks.StepTool, Tool: "lookup", Result: tc.result})
			require.Equal(t, tc.failed, buf.byKind(t)["tool"][0]["error"])
		})
	}
}

// A tool whose name is the prefix is kept under its name.
func TestStashOfAToolThatIsThePrefix(t *testing.T) {
	m := callbackstest.Script(callbackstest.Calls(callbackstest.Call("lookup", nil), callbackstest.Call("lookup_more", nil)), callbackstest.Say("done"))
	found := func(name string) tool.Tool {
		return callbackstest.ToolFunc(name, func(agent.Context, map[string]any) (map[string]any, error) { return map[string]any{"of": name}, nil })
	}
	a, err := callbacks.New(guards.Stash("lookup")).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{found("lookup"), found("lookup_more")}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Equal(t, map[string]map[string]any{"lookup": {"of": "lookup"}, "_more": {"of": "lookup_more"}}, guards.Stashed(callbackstest.InRun(t, out.run)))
}
