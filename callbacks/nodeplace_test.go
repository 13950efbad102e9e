// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// childForms are the two ways in which the agents of parallel RunNode calls are kept apart.
func childForms() map[string]func(*testing.T, *callbacks.Chain, llmagent.Config) workflow.Node {
	return map[string]func(*testing.T, *callbacks.Chain, llmagent.Config) workflow.Node{
		"a guarded node": func(t *testing.T, c *callbacks.Chain, cfg llmagent.Config) workflow.Node {
			t.Helper()
			n, err := c.Node(agentNode(t, build(t, c, cfg)))
			require.NoError(t, err)
			return n
		},
		"an agent with a wrapper": func(t *testing.T, c *callbacks.Chain, cfg llmagent.Config) workflow.Node {
			t.Helper()
			return agentNode(t, build(t, c.With(callbacks.Guard{Name: "around", WrapAgent: passing}), cfg))
		},
	}
}

// Calls of one agent at once, in one invocation and branch, are steps of their own: each gets
// the answer of its own model call, and is observed once. The agents are of one name and not one
// object, which ADK itself races on.
func TestParallelRunsOfOneAgentShareNoStep(t *testing.T) {
	const calls = 8
	for form, child := range childForms() {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			var begun sync.WaitGroup
			begun.Add(calls)
			// Every other call is refused, when all of them are under way.
			chain := callbacks.New(callbacks.Guard{Name: "odd", BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
				begun.Done()
				begun.Wait()
				if ctx.UserContent().Parts[0].Text == "odd" {
					return nil, callbacks.End("odd", "not an odd one")
				}
				return nil, nil
			}}, rec.Guard())
			m := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
				yield(say("paid"), nil)
			})
			var paid, refused atomic.Int32
			d := workflow.NewDynamicNode("d", func(ctx agent.Context, _ any, _ func(*session.Event) error) (any, error) {
				var wg sync.WaitGroup
				for i := range calls {
					n := child(t, chain, llmagent.Config{Name: "one", Model: m})
					wg.Go(func() {
						out, err := workflow.RunNode[any](ctx, n, []string{"even", "odd"}[i%2])
						switch {
						case err == nil && out == "paid":
							paid.Add(1)
						default:
							refused.Add(1)
						}
					})
				}
				wg.Wait()
				return nil, nil
			}, workflow.NodeConfig{})
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			r, err := runner.New(runner.Config{AppName: "test", Agent: graphOf(t, workflow.Chain(workflow.Start, d)), SessionService: session.InMemoryService(), AutoCreateSession: true})
			require.NoError(t, err)
			for _, err := range r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
				require.NoError(t, err)
			}
			require.EqualValues(t, calls/2, paid.Load())
			require.EqualValues(t, calls/2, refused.Load())
			steps := rec.Events(callbacks.StepModel)
			require.Len(t, steps, calls)
			places := map[callbacks.Place]int{}
			for _, ev := range steps {
				places[ev.Place()]++
			}
			require.Len(t, places, calls)
			allowed := slices.DeleteFunc(steps, func(ev callbacks.Event) bool { return ev.Outcome != callbacks.OutcomeAllowed })
			require.Len(t, allowed, calls/2)
		})
	}
}

// What a guard counts for good it counts over all rounds of a cycle, what it keeps of an agent
// at work over one.
func TestPlaceKeysInACycle(t *testing.T) {
	once := callbacks.NewPlaceKey(func() *atomic.Int32 { return new(atomic.Int32) })
	lasting := once.Lasting()
	var got [][2]int32
	chain := callbacks.New(callbacks.Guard{Name: "keys", BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
		p := callbacks.PlaceOf(ctx)
		got = append(got, [2]int32{once.At(ctx, p).Add(1), lasting.At(ctx, p).Add(1)})
		return nil, nil
	}})
	m := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(say("draft"), nil)
	})
	var rounds atomic.Int32
	w := agentNode(t, build(t, chain, llmagent.Config{Name: "writer", Model: m}))
	review := workflow.NewFunctionNode("review", func(ctx agent.Context, _ any) (*session.Event, error) {
		ev := session.NewEvent(ctx, ctx.InvocationID())
		if rounds.Add(1) < 3 {
			ev.Routes = []string{"again"}
		}
		return ev, nil
	}, workflow.NodeConfig{})
	edges := workflow.NewEdgeBuilder().Add(workflow.Start, w).Add(w, review).AddRoute(review, w, workflow.StringRoute("again")).Build()
	out := play(t, guardedGraph(t, chain, edges), agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Equal(t, [][2]int32{{1, 1}, {1, 2}, {1, 3}}, got)
}

