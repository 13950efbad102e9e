// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/counters"
)

// codesOf are the codes of refused steps, in order.
func codesOf(evs []callbacks.Event) []codes.Code {
	var out []codes.Code
	for _, ev := range evs {
		if ev.Outcome == callbacks.OutcomeRefused {
			out = append(out, ev.Code)
		}
	}
	return out
}

func TestLoopMatrix(t *testing.T) {
	a := callbackstest.Call("lookup", map[string]any{"x": 1.0, "y": map[string]any{"k": "v"}})
	b := callbackstest.Call("lookup", map[string]any{"x": 2.0})
	unknown := callbackstest.Call("no_such_tool", nil)
	say := callbackstest.Say("answer")
	repeated, detected := codes.RepeatedCall, codes.LoopDetected
	for name, tc := range map[string]struct {
		o     guards.LoopOptions
		turns []callbackstest.Turn
		ran   int
		codes []codes.Code
	}{
		"two are none":                    {guards.LoopOptions{}, []callbackstest.Turn{a, a, say}, 2, nil},
		"the third is refused":            {guards.LoopOptions{}, []callbackstest.Turn{a, a, a, b, say}, 3, []codes.Code{repeated}},
		"the fourth ends the agent":       {guards.LoopOptions{}, []callbackstest.Turn{a, a, a, a, b, say}, 2, []codes.Code{repeated, detected}},
		"another call in between":         {guards.LoopOptions{}, []callbackstest.Turn{a, a, b, a, a, b, say}, 6, nil},
		"after a refusal it may go on":    {guards.LoopOptions{}, []callbackstest.Turn{a, a, a, b, a, a, say}, 5, []codes.Code{repeated}},
		"three at once, still to come":    {guards.LoopOptions{}, []callbackstest.Turn{callbackstest.Calls(a, a, a), say}, 2, []codes.Code{repeated}},
		"unknown tools count":             {guards.LoopOptions{}, []callbackstest.Turn{unknown, unknown, unknown, unknown, say}, 0, []codes.Code{repeated, detected}},
		"strict ends at the third":        {guards.LoopOptions{Strict: true}, []callbackstest.Turn{a, a, a, say}, 2, []codes.Code{detected}},
		"two of two":                      {guards.LoopOptions{Repeats: 2}, []callbackstest.Turn{a, a, a, say}, 1, []codes.Code{repeated, detected}},
		"three in five":                   {guards.LoopOptions{Window: 5}, []callbackstest.Turn{a, b, a, b, a, say}, 4, []codes.Code{repeated}},
		"four in six end the agent":       {guards.LoopOptions{Window: 6}, []callbackstest.Turn{a, b, a, a, a, say}, 3, []codes.Code{repeated, detected}},
		"a window no wider than a loop":   {guards.LoopOptions{Window: 3}, []callbackstest.Turn{a, a, a, a, say}, 2, []codes.Code{repeated, detected}},
		"two calls that take turns":       {guards.LoopOptions{Window: 6}, []callbackstest.Turn{a, b, a, b, a, b, a, say}, 4, []codes.Code{repeated, repeated, detected}},
		"in a window it may go on":        {guards.LoopOptions{Window: 3}, []callbackstest.Turn{a, a, a, b, b, a, a, say}, 6, []codes.Code{repeated}},
		"in a window, a second loop":      {guards.LoopOptions{Window: 3}, []callbackstest.Turn{a, a, a, b, b, a, a, a, say}, 6, []codes.Code{repeated, repeated}},
		"three in six, the window's four": {guards.LoopOptions{Window: 4}, []callbackstest.Turn{a, b, b, a, callbackstest.Call("lookup", nil), a, say}, 6, nil},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					return []callbacks.Guard{callbacks.ForAgents(tc.o.Guard(), "guarded")}
				},
				Model: func() *callbackstest.Model { return callbackstest.Script(tc.turns...) },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					require.Len(t, tr.Tools[0].(*callbackstest.FakeTool).Calls(), tc.ran)
					require.Equal(t, tc.codes, codesOf(tr.Told))
					want := callbacks.StatusDone
					if slices.Contains(tc.codes, detected) {
						want = ofAgent(tr.Cell, callbacks.StatusLoopDetected)
					}
					require.Equal(t, want, tr.Run.Outcome().Status)
				},
			}.Run(t)
		})
	}
}

