// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"

	"google.golang.org/adk/v2/agent"
)

// A place is one agent at work: it makes one model call at a time. What the chain
// remembers of it lives in the Run under one of the key types below.
type place struct{ invocation, branch, agent string }

type (
	failureID place // -> *Refusal that fails the agent at its next model call
	refusedID place // -> int, refusals in a row
	landedID  place // -> struct{}
)

func (ev *Event) place() place { return place{ev.Invocation, ev.Branch, ev.Agent} }

func placeOf(ctx agent.Context) place {
	return place{ctx.InvocationID(), ctx.Branch(), ctx.AgentName()}
}

// maxRefusalsInARow is how often one agent may be refused without a call of its model
// in between, before the Run is stopped: around an agent that is ended politely, an
// unbounded loop would go on for ever.
const maxRefusalsInARow = 5

// refusedAgain counts a refusal and reports whether it is one too many.
func (r *Run) refusedAgain(p place) bool {
	n := 1
	if v, ok := r.values.Load(refusedID(p)); ok {
		n += v.(int)
	}
	r.values.Store(refusedID(p), n)
	return n >= maxRefusalsInARow
}

func (r *Run) progressed(p place) { r.values.Delete(refusedID(p)) }

// takeFailure returns the refusal that a tool step of ctx's agent failed it with, once.
func takeFailure(ctx agent.Context) *Refusal {
	run := runOrNil(ctx)
	if run == nil {
		return nil
	}
	v, _ := run.values.LoadAndDelete(failureID(placeOf(ctx)))
	r, _ := v.(*Refusal)
	return r
}

// SetLanded says in a before_model hook whether the call that is about to be made is
// the agent's last, kept for its answer. Observers then read it in [Event], and a Run
// that ends well with such a call in it has the status [StatusLanded]. Without a Run
// it does nothing.
func SetLanded(ctx agent.Context, landed bool) {
	run := runOrNil(ctx)
	if run == nil {
		return
	}
	if landed {
		run.values.Store(landedID(placeOf(ctx)), struct{}{})
	} else {
		run.values.Delete(landedID(placeOf(ctx)))
	}
}

// FellShort says that refusal ends an agent for want of what all agents of the Run share,
// while the Run goes on. A Run that ends well otherwise then has the refusal's status and
// not [StatusDone] or [StatusLanded]; the first of several counts. Without a Run it does
// nothing.
func FellShort(ctx context.Context, agentName string, refusal *Refusal) {
	if run := RunOf(ctx); run != nil {
		run.short.CompareAndSwap(nil, &stop{refusal: refusal, agent: agentName, guard: refusal.guard})
	}
}

func (r *Run) landedAt(p place) bool {
	if _, ok := r.values.Load(landedID(p)); !ok {
		return false
	}
	r.landed.Store(true)
	return true
}
