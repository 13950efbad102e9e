// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// Scope is how far a budget reaches when it is used up.
type Scope int

const (
	// ScopeAgent ends the agent that asked for one call too many. It is the zero
	// value.
	ScopeAgent Scope = iota
	// ScopeRun stops the whole Run.
	ScopeRun
)

// Default model calls of a [CallBudget].
const (
	DefaultAgentCalls = 6
	DefaultRunCalls   = 25
)

// CodeCallsExhausted is the code of a refusal by a [CallBudget].
const CodeCallsExhausted = string(callbacks.StatusCallsExhausted)

// CallBudgetOptions are the options of [CallBudgetWith].
type CallBudgetOptions struct {
	// Calls is how many model calls are allowed. Zero means the default of the
	// scope; a negative number is an error.
	Calls int
	// Scope is what happens at the limit. Zero is ScopeAgent. As a plugin the
	// budget is always the Run's.
	Scope Scope
}

// CallBudget allows calls model calls within a Run to the agent it is attached to
// and then ends that agent. N allowed means that N calls reach the model, never
// one more, also under parallel agents and with retries inside the chain. As a
// plugin it bounds the whole Run and stops it.
//
// One guard value is one account: put on three agents, the three share it. The
// count dies with its Run. Choose the limit from a measured normal course plus a
// margin.
//
// It does not bound tokens, money or the calls of an agent it is not attached to.
// It fails closed. Where a plugin of somebody else's answers in the model's place
// after this guard took a slot, the slot stays taken: it never errs upwards.
func CallBudget(calls int) callbacks.Guard {
	if calls == 0 {
		return callbacks.Guard{Name: callBudgetName, Err: fmt.Errorf("guards: CallBudget(0) would refuse every call; leave Calls of CallBudgetOptions zero for the default of %d", DefaultAgentCalls)}
	}
	return CallBudgetWith(CallBudgetOptions{Calls: calls})
}

const (
	callBudgetName    = "call_budget"
	runCallBudgetName = "run_call_budget"
)

// CallBudgetWith is [CallBudget] with options.
func CallBudgetWith(o CallBudgetOptions) callbacks.Guard {
	if o.Calls < 0 {
		return callbacks.Guard{Name: callBudgetName, Err: fmt.Errorf("guards: CallBudget: %d calls", o.Calls)}
	}
	if o.Scope != ScopeAgent && o.Scope != ScopeRun {
		return callbacks.Guard{Name: callBudgetName, Err: fmt.Errorf("guards: CallBudget: unknown scope %d", o.Scope)}
	}
	key := callbacks.NewKey(newCallCounter)
	g := callBudget(o, key)
	asPlugin := o
	asPlugin.Scope = ScopeRun
	g.ForPlugin = func() callbacks.Guard { return callBudget(asPlugin, key) }
	return g
}

func callBudget(o CallBudgetOptions, key *callbacks.Key[*callCounter]) callbacks.Guard {
	b := &budget{max: o.Calls, scope: o.Scope, counter: key}
	if b.max == 0 {
		b.max = DefaultAgentCalls
		if b.scope == ScopeRun {
			b.max = DefaultRunCalls
		}
	}
	name := callBudgetName
	if b.scope == ScopeRun {
		name = runCallBudgetName
	}
	return callbacks.Guard{
		Name:        name,
		BeforeModel: b.before,
		WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return &budgetedModel{LLM: next, b: b}
		},
		Observe: b.observe,
		Info: func() callbacks.Info {
			unit := "per agent"
			if b.scope == ScopeRun {
				unit = "per run"
			}
			return callbacks.Info{
				Limits: []string{fmt.Sprintf("%d model calls %s", b.max, unit)},
				// Without the wrapper, as a plugin, retries inside the chain are not
				// seen, but then there are none: a plugin wraps no model.
				Needs: []callbacks.Hook{callbacks.HookBeforeModel, callbacks.HookObserve},
				After: []string{reaskName},
			}
		},
	}
}

type budget struct {
	max     int
	scope   Scope
	counter *callbacks.Key[*callCounter]
}

// before takes a slot for the call that is about to be made.
func (b *budget) before(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
	c := b.counter.Of(contextOf(ctx))
	if used, ok := c.take(b.max, stepOf(ctx)); !ok {
		return nil, b.refusal(callbacks.RunOf(contextOf(ctx)), used)
	}
	return nil, nil
}

func (b *budget) refusal(run *callbacks.Run, used int) *callbacks.Refusal {
	lang := text.English
	if run != nil {
		lang = text.Parse(run.Lang())
	}
	detail := fmt.Sprintf("calls: %d/%d", used, b.max)
	if b.scope == ScopeRun {
		return callbacks.Stop(CodeCallsExhausted, text.Get(lang, text.BudgetCallsRun)).WithDetail(detail)
	}
	return callbacks.End(CodeCallsExhausted, text.Get(lang, text.BudgetCallsAgent)).WithDetail(detail)
}

// observe gives the slot back of a step that never reached the model, because a
// later hook answered in its place.
func (b *budget) observe(ctx context.Context, ev callbacks.Event) {
	if ev.Step == callbacks.StepModel {
		b.counter.Of(ctx).settle(step{ev.Invocation, ev.Branch, ev.Agent}, ev.Attempt > 0)
	}
}

// budgetedModel counts the attempts beyond the first, which guards that stand
// outside this one make: retries and fallbacks.
type budgetedModel struct {
	model.LLM
	b *budget
}

// GenerateContent implements model.LLM.
func (m *budgetedModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	s, ok := callbacks.CurrentStep(ctx)
	c := m.b.counter.Of(ctx)
	if ok && c.use(step{s.Invocation, s.Branch, s.Agent}) {
		return m.LLM.GenerateContent(ctx, req, stream)
	}
	if used, ok := c.takeOne(m.b.max); !ok {
		return func(yield func(*model.LLMResponse, error) bool) {
			yield(nil, m.b.refusal(callbacks.RunOf(ctx), used))
		}
	}
	return m.LLM.GenerateContent(ctx, req, stream)
}

// step names one agent's place in a run; it makes one model call at a time.
type step struct{ invocation, branch, agent string }

func stepOf(ctx agent.Context) step {
	if ctx == nil {
		return step{}
	}
	return step{ctx.InvocationID(), ctx.Branch(), ctx.AgentName()}
}

// callCounter counts calls of one Run. held are slots taken for a step whose
// call has not begun.
type callCounter struct {
	mu   sync.Mutex
	used int
	held map[step]bool
}

func newCallCounter() *callCounter { return &callCounter{held: make(map[step]bool)} }

func (c *callCounter) take(limit int, s step) (used int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used >= limit {
		return c.used, false
	}
	c.used++
	c.held[s] = true
	return c.used, true
}

func (c *callCounter) takeOne(limit int) (used int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used >= limit {
		return c.used, false
	}
	c.used++
	return c.used, true
}

func (c *callCounter) use(s step) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.held[s]
	delete(c.held, s)
	return held
}

func (c *callCounter) settle(s step, called bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[s] && !called {
		c.used--
	}
	delete(c.held, s)
}
