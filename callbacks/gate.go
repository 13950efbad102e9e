// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/callbacks/inspect"
	"github.com/gardefou/gardefou/internal/fold"
	"github.com/gardefou/gardefou/internal/text"
)

// effects are what a step does beyond the chain: the attempts of its model, the run of its
// tool. A stop of the Run cancels the step's context, unless it lets finish what is in flight.
type effects struct {
	begun   atomic.Int32 // those that began, in all
	running atomic.Int32
	// cancel is that of the step's context, nil where it has none now.
	cancel atomic.Pointer[context.CancelCauseFunc]
	// woken says that a stop cancelled the step.
	woken atomic.Bool
}

// live returns a context of the step that a stop of run cancels. end must be called.
func (e *effects) live(ctx context.Context, run *Run) (live context.Context, end func()) {
	if run == nil {
		return ctx, func() {}
	}
	live, cancel := context.WithCancelCause(ctx)
	e.cancel.Store(&cancel)
	if st := run.stopped.Load(); st != nil {
		e.stop(st.refusal)
	}
	return live, func() {
		e.cancel.Store(nil)
		cancel(nil)
	}
}

// stop cancels the step's context, unless the refusal lets the step finish its first effect.
func (e *effects) stop(r *Refusal) {
	if r.graceful && (e.running.Load() > 0 || e.begun.Load() == 0) {
		return
	}
	if cancel := e.cancel.Load(); cancel != nil {
		e.woken.Store(true)
		(*cancel)(r)
	}
}

// begin counts an effect as begun, or returns what refuses it: the Run was stopped. No effect
// begins once Run.Stop returned: the effect counts first and looks then, a stop is set first
// and looks for effects then. A graceful stop lets a step that is open have its first effect.
func (e *effects) begin(run *Run) error {
	e.running.Add(1)
	if run != nil {
		if st := run.stopped.Load(); st != nil && (!st.refusal.graceful || e.begun.Load() > 0) {
			e.end(run)
			return st.refusal.By(st.guard)
		}
	}
	e.begun.Add(1)
	return nil
}

func (e *effects) end(run *Run) {
	if e.running.Add(-1) > 0 || run == nil {
		return
	}
	if st := run.stopped.Load(); st != nil {
		e.stop(st.refusal) // what waits next, a back-off say
	}
}

// wokenBy returns the stop that cancelled the step, or nil.
func (e *effects) wokenBy(run *Run) *stop {
	if run == nil || !e.woken.Load() {
		return nil
	}
	return run.stopped.Load()
}

