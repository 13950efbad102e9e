// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/inspect"
)

func guardedNode(t *testing.T, c *callbacks.Chain, n workflow.Node) workflow.Node {
	t.Helper()
	g, err := c.Node(n)
	require.NoError(t, err)
	return g
}

func toolNode(t *testing.T, tl tool.Tool) workflow.Node {
	t.Helper()
	n, err := workflow.NewToolNode(tl, workflow.NodeConfig{})
	require.NoError(t, err)
	return n
}

func workerNode(t *testing.T, inner workflow.Node, cfg workflow.NodeConfig) workflow.Node {
	t.Helper()
	n, err := workflow.NewParallelWorker("worker", inner, 1, cfg)
	require.NoError(t, err)
	return n
}

func nestedNode(t *testing.T, edges []workflow.Edge) workflow.Node {
	t.Helper()
	n, err := workflow.NewWorkflowNode("nested", edges)
	require.NoError(t, err)
	return n
}

// What is in a node and runs past the chain is refused, as far as it can be seen.
func TestNodesThatCantBeCoveredAreRefused(t *testing.T) {
	var ran atomic.Int32
	chain, other := callbacks.New(allow("a")), callbacks.New(allow("b"))
	covered, err := chain.Tool(callbackstest.Tool("lookup"))
	require.NoError(t, err)
	foreign, err := other.Tool(callbackstest.Tool("lookup"))
	require.NoError(t, err)
	guarded, err := chain.Edges(workflow.Chain(workflow.Start, noted("in", &ran)))
	require.NoError(t, err)
	again := func(error) bool { return true }
	notAgain := func(err error) bool { var f *callbacks.FailedError; return !asFailed(err, &f) }
	for name, tc := range map[string]struct {
		node workflow.Node
		why  string
	}{
		"function":                  {noted("n", &ran), ""},
		"agent":                     {agentNode(t, build(t, chain, llmagent.Config{Model: callbackstest.Script()})), ""},
		"dynamic":                   {workflow.NewDynamicNode("d", func(agent.Context, any, func(*session.Event) error) (any, error) { return nil, nil }, workflow.NodeConfig{}), ""},
		"tool":                      {toolNode(t, covered), ""},
		"bare tool":                 {toolNode(t, callbackstest.Tool("lookup")), "Chain.Tool"},
		"tool of another chain":     {toolNode(t, foreign), "Chain.Tool"},
		"worker":                    {workerNode(t, guardedNode(t, chain, noted("w", &ran)), workflow.NodeConfig{}), ""},
		"worker of a bare node":     {workerNode(t, noted("w", &ran), workflow.NodeConfig{}), "Chain.Node"},
		"worker of another chain":   {workerNode(t, guardedNode(t, other, noted("w", &ran)), workflow.NodeConfig{}), "Chain.Node"},
		"worker that retries":       {workerNode(t, guardedNode(t, chain, noted("w", &ran)), workflow.NodeConfig{RetryConfig: &workflow.RetryConfig{MaxAttempts: 3, ShouldRetry: again}}), "FailedError"},
		"worker that knows better":  {workerNode(t, guardedNode(t, chain, noted("w", &ran)), workflow.NodeConfig{RetryConfig: &workflow.RetryConfig{MaxAttempts: 3, ShouldRetry: notAgain}}), ""},
		"nested":                    {nestedNode(t, guarded), ""},
		"nested with bare nodes":    {nestedNode(t, workflow.Chain(workflow.Start, noted("in", &ran))), "Chain.Edges"},
		"nested of another chain":   {nestedNode(t, workflow.Chain(workflow.Start, guardedNode(t, other, noted("in", &ran)))), "Chain.Edges"},
		"worker of a worker, bare":  {workerNode(t, guardedNode(t, chain, workerNode(t, guardedNode(t, chain, noted("w", &ran)), workflow.NodeConfig{})), workflow.NodeConfig{}), ""},
		"guarded by another chain":  {guardedNode(t, other, noted("n", &ran)), ""},
		"uncovered, guarded before": {guardedNode(t, other, toolNode(t, foreign)), "Chain.Tool"},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := chain.Node(tc.node)
			_, edgesErr := chain.Edges(workflow.Chain(workflow.Start, tc.node))
			if tc.why == "" {
				require.NoError(t, err)
				require.NoError(t, edgesErr)
				require.NotSame(t, tc.node, n)
				twice, err := chain.Node(n)
				require.NoError(t, err)
				require.Same(t, n, twice)
				return
			}
			for _, err := range []error{err, edgesErr} {
				require.ErrorIs(t, err, callbacks.ErrUncovered)
				require.ErrorContains(t, err, tc.why)
				require.ErrorContains(t, err, tc.node.Name())
			}
		})
	}
}

func asFailed(err error, target **callbacks.FailedError) bool {
	as, ok := err.(interface{ As(target any) bool })
	return ok && as.As(target)
}

