// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"iter"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// graph puts the agent into a node of a graph, with a node after it that counts.
func (m Matrix) graph(top Topology, chain *callbacks.Chain, inner agent.Agent, trial *Trial) (agent.Agent, error) {
	guarded, err := workflow.NewAgentNode(inner, workflow.NodeConfig{})
	if err != nil {
		return nil, err
	}
	after := workflow.NewFunctionNode("after", func(_ agent.Context, in any) (any, error) { trial.After++; return in, nil }, workflow.NodeConfig{})
	var edges []workflow.Edge
	switch top {
	case TopologyToolNode:
		edges, err = toolGraph(chain, guarded, after)
	case TopologyFanOut:
		join := workflow.NewJoinNode("join")
		beside := &silent{workflow.NewBaseNode("beside", "", workflow.NodeConfig{})}
		edges = workflow.NewEdgeBuilder().AddFanOut(workflow.Start, guarded, beside).AddFanIn(join, guarded, beside).Add(join, after).Build()
	case TopologyCycle:
		review := workflow.NewFunctionNode("review", reviewed, workflow.NodeConfig{})
		edges = workflow.NewEdgeBuilder().Add(workflow.Start, guarded).Add(guarded, review).
			AddRoute(review, guarded, workflow.StringRoute("again")).AddRoute(review, after, workflow.Default).Build()
	case TopologyWorker:
		edges, err = workerGraph(chain, guarded, after)
	case TopologyDynamicNode:
		edges, err = dynamicGraph(chain, guarded, after)
	default:
		edges = workflow.Chain(workflow.Start, guarded, after)
	}
	if err != nil {
		return nil, err
	}
	if edges, err = chain.Edges(edges); err != nil {
		return nil, err
	}
	return workflowagent.New(workflowagent.Config{Name: "root", Edges: edges})
}

// silent is a node without an event: under a fan-out ADK takes another branch's newest event
// for the last that the agent has to read.
type silent struct{ workflow.BaseNode }

// Run implements workflow.Node.
func (*silent) Run(agent.Context, any) iter.Seq2[*session.Event, error] {
	return func(func(*session.Event, error) bool) {}
}

// reviewed asks for another round where the agent's answer is a refusal's text.
func reviewed(ctx agent.Context, in any) (*session.Event, error) {
	ev := session.NewEvent(ctx, ctx.InvocationID())
	ev.Output = in
	if answer, _ := in.(string); strings.HasPrefix(answer, text.Get(text.English, text.GuardPrefix)) {
		ev.Routes = []string{"again"}
	}
	return ev, nil
}

// toolGraph calls a tool that no guard knows by its name with the agent's answer.
func toolGraph(chain *callbacks.Chain, guarded, after workflow.Node) ([]workflow.Edge, error) {
	t, err := chain.Tool(Tool("node_tool"))
	if err != nil {
		return nil, err
	}
	call, err := workflow.NewNamedToolNode("call", t, workflow.NodeConfig{})
	if err != nil {
		return nil, err
	}
	args := workflow.NewFunctionNode("args", func(_ agent.Context, in any) (map[string]any, error) {
		return map[string]any{"answer": in}, nil
	}, workflow.NodeConfig{})
	return workflow.Chain(workflow.Start, guarded, args, call, after), nil
}

func workerGraph(chain *callbacks.Chain, guarded, after workflow.Node) ([]workflow.Edge, error) {
	inner, err := chain.Node(guarded)
	if err != nil {
		return nil, err
	}
	worker, err := workflow.NewParallelWorker("worker", inner, 1, workflow.NodeConfig{})
	if err != nil {
		return nil, err
	}
	list := workflow.NewFunctionNode("list", func(_ agent.Context, in any) (any, error) { return []any{in}, nil }, workflow.NodeConfig{})
	return workflow.Chain(workflow.Start, list, worker, after), nil
}

func dynamicGraph(chain *callbacks.Chain, guarded, after workflow.Node) ([]workflow.Edge, error) {
	child, err := chain.Node(guarded)
	if err != nil {
		return nil, err
	}
	d := workflow.NewDynamicNode("dynamic", func(ctx agent.Context, in any, _ func(*session.Event) error) (any, error) {
		return workflow.RunNode[any](ctx, child, in)
	}, workflow.NodeConfig{})
	return workflow.Chain(workflow.Start, d, after), nil
}
