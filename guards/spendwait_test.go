// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// Calls that are refused for money others hold wait for it: four calls of a worst case
// of 0.30 that each cost 0.01 all fit into 0.35, one after the other. Where what is held
// never comes back they are refused in the end.
func TestSpendWaitsForWhatOthersHold(t *testing.T) {
	for name, tc := range map[string]struct {
		share int32 // of the output allowed, in percent
		takes time.Duration
		calls int32
		after time.Duration
	}{
		"cheap answers":   {3, time.Second, 4, 4 * time.Second},
		"dear answers":    {100, time.Second, 1, time.Second},
		"too slow for it": {3, time.Hour, 1, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := memory(t)
				o := sliced(t, l, "0.35")
				o.Lease = 2 * time.Hour
				list, models := team(t, o, "a", "b", "c", "d")
				for _, m := range models {
					m.takes, m.share = tc.takes, tc.share
				}
				root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: list}})
				require.NoError(t, err)
				start := time.Now()
				out := play(t, root)
				require.NoError(t, out.err)
				var calls int32
				var billed ledger.Nano
				for _, m := range models {
					calls += m.calls.Load()
					billed += m.billed
				}
				require.Equal(t, tc.calls, calls)
				require.Equal(t, tc.after, time.Since(start))
				b, err := l.Balance(t.Context(), "task")
				require.NoError(t, err)
				require.Equal(t, billed, b.Spent)
				require.LessOrEqual(t, billed, usd(t, "0.35"))
			})
		})
	}
}

// An agent that calls another as a tool has settled its own call by then: it does not
// wait for itself.
func TestSpendSettlesBeforeToolsRun(t *testing.T) {
	l := memory(t)
	o := sliced(t, l, "0.35")
	g := guards.Spend(o)
	inner := &billing{share: 3}
	innerAgent, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "inner", Model: inner})
	require.NoError(t, err)
	outer := &billing{share: 3, says: []callbackstest.Turn{callbackstest.Call("inner", map[string]any{"request": "x"})}}
	a, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "outer", Model: outer, Tools: []tool.Tool{agenttool.New(innerAgent, nil)}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.EqualValues(t, 1, inner.calls.Load())
	require.EqualValues(t, 2, outer.calls.Load())
	require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
}
