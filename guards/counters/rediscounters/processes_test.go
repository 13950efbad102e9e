// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package rediscounters_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/guards/counters/rediscounters"
	"github.com/gardefou/gardefou/internal/redistest"
)

const childEnv = "GARDEFOU_TEST_REDIS_ADDR"

// TestTwoProcessesShareALimit: two processes that serve one run, four agents each that
// would go on for ever, and a limit of 100: exactly 100 calls reach a model.
func TestTwoProcessesShareALimit(t *testing.T) {
	if addr := os.Getenv(childEnv); addr != "" {
		serve(t, addr)
		return
	}
	srv := redistest.Start(t)
	var outs [2]strings.Builder
	var children [2]*exec.Cmd
	for i := range children {
		child := exec.Command(os.Args[0], "-test.run=^TestTwoProcessesShareALimit$", "-test.v")
		child.Env = append(os.Environ(), childEnv+"="+srv.Addr)
		child.Stdout, child.Stderr = &outs[i], &outs[i]
		require.NoError(t, child.Start())
		children[i] = child
	}
	total, busy := 0, 0
	for i, child := range children {
		require.NoError(t, child.Wait(), outs[i].String())
		_, rest, found := strings.Cut(outs[i].String(), "reached=")
		require.True(t, found, outs[i].String())
		digits, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(digits)
		require.NoError(t, err)
		total += n
		if n > 0 {
			busy++
		}
	}
	require.Equal(t, 100, total)
	require.Equal(t, 2, busy, "both took part")
}

// serve is one of the two processes. They begin together.
func serve(t *testing.T, addr string) {
	client := connect(t, addr)
	require.NoError(t, client.Do(t.Context(), client.B().Incr().Key("ready").Build()).Error())
	for {
		ready, err := client.Do(t.Context(), client.B().Get().Key("ready").Build()).AsInt64()
		require.NoError(t, err)
		if ready == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	store, err := rediscounters.New(client)
	require.NoError(t, err)
	budget := guards.CallBudgetOptions{
		Calls: 100, Tokens: guards.Unlimited, Store: store, RunKey: func(context.Context) (string, error) { return "order-7", nil },
	}.Guard()
	m := callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()
	run(t, m, budget)
	require.Empty(t, m.Faults())
	fmt.Printf("reached=%d\n", m.Calls())
}

func run(t *testing.T, m model.LLM, gs ...callbacks.Guard) *callbacks.Run {
	t.Helper()
	var subs []agent.Agent
	for i := range 4 {
		a, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: fmt.Sprint("a", i), Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
		require.NoError(t, err)
		subs = append(subs, a)
	}
	root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: subs}})
	require.NoError(t, err)
	r, err := runner.NewInMemory("test", root)
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
		require.NoError(t, err)
	}
	return run
}

// Redis stopped in the middle: the budget refuses, or goes on with this process's own
// count and says so.
func TestRedisStopsInTheMiddle(t *testing.T) {
	for name, tc := range map[string]struct {
		local bool
		calls int
	}{"closed": {false, 10}, "locally": {true, 50}} {
		t.Run(name, func(t *testing.T) {
			srv := redistest.Start(t)
			shared, err := rediscounters.NewWith(rediscounters.Options{
				Client: connect(t, srv.Addr), Prefix: "test:", TTL: time.Minute,
			})
			require.NoError(t, err)
			var store counters.Store = shared
			said := 0
			if tc.local {
				store = counters.Fallback(shared, func(error) { said++ })
			}
			n := 0
			m := callbackstest.Script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
				if n++; n == 10 {
					srv.Stop()
				}
				return callbackstest.Call("lookup", nil)
			}}).Repeat()
			rec := &callbackstest.Recorder{}
			a, err := callbacks.New(guards.CallBudgetOptions{Calls: 50, Tokens: guards.Unlimited, Store: store}.Guard(), rec.Guard()).
				NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
			require.NoError(t, err)
			r, err := runner.NewInMemory("test", a)
			require.NoError(t, err)
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			for _, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
				require.NoError(t, err)
			}
			require.Equal(t, tc.calls, m.Calls())
			evs := rec.Events(callbacks.StepModel)
			last := evs[len(evs)-1]
			if tc.local {
				require.Equal(t, codes.CallsExhausted, last.Code)
				require.Equal(t, "calls: 50/50", last.Reason)
				require.Positive(t, said)
				return
			}
			require.Equal(t, codes.CountersFailed, last.Code)
			require.ErrorIs(t, last.Err, counters.ErrUnavailable)
		})
	}
}
