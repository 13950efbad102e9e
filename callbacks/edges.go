// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"fmt"

	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"
)

// ErrUncovered says that a chain can't hold for a tool or a node of a graph as it was built.
var ErrUncovered = errors.New("the chain can't cover it")

// An uncoveredError is ErrUncovered with what it is about.
type uncoveredError struct{ what, name, why string }

// Error implements error.
func (e *uncoveredError) Error() string {
	return fmt.Sprintf("callbacks: %s %q can't be covered: %s", e.what, e.name, e.why)
}

// Is reports whether target is ErrUncovered.
func (e *uncoveredError) Is(target error) bool { return target == ErrUncovered }

// Tool returns t with the chain around it, for a node of a graph (workflow.NewToolNode) or any
// other place that ADK runs no hooks in: the guards' tool hooks and wrappers run and observers
// get each call, of which the agent is the one that ctx names. Unlike on an agent, a refusal and
// a failure come back as an error and never as a result, which the next node would take for
// data: the error has the text that a model may read, and [Refusal] or the tool's own error in
// it. A call that asks for an approval fails with tool.ErrConfirmationRequired: nothing pauses
// there.
//
// It returns an error where the guards have one, and an ErrUncovered for a tool that ADK does
// not run in this process. The tool is safe for concurrent use where t is.
func (c *Chain) Tool(t tool.Tool) (tool.Tool, error) {
	if c == nil {
		c = New()
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if t == nil {
		return nil, errors.New("callbacks: no tool")
	}
	guarded := aroundOf(c.wrapTool(t))
	if guarded == nil || guarded.c == nil || guarded.c.identity() != c.identity() {
		return nil, &uncoveredError{"tool", t.Name(), "it runs at the provider, or something else stands around this very chain"}
	}
	alone := *guarded
	alone.alone = true
	return around(alone), nil
}

// Node returns n with the chain around it, for a graph of nodes and for workflow.RunNode. Of a
// Run that is stopped the node does not run. Where an agent in it was refused, or the Run was
// stopped meanwhile, it hands on no output and ends with an error: the graph ends, and nothing
// takes a refusal's text for data. The error is [ErrStopped], [ErrEnded], [ErrDenied] or
// [ErrFailed], a [FailedError] in it has the refusal, and no RetryConfig of the node retries it.
// A panic in the node becomes its error.
//
// Give all edges of a node the same guarded node, as [Chain.Edges] does. Start and a
// *workflow.JoinNode come back bare, since ADK knows them by their type; the nodes before and
// after them are guarded. Node refuses, with ErrUncovered, a node of which it can see that what
// is in it runs uncovered: a tool node whose tool is not of [Chain.Tool], a parallel worker
// around a node that is not guarded or whose RetryConfig retries refusals, a nested workflow
// whose edges are not of [Chain.Edges]. Into the code of function nodes, dynamic nodes and node
// types of your own it can't look: what a dynamic node gives to RunNode must be of Node too. The
// agent in an agent node has hooks of its own, from [Chain.NewAgent] or a plugin.
func (c *Chain) Node(n workflow.Node) (workflow.Node, error) {
	if c == nil {
		c = New()
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if n == nil {
		return nil, errors.New("callbacks: no node")
	}
	if stayBare(n) || c.isAround(n) {
		return n, nil
	}
	if why := c.uncovered(n); why != "" {
		return nil, &uncoveredError{"node", n.Name(), why}
	}
	return &guardedNode{n, c}, nil
}

// Edges returns the edges with each node as [Chain.Node] makes it, one for all edges of a node,
// for workflowagent.Config and workflow.New. It returns everything that is wrong with the nodes,
// joined, and what workflow.New finds wrong with the edges themselves: ADK does not see the mode
// of an agent through a guarded node.
func (c *Chain) Edges(edges []workflow.Edge) ([]workflow.Edge, error) {
	bare := make([]workflow.Edge, len(edges))
	for i, e := range edges {
		bare[i] = workflow.Edge{From: bareNode(e.From), To: bareNode(e.To), Route: e.Route}
		if bare[i].From == nil || bare[i].To == nil {
			return nil, errors.New("callbacks: an edge has no node")
		}
	}
	if _, err := workflow.New("", bare); err != nil {
		return nil, err
	}
	guarded := make(map[workflow.Node]workflow.Node)
	var errs []error
	guard := func(n workflow.Node) workflow.Node {
		if g, ok := guarded[n]; ok {
			return g
		}
		g, err := c.Node(n)
		guarded[n] = g
		errs = append(errs, err)
		return g
	}
	out := make([]workflow.Edge, len(edges))
	for i, e := range edges {
		out[i] = workflow.Edge{From: guard(e.From), To: guard(e.To), Route: e.Route}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}
