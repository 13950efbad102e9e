// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/counters"
)

// BudgetScope is how far a budget reaches when it is used up.
type BudgetScope int

const (
	// ScopeAgent ends the agent that asked for one call too many. It is the zero
	// value.
	ScopeAgent BudgetScope = iota
	// ScopeRun stops the whole Run.
	ScopeRun
)

// Defaults of a [CallBudget], by scope. On a Run there is no default for tokens.
const (
	DefaultAgentCalls  = 6
	DefaultAgentTokens = 40_000
	DefaultAgentTime   = 90 * time.Second
	DefaultRunCalls    = 25
	DefaultRunTime     = 300 * time.Second
)

// Unlimited is no limit, in [CallBudgetOptions], as Time too.
const Unlimited = math.MaxInt

// unlimitedTime is more than any run takes: where an int has 32 bits Unlimited nanoseconds
// are two seconds.
const unlimitedTime time.Duration = math.MaxInt64

// CallBudgetOptions are the options of [CallBudget]. A negative limit is an error.
type CallBudgetOptions struct {
	// Calls is how many model calls are allowed. Zero means the default of the scope: 6
	// for an agent, 25 for a Run.
	Calls int
	// ToolCalls is how many tool calls are allowed, all tools together; PerTool how many
	// of one tool, by name. Zero and absent mean any number. One call too many is refused
	// by itself: the model reads so and can still answer. ADK's own tools, those that
	// [AllowTools] lets through, are not counted.
	ToolCalls int
	PerTool   map[string]int
	// Tokens is how many tokens the calls may use together: input, output and thinking,
	// added up over the calls. It is checked before a call, so the call that passes it
	// is the last. Zero means 40,000 for an agent and any number for a Run. Where a model
	// reports no usage it is estimated from the text at four bytes a token, and the
	// reason says "estimated".
	Tokens int
	// Time is how long after the first call a further one may begin; what is running is
	// not cut, see [Deadline]. Zero means 90 s for an agent and 300 s for a Run.
	Time time.Duration
	// SessionCalls and UserCalls cap the model calls of all Runs of one session and of
	// one user. Zero means any number. They live in Store, from their first use for as
	// long as it keeps a counter: 24 hours by default.
	SessionCalls, UserCalls int
	// Scope is what happens at the limit. Zero is ScopeAgent. As a plugin the budget is
	// always the Run's.
	Scope BudgetScope
	// Tell adds a line at the end of each request that says what is left; what a prompt
	// cache keeps stays as it is. False tells nothing.
	Tell bool
	// Store is where the counts are. Nil is this process's memory: that of the Run, and
	// for SessionCalls and UserCalls that of the guard. The clock is each process's own.
	// Where the store fails the call is refused; wrap it in [counters.Fallback] to go on
	// with a local count.
	Store counters.Store
	// RunKey names the Run towards Store, so that several processes that serve one run
	// share its counts. Nil is the Run's random ID, which no other process has.
	RunKey func(context.Context) (string, error)
}

// CallBudget allows calls model calls, and 40,000 tokens and 90 seconds, within a Run to the
// agent it is attached to and then ends that agent. N allowed means that N calls reach the model, never
// one more, also under parallel agents and with retries inside the chain. As a
// plugin it bounds the whole Run and stops it. For other bounds of tokens and time, or none,
// see [CallBudgetOptions]; checked before each call are calls, tokens and time, in this
// order.
//
// One guard value is one account: put on three agents, the three share it. The
// count dies with its Run. Every tool call of the model stays answered, so the history
// of an ended agent is one a provider accepts.
//
// Choose the limit from the measured normal course plus a margin: an agent that looks
// one thing up needs 2 calls, 8 are usual, one that works in several steps may need 10.
//
// Put it after guards that refuse calls: a slot taken for a call that a later guard
// refuses comes back, but until then it is missing to parallel calls.
//
// It does not bound money or the calls of an agent it is not attached to. In plain ADK
// its hook counts calls and time only. It fails closed. Where a plugin of somebody
// else's answers in the model's place after this guard took a slot, the slot stays
// taken: it never errs upwards.
//
// Use it on every agent; for a limit of time alone use [Deadline], for calls in a stretch of
// time [RateLimit], for money [Spend].
func CallBudget(calls int) callbacks.Guard {
	if calls == 0 {
		return callbacks.Guard{Name: callBudgetName, Err: fmt.Errorf("guards: CallBudget(0) would refuse every call; leave Calls of CallBudgetOptions zero for the default of %d", DefaultAgentCalls)}
	}
	return CallBudgetOptions{Calls: calls}.Guard()
}

