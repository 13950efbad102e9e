// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/callbacks/inspect"
)

func graphOf(t *testing.T, edges []workflow.Edge) agent.Agent {
	t.Helper()
	root, err := workflowagent.New(workflowagent.Config{Name: "graph", Edges: edges})
	require.NoError(t, err)
	return root
}

func guardedGraph(t *testing.T, c *callbacks.Chain, edges []workflow.Edge) agent.Agent {
	t.Helper()
	guarded, err := c.Edges(edges)
	require.NoError(t, err)
	return graphOf(t, guarded)
}

func agentNode(t *testing.T, a agent.Agent) workflow.Node {
	t.Helper()
	n, err := workflow.NewAgentNode(a, workflow.NodeConfig{})
	require.NoError(t, err)
	return n
}

func function(name string, f func(ctx agent.Context, in any) (any, error)) workflow.Node {
	return workflow.NewFunctionNode(name, f, workflow.NodeConfig{})
}

// noted is a node that counts its runs and hands on.
func noted(name string, ran *atomic.Int32) workflow.Node {
	return function(name, func(_ agent.Context, in any) (any, error) { ran.Add(1); return in, nil })
}

// routed is a node that takes a route each time.
func routed(name, route string, ran *atomic.Int32) workflow.Node {
	return workflow.NewFunctionNode(name, func(ctx agent.Context, _ any) (*session.Event, error) {
		ran.Add(1)
		ev := session.NewEvent(ctx, ctx.InvocationID())
		ev.Routes = []string{route}
		return ev, nil
	}, workflow.NodeConfig{})
}

// after n calls of the model the guard refuses.
func afterCalls(n int32, refusal *callbacks.Refusal) callbacks.Guard {
	var calls atomic.Int32
	return callbacks.Guard{Name: "counter", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		if calls.Add(1) > n {
			return nil, refusal
		}
		return nil, nil
	}}
}

// A cycle ends in the round in which its agent is refused.
func TestACycleEndsWhenItsAgentIsRefused(t *testing.T) {
	for name, refusal := range map[string]*callbacks.Refusal{
		"end": callbacks.End("calls_exhausted", "enough"), "stop": callbacks.Stop("calls_exhausted", "enough"),
		"deny": callbacks.Deny("calls_exhausted", "enough"),
	} {
		for _, form := range []string{"agent", "plugin"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				chain := callbacks.New(afterCalls(3, refusal))
				m := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
					yield(say("draft"), nil)
				})
				writer, plugins := attached(t, chain, form, llmagent.Config{Name: "writer", Model: m})
				var rounds atomic.Int32
				w, review := agentNode(t, writer), routed("review", "again", &rounds)
				edges := workflow.NewEdgeBuilder().Add(workflow.Start, w).Add(w, review).AddRoute(review, w, workflow.StringRoute("again")).Build()
				got := launch(t, guardedGraph(t, chain, edges), agent.StreamingModeNone, plugins...)
				require.EqualValues(t, 3, rounds.Load())
				require.Len(t, got.errs, 1)
				var failed *callbacks.FailedError
				require.ErrorAs(t, got.errs[0], &failed)
				require.Equal(t, codes.Code("calls_exhausted"), failed.Refusal.Code)
				var r *callbacks.Refusal
				require.NotErrorAs(t, got.errs[0], &r, "around a graph used as a tool it is no refusal of that agent")
			})
		}
	}
}

// A stop ends the graph before the next node, whatever it is.
func TestNoNodeRunsAfterAStop(t *testing.T) {
	chain := callbacks.New()
	var ran atomic.Int32
	stopper := function("stopper", func(ctx agent.Context, _ any) (any, error) {
		callbacks.RunOf(ctx).Stop(callbacks.Stop("enough", "no more"))
		return "stopped", nil
	})
	nodes := []workflow.Node{workflow.Start, stopper}
	for i := range 30 {
		nodes = append(nodes, noted(fmt.Sprintf("n%d", i), &ran))
	}
	out := play(t, guardedGraph(t, chain, workflow.Chain(nodes...)), agent.StreamingModeNone)
	require.Zero(t, ran.Load())
	require.Equal(t, codes.Code("enough"), out.run.Outcome().Code)
	got := launch(t, guardedGraph(t, chain, workflow.Chain(nodes...)), agent.StreamingModeNone)
	require.Zero(t, ran.Load())
	require.Len(t, got.errs, 1)
	require.ErrorIs(t, got.errs[0], callbacks.ErrStopped)
	for _, ev := range got.events {
		require.Nil(t, ev.Output)
	}
}

