// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/counters"
)

const tooFast = "refused: too many calls in too short a time; go on without it, or try again later"

func TestRateLimitMatrix(t *testing.T) {
	for name, tc := range map[string]struct {
		o       guards.RateLimitOptions
		ran     int
		took    time.Duration
		refused int
	}{
		"refuses":          {guards.RateLimitOptions{Calls: 2, Every: time.Minute}, 2, 0, 3},
		"waits":            {guards.RateLimitOptions{Calls: 2, Every: time.Minute, Wait: time.Hour}, 5, 90 * time.Second, 0},
		"waits a while":    {guards.RateLimitOptions{Calls: 2, Every: time.Minute, Wait: 40 * time.Second}, 5, 90 * time.Second, 0},
		"one after one":    {guards.RateLimitOptions{Calls: 60, Every: time.Minute, Burst: 1, Wait: time.Minute}, 5, 4 * time.Second, 0},
		"of another tool":  {guards.RateLimitOptions{Calls: 1, Every: time.Minute, Tools: []string{"other"}}, 5, 0, 0},
		"counted":          {guards.RateLimitOptions{Calls: 2, Every: time.Minute, Store: counters.NewMemory()}, 2, 0, 3},
		"counted, waiting": {guards.RateLimitOptions{Calls: 2, Every: time.Minute, Wait: time.Hour, Store: counters.NewMemory()}, 5, 2 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryCell(t, func() callbackstest.Matrix {
				fake, start := callbackstest.Tool("lookup"), time.Now()
				o := tc.o
				if o.Tools == nil {
					o.Tools = []string{"lookup"} // and not the agent that is a tool
				}
				if o.Store != nil {
					o.Store = counters.NewMemory()
				}
				return callbackstest.Matrix{
					Guards: func() []callbacks.Guard { return []callbacks.Guard{o.Guard()} },
					Tools:  func() []tool.Tool { return []tool.Tool{fake, callbackstest.Tool("other")} },
					Model: func() *callbackstest.Model {
						var turns []callbackstest.Turn
						for range 5 {
							turns = append(turns, callbackstest.Call("lookup", nil))
						}
						return callbackstest.Script(append(turns, callbackstest.Say("ok"))...)
					},
					Check: func(t *testing.T, tr *callbackstest.Trial) {
						require.NoError(t, tr.Err)
						require.Len(t, fake.Calls(), tc.ran)
						require.Equal(t, tc.took, time.Since(start).Truncate(time.Second))
						refused := 0
						for _, ev := range tr.Told {
							if ev.Code == codes.RateLimited {
								refused++
								require.Equal(t, map[string]any{"error": tooFast}, ev.Result)
								require.Equal(t, "rate_limit", ev.Guard)
							}
						}
						require.Equal(t, tc.refused, refused)
					},
				}
			})
		})
	}
}

// Parallel calls take what there is and no more.
func TestRateLimitIsExactInParallel(t *testing.T) {
	for name, store := range map[string]counters.Store{"memory": nil, "store": counters.NewMemory()} {
		limit := guards.RateLimitOptions{Calls: 7, Every: 1000 * time.Hour, Store: store}.Guard()
		fake := callbackstest.Tool("lookup")
		var subs []agent.Agent
		for i := range 5 {
			subs = append(subs, newAgent(t, fmt.Sprint("a", i), callbackstest.Script(numbered(4), callbackstest.Say("ok")), []tool.Tool{fake}, limit))
		}
		require.NoError(t, play(t, parallel(t, subs...)).err)
		require.Len(t, fake.Calls(), 7, name)
	}
}

func TestRateLimitPer(t *testing.T) {
	for name, tc := range map[string]struct {
		per guards.RatePer
		ran int
	}{
		"all together":                  {guards.PerAll, 1},
		"each tool":                     {guards.PerTool, 2},
		"each agent":                    {guards.PerAgent, 2},
		"each user":                     {guards.PerUser, 2},
		"each tool of each agent":       {guards.PerTool | guards.PerAgent, 4},
		"each agent, tool of each user": {guards.PerTool | guards.PerAgent | guards.PerUser, 8},
	} {
		t.Run(name, func(t *testing.T) {
			limit := guards.RateLimitOptions{Calls: 1, Every: 1000 * time.Hour, Per: tc.per}.Guard()
			a, b := callbackstest.Tool("a"), callbackstest.Tool("b")
			both := callbackstest.Calls(callbackstest.Call("a", nil), callbackstest.Call("b", nil), callbackstest.Call("a", nil))
			mk := func(name string) agent.Agent {
				return newAgent(t, name, callbackstest.Script(both, callbackstest.Say("ok")).Repeat(), []tool.Tool{a, b}, limit)
			}
			r, err := runnerOf(sequence(t, mk("first"), mk("second")))
			require.NoError(t, err)
			for _, user := range []string{"jean", "jeanne"} {
				for _, err := range r.Run(t.Context(), user, "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{}) {
					require.NoError(t, err)
				}
			}
			require.Equal(t, tc.ran, len(a.Calls())+len(b.Calls()))
		})
	}
}

