// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/text"
)

// CodeBudgetExhausted is the code of a refusal by [Spend].
const CodeBudgetExhausted = string(callbacks.StatusBudgetExhausted)

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
	// Slices sets money aside for agents, by name; the other agents share the rest.
	Slices map[string]ledger.Limits
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

// Spend is a money gate: before each model call it reserves the most the call can cost,
// and afterwards commits what it did cost. The limit of the Run's account is never
// exceeded by what was reserved, also under parallel agents, retries, fallbacks and
// agents used as tools, which all draw on one account. Where less than the whole answer
// is affordable the request asks for less output, never under MinOutput; where not even
// that is, the Run stops with status budget_exhausted.
//
// What a provider documents as unbilled, an error status, gives the reservation back;
// a time-out, a cancelled or cut-off call and an answer without usage stay charged.
//
// It bounds what passes it: code that holds the key can call the provider without it.
// Put Spend last among the guards that wrap models, so that every attempt passes it.
// It works on agents only: a plugin sees no model. It fails closed: no price, no
// account, no ledger, no call.
func Spend(o SpendOptions) callbacks.Guard {
	s, err := newSpend(o)
	if err != nil {
		return callbacks.Guard{Name: spendName, Err: err}
	}
	g := callbacks.Guard{
		Name: spendName,
		WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return &paidModel{LLM: next, s: s}
		},
		Info: func() callbacks.Info {
			needs := []callbacks.Hook{callbacks.HookWrapModel}
			if len(o.ToolPrices) > 0 {
				needs = append(needs, callbacks.HookWrapTool)
			}
			return callbacks.Info{
				Limits: []string{fmt.Sprintf("%s per run", o.Limits.Hard)}, Needs: needs,
				After: []string{reaskName, callBudgetName, runCallBudgetName},
			}
		},
	}
	if len(o.ToolPrices) > 0 {
		g.WrapTool = func(t tool.Tool) tool.Tool { return s.wrapTool(t) }
	}
	return g
}

type spend struct {
	o       SpendOptions
	account *callbacks.Key[*runAccount]
}