const (
	callBudgetName    = "call_budget"
	runCallBudgetName = "run_call_budget"
)

// Guard returns the guard that [CallBudget] describes, with these options.
func (o CallBudgetOptions) Guard() callbacks.Guard {
	if err := o.check(); err != nil {
		return callbacks.Guard{Name: callBudgetName, Err: err}
	}
	o.PerTool = maps.Clone(o.PerTool)
	a := newAccount(o.Store)
	if a.lasting == nil {
		a.lasting = counters.NewMemory()
	}
	g := callBudget(o, a)
	g.ForPlugin = func() callbacks.Guard {
		run := o
		run.Scope = ScopeRun
		return callBudget(run, a)
	}
	return g
}

func (o CallBudgetOptions) check() error {
	var errs []error
	for _, l := range []struct {
		name  string
		limit int64
	}{
		{"Calls", int64(o.Calls)},
		{"ToolCalls", int64(o.ToolCalls)},
		{"Tokens", int64(o.Tokens)},
		{"Time", int64(o.Time)},
		{"SessionCalls", int64(o.SessionCalls)},
		{"UserCalls", int64(o.UserCalls)},
	} {
		if l.limit < 0 {
			errs = append(errs, fmt.Errorf("guards: CallBudget: %s is %d", l.name, l.limit))
		}
	}
	for name, n := range o.PerTool {
		if name == "" || n <= 0 {
			errs = append(errs, fmt.Errorf("guards: CallBudget: %d calls of the tool %q; use AllowTools to refuse a tool", n, name))
		}
	}
	if o.Scope != ScopeAgent && o.Scope != ScopeRun {
		errs = append(errs, fmt.Errorf("guards: CallBudget: unknown scope %d", o.Scope))
	}
	return errors.Join(errs...)
}

func callBudget(o CallBudgetOptions, a *account) callbacks.Guard {
	b := &budget{CallBudgetOptions: o.withDefaults(), account: a, name: callBudgetName}
	if o.Scope == ScopeRun {
		b.name = runCallBudgetName
	}
	g := callbacks.Guard{
		Name:        b.name,
		BeforeModel: b.before,
		WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return b.wrapModel(next)
		},
		Observe: b.observe,
		Info: func() callbacks.Info {
			info := callbacks.Info{
				OnlyJudges: true,
				Limits:     b.limits(),
				// Without the wrapper, as a plugin, retries inside the chain are not
				// seen, but then there are none: a plugin wraps no model.
				Needs:    []inspect.Hook{inspect.BeforeModel, inspect.Observe},
				After:    slices.Clone(bringsCalls),
				MaxCalls: b.Calls, WholeRun: b.Scope == ScopeRun, Account: b.account,
			}
			if b.Scope == ScopeAgent { // agents of a Run need not all have the tool
				info.Tools = slices.Sorted(maps.Keys(b.PerTool))
			}
			if b.Tell {
				info.After = append(info.After, isolateName)
			}
			return info
		},
	}
	if o.ToolCalls > 0 || len(o.PerTool) > 0 {
		g.BeforeTool = b.beforeTool
	}
	return g
}

func (o CallBudgetOptions) withDefaults() CallBudgetOptions {
	calls, tokens, limit := DefaultAgentCalls, DefaultAgentTokens, DefaultAgentTime
	if o.Scope == ScopeRun {
		calls, tokens, limit = DefaultRunCalls, Unlimited, DefaultRunTime
	}
	if o.Calls == 0 {
		o.Calls = calls
	}
	if o.Tokens == 0 {
		o.Tokens = tokens
	}
	if o.Time == 0 {
		o.Time = limit
	}
	if o.Time == Unlimited {
		o.Time = unlimitedTime
	}
	return o
}

// limits are the budget's limits as people read them.
func (b *budget) limits() []string {
	per := "per agent"
	if b.Scope == ScopeRun {
		per = "per run"
	}
	var out []string
	add := func(n int, unit string) {
		if n > 0 && n < Unlimited {
			out = append(out, fmt.Sprintf("%d %s", n, unit))
		}
	}
	add(b.Calls, "model calls "+per)
	add(b.Tokens, "tokens "+per)
	if b.Time != unlimitedTime {
		out = append(out, seconds(b.Time)+" "+per)
	}
	add(b.ToolCalls, "tool calls "+per)
	for _, name := range slices.Sorted(maps.Keys(b.PerTool)) {
		add(b.PerTool[name], "calls of "+name+" "+per)
	}
	add(b.SessionCalls, "model calls per session")
	add(b.UserCalls, "model calls per user")
	return out
}
