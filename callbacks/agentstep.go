// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/internal/text"
)

// agentHooks are the chain's agent callbacks for ADK.
type agentHooks struct {
	c *Chain
	// asPlugin says that they are a plugin's.
	asPlugin bool
	// wrapped says that [Chain.tellingEnd] reports the agent's end.
	wrapped bool
}

// before refuses with content, not with an error: an error there lets a sequence
// go on where the consumer goes on.
func (a agentHooks) before(ctx agent.Context) (*genai.Content, error) {
	if a.standsAside(ctx) {
		return nil, nil
	}
	run := runOrNil(ctx)
	if ctx != nil {
		run.closeSteps(PlaceOf(ctx))
	}
	if content := a.endedEarly(ctx, run); content != nil {
		return content, nil
	}
	if run.isStopped() {
		// The stop was told where it happened; here only the agent must not start.
		return &genai.Content{Role: genai.RoleModel}, nil
	}
	if run != nil {
		run.begin(ctx)
		run.take(PlaceOf(ctx), failureID{})
		if !a.wrapped {
			run.agentBegins(PlaceOf(ctx), stay{a.c.identity(), func() { a.tell(ctx, func(*Event) {}) }})
		}
	}
	content, _ := runAgentHooks(ctx, a, a.c.h.beforeAgent)
	return content, nil
}

// standsAside reports whether the same chain acts as a plugin for this agent, which
// ADK asks first.
func (a agentHooks) standsAside(ctx agent.Context) bool {
	run := runOrNil(ctx)
	if run == nil {
		return false
	}
	if a.asPlugin {
		run.store(PlaceOf(ctx).whole(), pluginID{a.c.identity()}, true)
		return false
	}
	_, ok := run.load(PlaceOf(ctx).whole(), pluginID{a.c.identity()})
	return ok
}

// runAgentHooks returns what one of the hooks answered, and whether one did.
func runAgentHooks[F ~func(agent.Context) (*genai.Content, error)](
	ctx agent.Context, a agentHooks, hooks []named[F],
) (*genai.Content, bool) {
	for _, h := range hooks {
		if h.monitored {
			content, err := safely(func() (*genai.Content, error) { return h.f(monitored(ctx)) })
			note(ctx, a.c, agentEvent(ctx), h.guard, content != nil, err)
			continue
		}
		content, err := safely(func() (*genai.Content, error) { return h.f(ctx) })
		if err == nil && content != nil {
			content, err = a.lastPass(ctx, content)
		}
		if err != nil {
			return a.refuse(ctx, runOrNil(ctx), h.guard, err), true
		}
		if content != nil {
			a.tell(ctx, func(ev *Event) { ev.Outcome, ev.Guard = OutcomeReplaced, h.guard })
			return content, true
		}
	}
	return nil, false
}

func (a agentHooks) refuse(ctx agent.Context, run *Run, guard string, err error) *genai.Content {
	lang := langOf(run)
	r := refusalOf(lang, err)
	a.tell(ctx, func(ev *Event) {
		ev.Outcome, ev.Guard, ev.Code, ev.Reason, ev.Err = OutcomeRefused, guard, r.Code, r.reason(), r.Unwrap()
		if isPanic(err) {
			ev.Outcome = OutcomePanicked
		}
		if run != nil {
			run.cutShort(ev.Place(), guard, r)
		}
		if run != nil && (r.scope == scopeRun || run.refusedAgain(ev.Place())) {
			ev.Stop = run.stop(ev.Agent, guard, r)
		}
	})
	content := genai.NewContentFromText(text.Get(lang, text.GuardPrefix)+r.Text, genai.RoleModel)
	content, err = a.lastPass(ctx, content)
	if err != nil || content == nil || len(content.Parts) == 0 {
		content = genai.NewContentFromText(text.Get(lang, text.GuardPrefix)+text.Get(lang, text.GuardFailed), genai.RoleModel)
	}
	if run != nil {
		// ADK gives this content no metadata: an agent used as a tool is known to have
		// refused by its words.
		run.rememberRefusal(content.Parts[0].Text, r.By(guard))
	}
	return content
}

