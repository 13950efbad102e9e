// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"slices"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
)

// A Place is where an agent works: the invocation, the branch of a parallel agent in it,
// and the agent's name; in a graph of nodes also the run of the node, see [Chain.Node], so that
// two runs at once of agents of one name are two places. One agent at work there makes one
// model call at a time, and any number of tool calls at once. An agent used as a tool has an
// invocation of its own. The zero Place is that of a hook without a context.
type Place struct {
	Invocation, Branch, Agent string

	node *nodeRun
}

// PlaceOf returns the place of the agent whose hook or tool has ctx; that of nil is zero.
func PlaceOf(ctx agent.Context) Place {
	if ctx == nil {
		return Place{}
	}
	return placeIn(ctx, ctx.AgentName())
}

// placeContext is what hooks' contexts and a model's context have in common.
type placeContext interface {
	context.Context
	InvocationID() string
	Branch() string
}

func placeIn(ctx placeContext, agentName string) Place {
	return Place{ctx.InvocationID(), ctx.Branch(), agentName, nodeOf(ctx)}
}

// placeOfEvent returns the place of the agent that made an event, in any node.
func placeOfEvent(ev *session.Event) Place {
	return Place{Invocation: ev.InvocationID, Branch: ev.Branch, Agent: ev.Author}
}

// inAnyNode is p for what an agent comes back to in the next run of its node.
func (p Place) inAnyNode() Place {
	p.node = nil
	return p
}

// Place returns where the step was.
func (ev *Event) Place() Place { return Place{ev.Invocation, ev.Branch, ev.Agent, ev.node} }

func (ev *Event) setPlace(p Place) {
	ev.Invocation, ev.Branch, ev.Agent, ev.node = p.Invocation, p.Branch, p.Agent, p.node
}

// Place returns where the step is.
func (s Step) Place() Place { return Place{s.Invocation, s.Branch, s.Agent, s.node} }

func (p Place) step(hook inspect.Hook) Step {
	return Step{Hook: hook, Invocation: p.Invocation, Agent: p.Agent, Branch: p.Branch, node: p.node}
}

// whole is the place of p's whole invocation, wholeOf that of the invocation with an id.
func (p Place) whole() Place { return wholeOf(p.Invocation) }

func wholeOf(id string) Place { return Place{Invocation: id} }

// A PlaceKey names one value that a Run remembers of each [Place]. Declare keys as package
// variables, or one for each guard, with [NewPlaceKey].
//
// A value is forgotten when the agent there ends, after the observers of all chains at the
// place were given its last event. An agent that pauses for an approval ends too, as does
// one that a loop or a graph will run again: what they come back to is for a [PlaceKey.Lasting]
// key, which takes all runs of a node for one place.
//
// Where the caller leaves an agent that has no plugin, between two of its steps, nothing
// says that it ended, unless the caller ranges over [Run.Events].
type PlaceKey[T any] struct {
	make    func() T
	lasting bool
}

// NewPlaceKey returns a key whose value is made by mk the first time a Run is asked for it
// at a place. mk may be called more than once under a race; one result is kept.
func NewPlaceKey[T any](mk func() T) *PlaceKey[T] { return &PlaceKey[T]{make: mk} }

// Lasting returns a key like k whose values last until the invocation is over. They are
// forgotten when 16 later invocations of the Run have ended, never while an agent of the
// invocation is at work or a call waits for an approval.
func (k *PlaceKey[T]) Lasting() *PlaceKey[T] { return &PlaceKey[T]{make: k.make, lasting: true} }

// lastingID is the key of a lasting value at the place of the whole invocation.
type lastingID struct {
	key any
	Place
}

// At returns the value at p in the Run that ctx belongs to. Without a Run it returns a
// fresh value that nobody else sees. It is safe for concurrent use; the value may be had by
// all tool calls of an agent at once.
func (k *PlaceKey[T]) At(ctx context.Context, p Place) T {
	run := RunOf(ctx)
	if run == nil {
		return k.make()
	}
	p, key := k.in(p)
	if v, ok := run.load(p, key); ok {
		return v.(T)
	}
	made := k.make()
	run.mu.Lock()
	defer run.mu.Unlock()
	values := run.at(p).values
	if first, ok := values[key]; ok {
		return first.(T)
	}
	values[key] = made
	return made
}

// in returns where the value of p is, and its key there.
func (k *PlaceKey[T]) in(p Place) (at Place, key any) {
	if k.lasting {
		return p.whole(), lastingID{k, p.inAnyNode()}
	}
	return p, k
}

// Forget forgets the value at p in the Run that ctx belongs to, before its time.
func (k *PlaceKey[T]) Forget(ctx context.Context, p Place) {
	if run := RunOf(ctx); run != nil {
		run.take(k.in(p))
	}
}

// All returns the values of agents at work in ctx's Run, by their places; those of a
// [PlaceKey.Lasting] key are not among them.
func (k *PlaceKey[T]) All(ctx context.Context) map[Place]T {
	run := RunOf(ctx)
	if run == nil {
		return nil
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	var all map[Place]T
	for p, w := range run.places {
		v, ok := w.values[k]
		if !ok || slices.Contains(run.over, p.Invocation) {
			continue
		}
		if all == nil {
			all = make(map[Place]T)
		}
		all[p] = v.(T)
	}
	return all
}

// What the chain itself remembers of an agent at work, or, of refusals in a row, of its
// place in the whole invocation, which a loop comes back to.
type (
	failureID struct{} // -> *Refusal that fails the agent at its next model call
	landedID  struct{} // -> true
	refusedID Place    // -> int
)

// maxRefusalsInARow is how often one agent may be refused without a call of its model
// in between, before the Run is stopped: around an agent that is ended politely, an
// unbounded loop would go on for ever.
const maxRefusalsInARow = 5

// refusedAgain counts a refusal and reports whether it is one too many.
func (r *Run) refusedAgain(p Place) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	values := r.at(p.whole()).values
	id := refusedID(p.inAnyNode())
	n, _ := values[id].(int)
	values[id] = n + 1
	return n+1 >= maxRefusalsInARow
}

func (r *Run) progressed(p Place) { r.take(p.whole(), refusedID(p.inAnyNode())) }

// takeFailure returns the refusal that a tool step of ctx's agent failed it with, once.
func takeFailure(ctx agent.Context) *Refusal {
	run := runOrNil(ctx)
	if run == nil {
		return nil
	}
	v, _ := run.take(PlaceOf(ctx), failureID{})
	r, _ := v.(*Refusal)
	return r
}

// MarkLanded says in a before_model hook whether the call that is about to be made is
// the agent's last, kept for its answer. Observers then read it in [Event], and a Run
// that ends well with such a call in it has the status [StatusLanded]. A nil
// Run does nothing.
func (r *Run) MarkLanded(ctx agent.Context, landed bool) {
	switch {
	case r == nil:
	case landed:
		r.store(PlaceOf(ctx), landedID{}, true)
	default:
		r.take(PlaceOf(ctx), landedID{})
	}
}

// MarkShort says that refusal ends an agent for want of what all agents of the Run share,
// while the Run goes on. A Run that ends well otherwise then has the refusal's status and
// not [StatusDone] or [StatusLanded]; the first of several counts. A nil Run does
// nothing.
func (r *Run) MarkShort(agentName string, refusal *Refusal) {
	if r != nil {
		r.short.CompareAndSwap(nil, &stop{refusal: refusal, agent: agentName, guard: refusal.guard})
	}
}

func (r *Run) landedAt(p Place) bool {
	if _, ok := r.load(p, landedID{}); !ok {
		return false
	}
	r.landed.Store(true)
	return true
}
