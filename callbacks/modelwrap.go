// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/gardefou/gardefou/callbacks/answer"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/genai"
)

// guardedModel stands outermost around an agent's model. It hands ADK copies of
// every response, turns panics into errors, and hides Client(), so that ADK's
// live mode, which skips every model hook, refuses to start.
type guardedModel struct {
	model.LLM // the guards' wrappers, outermost first
	c         *Chain
	base      model.LLM
}

// wrapModel puts the guards' wrappers around base.
func (c *Chain) wrapModel(base model.LLM) (model.LLM, error) {
	m, err := c.layer(0, base)
	if err != nil {
		return nil, err
	}
	return &guardedModel{LLM: m, c: c, base: base}, nil
}

// layer wraps m with the guards from the first on; the first is the outermost.
func (c *Chain) layer(first int, m model.LLM) (model.LLM, error) {
	var err error
	m = c.gateModel(m)
	for i := len(c.h.wrapModel) - 1; i >= first && err == nil; i-- {
		m, err = c.wrapOnce(i, m)
	}
	return m, err
}

func (c *Chain) wrapOnce(i int, next model.LLM) (model.LLM, error) {
	h := &c.h.wrapModel[i]
	m, err := safely(func() (model.LLM, error) {
		return h.f(next, func(other model.LLM) model.LLM {
			inner, err := c.layer(i+1, other)
			if err != nil {
				panic(err) // caught around the wrapper
			}
			return inner
		}), nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("callbacks: wrap_model of guard %q: %w", h.guard, err)
	case m == nil:
		return nil, fmt.Errorf("callbacks: wrap_model of guard %q returned no model", h.guard)
	}
	return m, nil
}

// GetGoogleLLMVariant forwards what ADK asks of Gemini models.
func (g *guardedModel) GetGoogleLLMVariant() genai.Backend { return variantOf(g.base) }

// GenerateContent implements model.LLM.
func (g *guardedModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	step := g.step(ctx)
	if step != nil {
		// What the value wraps hides the invocation id, by which a Run that nobody
		// started is found.
		ctx = step.run.Context(context.WithValue(ctx, stepKey{}, step))
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		ctx := ctx
		if step != nil {
			live, end := step.fx.live(ctx, step.run)
			defer end()
			ctx = live
		}
		pump(yield, func(give func(*model.LLMResponse, error) bool) {
			g.hand(ctx, g.LLM.GenerateContent(ctx, req, stream), step, give)
		})
	}
}

// hand gives the responses of one call on, each as a copy of the consumer's own.
func (g *guardedModel) hand(ctx context.Context, answers iter.Seq2[*model.LLMResponse, error], step *modelStep, give func(*model.LLMResponse, error) bool) {
	final := false
	for resp, err := range answers {
		if err == nil && resp == nil {
			err = answer.ErrNone
		}
		if err != nil {
			// ADK would go on ranging after an error it recovered from.
			give(nil, g.c.raise(step.whyWoken(err)))
			return
		}
		final = final || !resp.Partial
		if !give(CopyResponse(resp), nil) {
			step.abandon(ctx)
			return
		}
	}
	if !final {
		give(nil, answer.ErrNone)
	}
}

// A raisedRefusal says from inside which chain's model wrapper a refusal came. Only that
// chain answers it: a plugin's hooks, which ADK asks first, leave it alone.
type raisedRefusal struct {
	error
	c *Chain
}

func (e *raisedRefusal) Unwrap() error { return e.error }

func (c *Chain) raise(err error) error {
	var r *Refusal
	var raised *raisedRefusal
	if !errors.As(err, &r) || errors.As(err, &raised) {
		return err
	}
	return &raisedRefusal{err, c.identity()}
}

// raisedByAnother returns the refusal in err if a chain other than c raised it.
func (c *Chain) raisedByAnother(err error) *Refusal {
	var r *Refusal
	var raised *raisedRefusal
	if errors.As(err, &raised) && raised.c != c.identity() && errors.As(err, &r) {
		return r
	}
	return nil
}

// step finds the step that ctx belongs to: ADK's own context names it, and where another
// chain stands around this one, that chain's step does.
func (g *guardedModel) step(ctx context.Context) *modelStep {
	run := RunOf(ctx)
	if run == nil {
		return nil
	}
	var p Place
	singleTurn := false
	if ic, ok := ctx.(agent.InvocationContext); ok && ic.Agent() != nil {
		p, singleTurn = placeIn(ic, ic.Agent().Name()), isSingleTurn(ic.Agent())
	} else if outer, ok := ctx.Value(stepKey{}).(*modelStep); ok {
		p = outer.ev.Place()
	} else {
		return nil
	}
	ms := g.c.modelStepAt(run, p)
	if ms != nil && ms.ev.Model == "" {
		ms.ev.Model = g.base.Name()
	}
	if ms != nil && singleTurn {
		ms.singleTurn = true
	}
	return ms
}

// abandon tells of a step whose consumer went away before the final response.
func (s *modelStep) abandon(ctx context.Context) {
	if s == nil || !s.told.CompareAndSwap(false, true) {
		return
	}
	s.run.stepOver(s, false)
	if len(s.c.h.observe) == 0 {
		return
	}
	s.ev.Outcome, s.ev.Attempt = OutcomeAbandoned, int(s.fx.begun.Load())
	s.c.observe(ctx, &s.ev)
}

// observed are the answers of one attempt, as the model itself gave them.
func (s *modelStep) observed(ctx context.Context, answers iter.Seq2[*model.LLMResponse, error], stream bool) iter.Seq2[*model.LLMResponse, error] {
	switch {
	case stream:
		return repaired(ctx, answers)
	case len(s.c.h.observe) > 0:
		return s.timed(answers)
	default:
		return answers
	}
}

// repaired gives the calls of a stream their ids, and a code that an aggregator lost.
func repaired(ctx context.Context, answers iter.Seq2[*model.LLMResponse, error]) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		ids, lost := callIDs{}, lostCode{}
		for resp, err := range answers {
			if resp != nil {
				resp = lost.see(ids.name(ctx, resp))
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// timed adds what the model took to the step, without what its consumer did meanwhile.
func (s *modelStep) timed(answers iter.Seq2[*model.LLMResponse, error]) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		start := time.Now()
		stop := func() { s.inner.Add(int64(time.Since(start))) }
		for resp, err := range answers {
			stop()
			if !yield(resp, err) {
				return
			}
			start = time.Now()
		}
		stop()
	}
}

// callIDs are the ids of one answer's calls that came without. A provider's aggregator
// puts the same call into a chunk and into the whole answer; ADK fills in its id once,
// but the chain's copies are two.
type callIDs map[*genai.FunctionCall]string

// clientCallID is what ADK's own ids begin with: it leaves them out of requests.
const clientCallID = "adk-"

// name returns resp, or a copy of it in which the calls of a chunk, and those calls
// again, have an id.
func (ids callIDs) name(ctx context.Context, resp *model.LLMResponse) *model.LLMResponse {
	if resp.Content == nil {
		return resp
	}
	named := resp
	for i, p := range resp.Content.Parts {
		if p == nil || p.FunctionCall == nil || p.FunctionCall.ID != "" {
			continue
		}
		id, seen := ids[p.FunctionCall]
		if !seen && !resp.Partial {
			continue
		}
		if !seen {
			id = clientCallID + platform.NewUUID(ctx)
			ids[p.FunctionCall] = id
		}
		if named == resp {
			named = CopyResponse(resp)
		}
		named.Content.Parts[i].FunctionCall.ID = id
	}
	return named
}
