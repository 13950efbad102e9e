// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/internal/text"
)

const rateLimitName = "rate_limit"

// RatePer says whose calls share one rate. Values may be combined with |: each
// combination has a rate of its own. Zero is PerTool, and PerAll for model calls.
type RatePer int

// What a rate can be of.
const (
	PerTool RatePer = 1 << iota
	PerAgent
	PerUser
	// PerAll is one rate for all together, and is not combined.
	PerAll
)

// RateLimitOptions are the options of [RateLimit].
type RateLimitOptions struct {
	// Calls may be made in each Every. Both are required.
	Calls int
	Every time.Duration
	// Burst is how many calls may be made at once after a quiet time. Zero is Calls. It does
	// not apply with a Store, where it is always Calls.
	Burst int
	// Per says whose calls share one rate.
	Per RatePer
	// Tools are the tools that are limited. Empty is all.
	Tools []string
	// Models limits model calls in place of tool calls.
	Models bool
	// Wait is how long a call may wait for its turn. Zero refuses a call at once that would
	// have to wait; so is one that would have to wait longer.
	Wait time.Duration
	// Store counts calls for several processes together. Nil is the memory of this process.
	// With a store Every is cut into fixed stretches, each with Calls of its own, so that up
	// to twice as many can fall around a boundary. Every must not be longer than the store
	// remembers. Where the store fails the call is refused;
	// see [counters.Fallback].
	Store counters.Store
	// Name tells the rates of several guards in one store apart. Empty is "rate".
	Name string
}

// RateLimit bounds how often tools are called: calls of each tool in every stretch of
// time, by anybody in this process. A call too many is refused; the model reads so and may
// do something else. See [RateLimitOptions] for rates of agents and users, of model calls,
// for waiting in place of refusing, and for several processes.
//
// The rate outlives the Run: one guard value is one rate wherever it is attached. A model
// call that is refused ends its agent. Retries and fallbacks of guards before this one are
// calls of their own. It fails closed.
//
// Use it when a service bounds calls in a stretch of time, over all runs; use [CallBudget] for
// a number of calls in one run, its PerTool for one tool.
func RateLimit(calls int, every time.Duration) callbacks.Guard {
	return RateLimitOptions{Calls: calls, Every: every, Per: PerTool}.Guard()
}

func (o RateLimitOptions) check() error {
	errs := []error{
		positive("RateLimit", "Calls", o.Calls), positive("RateLimit", "Every", o.Every),
		notNegative("RateLimit", "Burst", o.Burst), notNegative("RateLimit", "Wait", o.Wait),
	}
	if o.Per < 0 || o.Per > PerAll || o.Per&PerAll != 0 && o.Per != PerAll {
		errs = append(errs, fmt.Errorf("guards: RateLimit: Per is %d, it must be PerAll, or PerTool, PerAgent and PerUser joined with |", o.Per))
	}
	if o.Models && (len(o.Tools) > 0 || o.Per&PerTool != 0) {
		errs = append(errs, errors.New("guards: RateLimit: Models is set, and Tools or PerTool too: model calls have no tool"))
	}
	if slices.Contains(o.Tools, "") {
		errs = append(errs, errors.New("guards: RateLimit: Tools has a name that is empty"))
	}
	return errors.Join(errs...)
}

