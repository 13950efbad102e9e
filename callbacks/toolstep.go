// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/internal/fold"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/internal/toolschema"
)

// A toolStep takes one tool call through the chain: before, the call, failed if
// it failed, after, tell. The tool wrapper and the ADK callbacks both use it.
type toolStep struct {
	c    *Chain
	run  *Run
	ctx  agent.Context
	tool tool.Tool
	ev   Event
	// args is the copy the hooks may change and the tool runs with.
	args    map[string]any
	refused bool
	// seen is how many after_tool hooks have seen the result as it is.
	seen int
	fx   effects
	// live is ctx, as hooks before the tool, wrappers and the tool have it.
	live    agent.Context
	alive   liveContext
	refusal *Refusal // of the call that was refused
	alone   bool     // no agent made the call, so no event of it is to come
}

func (c *Chain) newToolStep(ctx agent.Context, t tool.Tool, args map[string]any) *toolStep {
	s := &toolStep{c: c, run: runOrNil(ctx), ctx: ctx, live: ctx, tool: t}
	s.ev = Event{Step: StepTool, Tool: t.Name(), Outcome: OutcomeAllowed}
	if len(c.h.observe) > 0 {
		s.ev.Start = time.Now()
	}
	if ctx != nil {
		s.ev.setPlace(PlaceOf(ctx))
		s.ev.CallID = ctx.FunctionCallID()
	}
	s.args = maps.Clone(args)
	if s.args == nil {
		s.args = map[string]any{}
	}
	s.ev.Args = s.args
	if ctx != nil {
		s.run.openStep(ctx, s, openStep{Place: s.ev.Place(), call: s.ev.CallID})
	}
	if s.run != nil && ctx.ToolConfirmation() != nil {
		// The approval that this call paused the run for is there.
		s.run.wait(s.ev.Invocation, -1)
	}
	return s
}

// runOrNil avoids putting a typed nil context into a context.Context.
func runOrNil(ctx agent.Context) *Run {
	if ctx == nil {
		return nil
	}
	return RunOf(ctx)
}

// before runs the before_tool hooks. A non-nil result means that the tool must
// not run. Arguments whose names differ in case alone are refused, the model's before any
// hook sees them and those that hooks made of them: which one a tool takes, no hook can say.
func (s *toolStep) before() map[string]any {
	if st := s.run.stopFor(s); st != nil {
		return s.refuse(st.guard, st.refusal, nil)
	}
	if res := s.refuseTwice(); res != nil {
		return res
	}
	if res := s.runBefore(s.c.h.beforeTool); res != nil {
		return res
	}
	if s.c.h.argsLate {
		if err := s.judge(s.live, s.args); err != nil {
			return s.refuse("", nil, err)
		}
	}
	return s.refuseTwice()
}

func (s *toolStep) refuseTwice() map[string]any {
	if !fold.Twice(s.args) {
		return nil
	}
	return s.refuse("", Deny(codes.AmbiguousArgs, text.Get(langOf(s.run), text.ArgTwice)), nil)
}

func (s *toolStep) runBefore(hooks []named[beforeTool]) map[string]any {
	for i := range hooks {
		h := &hooks[i]
		if h.monitored {
			res, err := s.watched().callBefore(h.f, deepCopy(s.args))
			s.note(h.guard, res != nil, err)
			continue
		}
		res, err := s.callBefore(h.f, s.args)
		switch {
		case err != nil:
			return s.refuse(h.guard, nil, err)
		case res == nil:
		case sameMap(res, s.args):
			err := fmt.Errorf("before_tool hook of guard %q returned the arguments it was given; return nil to let the call go on", h.guard)
			return s.refuse(h.guard, Deny(codes.GuardFaulty, text.Get(langOf(s.run), text.GuardFaulty)).WithCause(err), nil)
		default:
			s.ev.Outcome, s.ev.Guard = OutcomeReplaced, h.guard
			return res
		}
	}
	return nil
}

// watched is the step as a monitored hook may see it.
func (s *toolStep) watched() *toolStep {
	ctx := monitored(s.ctx)
	return &toolStep{c: s.c, run: s.run, ctx: ctx, live: ctx, tool: s.tool, args: deepCopy(s.args)}
}

func (s *toolStep) callBefore(f beforeTool, args map[string]any) (map[string]any, error) {
	return safely(func() (map[string]any, error) { return f(s.live, s.tool, args) })
}

// refuse turns an error of a hook into what ADK honours for a tool: one key the
// model reads, and actions that end the agent or escape a loop.
func (s *toolStep) refuse(guard string, r *Refusal, err error) map[string]any {
	if st := s.fx.wokenBy(s.run); st != nil {
		guard, r, err = st.guard, st.refusal, nil
	}
	if r == nil {
		r = refusalOf(langOf(s.run), err)
	}
	s.refused, s.refusal, s.seen = true, r, 0
	if r.guard != "" {
		guard = r.guard
	}
	s.ev.Outcome, s.ev.Guard, s.ev.Code, s.ev.Reason, s.ev.Err = OutcomeRefused, guard, r.Code, r.reason(), r.Unwrap()
	if isPanic(err) {
		s.ev.Outcome = OutcomePanicked
	}
	if r.scope == scopeRun && s.run != nil {
		s.ev.Stop = s.run.stop(s.ev.Agent, guard, r)
	}
	if r.scope == scopeFailure {
		s.ev.Outcome = OutcomeFailed
		if s.run != nil {
			s.run.store(s.ev.Place(), failureID{}, r)
			return refusalResult(r)
		}
	}
	if s.ctx != nil && r.scope != scopeCall {
		if s.run != nil {
			s.run.cutShort(s.ev.Place(), guard, r)
		}
		if actions := s.ctx.Actions(); actions != nil {
			// A final event is what ends an ADK agent from a tool; escalating is what
			// ends a LoopAgent.
			actions.SkipSummarization = true
			actions.Escalate = actions.Escalate || r.scope == scopeRun
		}
	}
	return refusalResult(r)
}