// Model calls, further attempts of a retry among them.
func TestRateLimitOfModelCalls(t *testing.T) {
	models := guards.RateLimitOptions{Calls: 3, Every: time.Minute, Models: true}
	t.Run("ends the agent", func(t *testing.T) {
		m := endless()
		out := play(t, newAgent(t, "a", m, lookupTools(), models.Guard()))
		require.NoError(t, out.err)
		require.Equal(t, 3, m.Calls())
		require.Equal(t, []string{"[guard] " + tooFast}, texts(out.events))
	})
	t.Run("as a plugin", func(t *testing.T) {
		p, err := callbacks.New(models.Guard()).Plugin("p")
		require.NoError(t, err)
		m := endless()
		a, err := llmagent.New(llmagent.Config{Name: "a", Model: m, Tools: lookupTools()})
		require.NoError(t, err)
		require.NoError(t, playWith(t, a, p, false).err)
		require.Equal(t, 3, m.Calls())
	})
	t.Run("further attempts wait too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := models
			slow.Wait = time.Hour
			m := callbackstest.Script(callbackstest.Fail(genai.APIError{Code: 503}), callbackstest.Fail(genai.APIError{Code: 503}), callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
			start := time.Now()
			out := play(t, newAgent(t, "a", m, lookupTools(), guards.RetryOptions{Delay: time.Nanosecond}.Guard(), slow.Guard()))
			require.NoError(t, out.err)
			require.Equal(t, 4, m.Calls())
			require.Equal(t, 20*time.Second, time.Since(start).Round(time.Second))
		})
	})
}

func TestRateLimitStopsWaitingWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := callbackstest.Tool("lookup")
		r, err := runnerOf(newAgent(t, "a", endless(), []tool.Tool{fake}, guards.RateLimitOptions{Calls: 1, Every: time.Hour, Wait: time.Hour}.Guard()))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		for range r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{}) {
		}
		require.Equal(t, time.Minute, time.Since(start))
		require.Len(t, fake.Calls(), 1)
	})
}

// A store that can't be reached refuses; many keys are forgotten when they are full again.
func TestRateLimitFailsClosed(t *testing.T) {
	g := guards.RateLimitOptions{Calls: 1, Every: time.Minute, Store: &deadStore{}}.Guard()
	require.Equal(t, map[string]any{"error": "refused: the call rate can't be read"}, callbackstest.BeforeTool(t, g, callbackstest.Tool("lookup"), nil))
	synctest.Test(t, func(t *testing.T) {
		g := guards.RateLimit(1, time.Second)
		ctx := callbackstest.Context(t)
		for round := range 3 {
			for i := range 2000 {
				_, err := g.BeforeTool(ctx, callbackstest.Tool(fmt.Sprint("tool", i)), nil)
				require.Equal(t, round == 1, err != nil)
			}
			time.Sleep(time.Duration(round) * 2 * time.Second)
		}
	})
}

func TestRateLimitNonsense(t *testing.T) {
	for name, o := range map[string]guards.RateLimitOptions{
		"nothing":        {},
		"no time":        {Calls: 1},
		"negative burst": {Calls: 1, Every: 1, Burst: -1},
		"negative wait":  {Calls: 1, Every: 1, Wait: -1},
		"unknown per":    {Calls: 1, Every: 1, Per: 16},
		"all and some":   {Calls: 1, Every: 1, Per: guards.PerAll | guards.PerTool},
		"models by tool": {Calls: 1, Every: 1, Per: guards.PerTool, Models: true},
		"a blank tool":   {Calls: 1, Every: 1, Tools: []string{""}},
	} {
		require.Error(t, callbacks.New(o.Guard()).Err(), name)
	}
}

func ExampleRateLimit() {
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
	chain := callbacks.New(guards.RateLimit(1, time.Hour))
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[error:refused: too many calls in too short a time; go on without it, or try again later]
	// model: answer
}

// The short form is the long one with zeros: each tool has a rate of its own. One rate for
// all is said, and so is one for model calls.
func TestRateLimitIsPerTool(t *testing.T) {
	for name, tc := range map[string]struct {
		guard callbacks.Guard
		calls int
	}{
		"short":    {guards.RateLimit(2, time.Hour), 4},
		"long":     {guards.RateLimitOptions{Calls: 2, Every: time.Hour}.Guard(), 4},
		"together": {guards.RateLimitOptions{Calls: 2, Every: time.Hour, Per: guards.PerAll}.Guard(), 2},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := callbackstest.Tool("one"), callbackstest.Tool("other")
			call := func(name string) callbackstest.Turn { return callbackstest.Call(name, nil) }
			m := callbackstest.Script(callbackstest.Calls(call("one"), call("one"), call("one")), callbackstest.Calls(call("other"), call("other"), call("other")), callbackstest.Say("done"))
			require.NoError(t, play(t, newAgent(t, "a", m, []tool.Tool{one, other}, tc.guard)).err)
			require.Equal(t, tc.calls, len(one.Calls())+len(other.Calls()))
		})
	}
	require.Equal(t, guards.RateLimit(2, time.Hour).Info().Limits, guards.RateLimitOptions{Calls: 2, Every: time.Hour}.Guard().Info().Limits)
}
