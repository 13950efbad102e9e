// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/internal/text"
)

// setModelResponse is the tool through which ADK takes a structured answer.
const setModelResponse = "set_model_response"

// toolHooks are the chain's tool callbacks for ADK. They serve the calls that no
// wrapper of this chain sees: unknown names, calls that somebody else's plugin
// answered, and calls resumed after a confirmation under a plugin, of which ADK runs
// the raw tool.
type toolHooks struct {
	c        *Chain
	asPlugin bool
	saveAs   string
}

// toolStepID finds a step again at its agent's place.
type toolStepID struct {
	c            *Chain
	callID, tool string
}

func (t toolHooks) id(ctx agent.Context, tl tool.Tool) toolStepID {
	return toolStepID{t.c.identity(), ctx.FunctionCallID(), tl.Name()}
}

func (t toolHooks) before(ctx agent.Context, tl tool.Tool, args map[string]any) (map[string]any, error) {
	if t.c.wraps(tl) {
		return nil, nil
	}
	if t.open(ctx, tl) != nil {
		// The same chain stands here as a plugin and has taken the call.
		return nil, nil
	}
	s := t.c.newToolStep(carryRun(ctx), tl, args)
	res := s.before()
	if res == nil && t.runsDifferently(s, args) {
		return t.runHere(s)
	}
	if res == nil {
		if err := s.gate(s.ctx, s.args); err != nil {
			res = s.refuse("", nil, err)
		} else {
			s.fx.end(s.run) // ADK runs the raw tool: when it ends is not known here
		}
	}
	s.ev.Called = res == nil
	if s.run != nil {
		s.run.store(s.ev.Place(), t.id(ctx, tl), s)
	}
	return res, nil
}

// runsDifferently reports whether the raw tool with the model's own arguments, which
// is what ADK would run, is not what the chain would.
func (t toolHooks) runsDifferently(s *toolStep, args map[string]any) bool {
	if d, ok := s.tool.(responseDeferrer); ok && d.DefersResponse() {
		return false // it does nothing here
	}
	if len(t.c.h.wrapTool) > 0 {
		return true
	}
	resumed := s.ctx != nil && s.ctx.ToolConfirmation() != nil
	return resumed && !maps.EqualFunc(s.args, args, equalValues)
}

// runHere runs the tool itself, wrapped and with the hooks' arguments. A tool that may
// answer later is refused: only ADK can wait for it.
func (t toolHooks) runHere(s *toolStep) (map[string]any, error) {
	t.c.take(s.ctx)
	g := guardedToolOf(t.c.wrapTool(s.tool))
	if g == nil || s.tool.IsLongRunning() {
		return s.close(s.refuse("", nil, errRawTool)), nil
	}
	defer s.enliven()()
	res, err := s.finish(g.inner, nil)
	if res == nil && err == nil {
		res = map[string]any{}
	}
	return res, err
}

// errRawTool is for observers; the model reads that a guard failed.
var errRawTool = errors.New("ADK runs the raw tool of this call, which a guard wraps or whose arguments a hook changed: attach the chain to the agent")

func (t toolHooks) onError(ctx agent.Context, tl tool.Tool, args map[string]any, err error) (map[string]any, error) {
	if t.c.wraps(tl) {
		return nil, nil
	}
	s := t.open(ctx, tl)
	if s == nil {
		if t.c.took(ctx) {
			return nil, nil
		}
		return t.unknown(ctx, tl, args, err), nil
	}
	if s.ev.Outcome != OutcomeAllowed {
		return nil, nil
	}
	res, err := s.failed(err)
	if err != nil && !isConfirmation(err) {
		res = map[string]any{"error": s.errorText(err)}
	}
	return res, nil
}

