// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"iter"
	"strings"

	"google.golang.org/adk/v2/session"
)

// Events passes on the events of a runner and ends when the Run was stopped: as soon as
// every step in flight is over and every call answered, so that the stored history stays
// one a provider accepts, and no agent can go round an endless loop of refusals. It does
// not end at a denied call, an ended agent or a failed branch. Of a Run that is stopped
// already it starts nothing.
//
// Steps in flight are those that a chain sees. Of an agent without one only the tool calls
// are known, by their events: a model call that such an agent has in flight, in a parallel
// branch, is cut off. Its followers do not begin. A tool call that is never answered holds
// the end up until 1,000 further events of its branch have passed.
//
// Use it around Runner.Run:
//
//	for ev, err := range run.Events(r.Run(ctx, user, session, msg, cfg)) { … }
func (r *Run) Events(events iter.Seq2[*session.Event, error]) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		if r.isStopped() {
			return
		}
		calls := make(openCalls)
		invocations := make(map[string]struct{})
		cut := false
		defer func() {
			if cut {
				r.reportAgents(invocations)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			for id := range invocations {
				r.ends(id)
			}
		}()
		for ev, err := range events {
			if err != nil {
				r.fail(err)
			}
			if ev != nil && ev.InvocationID != "" {
				invocations[ev.InvocationID] = struct{}{}
			}
			ownDelta(ev)
			r.follow(ev)
			r.passed(ev)
			calls.follow(ev, r.isStopped())
			if !yield(ev, err) {
				return
			}
			if r.isStopped() && len(calls) == 0 && !r.hasOpenSteps(invocations) {
				cut = true
				return
			}
		}
	}
}

// maxEventsPastCall is how many events of its branch a tool call may go unanswered after a
// stop: nothing says of an agent without a chain that it gave a call up.
const maxEventsPastCall = 1000

// openCalls are the calls that a stream of events has shown and not answered.
type openCalls map[string]*openCall

type openCall struct {
	invocation, branch string
	past               int
}

func (c openCalls) follow(ev *session.Event, stopped bool) {
	if ev == nil || ev.Partial {
		return
	}
	if stopped {
		c.giveUp(ev)
	}
	if ev.Content == nil {
		return
	}
	for _, p := range ev.Content.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			c[p.FunctionCall.ID] = &openCall{invocation: ev.InvocationID, branch: ev.Branch}
		case p.FunctionResponse != nil:
			delete(c, p.FunctionResponse.ID)
		}
	}
	for _, id := range ev.LongRunningToolIDs {
		delete(c, id)
	}
}

// giveUp drops the calls that too many events went past. Those of a parallel branch do not
// count: they say nothing of the call.
func (c openCalls) giveUp(ev *session.Event) {
	for id, call := range c {
		if call.invocation != ev.InvocationID || ev.Branch != "" && call.branch != ev.Branch && !strings.HasPrefix(call.branch, ev.Branch+".") {
			continue
		}
		if call.past++; call.past >= maxEventsPastCall {
			delete(c, id)
		}
	}
}

// saysNothing reports whether an event is what a refused agent leaves: no work.
func saysNothing(ev *session.Event) bool {
	return ev == nil || ev.Content == nil || len(ev.Content.Parts) == 0 || isRefusalEvent(ev)
}
