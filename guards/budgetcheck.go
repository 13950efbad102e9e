// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// A budget is one form of a CallBudget at work.
type budget struct {
	CallBudgetOptions
	*account
	name string
}

// before takes a slot for the call that is about to be made.
func (b *budget) before(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	plain := contextOf(ctx)
	left, err := b.admit(plain, callbacks.PlaceOf(ctx), true)
	if err != nil {
		return nil, err
	}
	if b.Tell && req != nil {
		line := genai.NewContentFromText(b.told(langOf(plain), left), genai.RoleUser)
		req.Contents = append(slices.Clip(req.Contents), line)
	}
	return nil, nil
}

// whatIsLeft is what remains after a call that was admitted.
type whatIsLeft struct {
	calls, tokens int64
	time          time.Duration
}

// admit takes a slot for one model call at p, or says why not. hold keeps the slot
// for the call that follows.
func (b *budget) admit(ctx context.Context, p callbacks.Place, hold bool) (whatIsLeft, error) {
	r := b.key.Of(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	meters, err := b.modelMeters(ctx, r)
	if err != nil {
		return whatIsLeft{}, b.broken(ctx, err)
	}
	kept := b.keptForLanding(ctx, p)
	full, used, left, err := takeAll(ctx, meters, kept)
	switch {
	case err != nil:
		return whatIsLeft{}, b.broken(ctx, err)
	case full != nil:
		detail := fmt.Sprintf("calls: %d/%d", used, full.limit)
		if full == &meters[0] && kept > 0 && used < full.limit {
			// The calls left are another agent's to answer with: stopping the Run here would
			// take them from it.
			refusal := b.end(ctx, codes.CallsExhausted, fmt.Sprintf("%s, %d kept for landing", detail, kept))
			if b.Scope == ScopeRun {
				callbacks.RunOf(ctx).MarkShort(p.Agent, refusal)
			}
			return whatIsLeft{}, refusal
		}
		return whatIsLeft{}, b.refuse(ctx, codes.CallsExhausted, detail)
	}
	tokens, err := b.spent(ctx, r, 0)
	if err != nil {
		giveBack(ctx, meters)
		return whatIsLeft{}, b.broken(ctx, err)
	}
	now := time.Now()
	if r.begin.IsZero() {
		r.begin = now
	}
	elapsed := now.Sub(r.begin)
	switch {
	case tokens >= int64(b.Tokens):
		giveBack(ctx, meters)
		detail := fmt.Sprintf("tokens: %d/%d", tokens, b.Tokens)
		if r.estimated {
			detail += ", estimated"
		}
		return whatIsLeft{}, b.refuse(ctx, codes.TokensExhausted, detail)
	case elapsed >= b.Time:
		giveBack(ctx, meters)
		return whatIsLeft{}, b.refuse(ctx, codes.TimeExhausted, fmt.Sprintf("time: %s elapsed", seconds(b.Time)))
	}
	at := b.at.At(ctx, p)
	at.draws, at.last = true, left <= 0
	if hold {
		at.held, at.wrapped = true, false
	}
	noteLeft(ctx, p, b, left)
	return whatIsLeft{left, int64(b.Tokens) - tokens, b.Time - elapsed}, nil
}

// keptForLanding is how many calls other agents that draw on the account still have
// coming for their answers.
func (b *budget) keptForLanding(ctx context.Context, p callbacks.Place) int64 {
	var kept int64
	for other, l := range landersKey.All(ctx) {
		if other == p || !l.owed() {
			continue
		}
		if at := b.at.At(ctx, other); at.draws && !at.last {
			kept++
		}
	}
	return kept
}

var budgetTexts = map[codes.Code][2]text.Key{
	codes.CallsExhausted:  {text.BudgetCallsAgent, text.BudgetCallsRun},
	codes.TokensExhausted: {text.BudgetTokensAgent, text.BudgetTokensRun},
	codes.TimeExhausted:   {text.BudgetTimeAgent, text.BudgetTimeRun},
	codes.CountersFailed:  {text.BudgetBrokenAgent, text.BudgetBrokenRun},
}

func (b *budget) refuse(ctx context.Context, code codes.Code, detail string) *callbacks.Refusal {
	if b.Scope == ScopeRun {
		return callbacks.Stop(code, text.Get(langOf(ctx), budgetTexts[code][1])).Graceful().WithDetail(detail).By(b.name)
	}
	return b.end(ctx, code, detail)
}

func (b *budget) end(ctx context.Context, code codes.Code, detail string) *callbacks.Refusal {
	return callbacks.End(code, text.Get(langOf(ctx), budgetTexts[code][0])).WithDetail(detail).By(b.name)
}

func (b *budget) broken(ctx context.Context, err error) *callbacks.Refusal {
	return b.refuse(ctx, codes.CountersFailed, "").WithStatus(callbacks.StatusFailed).WithCause(err)
}

// beforeTool takes a slot for a tool call. Calls that were refused take none.
func (b *budget) beforeTool(ctx agent.Context, t tool.Tool, _ map[string]any) (map[string]any, error) {
	if slices.Contains(adkTools, t.Name()) {
		return nil, nil
	}
	plain := contextOf(ctx)
	r := b.key.Of(plain)
	r.mu.Lock()
	defer r.mu.Unlock()
	meters, err := b.toolMeters(plain, r, t.Name())
	if err != nil {
		return nil, b.toolRefusal(plain, codes.CountersFailed, "").WithCause(err)
	}
	full, used, _, err := takeAll(plain, meters, 0)
	switch {
	case err != nil:
		return nil, b.toolRefusal(plain, codes.CountersFailed, "").WithCause(err)
	case full != nil:
		what := "tool calls"
		if full != &meters[0] || b.ToolCalls == 0 {
			what = "calls of " + t.Name()
		}
		return nil, b.toolRefusal(plain, codes.ToolCallsExhausted, fmt.Sprintf("%s: %d/%d", what, used, full.limit))
	}
	if ctx != nil {
		b.at.At(plain, callbacks.PlaceOf(ctx)).heldTools[newHeldTool(ctx, ctx.FunctionCallID(), t.Name())] = true
	}
	return nil, nil
}

func (b *budget) toolMeters(ctx context.Context, r *budgetRun, name string) ([]meter, error) {
	store, key, err := b.runCounters(ctx, r)
	if err != nil {
		return nil, err
	}
	var meters []meter
	if b.ToolCalls > 0 {
		meters = append(meters, meter{store, key + "tools", int64(b.ToolCalls)})
	}
	if n, ok := b.PerTool[name]; ok {
		meters = append(meters, meter{store, key + "tool:" + name, int64(n)})
	}
	return meters, nil
}

func (b *budget) toolRefusal(ctx context.Context, code codes.Code, detail string) *callbacks.Refusal {
	key := text.BudgetToolCalls
	if code == codes.CountersFailed {
		key = text.BudgetBrokenTool
	}
	return callbacks.Deny(code, text.Get(langOf(ctx), key)).WithDetail(detail)
}

// observe gives back the slot of a step that never reached its model or tool, because
// a later hook answered in its place.
func (b *budget) observe(ctx context.Context, ev callbacks.Event) {
	switch ev.Step {
	case callbacks.StepModel:
		if wrapped := b.settle(ctx, ev.Place(), ev.Attempt > 0); ev.Attempt > 0 && !wrapped {
			// A plugin and a guard that is only monitored stand around no model.
			b.charge(ctx, ev.Usage, nil, ev.Response)
		}
	case callbacks.StepTool:
		b.settleTool(ctx, ev.Place(), newHeldTool(ctx, ev.CallID, ev.Tool), ev.Called)
	}
}

// settle reports whether a wrapper charges the call.
func (b *budget) settle(ctx context.Context, p callbacks.Place, called bool) (wrapped bool) {
	r, at := b.key.Of(ctx), b.at.At(ctx, p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if at.held && !called {
		at.last = false
		if meters, err := b.modelMeters(ctx, r); err == nil {
			giveBack(ctx, meters)
		}
	}
	at.held = false
	return at.wrapped
}

func (b *budget) settleTool(ctx context.Context, p callbacks.Place, c heldTool, called bool) {
	r, at := b.key.Of(ctx), b.at.At(ctx, p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !at.heldTools[c] {
		return
	}
	delete(at.heldTools, c)
	if meters, err := b.toolMeters(ctx, r, c.tool); err == nil && !called {
		giveBack(ctx, meters)
	}
}