// unknown answers a call of a tool that does not exist. The hooks that decide by
// name still have their say: ADK runs no other hook for such a call.
func (t toolHooks) unknown(ctx agent.Context, tl tool.Tool, args map[string]any, cause error) map[string]any {
	s := t.c.newToolStep(ctx, tl, args)
	if s.run != nil {
		if st := s.run.stopped.Load(); st != nil {
			return s.close(s.refuse(st.guard, st.refusal, nil))
		}
	}
	res, _ := s.failed(cause)
	if s.ev.Outcome == OutcomeFailed {
		s.ev.Outcome, s.ev.Code, s.ev.Err = OutcomeUnknownTool, codes.UnknownTool, nil
		s.ev.Reason = text.Get(langOf(s.run), text.ToolUnknown, tl.Name())
		res = map[string]any{"error": s.ev.Reason}
		if t.asPlugin && s.run.hasChainAt(s.ev.Place()) {
			// ADK would not ask the agent's own chain any more.
			s.tell(res)
			return nil
		}
	}
	return s.close(res)
}

// hasChainAt reports whether an agent at work has a chain of its own.
func (r *Run) hasChainAt(p Place) bool {
	if r == nil {
		return false
	}
	return slices.ContainsFunc(r.modelSteps(p.Invocation), func(s *modelStep) bool { return !s.plugin && s.ev.Place() == p })
}

func (t toolHooks) after(ctx agent.Context, tl tool.Tool, args, result map[string]any, err error) (map[string]any, error) {
	if t.c.wraps(tl) {
		if runOrNil(ctx) != nil && !t.c.took(ctx) {
			return t.answered(ctx, tl, args, result, err), nil
		}
		t.save(ctx, tl, result)
		return nil, nil
	}
	s := t.open(ctx, tl)
	if s == nil {
		return nil, nil
	}
	s.run.take(s.ev.Place(), t.id(ctx, tl))
	if isConfirmation(err) {
		s.tell(nil)
		return nil, nil
	}
	res := s.close(s.after(result, err))
	t.save(ctx, tl, res)
	if err == nil && maps.EqualFunc(res, result, equalValues) {
		return nil, nil
	}
	return res, nil
}

// answered takes a call through the hooks that a plugin of somebody else's answered in
// the tool's place, so that the answer is refused, masked and told like any other.
func (t toolHooks) answered(ctx agent.Context, tl tool.Tool, args, result map[string]any, err error) map[string]any {
	if isConfirmation(err) {
		return nil
	}
	t.c.take(ctx)
	s := t.c.newToolStep(ctx, tl, args)
	res := s.before()
	if res == nil {
		s.ev.Outcome = OutcomeReplaced
		if err != nil {
			s.ev.Outcome, s.ev.Code, s.ev.Err = OutcomeFailed, codes.ToolFailed, err
		}
		res = s.after(result, err)
	}
	res = s.close(res)
	if err == nil && maps.EqualFunc(res, result, equalValues) {
		return nil
	}
	return res
}

// A takenCall is a call whose hooks have run. A call's actions are the one thing that the
// tool's context and the callbacks' share and no other call has.
type takenCall struct {
	c       *Chain
	actions *session.EventActions
}

func (c *Chain) take(ctx agent.Context) {
	if run := runOrNil(ctx); run != nil {
		run.store(PlaceOf(ctx), takenCall{c.identity(), ctx.Actions()}, true)
	}
}

func (c *Chain) took(ctx agent.Context) bool {
	run := runOrNil(ctx)
	if run == nil {
		return false
	}
	_, ok := run.load(PlaceOf(ctx), takenCall{c.identity(), ctx.Actions()})
	return ok
}

func (t toolHooks) open(ctx agent.Context, tl tool.Tool) *toolStep {
	run := runOrNil(ctx)
	if run == nil {
		return nil
	}
	s, _ := run.load(PlaceOf(ctx), t.id(ctx, tl))
	ts, _ := s.(*toolStep)
	return ts
}

// save stores a structured answer under the agent's output key, which the chain
// took over from ADK.
func (t toolHooks) save(ctx agent.Context, tl tool.Tool, res map[string]any) {
	if t.saveAs == "" || tl.Name() != setModelResponse || res == nil || res["error"] != nil {
		return
	}
	if t.c.inSingleTurn(ctx) {
		_ = ctx.State().Set(t.saveAs, maps.Clone(res))
	} else if b, err := json.Marshal(res); err == nil {
		_ = ctx.State().Set(t.saveAs, string(b))
	}
}

func equalValues(a, b any) bool { return reflect.DeepEqual(a, b) }
