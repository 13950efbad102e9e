// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/redact"
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
	g := guards.JournalOptions{Writer: &journal, OnError: func(err error) { t.Error(err) }}.Guard()
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
	require.Equal(t, map[string]map[string]any{"lookup": {"of": "lookup"}, "_more": {"of": "lookup_more"}}, guards.Records(callbackstest.InRun(t, out.run)).Stashed())
}

// badWriter is a journal's writer that panics at some writes.
type badWriter struct {
	bytes.Buffer
	n       int
	panicAt func(int) bool
}

func (w *badWriter) Write(p []byte) (int, error) {
	if w.n++; w.panicAt(w.n) {
		panic("disk on fire")
	}
	return w.Buffer.Write(p)
}

// The run goes on beside a writer, a clock, a redactor or an OnError that panics; each panic
// is reported, and the next line finds the writer free.
func TestAJournalThatPanicsIsReportedAndTheRunGoesOn(t *testing.T) {
	// The lines are one of the run, two of the model, one of the tool and the end.
	always := func(int) bool { return true }
	for name, tc := range map[string]struct {
		options  func(*guards.JournalOptions, *badWriter)
		panicAt  func(int) bool
		reported int
		written  int
	}{
		"the writer, at every line": {panicAt: always, reported: 5},
		"the writer, at one line":   {panicAt: func(n int) bool { return n == 2 }, reported: 1, written: 4},
		"the clock": {panicAt: func(int) bool { return false }, reported: 4, options: func(o *guards.JournalOptions, _ *badWriter) {
			o.Now = func() time.Time { panic("no time") }
		}},
		"the redactor": {panicAt: func(int) bool { return false }, reported: 1, written: 4, options: func(o *guards.JournalOptions, _ *badWriter) {
			r, err := redact.New(redact.Options{OnReplace: func(redact.Type) { panic("seen") }})
			require.NoError(t, err)
			o.Redactor = r
		}},
		"the error handler too": {panicAt: always, reported: 5, options: func(o *guards.JournalOptions, _ *badWriter) {
			next := o.OnError
			o.OnError = func(err error) { next(err); panic("again") }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &badWriter{panicAt: tc.panicAt}
			var errs []error
			o := guards.JournalOptions{Writer: w, OnError: func(err error) { errs = append(errs, err) }}
			if tc.options != nil {
				tc.options(&o, w)
			}
			g := o.Guard()
			for range 2 { // a second run, of another agent, on the same guard
				errs, w.n = nil, 0
				w.Reset()
				m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"mail": "ann@example.com"}), callbackstest.Say("answer"))
				out := play(t, newAgent(t, "a", m, lookupTools(), g))
				require.NoError(t, out.err)
				require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
				require.Equal(t, 2, m.Calls())
				require.Len(t, errs, tc.reported)
				for _, err := range errs {
					var p *callbacks.PanicError
					require.ErrorAs(t, err, &p)
				}
				require.Equal(t, tc.written, bytes.Count(w.Bytes(), []byte("\n")))
			}
		})
	}
}

// A run that is cancelled while the writer panics ends, and says that it was cancelled.
func TestACancelledRunEndsBesideAJournalThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		ctx, run := callbacks.Start(ctx)
		defer run.Close()
		reported := 0
		g := guards.JournalOptions{Writer: &badWriter{panicAt: func(int) bool { return true }}, OnError: func(error) { reported++ }}.Guard()
		var asked, answered atomic.Int64
		m := lateModel{callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat(), &asked, &answered}
		out := playIn(ctx, t, run, newAgent(t, "a", m, lookupTools(), g), nil, false)
		require.ErrorIs(t, out.err, context.DeadlineExceeded)
		require.EqualValues(t, 5, asked.Load())
		require.EqualValues(t, 4, answered.Load())
		require.Equal(t, callbacks.StatusTimeExhausted, run.Outcome().Status)
		require.NotZero(t, reported)
	})
}
