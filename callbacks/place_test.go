// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

type tally struct {
	mu sync.Mutex
	n  int
}

func (c *tally) add() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

// counting is a guard that counts the model calls of an agent, and of all its stays at a place.
type counting struct {
	here, lasting *callbacks.PlaceKey[*tally]

	mu sync.Mutex
	// seen are the counts by agent, as "here/lasting", atEnd what its observer found at last.
	seen, atEnd map[string][]string
}

func newCounting() *counting {
	mk := func() *tally { return &tally{} }
	return &counting{here: callbacks.NewPlaceKey(mk), lasting: callbacks.NewPlaceKey(mk).Lasting(), seen: map[string][]string{}, atEnd: map[string][]string{}}
}

func (c *counting) guard() callbacks.Guard {
	return callbacks.Guard{
		Name: "counting",
		BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			p := callbacks.PlaceOf(ctx)
			n := fmt.Sprintf("%d/%d", c.here.At(ctx, p).add(), c.lasting.At(ctx, p).add())
			c.mu.Lock()
			defer c.mu.Unlock()
			c.seen[p.Agent] = append(c.seen[p.Agent], n)
			return nil, nil
		},
		Observe: func(ctx context.Context, ev callbacks.Event) {
			if ev.Step != callbacks.StepAgent {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.atEnd[ev.Agent] = append(c.atEnd[ev.Agent], fmt.Sprint(c.here.At(ctx, ev.Place()).n))
		},
	}
}

// inRun plays one question in a Run that Start began.
func inRun(ctx context.Context, t *testing.T, cfg runner.Config, id string) []error {
	t.Helper()
	r, err := runner.New(cfg)
	require.NoError(t, err)
	var errs []error
	for _, err := range r.Run(ctx, "u", id, genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func placeRunner(root agent.Agent, chain *callbacks.Chain, t *testing.T) runner.Config {
	t.Helper()
	cfg := runner.Config{AppName: "test", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true}
	if chain != nil {
		p, err := chain.Plugin("p")
		require.NoError(t, err)
		cfg.PluginConfig.Plugins = append(cfg.PluginConfig.Plugins, p)
	}
	return cfg
}

// What is remembered of an agent is gone when a loop runs it again; what is to last
// is not.
func TestAPlaceIsForgottenWhenItsAgentEnds(t *testing.T) {
	for _, asPlugin := range []bool{false, true} {
		t.Run(fmt.Sprintf("plugin %v", asPlugin), func(t *testing.T) {
			c := newCounting()
			onAgent, onPlugin := callbacks.New(c.guard()), (*callbacks.Chain)(nil)
			if asPlugin {
				onAgent, onPlugin = callbacks.New(), onAgent
			}
			// Each stay is a call and an answer.
			m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok")).Repeat()
			a := build(t, onAgent, llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
			root, err := loopagent.New(loopagent.Config{MaxIterations: 3, AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{a}}})
			require.NoError(t, err)
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			require.Empty(t, inRun(ctx, t, placeRunner(root, onPlugin, t), "s"))
			require.Equal(t, []string{"1/1", "2/2", "1/3", "2/4", "1/5", "2/6"}, c.seen["a"])
			require.Equal(t, []string{"2", "2", "2"}, c.atEnd["a"], "observers of the end still have it")
			require.Empty(t, c.here.All(ctx))
		})
	}
}

// An agent used as a tool, and each branch, has a place of its own.
func TestNestedAndParallelAgentsHavePlacesOfTheirOwn(t *testing.T) {
	c := newCounting()
	chain := callbacks.New(c.guard())
	inner := build(t, chain, llmagent.Config{Name: "inner", Description: "d", Model: callbackstest.Script(callbackstest.Say("in")).Repeat()})
	ask := callbackstest.Call("inner", map[string]any{"request": "go"})
	outer := build(t, chain, llmagent.Config{Name: "outer", Tools: []tool.Tool{agenttool.New(inner, nil)}, Model: callbackstest.Script(ask, ask, callbackstest.Say("out"))})
	other := build(t, chain, llmagent.Config{Name: "other", Model: callbackstest.Script(callbackstest.Say("other"))})
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	require.Empty(t, inRun(ctx, t, placeRunner(outer, nil, t), "s"))
	require.Equal(t, []string{"1/1", "2/2", "3/3"}, c.seen["outer"], "the inner agent ended in between")
	require.Equal(t, []string{"1/1", "1/1"}, c.seen["inner"])

	clear(c.seen)
	again := build(t, chain, llmagent.Config{Name: "outer", Model: callbackstest.Script(callbackstest.Say("out"))})
	require.Empty(t, inRun(ctx, t, placeRunner(parallelOf(t, again, other), nil, t), "s2"))
	require.Equal(t, map[string][]string{"outer": {"1/1"}, "other": {"1/1"}}, c.seen)
	require.Empty(t, c.here.All(ctx))
}

// A place is forgotten by the last chain there, whichever form it has.
func TestAPlaceLivesUntilTheLastChainThereReportedItsEnd(t *testing.T) {
	c := newCounting()
	observer := callbacks.Guard{Name: "observer", Observe: c.guard().Observe}
	a := build(t, callbacks.New(observer), llmagent.Config{Name: "a", Model: callbackstest.Script(callbackstest.Say("ok"))})
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	require.Empty(t, inRun(ctx, t, placeRunner(a, callbacks.New(c.guard()), t), "s"))
	require.Equal(t, []string{"1", "1"}, c.atEnd["a"], "the plugin's observer, then the agent's")
	require.Empty(t, c.here.All(ctx))
}

// One agent that many invocations run at once: each has values of its own.
func TestOneAgentAtOnceInManyInvocations(t *testing.T) {
	for _, asPlugin := range []bool{false, true} {
		c := newCounting()
		onAgent, onPlugin := callbacks.New(c.guard()), (*callbacks.Chain)(nil)
		if asPlugin {
			onAgent, onPlugin = callbacks.New(), onAgent
		}
		a := build(t, onAgent, llmagent.Config{Name: "a", Model: modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			yield(say("ok"), nil)
		})})
		cfg := placeRunner(a, onPlugin, t)
		r, err := runner.New(cfg)
		require.NoError(t, err)
		ctx, run := callbacks.Start(t.Context())
		var wg sync.WaitGroup
		const n = 100
		for i := range n {
			wg.Go(func() {
				events := r.Run(ctx, "u", fmt.Sprint(i), genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})
				if i%2 == 0 {
					events = run.Events(events)
				}
				for range events {
				}
			})
		}
		wg.Wait()
		require.Len(t, c.seen["a"], n)
		for _, got := range c.seen["a"] {
			require.Equal(t, "1/1", got)
		}
		require.Empty(t, c.here.All(ctx))
		run.Close()
	}
}

