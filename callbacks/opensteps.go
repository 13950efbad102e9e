// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"slices"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
)

// An openStep is a model or tool step that the end of a stopped run must wait for: it is
// in flight, or over while its event is on its way to the caller.
//
// ADK hands each whole event to the caller before the agent that made it goes on. So the
// next sign of life of an agent says that the event of its last step has passed, or never
// will.
type openStep struct {
	ctx context.Context
	Place
	// call is the id of a tool step's call.
	call  string
	model bool
	over  bool
}

// openStep says that a step begins. step identifies it.
func (r *Run) openStep(ctx context.Context, step any, o openStep) {
	if r == nil {
		return
	}
	o.ctx = ctx
	r.mu.Lock()
	defer r.mu.Unlock()
	r.signOfLife(o.Invocation)
	if o.model {
		// An agent calls its model when the events of its steps before have passed.
		r.closeStepsWhere(func(old openStep) bool { return old.over && old.Place == o.Place })
	}
	if r.open == nil {
		r.open = make(map[any]openStep)
	}
	r.open[step] = o
}

// stepOver says that a step is over, and whether an event of it is to come.
func (r *Run) stepOver(step any, eventToCome bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o, ok := r.open[step]
	if !ok {
		return
	}
	if !eventToCome {
		delete(r.open, step)
		return
	}
	o.over = true
	r.open[step] = o
}

// stopFor returns the stop that refuses a step which begins, or nil. A graceful one lets
// pass what another chain on the same agent has let begin before.
func (r *Run) stopFor(step any) *stop {
	if r == nil {
		return nil
	}
	st := r.stopped.Load()
	if st == nil || !st.refusal.graceful {
		return st
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	mine := r.open[step]
	for other, o := range r.open {
		if other != step && !o.over && o.Place == mine.Place && o.model == mine.model && o.call == mine.call {
			return nil
		}
	}
	return st
}

// openEffects are those of the steps that are open.
func (r *Run) openEffects() []*effects {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*effects, 0, len(r.open))
	for step := range r.open {
		switch s := step.(type) {
		case *modelStep:
			all = append(all, &s.fx)
		case *toolStep:
			all = append(all, &s.fx)
		}
	}
	return all
}

// closeSteps says that an agent begins or ends: no step of it is open.
func (r *Run) closeSteps(p Place) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeStepsWhere(func(o openStep) bool { return o.Place == p })
}

// closeStepsWhere drops steps. r.mu is held.
func (r *Run) closeStepsWhere(drop func(openStep) bool) {
	for step, o := range r.open {
		if drop(o) {
			delete(r.open, step)
		}
	}
}

// passed closes the steps that an event belongs to.
func (r *Run) passed(ev *session.Event) {
	if ev == nil || ev.Partial {
		return
	}
	responses := responseIDs(ev)
	at := placeOfEvent(ev)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeStepsWhere(func(o openStep) bool {
		if o.model {
			return o.over && o.inAnyNode() == at && len(responses) == 0
		}
		return o.over && o.Invocation == ev.InvocationID && slices.Contains(responses, o.call)
	})
}

// hasOpenSteps reports whether a step of one of these invocations is open; of any where
// there is none. A step whose context is over gets no event any more.
func (r *Run) hasOpenSteps(invocations map[string]struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.open {
		if o.ctx.Err() != nil {
			continue
		}
		if _, ours := invocations[o.Invocation]; ours || len(invocations) == 0 {
			return true
		}
	}
	return false
}

func responseIDs(ev *session.Event) []string {
	if ev.Content == nil {
		return nil
	}
	var ids []string
	for _, p := range ev.Content.Parts {
		if p != nil && p.FunctionResponse != nil {
			ids = append(ids, p.FunctionResponse.ID)
		}
	}
	return ids
}

// makesEvent reports whether ADK makes an event of a response.
func makesEvent(resp *model.LLMResponse) bool {
	return resp != nil && (resp.Content != nil || resp.ErrorCode != "" || resp.Interrupted)
}