// pass asks the guards' gates. The step is s.
func (c *Chain) pass(ctx context.Context, s Step, note func(guard string, err error)) error {
	for i := range c.h.gate {
		h := &c.h.gate[i]
		_, err := safely(func() (struct{}, error) { return struct{}{}, h.f(ctx, s) })
		switch {
		case h.monitored && note != nil:
			note(h.guard, err)
		case err != nil && !h.monitored:
			return blamed(h.guard, langOf(RunOf(ctx)), err)
		}
	}
	if ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

// blamed makes an error of a guard's hook a refusal that names the guard.
func blamed(guard string, lang text.Lang, err error) *Refusal {
	r := refusalOf(lang, err)
	if r.guard == "" {
		r = r.By(guard)
	}
	return r
}

// A liveContext is ADK's context of a step with the end of live.
type liveContext struct {
	agent.Context
	live context.Context
	tool *toolStep // nil in a step of a model
}

// Done implements context.Context.
func (c *liveContext) Done() <-chan struct{} { return c.live.Done() }

// Err implements context.Context.
func (c *liveContext) Err() error { return c.live.Err() }

// Value implements context.Context.
func (c *liveContext) Value(key any) any {
	if _, ok := key.(toolStepKey); ok && c.tool != nil {
		return c.tool
	}
	return c.live.Value(key)
}

// toolStepKey is the key of the tool step that a context belongs to.
type toolStepKey struct{}

// gateTool puts the gate directly around a tool, inside all wrappers of guards.
func (c *Chain) gateTool(t tool.Tool) tool.Tool {
	return AroundTool(t, func(ctx agent.Context, args map[string]any, next ToolCall) (map[string]any, error) {
		s := c.toolStepOf(ctx)
		if s == nil {
			s = &toolStep{c: c, run: runOrNil(ctx), tool: t, ctx: ctx}
		}
		if err := s.gate(ctx, args); err != nil {
			return nil, err
		}
		defer s.fx.end(s.run)
		return next(ctx, args)
	})
}

func (c *Chain) toolStepOf(ctx agent.Context) *toolStep {
	if ctx == nil {
		return nil
	}
	s, _ := ctx.Value(toolStepKey{}).(*toolStep)
	if s == nil || s.c.identity() != c.identity() {
		return nil
	}
	return s
}

// gate lets the tool begin with these arguments, or returns what refuses it.
func (s *toolStep) gate(ctx agent.Context, args map[string]any) error {
	if s.c.h.argsWrapped {
		if fold.Twice(args) {
			return Deny(codes.AmbiguousArgs, text.Get(langOf(s.run), text.ArgTwice))
		}
		if err := s.judge(ctx, args); err != nil {
			return err
		}
	}
	if err := s.c.pass(plainContext(ctx), toolStepOf(ctx, inspect.WrapTool, s.tool, args), s.noteGate); err != nil {
		return err
	}
	return s.fx.begin(s.run)
}

// judge has the guards that judge arguments look again.
func (s *toolStep) judge(ctx agent.Context, args map[string]any) error {
	for _, h := range s.c.h.recheck {
		res, err := safely(func() (map[string]any, error) { return h.f(ctx, s.tool, args) })
		if err == nil && res != nil {
			err = Deny(codes.GuardFaulty, text.Get(langOf(s.run), text.GuardFaulty)).
				WithCause(fmt.Errorf("before_tool hook of guard %q answered when it judged the arguments again", h.guard))
		}
		if err != nil {
			return blamed(h.guard, langOf(s.run), err)
		}
	}
	return nil
}

func (s *toolStep) noteGate(guard string, err error) { s.note(guard, false, err) }

// enliven gives the hooks before the tool, the wrappers and the tool a context that a stop
// cancels. A tool that answers later may go on with its context when the call is over.
func (s *toolStep) enliven() (end func()) {
	if s.ctx == nil {
		return func() {}
	}
	live, end := s.fx.live(s.ctx, s.run)
	s.alive = liveContext{s.ctx, live, s}
	s.live = &s.alive
	if s.tool.IsLongRunning() {
		return func() { s.fx.cancel.Store(nil) }
	}
	return end
}

// gateModel puts the gate directly around a model, inside all wrappers of guards: each attempt
// passes it.
func (c *Chain) gateModel(m model.LLM) model.LLM {
	return AroundModel(m, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			s, _ := ctx.Value(stepKey{}).(*modelStep)
			if s == nil || s.c.identity() != c.identity() {
				s = &modelStep{c: c, run: RunOf(ctx)}
			}
			if err := s.gateAttempt(ctx); err != nil {
				yield(nil, err)
				return
			}
			defer s.fx.end(s.run)
			for resp, err := range s.observed(ctx, m.GenerateContent(ctx, req, stream), stream) {
				if !yield(resp, err) {
					return
				}
			}
		}
	})
}

// gateAttempt is gate where the plugin of this chain has not been asked for the attempt.
func (s *modelStep) gateAttempt(ctx context.Context) error {
	if s.gated.CompareAndSwap(true, false) {
		return s.fx.begin(s.run)
	}
	return s.gate(ctx, inspect.WrapModel)
}

// gate lets an attempt begin, or returns what refuses it.
func (s *modelStep) gate(ctx context.Context, hook inspect.Hook) error {
	if err := s.c.pass(ctx, s.ev.Place().step(hook), s.noteGate(ctx)); err != nil {
		return err
	}
	return s.fx.begin(s.run)
}

func (s *modelStep) noteGate(ctx context.Context) func(string, error) {
	return func(guard string, err error) { note(ctx, s.c, s.ev, guard, false, err) }
}

// whyWoken returns the stop's refusal in err's place where the stop cancelled the step.
func (s *modelStep) whyWoken(err error) error {
	if s == nil {
		return err
	}
	var r *Refusal
	if st := s.fx.wokenBy(s.run); st != nil && (!errors.As(err, &r) || r.scope != scopeRun) {
		return st.refusal.By(st.guard)
	}
	return err
}
