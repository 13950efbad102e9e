// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
)

// A RouteTurn is what [RouteOptions.UseCheap] goes by.
type RouteTurn struct {
	callbacks.Step
	// Request is what is about to be sent. It must not be changed.
	Request *model.LLMRequest
	// Tools says that the model may call tools in this turn.
	Tools bool
	// Last says that a [CallBudget] has no further call for this agent.
	Last bool
	// CallsLeft is how many calls the tightest budget has after this one, as far as that is
	// known; -1 where there is none.
	CallsLeft int64
	// TargetPassed says that an account of [Spend] in this Run is past its target.
	TargetPassed bool
}

// RouteOptions are the options of [Route]. Cheap or Fallback is required.
type RouteOptions struct {
	// Cheap is the model for the turns that UseCheap chooses. Nil leaves all turns to the
	// agent's own model.
	Cheap model.LLM
	// UseCheap chooses the turns. Nil chooses the turns in which tools may be called, but
	// for the last one, and all turns once a spending target is passed.
	UseCheap func(RouteTurn) bool
	// KeepAnswer lets an answer of Cheap stand. False throws away a turn of Cheap that
	// calls no tool and asks the agent's own model for the answer, at the price of both,
	// unless the target is passed or no tool could be called.
	KeepAnswer bool
	// Fallback are the models that are asked in turn where the one before failed, gave no
	// answer ([answer.Check]), or took too long, before its first chunk.
	Fallback []model.LLM
	// FirstChunk is how long a model may take to its first chunk, or to its whole answer
	// where it does not stream. Zero is no limit.
	FirstChunk time.Duration
	// Signature says what becomes of a thought signature of one model that goes to another:
	// the bytes to send in its place, nil to drop it. Nil, the function, sends it as it is.
	// Gemini 3 refuses calls of its current turn that carry none; Google documents the
	// value "skip_thought_signature_validator" for calls that another model made. Of the
	// signatures of a Run the newest 1,024 are known; an older one is sent as it is.
	Signature func(from, to string, signature []byte) []byte
}

// Route sends an agent's tool turns to a cheaper model and has its own model give the
// answer. See [RouteOptions] for other choices, and for models to fall back on.
//
// Every attempt passes the guards after this one: it is counted, and paid for at the price
// of the model that makes it. Put Route before [CallBudget] and [Spend]. What was refused
// is not asked of another model, and once a chunk was handed out its model has to finish.
//
// Own model and others must be of one family as far as ADK prepares requests for it: what
// it knows of the model, it knows of the agent's own. Route works on an agent only. It
// fails closed: where all models fail, the last error stands.
//
// Use it when a cheaper model can do the tool turns, or another one can take over; use [Retry]
// where the same model will do.
func Route(cheap model.LLM) callbacks.Guard {
	if cheap == nil {
		return callbacks.Guard{Name: routeName, Err: errors.New("guards: Route without a model")}
	}
	return RouteOptions{Cheap: cheap}.Guard()
}

// Guard returns the guard that [Route] describes, with these options.
func (o RouteOptions) Guard() callbacks.Guard {
	g := callbacks.Guard{Name: routeName}
	switch {
	case o.Cheap == nil && len(o.Fallback) == 0:
		g.Err = errors.New("guards: Route without a model to choose or to fall back on")
	case slices.Contains(o.Fallback, nil):
		g.Err = errors.New("guards: Route: a fallback that is nil")
	case o.FirstChunk < 0:
		g.Err = notNegative("Route", "FirstChunk", o.FirstChunk)
	}
	if g.Err != nil {
		return g
	}
	if o.UseCheap == nil {
		o.UseCheap = func(t RouteTurn) bool { return t.TargetPassed || t.Tools && !t.Last }
	}
	r := &route{o: o, key: callbacks.NewKey(newSignatures)}
	g.WrapModel = r.wrap
	g.Info = func() callbacks.Info {
		var limits []string
		if o.Cheap != nil {
			limits = append(limits, "cheaper model "+o.Cheap.Name())
		}
		for _, m := range o.Fallback {
			limits = append(limits, "falls back on "+m.Name())
		}
		return callbacks.Info{Limits: limits}
	}
	return g
}

type route struct {
	o   RouteOptions
	key *callbacks.Key[*signatures]
}

func (r *route) wrap(next model.LLM, inner func(model.LLM) model.LLM) model.LLM {
	m := &routedModel{r: r, better: []candidate{{next, true}}}
	if r.o.Cheap != nil {
		m.cheap = &candidate{LLM: inner(r.o.Cheap)}
	}
	for _, f := range r.o.Fallback {
		m.better = append(m.better, candidate{LLM: inner(f)})
	}
	return callbacks.AroundModel(next, m.generate)
}

// turn describes the call that is about to be made.
func (r *route) turn(ctx context.Context, req *model.LLMRequest) RouteTurn {
	t := RouteTurn{Request: req, Tools: len(req.Tools) > 0, CallsLeft: -1, TargetPassed: targetPassedKey.Of(ctx).Load()}
	if s, ok := callbacks.CurrentStep(ctx); ok {
		t.Step = s
		if left, known := callsLeft(ctx, s.Place()); known {
			t.CallsLeft, t.Last = max(0, left), left <= 0
		}
	}
	return t
}
