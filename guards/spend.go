// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/text"
)

const spendName = "spend"

// SpendOptions are the options of [Spend].
type SpendOptions struct {
	// Ledger keeps the accounts. Required: one that several processes share makes the
	// limit theirs together.
	Ledger ledger.Ledger
	// Limits are those of the account of each Run. Hard is required.
	Limits ledger.Limits
	// Account names the Run's account. Nil names one after the Run's id; a run that is
	// resumed names the one it had.
	Account func(*callbacks.Run) ledger.AccountID
	// Approve is asked once for each account that reaches its soft limit: true lets it go
	// on up to the hard limit. It is asked by one caller at a time and may block. Nil, or
	// false, stops the Run with status budget_exhausted.
	Approve func(ctx context.Context, denied *ledger.DeniedError) bool
	// OnTarget is told of each charge that takes an account past its target. Nil tells
	// nobody.
	OnTarget func(ctx context.Context, r ledger.Receipt)
	// Slices sets money aside for agents, from the Run's first call on; the agents that are
	// in none share the rest. See [Slice]. An account with slices serves one Run at a time.
	Slices []Slice
	// Prices quotes models. Nil is the table built into the binary.
	Prices *prices.Table
	// Backend is who bills, as the table names it: "gemini", "vertex_ai", "openai".
	// Empty is "gemini".
	Backend string
	// ToolPrices are fixed or maximum prices of tools that bill, by name.
	ToolPrices map[string]ledger.Nano
	// MinOutput is the least output worth a call, in tokens: where less is affordable
	// the call is refused. Zero is 256; negative is an error.
	MinOutput int64
	// MaxOutput is the most output asked for where neither the request nor the price
	// table has a limit. Zero is 8192.
	MaxOutput int64
	// AllowUnbounded lets requests with files, media without a size, or tools that run
	// on the provider's servers pass at the context window's price. False refuses them.
	AllowUnbounded bool
	// Lease is how long one call may take. Zero is ten minutes. A call without news by
	// then stays charged.
	Lease time.Duration
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

// A Slice is the money of one agent, or of several together: nobody else can use it, and
// they can't use more. When none of them is at work any more, what they did not use goes
// back to all; when one begins again they have what is left of their limit, as far as the
// Run still has the money. Where a Run has slices a refusal ends the agent and not the
// Run: the others have money of their own.
type Slice struct {
	// Name is the account's, beneath the Run's. Required.
	Name string
	// Agents are the names of the agents; nil is the one called Name.
	Agents []string
	// Limits are those of the slice. Hard is required.
	Limits ledger.Limits
}

// Spend is a money gate: before each model call it reserves the most the call can cost,
// and afterwards commits what it did cost. The limit of the Run's account is never
// exceeded by what was reserved, also under parallel agents, retries, fallbacks and
// agents used as tools, which all draw on one account. Where less than the whole answer
// is affordable the request asks for less output, never under MinOutput; where not even
// that is, the Run stops with status budget_exhausted. Without a ledger it stops with status
// failed and the code ledger_failed, without a price with the code cost_unbounded.
//
// What a provider documents as unbilled, an error status, gives the reservation back, and
// so does a request that provably never left; a time-out, a cancelled or cut-off call and
// an answer without a usage that covers it stay charged. In a stream the status is known
// with [TapResponseIDs] alone: without it an error at once stays charged.
//
// A reservation is good for one HTTP request. The retries and the automatic continuation of
// genai's client are turned off, those of any other client that uses net/http are stopped
// with [ErrClientRetry].
//
// The service tier that a request asks for is priced, and the one that the backend says it
// served; where it can't be told the dearest is. HTTPOptions.ExtraBody and
// ExtrasRequestProvider rewrite a request behind its bound and are refused. A body that
// belongs to a client, in genai.ClientConfig, is refused where the model shows its client,
// as ADK's does; behind a wrapper that hides it, it is not sent.
//
// It bounds what passes it: code that holds the key can call the provider without it.
// Put Spend last among the guards that wrap models, so that every attempt passes it.
// It works on agents only: a plugin sees no model. It fails closed: no price, no
// account, no ledger, no call.
//
// Use it when calls cost money; use [CallBudget] where a number of calls is limit enough.
func Spend(o SpendOptions) callbacks.Guard {
	s, err := newSpend(o)
	if err != nil {
		return callbacks.Guard{Name: spendName, Err: err}
	}
	s.chosen = callbacks.NewKey(func() *chosenAccount { return &chosenAccount{} })
	g := callbacks.Guard{
		Name: spendName,
		Observe: func(ctx context.Context, ev callbacks.Event) {
			if ev.Step == callbacks.StepAgent {
				s.ended(ctx, ev.Place())
			}
		},
		WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return s.wrapModel(next)
		},
		Info: func() callbacks.Info {
			needs := []inspect.Hook{inspect.WrapModel}
			if len(o.ToolPrices) > 0 {
				needs = append(needs, inspect.WrapTool)
			}
			return callbacks.Info{
				OnlyJudges: true,
				Limits:     []string{fmt.Sprintf("%s per run", o.Limits.Hard)}, Needs: needs,
				After: append([]string{callBudgetName, runCallBudgetName}, bringsCalls...),
			}
		},
	}
	if len(o.ToolPrices) > 0 {
		g.WrapTool = func(t tool.Tool) tool.Tool { return s.wrapTool(t) }
	}
	return g
}

