// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"reflect"
	"slices"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/adk/v2/agent/llmagent"
)

// A hookRow is one hook in its places.
type hookRow interface {
	about() hookInfo
	isSet() bool // on the guard
	clear()      // the guard's
	sort()       // puts the guard's into the chain
	own() []Guard
	onAgent()
	onPlugin()
	only(pred func(Step) bool) // limits the guard's to steps for which pred holds
}

type hookInfo struct {
	hook    inspect.Hook
	part    part
	missing string // the form without it
}

func infoOf(h inspect.Hook) hookInfo {
	for _, r := range new(places).table() {
		if r.about().hook == h {
			return r.about()
		}
	}
	return hookInfo{hook: h}
}

func runHook[F any](p *places, hook inspect.Hook, guard *F, sorted *[]named[F], plugin *F, run F) hookRow {
	return &row[F]{hookInfo: hookInfo{hook, ofRun, formAgent}, places: p, guard: guard, sorted: sorted, plugin: plugin, run: run}
}

func stepHook[F any](
	p *places, hook inspect.Hook, part part, guard *F, sorted *[]named[F], agent *[]F, plugin *F, run F, limit func(F, func(Step) bool) F,
) hookRow {
	return &row[F]{hookInfo{hook, part, ""}, p, guard, sorted, agent, plugin, run, limit}
}

func otherHook[F any](p *places, hook inspect.Hook, part part, missing string, guard *F, sorted *[]named[F]) hookRow {
	return &row[F]{hookInfo: hookInfo{hook, part, missing}, places: p, guard: guard, sorted: sorted}
}

func limitedHook[F any](
	p *places, hook inspect.Hook, part part, guard *F, sorted *[]named[F], limit func(F, func(Step) bool) F,
) hookRow {
	return &row[F]{hookInfo: hookInfo{hook, part, ""}, places: p, guard: guard, sorted: sorted, limit: limit}
}

// A row is a hook of type F. What it has no place for is nil.
type row[F any] struct {
	hookInfo
	places *places
	guard  *F
	sorted *[]named[F]
	agent  *[]F
	plugin *F
	run    F // what ADK calls
	limit  func(F, func(Step) bool) F
}

func (r *row[F]) about() hookInfo { return r.hookInfo }

func (r *row[F]) isSet() bool { return !reflect.ValueOf(*r.guard).IsNil() }

func (r *row[F]) clear() { *r.guard = *new(F) }

func (r *row[F]) sort() {
	if r.isSet() {
		*r.sorted = append(*r.sorted, named[F]{r.places.guard.Name, *r.guard, r.places.guard.monitored})
	}
}

// own makes a guard of each callback that is on the agent.
func (r *row[F]) own() []Guard {
	if r.agent == nil {
		return nil
	}
	var own []Guard
	for _, f := range *r.agent {
		r.places.guard = Guard{Name: configGuard}
		*r.guard = f
		own = append(own, r.places.guard)
	}
	return own
}

func (r *row[F]) onAgent() {
	if r.agent != nil {
		*r.agent = []F{r.run}
	}
}

func (r *row[F]) onPlugin() {
	if r.plugin != nil {
		*r.plugin = r.run
	}
}

func (r *row[F]) only(pred func(Step) bool) {
	if r.limit != nil && r.isSet() {
		*r.guard = r.limit(*r.guard, pred)
	}
}

// sortHooks sorts the guards' hooks by kind.
func sortHooks(guards []Guard) hooks {
	p := &places{}
	table := p.table()
	for _, p.guard = range guards {
		for _, r := range table {
			r.sort()
		}
		p.sorted.order(p.guard)
	}
	return p.sorted
}

// Hooks returns the hooks that are set, in the order of the Guard's fields.
func (g Guard) Hooks() []inspect.Hook {
	var hooks []inspect.Hook
	for _, r := range (&places{guard: g}).table() {
		if r.isSet() {
			hooks = append(hooks, r.about().hook)
		}
	}
	return hooks
}

// without returns the guard without the hooks of some parts.
func (g Guard) without(parts ...part) Guard {
	p := &places{guard: g}
	for _, r := range p.table() {
		if slices.Contains(parts, r.about().part) {
			r.clear()
		}
	}
	return p.guard
}

// configHooks makes one guard of each callback on cfg.
func configHooks(cfg llmagent.Config) []Guard {
	var own []Guard
	for _, r := range (&places{agent: cfg}).table() {
		own = append(own, r.own()...)
	}
	return own
}
