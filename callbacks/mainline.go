// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"time"

	"google.golang.org/adk/v2/session"
)

// The main line of a run are the agents that work one after the other: the root, the
// children of sequential and loop agents. Agents in parallel branches and agents used as
// tools are not on it: whoever started them goes on. One that a guard ends is cut short, and
// where nothing comes after it the whole run is: that is what mainLine keeps, by invocation,
// for a Run may see several, agents used as tools among them.
type mainLine struct {
	// first is the invocation of the first hook, last that of the newest event the caller
	// saw, which is never that of an agent used as a tool.
	first, last string
	cuts        map[string]*cut
}

type cut struct {
	stop
	at time.Time
}

// begin is called by the first hooks of each agent.
func (r *Run) begin(ctx placeContext) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line.first != "" {
		return
	}
	r.line.first = ctx.InvocationID()
	// Kept only where somebody started the Run and may ask how it ended. ADK cancels the
	// contexts of parallel branches itself.
	if r.callers != nil && ctx.Branch() == "" {
		r.callers = append(r.callers, ctx)
	}
}

// cutShort says that a refusal ended an agent.
func (r *Run) cutShort(p Place, guard string, refusal *Refusal) {
	p.node.cutShort(p, guard, refusal)
	if p.Branch != "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.line.cuts[p.Invocation]; old != nil && old.agent == p.Agent && old.refusal.Code < refusal.Code {
		return // of two calls made at once, whichever came first
	}
	if r.line.cuts == nil {
		r.line.cuts = make(map[string]*cut)
	}
	r.line.cuts[p.Invocation] = &cut{stop{agent: p.Agent, guard: guard, refusal: refusal}, time.Now()}
}

// wentOn says that an agent's model answered: whoever was cut short before is not the last.
func (r *Run) wentOn(p Place) {
	p.node.wentOn(p)
	if p.Branch != "" {
		return
	}
	r.mu.Lock()
	delete(r.line.cuts, p.Invocation)
	r.mu.Unlock()
}

// follow is [Run.wentOn] for agents without a chain, of which the caller sees the events.
func (r *Run) follow(ev *session.Event) {
	if ev == nil || ev.InvocationID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.last = ev.InvocationID
	old := r.line.cuts[ev.InvocationID]
	if old == nil || ev.Partial || ev.Branch != "" || ev.Author == old.agent || saysNothing(ev) || ev.Timestamp.Before(old.at) {
		return
	}
	delete(r.line.cuts, ev.InvocationID)
}

// cut returns how the main line was cut short, or nil. r.mu is held.
func (l *mainLine) cut() *cut {
	if l.last != "" {
		return l.cuts[l.last]
	}
	return l.cuts[l.first]
}
