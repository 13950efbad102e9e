// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"iter"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/internal/text"
)

// agentHooks are the chain's agent callbacks for ADK.
type agentHooks struct {
	c *Chain
	// wrapped says that an agentWrapper tells of the agent's end.
	wrapped bool
}

// before refuses with content, not with an error: an error there lets a sequence
// go on where the consumer goes on.
func (a agentHooks) before(ctx agent.Context) (*genai.Content, error) {
	run := runOrNil(ctx)
	if run != nil && run.stopped.Load() != nil {
		// The stop was told where it happened; here only the agent must not start.
		return &genai.Content{Role: genai.RoleModel}, nil
	}
	if run != nil {
		run.values.Delete(failureID(placeOf(ctx)))
	}
	for _, h := range a.c.h.beforeAgent {
		content, err := callAgentHook(h.f, ctx)
		if h.monitored {
			note(a.c, ctx, agentEvent(ctx), h.guard, content != nil, err)
			continue
		}
		if err != nil {
			return a.refuse(ctx, run, h.guard, err), nil
		}
		if content != nil {
			return content, nil
		}
	}
	return nil, nil
}

func callAgentHook(f func(agent.Context) (*genai.Content, error), ctx agent.Context) (content *genai.Content, err error) {
	defer func() {
		if p := recover(); p != nil {
			content, err = nil, newPanicError(p)
		}
	}()
	return f(ctx)
}

func (a agentHooks) refuse(ctx agent.Context, run *Run, guard string, err error) *genai.Content {
	lang := langOf(run)
	r := refusalOf(lang, err)
	ev := agentEvent(ctx)
	ev.Outcome, ev.Guard, ev.Code, ev.Reason, ev.Err = OutcomeRefused, guard, r.Code, r.reason(), r.Unwrap()
	if isPanic(err) {
		ev.Outcome = OutcomePanicked
	}
	if run != nil && (r.scope == scopeRun || run.refusedAgain(ev.place())) {
		ev.Stop = run.stop(ev.Agent, guard, r)
	}
	a.c.observe(plainContext(ctx), &ev)
	return genai.NewContentFromText(text.Get(lang, text.GuardPrefix)+r.Text, genai.RoleModel)
}

func (a agentHooks) after(ctx agent.Context) (*genai.Content, error) {
	for _, h := range a.c.h.afterAgent {
		content, err := callAgentHook(h.f, ctx)
		if h.monitored {
			note(a.c, ctx, agentEvent(ctx), h.guard, content != nil, err)
			continue
		}
		if err != nil {
			return a.refuse(ctx, runOrNil(ctx), h.guard, err), nil
		}
		if content != nil {
			return content, nil
		}
	}
	if !a.wrapped {
		ev := agentEvent(ctx)
		a.c.observe(plainContext(ctx), &ev)
	}
	return nil, nil
}

func agentEvent(ctx agent.Context) Event {
	ev := Event{Step: StepAgent, Outcome: OutcomeAllowed, Start: time.Now()}
	if ctx != nil {
		ev.Invocation, ev.Agent, ev.Branch = ctx.InvocationID(), ctx.AgentName(), ctx.Branch()
	}
	return ev
}

// wrapAgent puts the guards' agent wrappers around a, the first outermost, and
// innermost one that tells of the agent's end. A panic anywhere in it comes out as an
// error: ADK runs children of a parallel agent on bare goroutines.
func (c *Chain) wrapAgent(a agent.Agent) agent.Agent {
	out := agent.Agent(&toldAgent{Agent: &safeAgent{a}, c: c})
	for i := len(c.guards) - 1; i >= 0; i-- {
		if wrap := c.guards[i].WrapAgent; wrap != nil {
			out = &safeAgent{wrap(out)}
		}
	}
	return out
}

func (c *Chain) wrapsAgents() bool {
	if c == nil {
		return false
	}
	for _, g := range c.guards {
		if g.WrapAgent != nil {
			return true
		}
	}
	return false
}

// toldAgent tells the observers how its agent ended.
type toldAgent struct {
	agent.Agent
	c *Chain
}

// Run implements agent.Agent.
func (t *toldAgent) Run(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		ev := Event{Step: StepAgent, Outcome: OutcomeAllowed, Start: time.Now(), Invocation: ctx.InvocationID(), Agent: t.Name(), Branch: ctx.Branch()}
		defer func() {
			if ev.Outcome == OutcomeAllowed && RunOf(ctx).isStopped() {
				ev.Outcome, ev.Code = OutcomeRefused, CodeRunStopped
			}
			ev.Duration = time.Since(ev.Start)
			t.c.observe(ctx, &ev)
		}()
		for e, err := range t.Agent.Run(ctx) {
			if err != nil {
				ev.Outcome, ev.Code, ev.Err = OutcomeFailed, CodeAgentFailed, err
				if isPanic(err) {
					ev.Outcome, ev.Code = OutcomePanicked, CodeAgentPanicked
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// safeAgent makes an error of its agent's panic.
type safeAgent struct{ agent.Agent }

// Run implements agent.Agent.
func (s *safeAgent) Run(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		// A panic that comes up from the consumer is not the agent's.
		inConsumer := false
		give := func(e *session.Event, err error) bool {
			inConsumer = true
			ok := yield(e, err)
			inConsumer = false
			return ok
		}
		defer func() {
			if inConsumer {
				return
			}
			if p := recover(); p != nil {
				give(nil, newPanicError(p))
			}
		}()
		for e, err := range s.Agent.Run(ctx) {
			if !give(e, err) {
				return
			}
		}
	}
}

func (r *Run) isStopped() bool { return r != nil && r.stopped.Load() != nil }
