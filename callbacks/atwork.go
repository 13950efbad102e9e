// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"maps"
	"slices"
)

// work is what a Run remembers of one place. Run.mu guards it.
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

// stay returns the newest stay of a chain, or nil.
func (w *work) stay(c *Chain) *stay {
	for i := len(w.stays) - 1; i >= 0; i-- {
		if w.stays[i].c == c {
			return &w.stays[i]
		}
	}
	return nil
}

// at returns what is remembered of a place. r.mu is held.
func (r *Run) at(p Place) *work {
	w := r.places[p]
	if w == nil {
		w = &work{values: make(map[any]any)}
		r.places[p] = w
	}
	return w
}

// load returns what is remembered at p under a key.
func (r *Run) load(p Place, key any) (v any, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.places[p]; w != nil {
		v, ok = w.values[key]
	}
	return v, ok
}

// take is load, and forgets the value.
func (r *Run) take(p Place, key any) (v any, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.places[p]; w != nil {
		v, ok = w.values[key]
		delete(w.values, key)
	}
	return v, ok
}

// store remembers v at p under a key.
func (r *Run) store(p Place, key, v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at(p).values[key] = v
}

// agentBegins says that an agent is at work with a chain.
func (r *Run) agentBegins(p Place, s stay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.at(p)
	w.stays = append(w.stays, s)
	r.signOfLife(p.Invocation)
}

// reported says that the end of an agent is being reported.
func (r *Run) reported(p Place, c *Chain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.at(p).stay(c); s != nil {
		s.report = nil
	}
}

// agentEnds forgets a place when the last chain there has reported the end of its agent.
func (r *Run) agentEnds(p Place, c *Chain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.at(p)
	if s := w.stay(c); s != nil {
		*s = w.stays[len(w.stays)-1]
		w.stays = w.stays[:len(w.stays)-1]
	}
	if len(w.stays) > 0 {
		return
	}
	delete(r.places, p)
	for other, w := range r.places {
		if other.Invocation == p.Invocation && len(w.stays) > 0 {
			return
		}
	}
	r.mayBeOver(p.Invocation)
}

// reportAgents reports the end of the agents of these invocations that were at work when
// their events ended.
func (r *Run) reportAgents(invocations map[string]struct{}) {
	r.mu.Lock()
	var reports []func()
	for p, w := range r.places {
		if _, ours := invocations[p.Invocation]; !ours {
			continue
		}
		for i, s := range w.stays {
			if s.report != nil {
				reports = append(reports, s.report)
				w.stays[i].report = nil
			}
		}
	}
	r.mu.Unlock()
	for _, report := range reports {
		report()
	}
}

// modelSteps returns the newest model step of each chain at the places of an invocation.
func (r *Run) modelSteps(id string) []*modelStep {
	r.mu.Lock()
	defer r.mu.Unlock()
	var steps []*modelStep
	for p, w := range r.places {
		for _, v := range w.values {
			if s, ok := v.(*modelStep); ok && p.Invocation == id {
				steps = append(steps, s)
			}
		}
	}
	return steps
}

// pluginID is the key, at an invocation's place, of a chain that serves it as a plugin.
type pluginID struct{ c *Chain }

// pluginEnds says that a chain no longer serves an invocation as a plugin, and reports
// whether no other does: the invocation is over.
func (r *Run) pluginEnds(id string, c *Chain) bool {
	r.take(wholeOf(id), pluginID{c})
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.at(wholeOf(id)).values {
		if _, ok := key.(pluginID); ok {
			return false
		}
	}
	r.ends(id)
	return true
}

// ends says that no agent of an invocation is at work any more. r.mu is held.
func (r *Run) ends(id string) {
	maps.DeleteFunc(r.places, func(p Place, _ *work) bool { return p.Invocation == id && p != p.whole() })
	r.mayBeOver(id)
}

// signOfLife says that something begins in an invocation. r.mu is held.
func (r *Run) signOfLife(id string) {
	r.over = slices.DeleteFunc(r.over, func(over string) bool { return over == id })
}

// mostOver is how many invocations are remembered that have no agent at work: another one
// may begin, in a sequence or a loop, or when the invocation is resumed.
const mostOver = 16

// mayBeOver says that no agent of an invocation is at work, or that one failed. The oldest
// such invocation is forgotten where there are too many, but for those that Outcome looks at.
// One that waits for an approval is not among them. r.mu is held.
func (r *Run) mayBeOver(id string) {
	r.signOfLife(id)
	if r.waiting[id] > 0 {
		return
	}
	r.over = append(r.over, id)
	if len(r.over) <= mostOver {
		return
	}
	i := slices.IndexFunc(r.over, func(id string) bool { return id != r.line.first && id != r.line.last })
	old := r.over[i]
	r.over = slices.Delete(r.over, i, i+1)
	maps.DeleteFunc(r.places, func(p Place, _ *work) bool { return p.Invocation == old })
	delete(r.line.cuts, old)
	r.poor = slices.DeleteFunc(r.poor, func(a poorAnswer) bool { return a.Invocation == old })
	r.closeStepsWhere(func(o openStep) bool { return o.Invocation == old && (o.over || o.ctx.Err() != nil) })
}