// A refusal's text is no node's input and no join's, of whatever hook and scope it comes.
func TestARefusalIsNoOutputOfItsNode(t *testing.T) {
	hooks := []inspect.Hook{inspect.BeforeAgent, inspect.AfterAgent, inspect.BeforeModel, inspect.AfterModel, inspect.WrapModel, inspect.BeforeTool, inspect.AfterTool}
	for _, hook := range hooks {
		for name, how := range map[string]func() error{
			"end":  func() error { return callbacks.End("no", "not today") },
			"stop": func() error { return callbacks.Stop("no", "not today") },
			"fail": func() error { return callbacks.Fail("no", "not today") },
			// The cause is what a graph takes for a cancelled sibling, or for a pause.
			"canceled": func() error { return callbacks.End("no", "not today").WithCause(context.Canceled) },
			"paused":   func() error { return callbacks.End("no", "not today").WithCause(workflow.ErrNodeInterrupted) },
		} {
			t.Run(string(hook)+"/"+name, func(t *testing.T) {
				chain := callbacks.New(refusing(hook, how))
				m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
				a := build(t, chain, llmagent.Config{Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
				var paid, other atomic.Int32
				n, pay := agentNode(t, a), noted("pay", &paid)
				b := noted("b", &other)
				join := workflow.NewJoinNode("join")
				// b is over when n begins: under a fan-out ADK may send a model no content at all.
				edges := workflow.NewEdgeBuilder().Add(workflow.Start, b).Add(b, n).AddFanIn(join, n, b).Add(join, pay).Build()
				got := launch(t, guardedGraph(t, chain, edges), agent.StreamingModeNone)
				require.Zero(t, paid.Load())
				require.Len(t, got.errs, 1)
				var failed *callbacks.FailedError
				require.ErrorAs(t, got.errs[0], &failed)
				require.Equal(t, codes.Code("no"), failed.Refusal.Code)
				require.NotErrorIs(t, got.errs[0], context.Canceled)
				require.NotErrorIs(t, got.errs[0], workflow.ErrNodeInterrupted)
				for _, ev := range got.events {
					require.False(t, ev.Author == "guarded" && ev.Output != nil && ev.Output != "answer", ev.Output)
				}
				out := play(t, guardedGraph(t, callbacks.New(), workflow.Chain(workflow.Start, agentNode(t, build(t,
					chain, llmagent.Config{Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer")), Tools: []tool.Tool{callbackstest.Tool("lookup")}},
				)))), agent.StreamingModeNone)
				if name == "fail" {
					require.Equal(t, callbacks.StatusFailed, out.run.Outcome().Status)
					return
				}
				require.Equal(t, codes.Code("no"), out.run.Outcome().Code)
				require.Equal(t, callbacks.StatusDenied, out.run.Outcome().Status)
			})
		}
	}
}

// Followers in one node go on after an agent that was refused, as they do anywhere.
func TestAFollowerInANodeGoesOn(t *testing.T) {
	first := build(t, callbacks.New(refusing(inspect.BeforeModel, func() error { return callbacks.End("no", "not today") })),
		llmagent.Config{Name: "first", Model: callbackstest.Script()})
	second := build(t, callbacks.New(allow("a")), llmagent.Config{Name: "second", Model: callbackstest.Script(callbackstest.Say("answer"))})
	seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: []agent.Agent{first, second}}})
	require.NoError(t, err)
	var ran atomic.Int32
	got := launch(t, guardedGraph(t, callbacks.New(), workflow.Chain(workflow.Start, agentNode(t, seq), noted("next", &ran))), agent.StreamingModeNone)
	require.Empty(t, got.errs)
	require.EqualValues(t, 1, ran.Load())
}

// A node's RetryConfig runs again what failed and never what was refused.
func TestARefusalIsNotRetried(t *testing.T) {
	for name, refused := range map[string]bool{"refused": true, "failed": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ran atomic.Int32
				n := workflow.NewFunctionNode("n", func(agent.Context, any) (any, error) {
					if ran.Add(1); refused {
						return nil, callbacks.End("no", "not today")
					}
					return nil, errors.New("503")
				}, workflow.NodeConfig{RetryConfig: workflow.DefaultRetryConfig()})
				got := launch(t, guardedGraph(t, nil, workflow.Chain(workflow.Start, n)), agent.StreamingModeNone)
				require.Len(t, got.errs, 1)
				if refused {
					require.EqualValues(t, 1, ran.Load())
					require.ErrorIs(t, got.errs[0], callbacks.ErrEnded)
				} else {
					require.EqualValues(t, 5, ran.Load())
					require.EqualError(t, got.errs[0], "503")
				}
			})
		})
	}
}

