// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"iter"

	"google.golang.org/adk/v2/session"
)

// Events passes on the events of a runner and ends when the Run was stopped: steps
// in flight finish, so that every call is answered and the stored history stays one
// a provider accepts, but no agent can go round an endless loop of refusals. It does
// not end at a denied call, an ended agent or a failed branch.
//
// Use it around Runner.Run:
//
//	for ev, err := range run.Events(r.Run(ctx, user, session, msg, cfg)) { … }
func (r *Run) Events(events iter.Seq2[*session.Event, error]) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		open := make(map[string]struct{})
		idle, after := 0, 0
		for ev, err := range events {
			if err != nil {
				r.fail(err)
			}
			r.follow(ev)
			answerCalls(open, ev)
			if !yield(ev, err) {
				return
			}
			if r.stopped.Load() == nil {
				continue
			}
			if saysNothing(ev) {
				idle++
			}
			// The second bound is for a call that is never answered, that of a
			// long-running tool say.
			if after++; idle >= maxIdleEvents && len(open) == 0 || after >= maxEventsAfterStop {
				return
			}
		}
	}
}

const (
	maxIdleEvents      = 8
	maxEventsAfterStop = 1000
)

// saysNothing reports whether an event is what a refused agent leaves: no work.
func saysNothing(ev *session.Event) bool {
	return ev == nil || ev.Content == nil || len(ev.Content.Parts) == 0 || IsRefusalEvent(ev)
}

func answerCalls(open map[string]struct{}, ev *session.Event) {
	if ev == nil || ev.Partial || ev.Content == nil {
		return
	}
	for _, p := range ev.Content.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			open[p.FunctionCall.ID] = struct{}{}
		case p.FunctionResponse != nil:
			delete(open, p.FunctionResponse.ID)
		}
	}
	for _, id := range ev.LongRunningToolIDs {
		delete(open, id)
	}
}
