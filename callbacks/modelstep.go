// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gardefou/gardefou/callbacks/answer"
	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
)

// A modelStep is one model call on its way through the chain. ADK runs the hooks
// of one agent invocation one after the other, so only the fields that the model
// wrapper touches as well are atomic.
type modelStep struct {
	c   *Chain
	run *Run
	ev  Event
	// plugin says that the chain acts as a plugin in this step; the same chain on
	// the agent then stands aside.
	plugin bool
	// refusal, once set, takes the place of every later response of this step.
	refusal *Refusal
	// theirs says that another chain on the same agent refused in this step, so its answer
	// is none of a model that hooks could work on.
	theirs bool
	fx     effects
	// seen is how many after_model hooks have seen the response as it is.
	seen int
	// gated says that a plugin's gate was asked for the attempt that comes next.
	gated atomic.Bool
	told  atomic.Bool
	inner atomic.Int64 // a time.Duration
	// singleTurn says that the agent runs in that mode, as one in a node of a graph does. Only
	// the model wrapper sees it.
	singleTurn bool
}

// modelStepID finds the step again at its agent's place: before_model, the model and
// after_model share nothing else.
type modelStepID struct{ c *Chain }

func (c *Chain) newModelStep(ctx agent.Context, asPlugin bool) *modelStep {
	s := &modelStep{c: c, run: runOrNil(ctx), plugin: asPlugin}
	s.ev = Event{Step: StepModel, Outcome: OutcomeAllowed, Start: time.Now()}
	if ctx != nil {
		p := PlaceOf(ctx)
		s.ev.setPlace(p)
		if s.run != nil {
			s.run.begin(ctx)
			s.run.openStep(ctx, s, openStep{Place: p, model: true})
			s.run.store(p, modelStepID{c.identity()}, s)
		}
	}
	return s
}

func (c *Chain) modelStep(ctx agent.Context) *modelStep {
	return c.modelStepAt(runOrNil(ctx), PlaceOf(ctx))
}

func (c *Chain) modelStepAt(run *Run, p Place) *modelStep {
	if run == nil {
		return nil
	}
	s, _ := run.load(p, modelStepID{c.identity()})
	ms, _ := s.(*modelStep)
	return ms
}

// before runs the before_model hooks. A response means that the model is not
// called: an answer of a guard, or a refusal.
func (s *modelStep) before(ctx agent.Context, req *model.LLMRequest) *model.LLMResponse {
	if req != nil {
		s.ev.Model = req.Model
	}
	if st := s.run.stopFor(s); st != nil {
		return s.finish(ctx, s.lastPass(ctx, s.refuse(st.guard, st.refusal, nil)))
	}
	live, end := s.enliven(ctx)
	defer end()
	for _, h := range s.c.h.beforeModel {
		if h.monitored {
			resp, err := callBeforeModel(h.f, monitored(ctx), throwAway(req))
			note(ctx, s.c, s.ev, h.guard, resp != nil, err)
			continue
		}
		resp, err := callBeforeModel(h.f, live, req)
		switch {
		case err != nil:
			return s.finish(ctx, s.lastPass(ctx, s.refuse(h.guard, nil, err)))
		case resp != nil:
			s.replaced(h.guard, resp)
			return s.finish(ctx, s.lastPass(ctx, CopyResponse(resp)))
		}
	}
	if s.plugin {
		if err := s.gate(plainContext(ctx), inspect.BeforeModel); err != nil {
			return s.finish(ctx, s.lastPass(ctx, s.refuse("", nil, err)))
		}
		s.fx.end(s.run) // a plugin does not see when the call ends
		s.fx.begun.Store(0)
		s.gated.Store(true)
	}
	return nil
}

// enliven gives the hooks before the model a context that a stop cancels.
func (s *modelStep) enliven(ctx agent.Context) (live agent.Context, end func()) {
	if ctx == nil || len(s.c.h.beforeModel) == 0 {
		return ctx, func() {}
	}
	inner, end := s.fx.live(ctx, s.run)
	return &liveContext{ctx, inner, nil}, end
}

