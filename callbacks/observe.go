// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"

	"google.golang.org/adk/v2/agent"
)

func (c *Chain) observe(ctx context.Context, ev *Event) {
	for _, h := range c.h.observe {
		quietly(func() { h.f(ctx, *ev) })
	}
}

// note tells what a monitored guard would have done in the step that ev is about. It is
// never an event of Observe: the step is not over.
func note(ctx context.Context, c *Chain, ev Event, guard string, replaced bool, err error) {
	if !replaced && err == nil {
		return
	}
	ev.Outcome, ev.Guard = OutcomeWouldRefuse, guard
	if err != nil {
		r := refusalOf(langOf(RunOf(ctx)), err)
		ev.Code, ev.Reason, ev.Err = r.Code, r.reason(), r.Unwrap()
	}
	if ctx == nil {
		ctx = context.Background()
	}
	for _, h := range c.h.observeMonitored {
		quietly(func() { h.f(ctx, ev) })
	}
}

// plainContext avoids putting a typed nil into a context.Context: a hook tested
// alone may have no context.
func plainContext(ctx agent.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