func (s Slice) agents() []string {
	if s.Agents == nil {
		return []string{s.Name}
	}
	return s.Agents
}

type spend struct {
	o      SpendOptions
	chosen *callbacks.Key[*chosenAccount] // nil where the options are good for one call
}

func newSpend(o SpendOptions) (*spend, error) {
	switch {
	case o.Ledger == nil:
		return nil, errors.New("guards: Spend without a ledger")
	case o.MinOutput < 0 || o.MaxOutput < 0 || o.Lease < 0:
		return nil, errors.Join(notNegative("Spend", "MinOutput", o.MinOutput), notNegative("Spend", "MaxOutput", o.MaxOutput), notNegative("Spend", "Lease", o.Lease))
	}
	if err := checkLimits("Limits", ledger.Opening{Account: "run", Limits: o.Limits}); err != nil {
		return nil, err
	}
	set := ledger.Nano(0)
	owner := make(map[string]string)
	for _, sl := range o.Slices {
		if err := checkLimits(fmt.Sprintf("Limits of slice %q", sl.Name), ledger.Opening{Account: ledger.AccountID("run").Child(sl.Name), Limits: sl.Limits}); err != nil {
			return nil, err
		}
		for _, name := range sl.agents() {
			if other, ok := owner[name]; ok {
				return nil, fmt.Errorf("guards: Spend: %s is in the slices %s and %s", name, other, sl.Name)
			}
			owner[name] = sl.Name
		}
		set += sl.Limits.Hard
	}
	if set > o.Limits.Hard {
		return nil, fmt.Errorf("guards: Spend: the slices are %s together, the limit is %s", set, o.Limits.Hard)
	}
	if o.Prices == nil {
		o.Prices = prices.Default()
	}
	if o.Backend == "" {
		o.Backend = "gemini"
	}
	if o.MinOutput == 0 {
		o.MinOutput = 256
	}
	if o.MaxOutput == 0 {
		o.MaxOutput = 8192
	}
	if o.Lease == 0 {
		o.Lease = ledger.DefaultLease
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Account == nil {
		o.Account = func(r *callbacks.Run) ledger.AccountID { return ledger.AccountID("run-" + r.ID()) }
	}
	return &spend{o: o}, nil
}

// checkLimits says what is wrong with limits, and not with the account that only the check has.
func checkLimits(field string, o ledger.Opening) error {
	err := o.Check()
	if op, ok := errors.AsType[*ledger.OpError](err); ok {
		err = op.Err
	}
	switch {
	case err == nil:
		return nil
	case o.Limits.Hard == 0:
		return fmt.Errorf("guards: Spend: %s.Hard is $0, set the most that may be spent: %w", field, err)
	default:
		return fmt.Errorf("guards: Spend: %s: %w", field, err)
	}
}

// unboundedError is a call whose worst case nobody can say.
type unboundedError struct{ error }

func (e *unboundedError) Unwrap() error { return e.error }

// refuse turns a ledger's refusal into one of the chain. What refuses for any other
// reason, an unreachable ledger, an unknown price, refuses just as well. The end of a
// call's context is no refusal: it is what it is, and stops nothing but the call.
func (s *spend) refuse(ctx context.Context, agentName string, err error) error {
	refusal := s.refusal(ctx, agentName, err)
	if refusal == nil {
		return fmt.Errorf("guards: Spend: %w", err)
	}
	noteRefused(ctx, refusal)
	return refusal
}

// deniedDetail tells a person which account refused, by how much.
func deniedDetail(lang text.Lang, d *ledger.DeniedError) string {
	limit := d.Balance.Limits.Hard
	if errors.Is(d, ledger.ErrNeedsApproval) {
		limit = d.Balance.Limits.Soft
	}
	return text.Get(lang, text.BudgetDenied, d.Code, string(d.Account), d.Available.String(), limit.String(), d.Need.String(), d.Balance.Spent.String(), d.Balance.Held.String())
}

func (s *spend) refusal(ctx context.Context, agentName string, err error) *callbacks.Refusal {
	lang := text.Parse(callbacks.RunOf(ctx).Lang())
	var denied *ledger.DeniedError
	if errors.As(err, &denied) {
		detail := deniedDetail(lang, denied)
		if len(s.o.Slices) > 0 {
			refusal := callbacks.End(codes.BudgetExhausted, text.Get(lang, text.BudgetMoneyAgent)).WithDetail(detail).WithCause(err).By(spendName)
			callbacks.RunOf(ctx).MarkShort(agentName, refusal)
			return refusal
		}
		return callbacks.Stop(codes.BudgetExhausted, text.Get(lang, text.BudgetMoney)).Graceful().WithDetail(detail).WithCause(err).By(spendName)
	}
	if ctx.Err() != nil {
		return nil
	}
	refusal := callbacks.Stop(codes.LedgerFailed, text.Get(lang, text.BudgetNoLedger)).Graceful().WithStatus(callbacks.StatusFailed)
	if errors.As(err, new(*unboundedError)) {
		refusal = callbacks.Stop(codes.CostUnbounded, text.Get(lang, text.BudgetNoPrice)).Graceful()
	}
	return refusal.WithDetail(err.Error()).WithCause(err).By(spendName)
}