// replaced puts into the event that a hook answered. The hook of a chain inside this one,
// which stands among those of the configuration, may have refused.
func (s *modelStep) replaced(guard string, resp *model.LLMResponse) {
	s.ev.Outcome, s.ev.Guard = OutcomeReplaced, guard
	if guard != configGuard || s.run == nil || !IsRefusal(resp) || resp.Content == nil || len(resp.Content.Parts) == 0 {
		return
	}
	if r := s.run.refusalFor(resp.Content.Parts[0].Text); r != nil {
		s.theirs = true
		s.blame(refusingGuard(resp), r)
	}
}

func callBeforeModel(f beforeModel, ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	return safely(func() (*model.LLMResponse, error) { return f(ctx, req) })
}

// after runs the after_model hooks on resp, which the chain owns and hooks may
// change, and returns what takes its place. Chunks keep their Partial flag.
func (s *modelStep) after(ctx agent.Context, resp *model.LLMResponse) *model.LLMResponse {
	if s.plugin {
		// A plugin sees no attempt, but without one there is no response.
		s.fx.begun.CompareAndSwap(0, 1)
	}
	if resp.ModelVersion != "" {
		// ADK drops it from the response it puts together from a stream.
		s.ev.ServedModel = resp.ModelVersion
	}
	partial := resp.Partial
	out := s.lastPass(ctx, s.runAfter(ctx, resp))
	out.Partial = partial
	if partial {
		return out
	}
	if out.UsageMetadata == nil {
		out.UsageMetadata = resp.UsageMetadata
	}
	s.ev.Usage = out.UsageMetadata
	s.judge(out)
	return s.finish(ctx, out)
}

// judge finds the failures that come as a response and not as an error: a provider's
// refusal, an answer that was cut, and nothing at all.
func (s *modelStep) judge(resp *model.LLMResponse) {
	var fault error
	if s.ev.Outcome == OutcomeAllowed {
		fault = answer.Check(resp)
		s.run.answered(s.ev.Place(), resp, fault)
	}
	if fault != nil {
		s.ev.Outcome, s.ev.Code, s.ev.Reason, s.ev.Err = OutcomeFailed, codes.ModelFailed, reasonOf(fault), fault
	}
}

func (s *modelStep) runAfter(ctx agent.Context, resp *model.LLMResponse) *model.LLMResponse {
	s.seen = 0
	switch {
	case s.refusal != nil:
		return refusalResponse(langOf(s.run), s.ev.Guard, s.refusal)
	case s.theirs:
		return resp
	}
	for i, h := range s.c.h.afterModel {
		if h.monitored {
			got, err := callAfterModel(h.f, monitored(ctx), deepCopy(resp))
			note(ctx, s.c, s.ev, h.guard, got != nil, err)
			continue
		}
		got, err := callAfterModel(h.f, ctx, resp)
		switch {
		case err != nil:
			return s.refuse(h.guard, nil, err)
		case got == resp:
			s.seen = i + 1
			return resp
		case got != nil:
			s.replaced(h.guard, got)
			return CopyResponse(got)
		}
	}
	s.seen = len(s.c.h.afterModel)
	return resp
}

func callAfterModel(f afterModel, ctx agent.Context, resp *model.LLMResponse) (*model.LLMResponse, error) {
	return safely(func() (*model.LLMResponse, error) { return f(ctx, resp, nil) })
}

// failed takes a model's error through the on_model_error hooks. A nil response
// leaves the error to ADK, which ends the agent with it.
func (s *modelStep) failed(ctx agent.Context, req *model.LLMRequest, cause error) *model.LLMResponse {
	if s.plugin {
		s.fx.begun.CompareAndSwap(0, 1)
	}
	if r := s.c.raisedByAnother(cause); r != nil {
		return s.leave(ctx, req, cause, r)
	}
	var r *Refusal
	if errors.As(cause, &r) {
		return s.finish(ctx, s.lastPass(ctx, s.refuse(s.ev.Guard, r, nil)))
	}
	s.ev.Outcome, s.ev.Code, s.ev.Err = OutcomeFailed, codes.ModelFailed, cause
	if isPanic(cause) {
		s.ev.Outcome, s.ev.Code = OutcomePanicked, codes.ModelPanicked
	}
	for _, h := range s.c.h.onModelError {
		resp, err := callOnModelError(h.f, ctx, req, cause)
		switch {
		case decides(err, cause):
			return s.finish(ctx, s.lastPass(ctx, s.refuse(h.guard, nil, err)))
		case resp != nil:
			s.ev.Outcome, s.ev.Guard = OutcomeReplaced, h.guard
			return s.finish(ctx, s.lastPass(ctx, CopyResponse(resp)))
		}
	}
	if s.run != nil {
		s.run.dropped(s.ev.Place(), cause)
	}
	s.tell(ctx)
	s.run.stepOver(s, false)
	return nil
}

