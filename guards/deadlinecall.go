// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"iter"
	"maps"
	"runtime/debug"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// wrapModel ends model calls that take too long.
func (d *deadline) wrapModel(next model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			cs, _ := callbacks.CurrentStep(ctx)
			limit, byAgent := d.limit(ctx, cs.Place(), d.o.ModelCall)
			if limit <= 0 { // the agent's: a call's own is positive where it is wrapped
				yield(nil, d.over(ctx))
				return
			}
			late := func() error {
				if byAgent {
					return d.over(ctx)
				}
				return &DeadlineError{limit}
			}
			timed(ctx, limit, late, func() {}, isWhole, func(ctx context.Context) iter.Seq2[*model.LLMResponse, error] {
				return next.GenerateContent(ctx, req, stream)
			})(yield)
		}
	})
}

func isWhole(resp *model.LLMResponse) bool { return resp != nil && !resp.Partial }

// timed ranges over what run yields for at most limit, in a goroutine of its own that is
// left behind where it does not heed its context. After the limit it yields late's error.
// finished is called where run came back, before its last error is yielded.
//
// A value for which last holds, nil being never, is handed on when run came back: the
// consumer leaves with it, and what run does afterwards, charging the call, must be done
// before the next call.
func timed[T any](ctx context.Context, limit time.Duration, late func() error, finished func(), last func(T) bool, run func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		inner, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		items := pump(inner, run)
		var none, held T
		holds := false
		release := func() bool {
			was := holds
			holds = false
			return !was || yield(held, nil)
		}
		var failure error
		for {
			select {
			case it := <-items:
				switch {
				case it.panicked != nil:
					panic(it.panicked) // on the caller's goroutine, where the chain catches it
				case it.over:
					finished()
					if release() && failure != nil {
						yield(none, failure)
					}
					return
				case it.err != nil:
					if failure = it.err; inner.Err() != nil && ctx.Err() == nil {
						failure = late()
					}
				case !release():
					return
				case last != nil && last(it.value):
					held, holds = it.value, true
				case !yield(it.value, nil):
					return
				}
			case <-inner.Done():
				if failure == nil {
					if failure = ctx.Err(); failure == nil {
						failure = late()
					}
				}
				if release() {
					yield(none, failure)
				}
				return
			}
		}
	}
}

// An item is what a pump hands over: a value, an error or a panic, and that it is over.
type item[T any] struct {
	value    T
	err      error
	panicked *callbacks.PanicError
	over     bool
}

// pump ranges over run in a goroutine until it ends, fails or ctx is done. Where ctx is done
// already it calls nothing: its caller has left, and no step would count the call.
func pump[T any](ctx context.Context, run func(context.Context) iter.Seq2[T, error]) <-chan item[T] {
	items := make(chan item[T])
	give := func(it item[T]) bool {
		select {
		case items <- it:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				give(item[T]{panicked: &callbacks.PanicError{Panic: p, Stack: debug.Stack()}})
			}
		}()
		if ctx.Err() != nil {
			return
		}
		for v, err := range run(ctx) {
			if !give(item[T]{value: v, err: err}) {
				return
			}
			if err != nil {
				break
			}
		}
		give(item[T]{over: true})
	}()
	return items
}

// wrapTool runs a tool with a context and actions of its own, so that nothing is shared with
// a call that is left behind; on completion the actions take effect.
func (d *deadline) wrapTool(t tool.Tool) tool.Tool {
	return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
		if ctx == nil {
			return next(ctx, args)
		}
		limit, byAgent := d.limit(ctx, callbacks.PlaceOf(ctx), d.o.ToolCall)
		late := func() error {
			if byAgent {
				return d.over(ctx)
			}
			return callbacks.Deny(codes.ToolTimeout, say(ctx, text.DeadlineTool, t.Name(), seconds(limit))).By(deadlineName)
		}
		if limit <= 0 {
			return nil, late()
		}
		args = maps.Clone(args)
		actions := cloneActions(ctx.Actions())
		takeEffect := func() {
			if into := ctx.Actions(); into != nil {
				*into = *actions
			}
		}
		var result map[string]any
		for res, err := range timed(ctx, limit, late, takeEffect, nil, func(plain context.Context) iter.Seq2[map[string]any, error] {
			return func(yield func(map[string]any, error) bool) { yield(next(detached(plain, ctx, actions), args)) }
		}) {
			if err != nil {
				return nil, err
			}
			result = res
		}
		return result, nil
	})
}

// detached is ctx as a tool sees it, with a context and actions of its own.
func detached(plain context.Context, ctx agent.Context, actions *session.EventActions) agent.Context {
	with := ctx.WithDelta(&agent.CommonContextDelta{InvocationContextDelta: &agent.InvocationContextDelta{Context: &plain}})
	if with == nil {
		with = ctx
	}
	return agent.NewToolContext(with, ctx.FunctionCallID(), actions, ctx.ToolConfirmation())
}

func cloneActions(a *session.EventActions) *session.EventActions {
	if a == nil {
		return &session.EventActions{StateDelta: make(map[string]any), ArtifactDelta: make(map[string]int64)}
	}
	c := *a
	c.StateDelta, c.ArtifactDelta = maps.Clone(a.StateDelta), maps.Clone(a.ArtifactDelta)
	c.RequestedToolConfirmations = maps.Clone(a.RequestedToolConfirmations)
	return &c
}