// Start and joins stay what they are, each other node is one for all its edges, and what ADK
// refuses of a graph is refused.
func TestEdgesKeepTheGraph(t *testing.T) {
	var ran atomic.Int32
	chain := callbacks.New(allow("a"))
	a, b, join := noted("a", &ran), noted("b", &ran), workflow.NewJoinNode("join")
	edges := workflow.NewEdgeBuilder().AddFanOut(workflow.Start, a, b).AddFanIn(join, a, b).AddRoute(join, a, workflow.StringRoute("x")).Build()
	got, err := chain.Edges(edges)
	require.NoError(t, err)
	require.Len(t, got, len(edges))
	for i, e := range got {
		require.Equal(t, edges[i].Route, e.Route)
		require.Equal(t, edges[i].From.Name(), e.From.Name())
		require.Equal(t, edges[i].To.Name(), e.To.Name())
		require.Equal(t, edges[i].From == workflow.Start, e.From == workflow.Start)
		require.Equal(t, edges[i].To == workflow.Node(join), e.To == workflow.Node(join))
	}
	require.Same(t, got[0].To, got[2].From)
	again, err := chain.Edges(got)
	require.NoError(t, err)
	require.Equal(t, got, again)

	task := plainAgent(t, llmagent.Config{Name: "task", Model: callbackstest.Script(), Mode: llmagent.ModeTask})
	_, err = chain.Edges(workflow.Chain(workflow.Start, agentNode(t, task)))
	require.ErrorContains(t, err, "task")
	_, err = chain.Edges(workflow.Chain(workflow.Start, guardedNode(t, chain, agentNode(t, task))))
	require.ErrorContains(t, err, "task")
	_, err = chain.Edges(workflow.Chain(workflow.Start, noted("a", &ran), noted("a", &ran)))
	require.ErrorIs(t, err, workflow.ErrDuplicateNodeName)
	_, err = chain.Edges([]workflow.Edge{{From: workflow.Start}})
	require.Error(t, err)
	_, err = callbacks.New(callbacks.Guard{}).Edges(edges)
	require.ErrorContains(t, err, "no name")
}

// A wrapped node answers what ADK asks of the node inside.
func TestAGuardedNodeKeepsItsFace(t *testing.T) {
	type params struct {
		Topic string `state:"topic"`
	}
	fromState, err := workflow.NewFunctionNodeFromState("n", func(agent.InvocationContext, params) (string, error) { return "", nil }, workflow.NodeConfig{EmitsOwnSpan: true})
	require.NoError(t, err)
	g := guardedNode(t, nil, fromState)
	require.Equal(t, []string{"topic"}, g.(workflow.StateParamsAware).StateFieldNames())
	require.True(t, g.Config().EmitsOwnSpan)
	require.Equal(t, fromState.OutputSchema(), g.OutputSchema())
	require.Nil(t, guardedNode(t, nil, agentNode(t, plainAgent(t, llmagent.Config{Model: callbackstest.Script()}))).(workflow.StateParamsAware).StateFieldNames())
}

// Check looks into a graph: at its nodes, and at the agents and tools in them, however deep.
func TestCheckReadsGraphs(t *testing.T) {
	var ran atomic.Int32
	chain := callbacks.New(callbacks.Guard{Name: "counts", Info: func() callbacks.Info { return callbacks.Info{MaxCalls: 3} }, BeforeModel: allow("a").BeforeModel})
	unguarded := plainAgent(t, llmagent.Config{Name: "open", Model: callbackstest.Script()})
	own := build(t, chain, llmagent.Config{Name: "own", Model: callbackstest.Script()})
	dynamic := workflow.NewDynamicNode("d", func(agent.Context, any, func(*session.Event) error) (any, error) { return nil, nil }, workflow.NodeConfig{})
	kinds := func(root agent.Agent) map[inspect.ProblemKind]string {
		out := map[inspect.ProblemKind]string{}
		for _, p := range callbacks.Check(root) {
			out[p.Kind] += p.Agent + ": " + p.Text + "\n"
		}
		return out
	}
	require.Empty(t, kinds(guardedGraph(t, chain, workflow.Chain(workflow.Start, agentNode(t, own), noted("f", &ran)))))

	worker := workerNode(t, agentNode(t, unguarded), workflow.NodeConfig{})
	nested := nestedNode(t, workflow.Chain(workflow.Start, noted("in", &ran), toolNode(t, callbackstest.Tool("delete"))))
	got := kinds(graphOf(t, workflow.Chain(workflow.Start, worker, nested, dynamic, noted("f", &ran))))
	require.Equal(t, "graph: a stop does not end the graph at worker, open, nested, delete, in, d, f, and a refusal there is handed on as data: build it with Chain.Edges\n", got[inspect.UnguardedNode])
	require.Contains(t, got[inspect.UncoveredTool], `"delete"`)
	require.Contains(t, got[inspect.Unguarded], "open: ")
	require.Contains(t, got[inspect.Unknown], `"d"`)
	require.Len(t, got, 4)

	p := callbacks.New(allow("a"))
	require.Empty(t, kinds(sequence(t, guardedGraph(t, chain, workflow.Chain(workflow.Start, agentNode(t, build(t, chain, llmagent.Config{Name: "other", Model: callbackstest.Script()})))))))
	require.Contains(t, callbacks.Check(graphOf(t, workflow.Chain(workflow.Start, toolNode(t, callbackstest.Tool("lookup")))), p)[0].Text, "Chain.Tool")
}