// leave lets the chain answer that refused, and tells of it. Under a plugin ADK asks that
// chain next; in a chain around it, its hook stands among those of the configuration.
func (s *modelStep) leave(ctx agent.Context, req *model.LLMRequest, cause error, r *Refusal) *model.LLMResponse {
	s.theirs = true
	s.blame("", r)
	var answer *model.LLMResponse
	for _, h := range s.c.h.onModelError {
		if h.guard != configGuard {
			continue
		}
		resp, err := callOnModelError(h.f, ctx, req, cause)
		if decides(err, cause) {
			return s.finish(ctx, s.lastPass(ctx, s.refuse(h.guard, nil, err)))
		}
		if resp != nil {
			answer = resp
			s.replaced(h.guard, resp)
			s.ev.Response = resp.Content
			break
		}
	}
	s.tell(ctx)
	s.run.stepOver(s, makesEvent(answer))
	return answer
}

func callOnModelError(f onModelError, ctx agent.Context, req *model.LLMRequest, cause error) (*model.LLMResponse, error) {
	return safely(func() (*model.LLMResponse, error) { return f(ctx, req, cause) })
}

func (s *modelStep) refuse(guard string, r *Refusal, err error) *model.LLMResponse {
	lang := langOf(s.run)
	var failed *FailedError
	switch {
	case s.fx.wokenBy(s.run) != nil && (r == nil || r.scope != scopeRun):
		st := s.run.stopped.Load()
		guard, r, err = st.guard, st.refusal, nil
	case r != nil:
	case errors.As(err, &failed):
		r = failed.Refusal // of a chain inside this one
	default:
		r = refusalOf(lang, err)
	}
	s.refusal, s.seen = r, 0
	guard = s.blame(guard, r)
	if isPanic(err) {
		s.ev.Outcome = OutcomePanicked
	}
	if s.run != nil && r.scope != scopeFailure {
		s.run.cutShort(s.ev.Place(), guard, r)
	}
	if s.run != nil && s.ev.Outcome == OutcomeRefused {
		if r.scope == scopeRun || s.fx.begun.Load() == 0 && s.run.refusedAgain(s.ev.Place()) {
			s.ev.Stop = s.run.stop(s.ev.Agent, guard, r)
		}
	}
	return refusalResponse(lang, guard, r)
}

// blame puts a refusal into the event and returns the guard that refused.
func (s *modelStep) blame(guard string, r *Refusal) string {
	if r.guard != "" {
		guard = r.guard
	}
	s.ev.Outcome, s.ev.Guard, s.ev.Code, s.ev.Reason, s.ev.Err = OutcomeRefused, guard, r.Code, r.reason(), r.Unwrap()
	if r.scope == scopeFailure {
		s.ev.Outcome = OutcomeFailed
	}
	return guard
}

// finish is called with the response that ends the step.
func (s *modelStep) finish(ctx agent.Context, resp *model.LLMResponse) *model.LLMResponse {
	if s.refusal != nil && s.run != nil && IsRefusal(resp) && resp.Content != nil && len(resp.Content.Parts) > 0 {
		// An agent used as a tool is known by its words to have refused.
		s.run.rememberRefusal(resp.Content.Parts[0].Text, s.refusal.By(s.ev.Guard))
	}
	s.ev.Response = resp.Content
	s.tell(ctx)
	s.run.stepOver(s, s.failure() == nil && makesEvent(resp))
	return resp
}

