// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"reflect"
	"slices"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
)

// A treeAgent is what can be seen of one agent that is built.
type treeAgent struct {
	name string
	// known says that it is one of ADK's own agents; the rest is code that may do anything.
	known bool
	// llm says that it calls a model.
	llm   bool
	model model.LLM
	tools []tool.Tool
	// open says that toolsets or sub-agents give it tools that can't be seen here.
	open bool
	// nodes are those of its graph, where it runs one, and below.
	nodes []treeNode
}

// chain is the one the agent was built with, nil where there is none.
func (a treeAgent) chain() *Chain {
	if m, ok := a.model.(*guardedModel); ok {
		return m.c
	}
	for _, t := range a.tools {
		if g := guardedToolOf(t); g != nil {
			return g.c
		}
	}
	return nil
}

// guardedToolOf returns the outermost wrapper around t that is a chain's, or nil.
func guardedToolOf(t tool.Tool) *aroundTool {
	a := aroundOf(t)
	for a != nil && a.c == nil {
		a = aroundOf(a.Tool)
	}
	return a
}

// agentsOf lists an agent and those under it.
func agentsOf(root agent.Agent) []treeAgent {
	if root == nil {
		return nil
	}
	if _, ours := root.(*stopCheck); ours {
		return nil
	}
	all := []treeAgent{lookAt(root)}
	for _, n := range all[0].nodes {
		all = append(all, agentsOf(n.agent)...)
	}
	for _, sub := range root.SubAgents() {
		all = append(all, agentsOf(sub)...)
	}
	return all
}

// lookAt reads the parts of an agent that ADK keeps in exported fields of its own types.
// An agent in which they are not found is unknown, never taken for guarded.
func lookAt(a agent.Agent) treeAgent {
	out := treeAgent{name: a.Name()}
	state := stateOf(reflect.ValueOf(a))
	if !state.IsValid() {
		return out
	}
	if kind := state.FieldByName("AgentType"); kind.IsValid() && kind.Kind() == reflect.String {
		if graph, ok := exported(state, "Config").(workflowagent.Config); ok {
			out.known, out.nodes = true, lookAtGraph(graph.Edges)
			return out
		}
		// These only start others.
		out.known = slices.Contains([]string{"LoopAgent", "SequentialAgent", "ParallelAgent"}, kind.String())
		return out
	}
	tools, ok := exported(state, "Tools").([]tool.Tool)
	if !ok {
		return out
	}
	sets, _ := exported(state, "Toolsets").([]tool.Toolset)
	out.known, out.llm, out.tools, out.open = true, true, tools, len(sets) > 0 || len(a.SubAgents()) > 0
	out.model, _ = exported(state, "Model").(model.LLM)
	return out
}

// stateOf finds the State that ADK's agents embed, through wrappers that embed an agent.
func stateOf(v reflect.Value) reflect.Value {
	for range 64 {
		switch {
		case v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer:
			v = v.Elem()
		case v.Kind() != reflect.Struct:
			return reflect.Value{}
		default:
			if state := v.FieldByName("State"); state.IsValid() {
				return reflect.Indirect(state)
			}
			v = v.FieldByName("Agent")
		}
	}
	return reflect.Value{}
}

// isSingleTurn reports whether an LLM agent is in the mode that a node of a graph gives it.
func isSingleTurn(a agent.Agent) bool {
	state := stateOf(reflect.ValueOf(a))
	if !state.IsValid() {
		return false
	}
	mode := state.FieldByName("Mode")
	return mode.IsValid() && mode.Kind() == reflect.String && mode.String() == string(llmagent.ModeSingleTurn)
}

func exported(state reflect.Value, field string) any {
	f := state.FieldByName(field)
	if !f.IsValid() || !f.CanInterface() {
		return nil
	}
	return f.Interface()
}

// guardedInside says of a tool that is an agent whether a chain stands around that
// agent's model. ok is false for tools that are none.
func guardedInside(t tool.Tool) (guarded, ok bool) {
	for a := aroundOf(t); a != nil; a = aroundOf(t) {
		t = a.Tool
	}
	v := reflect.Indirect(reflect.ValueOf(t))
	if v.Kind() != reflect.Struct || !strings.HasSuffix(v.Type().PkgPath(), "/tool/agenttool") {
		return false, false
	}
	state := stateOf(v.FieldByName("agent"))
	if !state.IsValid() {
		return false, true
	}
	m := state.FieldByName("Model")
	return m.IsValid() && m.Kind() == reflect.Interface && m.Elem().IsValid() && m.Elem().Type() == reflect.TypeFor[*guardedModel](), true
}