// What a node's code returns keeps its identity, and is not lost where ADK would take it for
// the end of a sibling.
func TestANodesOwnErrorIsNotLost(t *testing.T) {
	cause := errors.New("the client hung up")
	for name, err := range map[string]error{"plain": cause, "canceled": fmt.Errorf("%w: %w", cause, context.Canceled)} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Int32
			n := function("n", func(agent.Context, any) (any, error) { return nil, err })
			got := launch(t, guardedGraph(t, nil, workflow.Chain(workflow.Start, n, noted("next", &ran))), agent.StreamingModeNone)
			require.Zero(t, ran.Load())
			require.Len(t, got.errs, 1)
			require.ErrorIs(t, got.errs[0], cause)
			require.Equal(t, err.Error(), got.errs[0].Error())
		})
	}
	panics := function("n", func(agent.Context, any) (any, error) { panic(cause) })
	got := launch(t, guardedGraph(t, nil, workflow.Chain(workflow.Start, panics)), agent.StreamingModeNone)
	require.Len(t, got.errs, 1)
	var p *callbacks.PanicError
	require.ErrorAs(t, got.errs[0], &p)
}

// The children of a dynamic node are refused one by one, and its body may go on without one;
// where it does not, the node ends with the child's refusal, of which ADK keeps the text alone.
func TestADynamicNodeKnowsTheRefusalOfItsChild(t *testing.T) {
	for name, goOn := range map[string]bool{"goes on": true, "gives up": false} {
		t.Run(name, func(t *testing.T) {
			chain := callbacks.New(callbacks.ForAgents(refusing(inspect.BeforeModel, func() error { return callbacks.End("no", "not today") }), "first"))
			child := func(name string) workflow.Node {
				n, err := chain.Node(agentNode(t, build(t, chain, llmagent.Config{Name: name, Model: callbackstest.Script(callbackstest.Say("answer"))})))
				require.NoError(t, err)
				return n
			}
			first, second := child("first"), child("second")
			d := workflow.NewDynamicNode("d", func(ctx agent.Context, _ any, _ func(*session.Event) error) (any, error) {
				out, err := workflow.RunNode[any](ctx, first, "q")
				require.Nil(t, out)
				require.ErrorIs(t, err, workflow.ErrNodeFailed)
				if !goOn {
					return nil, err
				}
				return workflow.RunNode[any](ctx, second, "q")
			}, workflow.NodeConfig{RetryConfig: &workflow.RetryConfig{MaxAttempts: 3}})
			var ran atomic.Int32
			out := play(t, guardedGraph(t, chain, workflow.Chain(workflow.Start, d, noted("next", &ran))), agent.StreamingModeNone)
			if goOn {
				require.NoError(t, out.err)
				require.EqualValues(t, 1, ran.Load())
				require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
				return
			}
			require.ErrorIs(t, out.err, callbacks.ErrEnded)
			require.Zero(t, ran.Load())
			require.Equal(t, "first", out.run.Outcome().Agent)
			require.Equal(t, callbacks.StatusDenied, out.run.Outcome().Status)
		})
	}
}

// An item that is refused ends the worker.
func TestAWorkersRefusedItemIsNoOutput(t *testing.T) {
	chain := callbacks.New(afterCalls(1, callbacks.End("calls_exhausted", "enough")))
	m := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(say("answer"), nil)
	})
	inner, err := chain.Node(agentNode(t, build(t, chain, llmagent.Config{Model: m})))
	require.NoError(t, err)
	worker, err := workflow.NewParallelWorker("worker", inner, 1, workflow.NodeConfig{})
	require.NoError(t, err)
	var ran atomic.Int32
	list := function("list", func(agent.Context, any) (any, error) { return []any{"1", "2", "3"}, nil })
	out := play(t, guardedGraph(t, chain, workflow.Chain(workflow.Start, list, worker, noted("next", &ran))), agent.StreamingModeNone)
	require.ErrorIs(t, out.err, callbacks.ErrEnded)
	require.Zero(t, ran.Load())
	require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
	require.Equal(t, "guarded", out.run.Outcome().Agent)
}

// Two terminal nodes, a stop by one: the other is cancelled and nothing of it is an output.
func TestAStopReachesTheOtherBranchesOfAFanOut(t *testing.T) {
	started := make(chan struct{})
	waits := workflow.NewFunctionNode("waits", func(ctx agent.Context, _ any) (any, error) {
		close(started)
		<-ctx.Done()
		return "late", ctx.Err()
	}, workflow.NodeConfig{})
	stops := function("stops", func(ctx agent.Context, _ any) (any, error) {
		<-started
		callbacks.RunOf(ctx).Stop(callbacks.Stop("enough", "no more"))
		return "x", nil
	})
	edges := workflow.NewEdgeBuilder().AddFanOut(workflow.Start, waits, stops).Build()
	got := launch(t, guardedGraph(t, nil, edges), agent.StreamingModeNone)
	require.Len(t, got.errs, 1)
	require.ErrorIs(t, got.errs[0], callbacks.ErrStopped)
	for _, ev := range got.events {
		require.Nil(t, ev.Output)
	}
}