func newSpend(o SpendOptions) (*spend, error) {
	switch {
	case o.Ledger == nil:
		return nil, errors.New("guards: Spend without a ledger")
	case o.MinOutput < 0 || o.MaxOutput < 0 || o.Lease < 0:
		return nil, errors.New("guards: Spend: a negative option")
	}
	if err := (ledger.Opening{Account: "check", Limits: o.Limits}).Check(); err != nil {
		return nil, fmt.Errorf("guards: Spend: %w", err)
	}
	for name, l := range o.Slices {
		if err := (ledger.Opening{Account: ledger.AccountID("check").Child(name), Limits: l}).Check(); err != nil {
			return nil, fmt.Errorf("guards: Spend: slice of %s: %w", name, err)
		}
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
	return &spend{o: o, account: callbacks.NewKey(func() *runAccount { return &runAccount{} })}, nil
}

// runAccount is the Run's account: opened when first needed, closed with the Run.
type runAccount struct {
	mu     sync.Mutex
	id     ledger.AccountID
	slices map[string]bool
	asked  map[ledger.AccountID]bool
}

// open returns the account that agent draws on.
func (s *spend) open(ctx context.Context, agentName string) (ledger.AccountID, error) {
	run := callbacks.RunOf(ctx)
	if run == nil {
		return "", errors.New("guards: Spend: no Run: start one with callbacks.Start")
	}
	a := s.account.In(run)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.id == "" {
		id := s.o.Account(run)
		if _, err := s.o.Ledger.Open(ctx, ledger.Opening{Account: id, Limits: s.o.Limits}); err != nil {
			return "", err
		}
		a.id, a.slices = id, make(map[string]bool)
		// The account is closed by whoever resumes or reports, not here: a stopped run
		// may go on under a higher limit.
	}
	limits, sliced := s.o.Slices[agentName]
	if !sliced {
		return a.id, nil
	}
	id := a.id.Child(agentName)
	if !a.slices[agentName] {
		if _, err := s.o.Ledger.Open(ctx, ledger.Opening{Account: id, Mode: ledger.Slice, Limits: limits}); err != nil {
			return "", err
		}
		a.slices[agentName] = true
	}
	return id, nil
}

// approve asks whether an account at its soft limit may go on, and raises the limit. It
// reports whether to try again.
func (s *spend) approve(ctx context.Context, err error) bool {
	var denied *ledger.DeniedError
	if s.o.Approve == nil || !errors.Is(err, ledger.ErrNeedsApproval) || !errors.As(err, &denied) {
		return false
	}
	a := s.account.In(callbacks.RunOf(ctx))
	a.mu.Lock()
	defer a.mu.Unlock()
	if yes, asked := a.asked[denied.Account]; asked {
		return yes
	}
	if a.asked == nil {
		a.asked = make(map[ledger.AccountID]bool)
	}
	a.asked[denied.Account] = false
	if !s.o.Approve(ctx, denied) {
		return false
	}
	limits := denied.Balance.Limits
	limits.Soft = 0
	// The id is good for this one decision: replaying it can't raise another limit.
	_, err = s.o.Ledger.Adjust(ctx, ledger.Adjustment{Account: denied.Account, Approval: "approval-" + rand.Text(), Limits: limits})
	a.asked[denied.Account] = err == nil
	return err == nil
}

// callsKey counts the calls of a Run, whoever pays for them.
var callsKey = callbacks.NewKey(func() *atomic.Int64 { return &atomic.Int64{} })

// key names the next attempt.
func (s *spend) key(ctx context.Context, account ledger.AccountID) ledger.Key {
	return ledger.Key{Account: account, Call: fmt.Sprintf("%s-%d", callID(ctx), callsKey.Of(ctx).Add(1)), Attempt: 1}
}

// callID tells runs apart that share an account.
func callID(ctx context.Context) string {
	if run := callbacks.RunOf(ctx); run != nil {
		return run.ID()
	}
	return "call"
}

// refuse turns a ledger's refusal into one of the chain. What refuses for any other
// reason, an unreachable ledger, an unknown price, refuses just as well.
func (s *spend) refuse(ctx context.Context, err error) *callbacks.Refusal {
	lang := text.Parse(callbacks.Lang(ctx))
	var denied *ledger.DeniedError
	if errors.As(err, &denied) {
		return callbacks.Stop(CodeBudgetExhausted, text.Get(lang, text.BudgetMoney)).WithDetail(denied.Error()).WithCause(err)
	}
	return callbacks.Stop(CodeBudgetExhausted, text.Get(lang, text.BudgetNoPrice)).WithDetail(err.Error()).WithCause(err)
}

// A SpendLine is what one agent, tool or model cost in a Run.
type SpendLine struct {
	Agent    string      `json:"agent"`
	What     string      `json:"what"` // a model or a tool
	Calls    int         `json:"calls"`
	Refused  int         `json:"refused"`
	Reserved ledger.Nano `json:"reserved"`
	Charged  ledger.Nano `json:"charged"`
	Overrun  ledger.Nano `json:"overrun"`
}

var spendLinesKey = callbacks.NewKey(func() *spendLines { return &spendLines{lines: make(map[[2]string]*SpendLine)} })

type spendLines struct {
	mu    sync.Mutex
	lines map[[2]string]*SpendLine
	order [][2]string
}

func note(ctx context.Context, agentName, what string, f func(*SpendLine)) {
	l := spendLinesKey.Of(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	k := [2]string{agentName, what}
	line, ok := l.lines[k]
	if !ok {
		line = &SpendLine{Agent: agentName, What: what}
		l.lines[k] = line
		l.order = append(l.order, k)
	}
	f(line)
}

// Spent returns what ctx's Run has cost so far, by agent and by model or tool, in the
// order they first came.
func Spent(ctx context.Context) []SpendLine {
	l := spendLinesKey.Of(ctx)
	return l.list()
}

func (l *spendLines) list() []SpendLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]SpendLine, 0, len(l.order))
	for _, k := range l.order {
		out = append(out, *l.lines[k])
	}
	return out
}

// settleContext outlives the call: a cancelled run must still say what it cost.
func settleContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}