func (s *modelStep) tell(ctx agent.Context) {
	if !s.told.CompareAndSwap(false, true) {
		return
	}
	s.ev.Attempt = int(s.fx.begun.Load())
	if s.run != nil && (s.ev.Outcome == OutcomeAllowed || s.ev.Outcome == OutcomeReplaced) {
		s.run.wentOn(s.ev.Place())
	}
	if s.ev.Outcome == OutcomeReplaced {
		s.run.answered(s.ev.Place(), nil, nil)
	}
	if s.run != nil && s.ev.Attempt > 0 {
		s.run.progressed(s.ev.Place())
		s.ev.Landed = s.run.landedAt(s.ev.Place())
	}
	if len(s.c.h.observe) == 0 {
		return
	}
	s.ev.Duration = time.Since(s.ev.Start)
	s.ev.Inner = time.Duration(s.inner.Load())
	s.c.observe(plainContext(ctx), &s.ev)
}

// modelHooks are the chain's three model callbacks for ADK.
type modelHooks struct {
	c        *Chain
	asPlugin bool
	// saveAs is the agent's output key, which the chain writes itself so that a
	// refusal never lands in it. Empty: nothing is saved here.
	saveAs string
	schema bool
}

func (m modelHooks) before(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	m.c.swapTools(req)
	if !m.asPlugin && m.standsAside(ctx) {
		return nil, nil
	}
	if r := takeFailure(ctx); r != nil {
		// It was told where it happened; ADK's flow ends with an error only here.
		return nil, &FailedError{r}
	}
	s := m.c.newModelStep(ctx, m.asPlugin)
	resp := s.before(ctx, req)
	if err := s.failure(); err != nil {
		return nil, err
	}
	m.save(ctx, resp)
	return resp, nil
}

// failure returns the refusal of this step where it is one that fails the agent.
func (s *modelStep) failure() error {
	if s.refusal != nil && s.refusal.scope == scopeFailure {
		return &FailedError{s.refusal}
	}
	return nil
}

// standsAside reports whether the same chain already acts as a plugin in the step
// that is open now.
func (m modelHooks) standsAside(ctx agent.Context) bool {
	s := m.c.modelStep(ctx)
	return s != nil && s.plugin && !s.told.Load()
}

func (m modelHooks) after(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
	s := m.c.modelStep(ctx)
	if resp == nil || s == nil || s.plugin != m.asPlugin {
		m.save(ctx, resp)
		return nil, nil
	}
	if !m.asPlugin {
		// The model wrapper made this copy, so it may be changed in place: other
		// callbacks then still see it.
		out := s.after(ctx, resp)
		if err := s.failure(); err != nil {
			return nil, err
		}
		m.save(ctx, out)
		if out != resp {
			return out, nil
		}
		return nil, nil
	}
	mine := CopyResponse(resp)
	out := s.after(ctx, mine)
	if err := s.failure(); err != nil {
		return nil, err
	}
	if out == mine && reflect.DeepEqual(mine, resp) {
		return nil, nil
	}
	return out, nil
}

func (m modelHooks) onError(ctx agent.Context, req *model.LLMRequest, err error) (*model.LLMResponse, error) {
	s := m.c.modelStep(ctx)
	if s == nil || s.plugin != m.asPlugin {
		return nil, nil
	}
	resp := s.failed(ctx, req, err)
	if err := s.failure(); err != nil {
		return nil, err
	}
	return resp, nil
}

// save does what ADK does with an output key, except for refusals.
func (m modelHooks) save(ctx agent.Context, resp *model.LLMResponse) {
	if m.saveAs == "" || ctx == nil || resp == nil || resp.Partial || resp.Content == nil || IsRefusal(resp) {
		return
	}
	var sb strings.Builder
	for _, p := range resp.Content.Parts {
		if p != nil && !p.Thought {
			sb.WriteString(p.Text)
		}
	}
	out := sb.String()
	// ADK stores "" for a turn of calls only, which would wipe an earlier answer.
	if out == "" || m.schema && strings.TrimSpace(out) == "" {
		return
	}
	var value any = out
	if m.schema && m.c.inSingleTurn(ctx) {
		var object map[string]any
		if json.Unmarshal([]byte(out), &object) != nil {
			return // ADK fails the agent
		}
		value = object
	}
	// The delta, which is what ADK stores, is always written; only the live view of
	// a context without a session can fail.
	_ = ctx.State().Set(m.saveAs, value)
}

// inSingleTurn reports whether the last model call of ctx's agent was made in that mode, in
// which ADK saves what a schema describes as an object.
func (c *Chain) inSingleTurn(ctx agent.Context) bool {
	s := c.modelStep(ctx)
	return s != nil && s.singleTurn
}