// Where the events of a run end, its agents have ended, however they did.
func TestEventsForgetAgentsThatWereLeft(t *testing.T) {
	c := newCounting()
	a := build(t, callbacks.New(c.guard()), llmagent.Config{Name: "a", Tools: []tool.Tool{callbackstest.Tool("lookup")}, Model: callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()})
	r, err := runner.New(placeRunner(a, nil, t))
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	for range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
		require.Len(t, c.here.All(ctx), 1)
		break
	}
	require.Empty(t, c.here.All(ctx))
}

// An agent that a model's error ended is not taken for one at work for ever.
func TestAFailedAgentIsForgotten(t *testing.T) {
	c := newCounting()
	a := build(t, callbacks.New(c.guard()), llmagent.Config{Name: "a", Model: callbackstest.Script(callbackstest.Fail(errors.New("down"))).Repeat()})
	cfg := placeRunner(a, nil, t)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	require.NotEmpty(t, inRun(ctx, t, cfg, "s"))
	require.Empty(t, c.here.All(ctx))
}

// Without a Run nothing is remembered; without a context there is the zero place.
func TestPlaceWithoutARun(t *testing.T) {
	key := callbacks.NewPlaceKey(func() *tally { return &tally{} })
	require.Equal(t, callbacks.Place{}, callbacks.PlaceOf(nil))
	require.Equal(t, 1, key.At(t.Context(), callbacks.Place{}).add())
	require.Equal(t, 1, key.At(t.Context(), callbacks.Place{}).add())
	require.Nil(t, key.All(t.Context()))
	key.Forget(t.Context(), callbacks.Place{})

	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	for _, key := range []*callbacks.PlaceKey[*tally]{key, key.Lasting()} {
		here, there := callbacks.Place{Invocation: "i", Agent: "a"}, callbacks.Place{Invocation: "i", Agent: "b"}
		key.At(ctx, here).add()
		key.At(ctx, there).add()
		key.Forget(ctx, here)
		require.Equal(t, 1, key.At(ctx, here).add())
		require.Equal(t, 2, key.At(ctx, there).add())
	}
	step := callbacks.Step{Invocation: "i", Branch: "b", Agent: "a", Tool: "t"}
	ev := callbacks.Event{Invocation: "i", Branch: "b", Agent: "a", Tool: "t"}
	require.Equal(t, callbacks.Place{Invocation: "i", Branch: "b", Agent: "a"}, step.Place())
	require.Equal(t, step.Place(), ev.Place())
}
