// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"encoding/json"
	"slices"
)

// smaller are the programs with one thing less.
func (p programSpec) smaller() []programSpec {
	var out []programSpec
	with := func(change func(*programSpec)) {
		c := p.clone()
		change(&c)
		if c.String() != p.String() {
			out = append(out, c)
		}
	}
	for i := range p.Guards {
		with(func(c *programSpec) { c.Guards = slices.Delete(c.Guards, i, i+1) })
		with(func(c *programSpec) { c.Guards[i].Comb = "" })
	}
	if len(p.Agents) > 1 {
		for i := range p.Agents {
			with(func(c *programSpec) { c.Agents = slices.Delete(c.Agents, i, i+1) })
		}
	} else {
		with(func(c *programSpec) { c.Tree = "one" })
	}
	with(func(c *programSpec) { c.Helper = nil })
	with(func(c *programSpec) { c.Stream = false })
	with(func(c *programSpec) { c.Launched = false })
	with(func(c *programSpec) { c.Cut = programCut{} })
	with(func(c *programSpec) { c.Stop = programStop{} })
	for i := range p.everyAgent() {
		out = append(out, p.smallerTurns(i)...)
	}
	return out
}

func (p programSpec) smallerTurns(agentAt int) []programSpec {
	var out []programSpec
	for j, turn := range p.everyAgent()[agentAt].Turns {
		with := func(change func(*programAgent)) {
			c := p.clone()
			change(c.everyAgent()[agentAt])
			if c.String() != p.String() {
				out = append(out, c)
			}
		}
		with(func(a *programAgent) { a.Turns = slices.Delete(a.Turns, j, j+1) })
		with(func(a *programAgent) { a.Turns[j].Fault = "" })
		with(func(a *programAgent) { a.Turns[j].Takes, a.Turns[j].Deaf = 0, false })
		with(func(a *programAgent) { a.Turns[j].Leak = false })
		for k := range turn.Calls {
			with(func(a *programAgent) { a.Turns[j].Calls = slices.Delete(a.Turns[j].Calls, k, k+1) })
			with(func(a *programAgent) { a.Turns[j].Calls[k].Do = "" })
		}
	}
	return out
}

func (p *programSpec) everyAgent() []*programAgent {
	var all []*programAgent
	for i := range p.Agents {
		all = append(all, &p.Agents[i])
	}
	if p.Helper != nil {
		all = append(all, p.Helper)
	}
	return all
}

func (p programSpec) clone() programSpec {
	var c programSpec
	if err := json.Unmarshal([]byte(p.String()), &c); err != nil {
		panic(err)
	}
	return c
}