// refusalOf makes any error a refusal: fail closed, say nothing of the cause.
func refusalOf(lang text.Lang, err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	if isPanic(err) {
		return Deny(codes.GuardPanicked, text.Get(lang, text.GuardPanicked)).WithCause(err)
	}
	return Deny(codes.GuardFailed, modelText(err, text.Get(lang, text.GuardFailed))).WithCause(err)
}

// failed takes the tool's error through the on_tool_error hooks. Confirmation
// errors pass untouched: they are ADK's way of pausing a run.
func (s *toolStep) failed(err error) (map[string]any, error) {
	var r *Refusal
	switch {
	case errors.Is(err, tool.ErrConfirmationRequired):
		s.ev.Outcome, s.ev.Called = OutcomePending, false
		return nil, err
	case errors.Is(err, tool.ErrConfirmationRejected):
		s.ev.Outcome, s.ev.Code = OutcomeRefused, codes.ConfirmationRejected
		return nil, err
	case errors.As(err, &r) || s.fx.wokenBy(s.run) != nil:
		return s.refuse(s.ev.Guard, r, err), nil
	}
	s.ev.Outcome, s.ev.Code, s.ev.Err = OutcomeFailed, codes.ToolFailed, err
	if isPanic(err) {
		s.ev.Outcome, s.ev.Code = OutcomePanicked, codes.ToolPanicked
	}
	for _, h := range s.c.h.onToolError {
		res, hookErr := s.callOnError(h.f, err)
		switch {
		case decides(hookErr, err):
			return s.refuse(h.guard, nil, hookErr), nil
		case res != nil:
			s.ev.Outcome, s.ev.Guard = OutcomeReplaced, h.guard
			return res, nil
		}
	}
	return nil, err
}

func (s *toolStep) callOnError(f onToolError, cause error) (map[string]any, error) {
	return safely(func() (map[string]any, error) { return f(s.ctx, s.tool, s.args, cause) })
}

// after runs the after_tool hooks on a copy of the result and returns what goes
// back to the model. A nil result with a nil error stays nil: a long-running
// tool answers later.
func (s *toolStep) after(result map[string]any, err error) map[string]any {
	if s.refused {
		return result
	}
	out := result
	if len(s.c.h.afterTool) > 0 && result != nil {
		out = maps.Clone(result)
	}
	for i, h := range s.c.h.afterTool {
		if h.monitored {
			res, hookErr := s.watched().callAfter(h.f, deepCopy(out), err)
			s.note(h.guard, res != nil, hookErr)
			continue
		}
		res, hookErr := s.callAfter(h.f, out, err)
		switch {
		case decides(hookErr, err):
			return s.refuse(h.guard, nil, hookErr)
		case res != nil && sameMap(res, out):
			s.seen = i + 1
			return res
		case res != nil:
			s.ev.Outcome, s.ev.Guard = OutcomeReplaced, h.guard
			return res
		}
	}
	if err != nil {
		s.ev.Reason = s.errorText(err)
		return map[string]any{"error": s.ev.Reason}
	}
	s.seen = len(s.c.h.afterTool)
	if out == nil && s.ev.Outcome == OutcomeAllowed {
		s.ev.Outcome = OutcomePending
	}
	return out
}

func (s *toolStep) callAfter(f afterTool, result map[string]any, toolErr error) (map[string]any, error) {
	return safely(func() (map[string]any, error) { return f(s.ctx, s.tool, s.args, result, toolErr) })
}

// errorText is what the model may read of a tool's error.
func (s *toolStep) errorText(err error) string {
	lang := langOf(s.run)
	if name := toolschema.Missing(s.tool, s.args); name != "" {
		return text.Get(lang, text.ToolMissingArgs, name)
	}
	return modelText(err, text.Get(lang, text.ToolFailed, s.tool.Name()))
}

// note tells what a monitored guard would have done.
func (s *toolStep) note(guard string, replaced bool, err error) {
	note(s.ctx, s.c, s.ev, guard, replaced, err)
}

// asksForApproval reports whether the tool, or a hook, asked for a person's approval
// in this step: the run pauses then, and what it counts must outlive the pause.
func (s *toolStep) asksForApproval() bool {
	if s.ctx == nil || s.ctx.Actions() == nil {
		return false
	}
	_, asks := s.ctx.Actions().RequestedToolConfirmations[s.ev.CallID]
	return asks
}

func (s *toolStep) tell(result map[string]any) {
	if s.asksForApproval() {
		if !s.refused {
			s.ev.Outcome = OutcomePending
		}
		if s.run != nil {
			s.run.wait(s.ev.Invocation, 1)
		}
	}
	defer s.run.stepOver(s, s.ev.Outcome != OutcomePending && !s.alone)
	if len(s.c.h.observe) == 0 {
		return
	}
	s.ev.Duration = time.Since(s.ev.Start)
	s.ev.Result = result
	s.c.observe(plainContext(s.ctx), &s.ev)
}

func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// clock and ran time the tool itself, where anybody is told.
func (s *toolStep) clock() time.Time {
	if len(s.c.h.observe) == 0 {
		return time.Time{}
	}
	return time.Now()
}

func (s *toolStep) ran(start time.Time) {
	if !start.IsZero() {
		s.ev.Inner = time.Since(start)
	}
}
