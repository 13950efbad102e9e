// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"slices"

	"github.com/gardefou/gardefou/callbacks/inspect"
)

// A placed guard is one that meets an agent, with where its chain stands: the runner's
// chains are numbered in their order, the agent's own comes after them.
type placed struct {
	Guard
	chain int
	own   bool
}

// rank is where the guard's chain comes in a hook: the lower comes first. A plugin's hooks
// run before the agent's, but tools are wrapped: each plugin puts its wrapper around what
// those before it made of the agent's own, so before a tool the last plugin comes first and
// after it the agent.
func (p placed) rank(h inspect.Hook) int {
	switch h {
	case inspect.BeforeTool, inspect.WrapTool:
		if !p.own {
			return -1 - p.chain
		}
	case inspect.AfterTool:
		if p.own {
			return -1
		}
	}
	return p.chain
}

// hooks are those that run where the guard stands.
func (p placed) hooks() []inspect.Hook {
	if p.own {
		return p.Hooks()
	}
	g := p.Guard
	if g.ForPlugin != nil {
		g = g.ForPlugin()
	}
	return slices.DeleteFunc(g.Hooks(), func(h inspect.Hook) bool { return infoOf(h).missing == formPlugin })
}

// tooLate returns the hook in which other comes after p although p must stand after it.
// Within one chain that is refused at construction.
func (p placed) tooLate(other placed) (inspect.Hook, bool) {
	if p.chain == other.chain || !slices.Contains(p.info().After, other.Name) {
		return "", false
	}
	both := p.hooks()
	both = slices.DeleteFunc(both, func(h inspect.Hook) bool { return !slices.Contains(other.hooks(), h) })
	if len(both) == 0 {
		both = []inspect.Hook{inspect.BeforeModel} // they work together by other ways; what most hooks do
	}
	i := slices.IndexFunc(both, func(h inspect.Hook) bool { return p.rank(h) < other.rank(h) })
	if i < 0 {
		return "", false
	}
	return both[i], true
}

func whoComesFirst(first, second placed) string {
	switch {
	case first.own:
		return "the agent's guards come first"
	case second.own:
		return "the runner's guards come first"
	default:
		return "the runner's chains come in another order"
	}
}