func TestLoopStopsTheRunIfSaid(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{callbacks.ForAgents(guards.LoopOptions{Strict: true, Scope: guards.ScopeRun}.Guard(), "guarded")}
		},
		Model: func() *callbackstest.Model { return callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat() },
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, callbacks.StatusLoopDetected, tr.Run.Outcome().Status)
			require.Equal(t, "lookup: identical call 3", tr.Run.Outcome().Reason)
		},
	}.Run(t)
}

// Polling is no loop as long as something changes; when it stalls it is one.
func TestLoopLetsPollingGoOn(t *testing.T) {
	for name, tc := range map[string]struct {
		changes int
		strict  bool
		ran     int
		codes   []codes.Code
	}{
		"changes":        {30, false, 30, nil},
		"stalls after 5": {5, false, 6, []codes.Code{codes.RepeatedCall, codes.LoopDetected}},
		"strict":         {30, true, 2, []codes.Code{codes.LoopDetected}},
	} {
		t.Run(name, func(t *testing.T) {
			var polls atomic.Int64
			poll := callbackstest.ToolFunc("poll", func(agent.Context, map[string]any) (map[string]any, error) {
				return map[string]any{"percent": min(polls.Add(1), int64(tc.changes))}, nil
			})
			turns := make([]callbackstest.Turn, 0, 31)
			for range 30 {
				turns = append(turns, callbackstest.Call("poll", map[string]any{"job": "7"}))
			}
			rec := &callbackstest.Recorder{}
			a, err := callbacks.New(guards.LoopOptions{Strict: tc.strict}.Guard(), rec.Guard()).
				NewAgent(llmagent.Config{Name: "a", Model: callbackstest.Script(append(turns, callbackstest.Say("done"))...), Tools: []tool.Tool{poll}})
			require.NoError(t, err)
			require.NoError(t, play(t, a).err)
			require.EqualValues(t, tc.ran, polls.Load())
			require.Equal(t, tc.codes, codesOf(rec.Events()))
		})
	}
}

