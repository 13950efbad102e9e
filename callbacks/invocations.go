// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"maps"
	"slices"
)

// An invocation is what a Run remembers of one. Run.mu guards it.
type invocation struct {
	// places has that of the whole invocation too.
	places map[Place]*work
	// plugins are the chains that serve the invocation as plugins.
	plugins map[*Chain]struct{}
	// waiting counts the tool calls that wait for an approval.
	waiting int
	// over says that it is among Run.over.
	over bool
}

// work is what is remembered at one place.
type work struct {
	values map[any]any // by key
	stays  []stay
}

// A stay is an agent at work with a chain.
type stay struct {
	c *Chain
	// report reports the agent's end where ADK does not call after_agent, because the
	// events end before the agent does; nil where that is reported anyhow.
	report func()
}

// invocation returns what is remembered of an invocation. r.mu is held.
func (r *Run) invocation(id string) *invocation {
	inv := r.invocations[id]
	if inv == nil {
		inv = &invocation{places: make(map[Place]*work)}
		r.invocations[id] = inv
	}
	return inv
}

// workAt returns what is remembered at p, or nil. r.mu is held.
func (r *Run) workAt(p Place) *work { return r.placesIn(p.Invocation)[p] }

// makeWorkAt is workAt, never nil.
func (r *Run) makeWorkAt(p Place) *work {
	inv := r.invocation(p.Invocation)
	w := inv.places[p]
	if w == nil {
		w = &work{values: make(map[any]any)}
		inv.places[p] = w
	}
	return w
}

// placesIn returns the places of an invocation. r.mu is held.
func (r *Run) placesIn(id string) map[Place]*work {
	if inv := r.invocations[id]; inv != nil {
		return inv.places
	}
	return nil
}

// load returns what is remembered at p under a key.
func (r *Run) load(p Place, key any) (v any, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workAt(p); w != nil {
		v, ok = w.values[key]
	}
	return v, ok
}

// take returns what is remembered at p under a key, and forgets it.
func (r *Run) take(p Place, key any) (v any, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workAt(p); w != nil {
		v, ok = w.values[key]
		delete(w.values, key)
	}
	return v, ok
}

// store remembers v at p under a key.
func (r *Run) store(p Place, key, v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.makeWorkAt(p).values[key] = v
}

// storeFirst remembers v at p under a key where nothing is, and returns what is there.
func (r *Run) storeFirst(p Place, key, v any) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	values := r.makeWorkAt(p).values
	if old, ok := values[key]; ok {
		return old
	}
	values[key] = v
	return v
}

// agentBegins says that an agent is at work with a chain.
func (r *Run) agentBegins(p Place, s stay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.makeWorkAt(p)
	w.stays = append(w.stays, s)
	r.signOfLife(p.Invocation)
}

// stay returns the newest stay of a chain, or nil.
func (w *work) stay(c *Chain) *stay {
	for i := len(w.stays) - 1; i >= 0; i-- {
		if w.stays[i].c == c {
			return &w.stays[i]
		}
	}
	return nil
}

// reported says that the end of an agent is being reported.
func (r *Run) reported(p Place, c *Chain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workAt(p); w != nil {
		if s := w.stay(c); s != nil {
			s.report = nil
		}
	}
}

// agentEnds forgets a place when the last chain there has reported the end of its agent.
func (r *Run) agentEnds(p Place, c *Chain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.workAt(p)
	if w == nil {
		return
	}
	if s := w.stay(c); s != nil {
		*s = w.stays[len(w.stays)-1]
		w.stays = w.stays[:len(w.stays)-1]
	}
	if len(w.stays) > 0 {
		return
	}
	inv := r.invocation(p.Invocation)
	delete(inv.places, p)
	for _, w := range inv.places {
		if len(w.stays) > 0 {
			return
		}
	}
	r.mayBeOver(p.Invocation)
}

// modelSteps returns the newest model step of each chain in an invocation.
func (r *Run) modelSteps(id string) []*modelStep {
	r.mu.Lock()
	defer r.mu.Unlock()
	var steps []*modelStep
	for _, w := range r.placesIn(id) {
		for _, v := range w.values {
			if s, ok := v.(*modelStep); ok {
				steps = append(steps, s)
			}
		}
	}
	return steps
}

// reportAgents reports the end of the agents of these invocations that were at work when
// their events ended.
func (r *Run) reportAgents(invocations map[string]struct{}) {
	r.mu.Lock()
	var reports []func()
	for id := range invocations {
		for _, w := range r.placesIn(id) {
			for i, s := range w.stays {
				if s.report != nil {
					reports = append(reports, s.report)
					w.stays[i].report = nil
				}
			}
		}
	}
	r.mu.Unlock()
	for _, report := range reports {
		report()
	}
}

// pluginBegins says that a chain serves an invocation as a plugin.
func (r *Run) pluginBegins(id string, c *Chain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	inv := r.invocation(id)
	if inv.plugins == nil {
		inv.plugins = make(map[*Chain]struct{})
	}
	inv.plugins[c] = struct{}{}
}

// servedBy reports whether a chain serves an invocation as a plugin.
func (r *Run) servedBy(id string, c *Chain) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	inv := r.invocations[id]
	if inv == nil {
		return false
	}
	_, ok := inv.plugins[c]
	return ok
}

// pluginEnds says that a chain no longer serves an invocation as a plugin, and reports
// whether no other does: the invocation is over.
func (r *Run) pluginEnds(id string, c *Chain) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	inv := r.invocation(id)
	delete(inv.plugins, c)
	if len(inv.plugins) > 0 {
		return false
	}
	r.ends(id)
	return true
}

// invocationsEnd says that no agent of these invocations is at work any more.
func (r *Run) invocationsEnd(ids map[string]struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range ids {
		r.ends(id)
	}
}

// ends forgets the agents of an invocation. r.mu is held.
func (r *Run) ends(id string) {
	if inv := r.invocations[id]; inv != nil {
		maps.DeleteFunc(inv.places, func(p Place, _ *work) bool { return p != p.Whole() })
		r.mayBeOver(id)
	}
}

// signOfLife says that something begins in an invocation. r.mu is held.
func (r *Run) signOfLife(id string) {
	if inv := r.invocations[id]; inv != nil && inv.over {
		inv.over = false
		r.over = slices.DeleteFunc(r.over, func(old string) bool { return old == id })
	}
}

// mostOver is how many invocations are remembered that have no agent at work: another one
// may begin, in a sequence or a loop, or when the invocation is resumed.
const mostOver = 64

// mayBeOver says that no agent of an invocation is at work, or that one failed. The oldest
// such invocation is forgotten where there are too many, but for those that Outcome looks at.
// One that waits for an approval is not among them. r.mu is held.
func (r *Run) mayBeOver(id string) {
	r.signOfLife(id)
	inv := r.invocation(id)
	if inv.waiting > 0 {
		return
	}
	inv.over = true
	r.over = append(r.over, id)
	if len(r.over) <= mostOver {
		return
	}
	i := slices.IndexFunc(r.over, func(id string) bool { return id != r.line.first && id != r.line.last })
	old := r.over[i]
	r.over = slices.Delete(r.over, i, i+1)
	delete(r.invocations, old)
	delete(r.line.cuts, old)
	r.poor = slices.DeleteFunc(r.poor, func(a poorAnswer) bool { return a.Invocation == old })
	r.closeStepsWhere(func(o openStep) bool { return o.Invocation == old && (o.over || o.ctx.Err() != nil) })
}

// failed says that an agent's model gave no answer: where it ends with an error, ADK may
// not say so.
func (r *Run) failed(p Place) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mayBeOver(p.Invocation)
}
