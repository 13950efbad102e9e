// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"reflect"
	"slices"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"
)

// bareNode is the node inside the guarded ones around n.
func bareNode(n workflow.Node) workflow.Node {
	for {
		g, ok := n.(*guardedNode)
		if !ok {
			return n
		}
		n = g.Node
	}
}

// stayBare reports whether ADK knows a node by its type or identity, so that nothing may stand
// around it. Neither has anything in it to guard.
func stayBare(n workflow.Node) bool {
	_, join := n.(*workflow.JoinNode)
	return join || n == workflow.Start
}

// isAround reports whether a node of this chain stands around n, however deep.
func (c *Chain) isAround(n workflow.Node) bool {
	for g, ok := n.(*guardedNode); ok; g, ok = g.Node.(*guardedNode) {
		if g.c.identity() == c.identity() {
			return true
		}
	}
	return false
}

// uncovered says what of a node runs past the chain, as far as it can be seen; "" for nothing.
func (c *Chain) uncovered(n workflow.Node) string {
	switch n := bareNode(n).(type) {
	case *workflow.ToolNode:
		if t, ok := partOf(n, "tool").(tool.Tool); !ok || !c.wraps(t) {
			return "no hook sees calls of its tool; make it of Chain.Tool"
		}
	case *workflow.ParallelWorker:
		inner, ok := partOf(n, "wrapped").(workflow.Node)
		if !ok || !c.isAround(inner) {
			return "the node it runs for each item is bare; make that one with Chain.Node"
		}
		if retry, ok := partOf(n, "retryCfg").(*workflow.RetryConfig); ok && retriesRefusals(retry) {
			return "it retries the refusals of its items; let ShouldRetry say no to a FailedError"
		}
	case *workflow.WorkflowNode:
		inside, ok := nodesIn(n)
		if !ok {
			return "its nodes can't be seen"
		}
		for _, in := range inside {
			if !stayBare(in) && !c.isAround(in) {
				return "its own nodes are bare; build it with Chain.Edges"
			}
		}
	}
	return ""
}

// retriesRefusals reports whether a worker would run an item again that was refused.
func retriesRefusals(retry *workflow.RetryConfig) bool {
	return workflow.ShouldRetry(retry, &nodeError{stop: &stop{refusal: Stop("", "")}}, 1)
}

// nodesIn returns the nodes of a nested workflow, whose edges ADK keeps to itself.
func nodesIn(n *workflow.WorkflowNode) (nodes []workflow.Node, ok bool) {
	successors := reflect.Indirect(reflect.ValueOf(n))
	for _, field := range []string{"subWorkflow", "graph", "successors"} {
		if successors.Kind() != reflect.Struct {
			return nil, false
		}
		successors = reflect.Indirect(successors.FieldByName(field))
	}
	if successors.Kind() != reflect.Map || successors.Type().Elem() != reflect.TypeFor[[]workflow.Edge]() {
		return nil, false
	}
	for it := successors.MapRange(); it.Next(); {
		from, ok := opened(it.Key()).(workflow.Node)
		if !ok {
			return nil, false
		}
		nodes = append(nodes, from)
		for i := range it.Value().Len() {
			to, ok := opened(it.Value().Index(i).FieldByName("To")).(workflow.Node)
			if !ok {
				return nil, false
			}
			nodes = append(nodes, to)
		}
	}
	return nodes, true
}

// A treeNode is what can be seen of a node of a graph.
type treeNode struct {
	name    string
	guarded bool
	// code says that its own code runs other nodes, or may.
	code  bool
	agent agent.Agent // that it runs, or nil
	tool  tool.Tool   // that it calls, or nil
}

// lookAtGraph lists the nodes of a graph, and those in them, that ADK does not run bare anyhow.
func lookAtGraph(edges []workflow.Edge) []treeNode {
	var nodes []workflow.Node
	for _, e := range edges {
		nodes = append(nodes, e.From, e.To)
	}
	return lookAtNodes(nodes)
}

func lookAtNodes(nodes []workflow.Node) []treeNode {
	var all []treeNode
	var seen []workflow.Node
	for _, n := range nodes {
		if n == nil || stayBare(n) || slices.Contains(seen, n) {
			continue
		}
		seen = append(seen, n)
		all = append(all, lookAtNode(n)...)
	}
	return all
}

func lookAtNode(n workflow.Node) []treeNode {
	bare := bareNode(n)
	out, inside := treeNode{name: n.Name(), guarded: bare != n}, []treeNode(nil)
	switch bare := bare.(type) {
	case *workflow.FunctionNode:
	case *workflow.AgentNode:
		out.agent, _ = partOf(bare, "agent").(agent.Agent)
		out.code = out.agent == nil
	case *workflow.ToolNode:
		out.tool, _ = partOf(bare, "tool").(tool.Tool)
		out.code = out.tool == nil
	case *workflow.ParallelWorker:
		inner, ok := partOf(bare, "wrapped").(workflow.Node)
		out.code = !ok
		inside = lookAtNodes([]workflow.Node{inner})
	case *workflow.WorkflowNode:
		inner, ok := nodesIn(bare)
		out.code = !ok
		slices.SortFunc(inner, func(a, b workflow.Node) int { return strings.Compare(a.Name(), b.Name()) })
		inside = lookAtNodes(inner)
	default:
		out.code = true
	}
	return append([]treeNode{out}, inside...)
}

// partOf returns a field of what v points to that ADK does not export, or nil where there is
// none, or one that holds no pointer: ADK has no other way to ask what is in a node.
func partOf(v any, field string) any {
	s := reflect.Indirect(reflect.ValueOf(v))
	if s.Kind() != reflect.Struct {
		return nil
	}
	return opened(s.FieldByName(field))
}

// opened returns the pointer in a field, as what can be used.
func opened(v reflect.Value) any {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil
	}
	return reflect.NewAt(v.Type().Elem(), v.UnsafePointer()).Interface()
}
