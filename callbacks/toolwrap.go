// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"
)

// wrapTool puts the chain around a tool that ADK runs in this process. Any other
// tool, one that runs on the provider's servers, comes back as it is.
func (c *Chain) wrapTool(t tool.Tool) tool.Tool {
	if c.wraps(t) || runnableOf(t).sameKind(runnable{}) {
		return t
	}
	inner := c.gateTool(t)
	for i := len(c.h.wrapTool) - 1; i >= 0; i-- {
		inner = wrapBy(c.h.wrapTool[i], inner)
	}
	return around(aroundTool{Tool: t, inner: runnableOf(inner), c: c})
}

// wraps reports whether this chain already stands around t, however deep.
func (c *Chain) wraps(t tool.Tool) bool {
	for g := guardedToolOf(t); g != nil; g = guardedToolOf(g.Tool) {
		if g.c.identity() == c.identity() {
			return true
		}
	}
	return false
}

// callTool takes a call through the chain. On an agent it returns an error only for ADK's own
// confirmation flow; every other failure is a result the model may read.
func (c *Chain) callTool(ctx agent.Context, a *aroundTool, args map[string]any) (map[string]any, error) {
	ctx = carryRun(ctx)
	c.take(ctx)
	s := c.newToolStep(ctx, a.Tool, args)
	s.alone = a.alone
	defer s.enliven()()
	res, err := s.finish(a.inner, s.before())
	if a.alone && err == nil {
		return s.orError(res)
	}
	return res, err
}

// orError returns the result of a call that no agent made, or why there is none.
func (s *toolStep) orError(res map[string]any) (map[string]any, error) {
	readable, _ := res["error"].(string)
	switch {
	case s.refusal != nil:
		r := *s.refusal
		r.Text, r.guard = readable, s.ev.Guard
		return nil, &sealed{&r}
	case s.asksForApproval():
		return nil, tool.ErrConfirmationRequired
	case s.ev.Outcome == OutcomeFailed || s.ev.Outcome == OutcomePanicked:
		return nil, &sealed{&toolError{readable, s.ev.Err}}
	}
	return res, nil
}

// A toolError is a tool's own error behind the text that a model may read of it.
type toolError struct {
	text  string
	cause error
}

// Error implements error.
func (e *toolError) Error() string { return e.text }

// Unwrap returns the tool's own error.
func (e *toolError) Unwrap() error { return e.cause }

// finish takes a call on from what the before_tool hooks answered; nil means that the
// tool may run.
func (s *toolStep) finish(inner runnable, res map[string]any) (map[string]any, error) {
	var err error
	if res == nil {
		res, err = s.call(inner)
		s.ev.Called = s.ctx == nil || s.fx.begun.Load() > 0
		if err != nil {
			res, err = s.failed(err)
		}
	}
	if isConfirmation(err) {
		s.tell(nil)
		return nil, err
	}
	return s.close(s.after(res, err)), nil
}

func (s *toolStep) call(inner runnable) (map[string]any, error) {
	return safely(func() (map[string]any, error) {
		start := s.clock()
		res, err := inner.call(s.live, s.args)
		s.ran(start)
		if err == nil && s.run != nil {
			// An agent used as a tool hands back its last text; where that is a refusal
			// it must not pass for an answer.
			if txt, ok := res["result"].(string); ok {
				if r := s.run.refusalFor(txt); r != nil {
					return nil, Deny(r.Code, r.Text).WithDetail(r.Detail).By(r.guard)
				}
			}
		}
		return res, err
	})
}

func isConfirmation(err error) bool {
	return errors.Is(err, tool.ErrConfirmationRequired) || errors.Is(err, tool.ErrConfirmationRejected)
}

// carryRun puts the Run into the context a tool is called with, so that an agent
// used as a tool, which gets a new invocation id, still finds it.
func carryRun(ctx agent.Context) agent.Context {
	if ctx == nil {
		return nil
	}
	if _, ok := ctx.Value(runKey{}).(*Run); ok {
		return ctx
	}
	run := RunOf(ctx)
	if run == nil {
		return ctx
	}
	carried := context.WithValue(ctx, runKey{}, run)
	if c := ctx.WithDelta(&agent.CommonContextDelta{
		InvocationContextDelta: &agent.InvocationContextDelta{Context: &carried},
	}); c != nil {
		return c
	}
	return ctx
}