// A failure is a result like any other: the same failure three times is a loop.
func TestLoopSeesRepeatedFailures(t *testing.T) {
	failing := callbackstest.ToolReturning("lookup", nil, errDSN)
	rec := &callbackstest.Recorder{}
	m := callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()
	a, err := callbacks.New(guards.Loop(), rec.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{failing}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Len(t, failing.Calls(), 2)
	require.Equal(t, []codes.Code{codes.RepeatedCall, codes.LoopDetected}, codesOf(rec.Events()))
	require.Equal(t, "refused: this very call was made 2 times with the same result; do something else or answer", responses(out.events)[2]["error"])
}

// Calls are the same by value, whatever the order of keys or the type of a number, and
// different where any of it differs.
func TestLoopComparesArguments(t *testing.T) {
	deep := func(leaf any) map[string]any {
		v := map[string]any{"leaf": leaf}
		for range 1000 {
			v = map[string]any{"d": []any{v}}
		}
		return v
	}
	huge := strings.Repeat("x", 1<<20)
	for name, tc := range map[string]struct {
		a, b any
		same bool
	}{
		"equal":                    {map[string]any{"a": 1.0, "b": "x"}, map[string]any{"b": "x", "a": 1}, true},
		"none at all":              {nil, nil, true},
		"int and float":            {map[string]any{"n": int64(3)}, map[string]any{"n": float32(3)}, true},
		"number and text":          {map[string]any{"n": 3}, map[string]any{"n": "3"}, false},
		"NaN":                      {map[string]any{"n": math.NaN()}, map[string]any{"n": math.NaN()}, true},
		"NaN and infinity":         {map[string]any{"n": math.NaN()}, map[string]any{"n": math.Inf(1)}, false},
		"a thousand deep":          {deep("x"), deep("x"), true},
		"a thousand deep, differs": {deep("x"), deep("y"), false},
		"huge":                     {map[string]any{"t": huge}, map[string]any{"t": huge}, true},
		"huge, differs":            {map[string]any{"t": huge + "a"}, map[string]any{"t": huge + "b"}, false},
		"keys don't run together":  {map[string]any{"ab": "c"}, map[string]any{"a": "bc"}, false},
		"lists keep their order":   {map[string]any{"l": []any{1, 2}}, map[string]any{"l": []any{2, 1}}, false},
		"nil and absent":           {map[string]any{"x": nil}, map[string]any{}, false},
		"a Go slice":               {map[string]any{"l": []string{"a"}}, map[string]any{"l": []any{"a"}}, true},
		"a channel":                {map[string]any{"c": (chan int)(nil)}, map[string]any{"c": (chan int)(nil)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			args := func(v any) map[string]any { m, _ := v.(map[string]any); return maps.Clone(m) }
			g := guards.LoopOptions{Repeats: 2, Strict: true}.Guard()
			ctx := callbackstest.Context(t)
			tl := callbackstest.Tool("lookup")
			_, err := g.BeforeTool(ctx, tl, args(tc.a))
			require.NoError(t, err)
			_, err = g.BeforeTool(ctx, tl, args(tc.b))
			require.Equal(t, tc.same, err != nil)
			if err != nil {
				require.ErrorIs(t, err, callbacks.ErrEnded)
			}
		})
	}
}

// Agents have their own histories, also when they share one guard.
func TestLoopIsEachAgentsOwn(t *testing.T) {
	g := guards.Loop()
	rec := &callbackstest.Recorder{}
	var subs []agent.Agent
	for i := range 4 {
		m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
		a, err := callbacks.New(g, rec.Guard()).NewAgent(llmagent.Config{Name: fmt.Sprint("a", i), Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
		require.NoError(t, err)
		subs = append(subs, a)
	}
	require.NoError(t, play(t, parallel(t, subs...)).err)
	require.Empty(t, codesOf(rec.Events()))
}

// A call that waits for a person and comes by again is one call.
func TestLoopCountsAnApprovedCallOnce(t *testing.T) {
	approved := false
	fake := callbackstest.ToolFunc("pay", func(agent.Context, map[string]any) (map[string]any, error) {
		if !approved {
			return nil, tool.ErrConfirmationRequired
		}
		return map[string]any{"result": "paid"}, nil
	})
	cfg, err := callbacks.New(guards.LoopOptions{Repeats: 2}.Guard()).Attach(llmagent.Config{Name: callbackstest.AgentName, Tools: []tool.Tool{fake}})
	require.NoError(t, err)
	ctx := callbackstest.Context(t)
	_, err = cfg.Tools[0].(runnable).Run(ctx, map[string]any{})
	require.ErrorIs(t, err, tool.ErrConfirmationRequired)
	approved = true
	res, err := cfg.Tools[0].(runnable).Run(ctx, map[string]any{})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"result": "paid"}, res)
}

// The history may be shared by processes that serve one run, and refuses without it.
func TestLoopWithAStore(t *testing.T) {
	store := counters.NewMemory()
	options := guards.LoopOptions{Store: store, RunKey: runKey("order-7", nil)}
	a, b := options.Guard(), options.Guard()
	ctxA, ctxB := callbackstest.Context(t), callbackstest.Context(t)
	tl := callbackstest.Tool("lookup")
	for i, tc := range []struct {
		g     callbacks.Guard
		ctx   agent.Context
		wants error
	}{{a, ctxA, nil}, {b, ctxB, nil}, {a, ctxA, callbacks.ErrDenied}, {b, ctxB, callbacks.ErrEnded}} {
		_, err := tc.g.BeforeTool(tc.ctx, tl, nil)
		if tc.wants == nil {
			require.NoError(t, err, i)
		} else {
			require.ErrorIs(t, err, tc.wants, i)
		}
	}

	dead := guards.LoopOptions{Store: deadHistory{store}}.Guard()
	_, err := dead.BeforeTool(ctxA, tl, nil)
	require.ErrorIs(t, err, callbacks.ErrDenied)
	require.ErrorIs(t, err, counters.ErrUnavailable)
	nameless := guards.LoopOptions{Store: store, RunKey: runKey("", errDSN)}.Guard()
	_, err = nameless.BeforeTool(ctxA, tl, nil)
	require.ErrorIs(t, err, errDSN)
	require.NotContains(t, err.Error(), "hunter2")
	_, err = guards.LoopOptions{Store: counters.Fallback(deadHistory{store}, nil)}.Guard().BeforeTool(ctxA, tl, nil)
	require.NoError(t, err)
}

func TestLoopNonsense(t *testing.T) {
	for _, o := range []guards.LoopOptions{{Repeats: -1}, {Repeats: 1}, {Repeats: 4, Window: 3}, {Window: -2}, {Scope: 7}} {
		require.Error(t, callbacks.New(o.Guard()).Err(), o)
	}
}