// Guard returns the guard that [RateLimit] describes, with these options.
func (o RateLimitOptions) Guard() callbacks.Guard {
	g := callbacks.Guard{Name: rateLimitName}
	if g.Err = o.check(); g.Err != nil {
		return g
	}
	if o.Per == 0 && !o.Models {
		o.Per = PerTool
	}
	if o.Burst == 0 {
		o.Burst = o.Calls
	}
	if o.Name == "" {
		o.Name = "rate"
	}
	l := &rateLimit{o: o}
	if o.Store == nil {
		l.rates = newBuckets(o)
	} else {
		l.rates = stretches{o}
	}
	after := []string{retryName, routeName}
	if o.Models {
		after = bringsCalls
	}
	g.Info = func() callbacks.Info {
		return callbacks.Info{OnlyJudges: true, Limits: []string{l.limit()}, Tools: o.Tools, After: slices.Clone(after)}
	}
	if !o.Models {
		g.BeforeTool = func(ctx agent.Context, t tool.Tool, _ map[string]any) (map[string]any, error) {
			if len(o.Tools) > 0 && !slices.Contains(o.Tools, t.Name()) {
				return nil, nil
			}
			return nil, l.pass(contextOf(ctx), l.key(ctx, t.Name()), callbacks.Deny)
		}
		return g
	}
	// The hook lets the first attempt pass, as a plugin too; the wrapper, which knows no
	// user, lets the further ones.
	first := callbacks.NewPlaceKey(func() *firstAttempt { return &firstAttempt{} })
	g.BeforeModel = func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
		key := l.key(ctx, "")
		first.At(contextOf(ctx), callbacks.PlaceOf(ctx)).begin(key)
		return nil, l.pass(contextOf(ctx), key, callbacks.End)
	}
	g.WrapModel = func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
		return l.wrapModel(next, first)
	}
	needs := g.Info
	g.Info = func() callbacks.Info {
		i := needs()
		i.Needs = []inspect.Hook{inspect.BeforeModel}
		return i
	}
	return g
}

type rateLimit struct {
	o     RateLimitOptions
	rates rates
}

// rates let calls of a key pass at their rate.
type rates interface {
	// take returns how long a call must wait until it may be tried again; 0 where it may be
	// made now. A wait beyond most takes nothing.
	take(ctx context.Context, key string, most time.Duration) (wait time.Duration, passed bool, err error)
}

// pass returns nil when the call may be made, after waiting for it where that is allowed.
func (l *rateLimit) pass(ctx context.Context, key string, refuse func(code codes.Code, text string) *callbacks.Refusal) error {
	if ctx == nil {
		ctx = context.Background()
	}
	for waited := time.Duration(0); ; {
		wait, passed, err := l.rates.take(ctx, key, l.o.Wait-waited)
		switch {
		case err != nil:
			return refuse(codes.CountersFailed, text.Get(langOf(ctx), text.RateBroken)).WithCause(err).By(rateLimitName)
		case wait > l.o.Wait-waited:
			return refuse(codes.RateLimited, text.Get(langOf(ctx), text.RateLimited)).WithDetail(l.limit()).By(rateLimitName)
		}
		if wait > 0 {
			if err := sleep(ctx, wait); err != nil {
				return refuse(codes.RateLimited, text.Get(langOf(ctx), text.RateLimited)).WithCause(err).By(rateLimitName)
			}
			waited += wait
		}
		if passed {
			return nil
		}
	}
}

func (l *rateLimit) key(ctx agent.Context, name string) string {
	if ctx == nil {
		return l.o.Name
	}
	parts := []string{l.o.Name}
	for _, p := range []struct {
		per  RatePer
		name string
	}{{PerTool, name}, {PerAgent, ctx.AgentName()}, {PerUser, ctx.UserID()}} {
		if l.o.Per&p.per != 0 {
			parts = append(parts, fmt.Sprintf("%q", p.name))
		}
	}
	return strings.Join(parts, ":")
}

func (l *rateLimit) limit() string {
	what := "tool"
	if l.o.Models {
		what = "model"
	}
	s := fmt.Sprintf("%d %s calls every %v", l.o.Calls, what, l.o.Every)
	for _, p := range []struct {
		per  RatePer
		name string
	}{{PerTool, "tool"}, {PerAgent, "agent"}, {PerUser, "user"}} {
		if l.o.Per&p.per != 0 {
			s += " per " + p.name
		}
	}
	if l.o.Wait > 0 {
		s += fmt.Sprintf(", waiting up to %v", l.o.Wait)
	}
	return s
}