func (a agentHooks) after(ctx agent.Context) (*genai.Content, error) {
	if a.standsAside(ctx) {
		return nil, nil
	}
	if ctx != nil {
		runOrNil(ctx).closeSteps(PlaceOf(ctx))
	}
	if content, answered := runAgentHooks(ctx, a, a.c.h.afterAgent); answered {
		return content, nil
	}
	if !a.wrapped {
		a.tell(ctx, func(*Event) {})
	}
	return nil, nil
}

// tell reports the agent's end, or leaves it to the wrapper around the agent
// that reports it once.
func (a agentHooks) tell(ctx agent.Context, decide func(*Event)) {
	if ctx != nil {
		if ev, ok := ctx.Value(toldID{a.c.identity(), PlaceOf(ctx)}).(*Event); ok {
			decide(ev)
			return
		}
	}
	if run := runOrNil(ctx); run != nil {
		run.reported(PlaceOf(ctx), a.c.identity())
		defer run.agentEnds(PlaceOf(ctx), a.c.identity())
	}
	ev := agentEvent(ctx)
	decide(&ev)
	a.c.observe(plainContext(ctx), &ev)
}

// toldID is the key in an agent's context of the event that tellingEnd will report.
type toldID struct {
	c *Chain
	Place
}

func agentEvent(ctx agent.Context) Event {
	ev := Event{Step: StepAgent, Outcome: OutcomeAllowed, Start: time.Now()}
	ev.setPlace(PlaceOf(ctx))
	return ev
}

// wrapAgent puts the guards' agent wrappers around a, the first outermost, and
// innermost one that tells of the agent's end. A panic anywhere in it comes out as an
// error: ADK runs children of a parallel agent on bare goroutines.
func (c *Chain) wrapAgent(a agent.Agent) (agent.Agent, error) {
	out := AroundAgent(AroundAgent(a, contained), c.tellingEnd(a.Name()))
	for _, h := range slices.Backward(c.h.wrapAgent) {
		wrapped, err := safely(func() (agent.Agent, error) { return h.f(out), nil })
		if err == nil && wrapped == nil {
			err = errors.New("it returned no agent")
		}
		if err != nil {
			return nil, fmt.Errorf("callbacks: agent %q: wrap_agent of guard %q: %w", a.Name(), h.guard, err)
		}
		out = AroundAgent(wrapped, contained)
	}
	return out, nil
}

// tellingEnd reports to the observers how the agent of that name ended.
func (c *Chain) tellingEnd(name string) func(agent.InvocationContext, agentRun) iter.Seq2[*session.Event, error] {
	return func(ctx agent.InvocationContext, next agentRun) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			id, run := toldID{c.identity(), placeIn(ctx, name)}, RunOf(ctx)
			ev := Event{Step: StepAgent, Outcome: OutcomeAllowed, Start: time.Now()}
			ev.setPlace(id.Place)
			if run != nil {
				run.agentBegins(id.Place, stay{c: id.c})
				defer run.agentEnds(id.Place, id.c)
			}
			defer func() {
				if ev.Outcome == OutcomeAllowed && run.isStopped() {
					ev.Outcome, ev.Code = OutcomeRefused, codes.RunStopped
				}
				ev.Duration = time.Since(ev.Start)
				c.observe(ctx, &ev)
			}()
			inner := ctx.WithContext(context.WithValue(ctx, id, &ev))
			for e, err := range next(inner) {
				if err != nil {
					ev.Outcome, ev.Code, ev.Err = OutcomeFailed, codes.AgentFailed, err
					if isPanic(err) {
						ev.Outcome, ev.Code = OutcomePanicked, codes.AgentPanicked
					}
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// contained makes an error of the agent's panic.
func contained(ctx agent.InvocationContext, next agentRun) iter.Seq2[*session.Event, error] {
	return withoutPanic(func() iter.Seq2[*session.Event, error] { return next(ctx) })
}

// withoutPanic makes an error of a panic in start or in the events it returns.
func withoutPanic(start func() iter.Seq2[*session.Event, error]) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		pump(yield, func(give func(*session.Event, error) bool) {
			for e, err := range start() {
				if !give(e, err) {
					return
				}
			}
		})
	}
}

func (r *Run) isStopped() bool { return r != nil && r.stopped.Load() != nil }