// An agent node saves under its output key what ADK saves there, with a chain and without: an
// object where a schema says so, which the next node gets too.
func TestAnOutputKeyInANodeHoldsWhatADKSaves(t *testing.T) {
	schema := &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"n": {Type: genai.TypeInteger}}, Required: []string{"n"}}
	for name, tc := range map[string]struct {
		schema *genai.Schema
		turns  []callbackstest.Turn
		tools  []tool.Tool
	}{
		"object":        {schema, []callbackstest.Turn{callbackstest.Say(`{"n": 7}`)}, nil},
		"text":          {nil, []callbackstest.Turn{callbackstest.Say(`{"n": 7}`)}, nil},
		"schema broken": {schema, []callbackstest.Turn{callbackstest.Say(`{"m": 7}`)}, nil},
		"no JSON":       {schema, []callbackstest.Turn{callbackstest.Say("seven")}, nil},
		"with a tool": {
			schema,
			[]callbackstest.Turn{callbackstest.Call("lookup", nil), callbackstest.Call("set_model_response", map[string]any{"n": 7})},
			[]tool.Tool{callbackstest.Tool("lookup")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(build func(llmagent.Config) agent.Agent, guard func([]workflow.Edge) []workflow.Edge) (state, next any, errs int) {
				a := build(llmagent.Config{
					Name: "a", Model: geminiNamed{callbackstest.Script(tc.turns...)}, OutputKey: "k", OutputSchema: tc.schema, Tools: tc.tools,
				})
				last := function("last", func(_ agent.Context, in any) (any, error) { next = in; return nil, nil })
				got := launch(t, graphOf(t, guard(workflow.Chain(workflow.Start, agentNode(t, a), last))), agent.StreamingModeNone)
				return got.state(t)["k"], next, len(got.errs)
			}
			bare := func(e []workflow.Edge) []workflow.Edge { return e }
			state, next, errs := run(func(cfg llmagent.Config) agent.Agent { return plainAgent(t, cfg) }, bare)
			if name == "object" || name == "with a tool" {
				require.Equal(t, map[string]any{"n": 7.0}, state)
			}
			chain := callbacks.New(allow("a"))
			for form, guard := range map[string]func([]workflow.Edge) []workflow.Edge{"bare": bare, "guarded": func(e []workflow.Edge) []workflow.Edge {
				e, err := chain.Edges(e)
				require.NoError(t, err)
				return e
			}} {
				gotState, gotNext, gotErrs := run(func(cfg llmagent.Config) agent.Agent { return build(t, chain, cfg) }, guard)
				require.Equal(t, state, gotState, form)
				require.Equal(t, next, gotNext, form)
				require.Equal(t, errs, gotErrs, form)
			}
		})
	}
	// As a root the same agent saves the text, as in ADK.
	got := launch(t, build(t, callbacks.New(allow("a")), llmagent.Config{
		Name: "a", Model: callbackstest.Script(callbackstest.Say(`{"n": 7}`)), OutputKey: "k", OutputSchema: schema,
	}), agent.StreamingModeNone)
	require.Equal(t, `{"n": 7}`, got.state(t)["k"])
}

// ADK has one state delta for a chunk and the whole answer, and writes the output key into it
// while the consumer reads the chunk. Of a guarded run, chunks have their own.
func TestAConsumerMayReadAChunkWhileTheAnswerIsSaved(t *testing.T) {
	read := func(t *testing.T, events func(*callbacks.Run, func(func(*session.Event, error) bool)) func(func(*session.Event, error) bool),
		root func(m model.LLM) agent.Agent, cfg runner.Config,
	) {
		t.Helper()
		inHand := make(chan struct{})
		m := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			chunk := say("ans")
			chunk.Partial = true
			if yield(chunk, nil) {
				<-inHand
				yield(say("answer"), nil)
			}
		})
		cfg.AppName, cfg.SessionService, cfg.AutoCreateSession, cfg.Agent = "test", session.InMemoryService(), true, root(m)
		r, err := runner.New(cfg)
		require.NoError(t, err)
		ctx, run := callbacks.Start(t.Context())
		defer run.Close()
		var final []map[string]any
		for ev, err := range events(run, r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{StreamingMode: agent.StreamingModeSSE})) {
			require.NoError(t, err)
			if ev.Partial {
				close(inHand)
				_, err = json.Marshal(ev)
				require.NoError(t, err)
				require.Empty(t, ev.Actions.StateDelta)
			} else if len(ev.Actions.StateDelta) > 0 {
				final = append(final, ev.Actions.StateDelta)
			}
		}
		require.Equal(t, []map[string]any{{"k": "answer"}}, final)
	}
	byEvents := func(run *callbacks.Run, evs func(func(*session.Event, error) bool)) func(func(*session.Event, error) bool) {
		return run.Events(evs)
	}
	bare := func(_ *callbacks.Run, evs func(func(*session.Event, error) bool)) func(func(*session.Event, error) bool) {
		return evs
	}
	chain := callbacks.New(allow("a"))
	p, err := chain.Plugin("p")
	require.NoError(t, err)
	onAgent := func(m model.LLM) agent.Agent { return build(t, chain, llmagent.Config{Model: m, OutputKey: "k"}) }
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			read(t, byEvents, onAgent, runner.Config{})
			read(t, bare, func(m model.LLM) agent.Agent { return plainAgent(t, llmagent.Config{Model: m, OutputKey: "k"}) },
				runner.Config{PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{p}}})
			read(t, bare, func(m model.LLM) agent.Agent {
				return guardedGraph(t, chain, workflow.Chain(workflow.Start, agentNode(t, onAgent(m))))
			}, runner.Config{})
		})
	}
}
