// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/adk/v2/agent"
)

// Check looks over an agent tree before it runs and returns what is probably not meant,
// in the order of the tree; nil means that it found nothing. plugins are the chains that
// are attached to the runner. What is certainly wrong never gets here: NewAgent, Attach
// and Plugin refuse it.
//
// It sees agents that ADK built, what NewAgent put around them, and the nodes of a graph
// (workflowagent) with the agents and tools in them. Into an agent or a node with
// code of its own it can't look, nor into a toolset, nor below an agent that is used as a
// tool: check that one by itself.
func Check(root agent.Agent, plugins ...*Chain) []inspect.Problem {
	c := checker{agents: agentsOf(root), accounts: map[string]any{}, chains: len(plugins)}
	for i, p := range plugins {
		for _, g := range p.Guards() {
			c.plugins = append(c.plugins, placed{Guard: g, chain: i})
		}
	}
	c.names(root)
	for _, a := range c.agents {
		c.agent(a)
	}
	return c.problems
}

type checker struct {
	agents   []treeAgent
	plugins  []placed
	chains   int // of the runner
	accounts map[string]any
	problems []inspect.Problem
}

func (c *checker) add(kind inspect.ProblemKind, agentName, guard, format string, args ...any) {
	p := inspect.Problem{Kind: kind, Agent: agentName, Guard: guard, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

// names checks the root that guards of a plugin meet, and the tools they name.
func (c *checker) names(root agent.Agent) {
	for _, g := range c.plugins {
		info := g.info()
		if info.Root != nil {
			if err := info.Root(root); err != nil {
				c.add(inspect.Root, "", g.Name, "%v", err)
			}
		}
		meant := func(a treeAgent) bool { return len(info.Agents) == 0 || slices.Contains(info.Agents, a.name) }
		for _, name := range info.Tools {
			if !slices.ContainsFunc(c.agents, func(a treeAgent) bool { return meant(a) && (a.open || a.has(name)) }) {
				c.add(inspect.NoSuchTool, "", g.Name, "no agent has the tool %q", name)
			}
		}
	}
}

func (a treeAgent) has(toolName string) bool {
	for _, t := range a.tools {
		if t.Name() == toolName {
			return true
		}
	}
	return false
}

// agent checks one agent under all the guards that meet it, the runner's and its own.
func (c *checker) agent(a treeAgent) {
	if !a.known {
		c.add(inspect.Unknown, a.name, "", "its code calls what it likes; nothing here can be said to hold for it")
		return
	}
	c.graph(a)
	if !a.llm {
		return
	}
	guards := slices.Clone(c.plugins)
	for _, g := range a.chain().Guards() {
		guards = append(guards, placed{Guard: g, chain: c.chains, own: true})
	}
	if len(guards) == 0 {
		c.add(inspect.Unguarded, a.name, "", "no chain is attached; build it with Chain.NewAgent")
	}
	guards = slices.DeleteFunc(guards, func(g placed) bool {
		only := g.info().Agents
		for _, name := range only {
			if !slices.ContainsFunc(c.agents, func(a treeAgent) bool { return a.name == name }) {
				c.add(inspect.NoSuchAgent, a.name, g.Name, "it is limited to the agent %q, which is not in the tree", name)
			}
		}
		return len(only) > 0 && !slices.Contains(only, a.name)
	})
	c.tools(a, guards)
	c.conflicts(a, guards)
	c.limits(a, guards)
	c.company(a, guards)
}

// graph checks the nodes of an agent that runs a graph.
func (c *checker) graph(a treeAgent) {
	var bare []string
	for _, n := range a.nodes {
		if !n.guarded {
			bare = append(bare, n.name)
		}
		if n.tool != nil && guardedToolOf(n.tool) == nil {
			c.add(inspect.UncoveredTool, a.name, "", "no hook sees calls of %q in the node %q: make it of Chain.Tool", n.tool.Name(), n.name)
		}
		if n.code {
			c.add(inspect.Unknown, a.name, "", "the node %q runs what its code likes; make the nodes it gives to RunNode with Chain.Node", n.name)
		}
	}
	if len(bare) > 0 {
		c.add(inspect.UnguardedNode, a.name, "",
			"a stop does not end the graph at %s, and a refusal there is handed on as data: build it with Chain.Edges", strings.Join(bare, ", "))
	}
}

func (c *checker) tools(a treeAgent, guards []placed) {
	for _, t := range a.tools {
		if inside, ok := guardedInside(t); ok && !inside {
			c.add(inspect.Unguarded, a.name, "", "the agent behind its tool %q has no chain around its model", t.Name())
		}
		if guardedToolOf(t) == nil && len(c.plugins) == 0 && len(guards) > 0 {
			c.add(inspect.UncoveredTool, a.name, "", "no hook sees calls of %q: it runs at the provider, or is neither a function nor a streaming tool", t.Name())
		}
	}
}

// conflicts finds guards that together leave no tool, or not the one a guard needs.
func (c *checker) conflicts(a treeAgent, guards []placed) {
	var left []string
	by := ""
	for _, g := range guards {
		only := g.info().Only
		if only == nil {
			continue
		}
		if by == "" {
			left, by = only, g.Name
			continue
		}
		left = slices.DeleteFunc(slices.Clone(left), func(name string) bool { return !slices.Contains(only, name) })
		if len(left) == 0 {
			c.add(inspect.Conflict, a.name, g.Name, "it and %q allow no tool in common", by)
			return
		}
	}
	if by == "" {
		return
	}
	for _, g := range guards {
		info := g.info()
		if info.Only != nil {
			continue
		}
		for _, name := range info.Tools {
			if a.has(name) && !slices.Contains(left, name) {
				c.add(inspect.Conflict, a.name, g.Name, "it names the tool %q, which %q refuses", name, by)
			}
		}
	}
}

// limits compares the caps on model calls.
func (c *checker) limits(a treeAgent, guards []placed) {
	var own, run *placed
	for i, g := range guards {
		info := g.info()
		if info.MaxCalls == 0 || info.MaxCalls == math.MaxInt {
			continue
		}
		least := &own
		if info.WholeRun {
			least = &run
		}
		switch old := *least; {
		case old == nil:
			*least = &guards[i]
		case old.info().MaxCalls <= info.MaxCalls:
			c.add(inspect.Unreachable, a.name, g.Name, "%d calls are never reached: another one ends at %d", info.MaxCalls, old.info().MaxCalls)
		default:
			c.add(inspect.Unreachable, a.name, old.Name, "%d calls are never reached: another one ends at %d", old.info().MaxCalls, info.MaxCalls)
			*least = &guards[i]
		}
	}
	switch {
	case own == nil && run == nil && len(guards) > 0:
		c.add(inspect.Unbounded, a.name, "", "nothing counts its model calls; add guards.CallBudget")
	case own != nil && run != nil && own.info().MaxCalls > run.info().MaxCalls:
		c.add(inspect.Unreachable, a.name, own.Name, "%d calls of the agent are never reached: the run ends at %d", own.info().MaxCalls, run.info().MaxCalls)
	}
}

// company checks guards against the others they stand with.
func (c *checker) company(a treeAgent, guards []placed) {
	for i, g := range guards {
		info := g.info()
		if len(info.Wants) > 0 && !slices.ContainsFunc(guards, func(o placed) bool { return slices.Contains(info.Wants, o.Name) }) {
			c.add(inspect.Idle, a.name, g.Name, "it does nothing without %s", strings.Join(info.Wants, " or "))
		}
		for _, other := range guards {
			if hook, late := g.tooLate(other); late {
				c.add(inspect.Order, a.name, g.Name, "%q comes too late for it: in %s %s; attach both in one form", other.Name, hook, whoComesFirst(g, other))
			}
		}
		if info.WholeRun && info.Account != nil {
			if old, ok := c.accounts[g.Name]; ok && old != info.Account {
				c.add(inspect.SplitAccount, a.name, g.Name, "it was made more than once, so each counts alone; make it once and share the value")
			}
			c.accounts[g.Name] = info.Account
		}
		if slices.ContainsFunc(guards[:i], func(o placed) bool { return same(o.Guard, g.Guard) }) {
			c.add(inspect.Repeated, a.name, g.Name, "it stands on the agent more than once")
		}
	}
}

// same reports whether two guards say the same of themselves.
func same(a, b Guard) bool {
	if a.Name != b.Name || a.Name == configGuard {
		return false
	}
	x, y := a.info(), b.info()
	return slices.Equal(a.Hooks(), b.Hooks()) && slices.Equal(x.Limits, y.Limits) && slices.Equal(x.Tools, y.Tools)
}
