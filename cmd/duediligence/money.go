// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/keptrun"
)

// limits are those that the flags set; zero is no gate. A model whose calls have no price is
// refused here, before the first of them would be.
func (j *job) limits() (ledger.Limits, error) {
	limits, err := j.amounts()
	if err == nil && limits.Hard > 0 {
		err = j.priced()
	}
	return limits, err
}

// priced refuses a model whose calls the price table can't bound.
func (j *job) priced() error {
	table, err := j.prices()
	if err != nil {
		return err
	}
	now := time.Now()
	backend, name := models.Billed(j.model.Name)
	quote, err := table.Quote(prices.Query{Backend: backend, Model: name}, now, now.Add(ledger.DefaultLease))
	if err == nil {
		_, err = quote.WorstCase(prices.Bound{Input: 1, Output: 1, TextInput: true, TextOutput: !quote.ImagesCostMore()})
	}
	if err != nil {
		return refuseIn(j.lang, text.BudgetUnpriced, j.model.Name, err)
	}
	return nil
}

// amounts are the limits as they are written.
func (c *config) amounts() (ledger.Limits, error) {
	var limits ledger.Limits
	if c.budget == "" {
		if c.softBudget != "" || c.targetBudget != "" {
			return limits, refuse("--soft-budget and --target-budget need --budget")
		}
		return limits, nil
	}
	if c.model.Name == models.Offline {
		return limits, refuse("--budget: the offline model costs nothing")
	}
	for _, l := range []struct {
		value *string
		to    *ledger.Nano
	}{{&c.budget, &limits.Hard}, {&c.softBudget, &limits.Soft}, {&c.targetBudget, &limits.Target}} {
		if *l.value == "" {
			continue
		}
		n, err := ledger.ParseUSD(*l.value)
		if err != nil {
			return limits, refuse("%s: %v", c.named(l.value), err)
		}
		*l.to = n
	}
	if err := (ledger.Opening{Account: "run", Limits: limits}).Check(); err != nil {
		return limits, refuse("--budget: %v", err)
	}
	return limits, nil
}

// spend makes the money gate that the flags ask for, or none, on a ledger that is open
// already, where there is one.
func (j *job) spend(ctx context.Context, open ledger.Ledger) (callbacks.Guard, error) {
	limits, err := j.limits()
	if err != nil || limits.Hard == 0 {
		return callbacks.Guard{}, err
	}
	o := guards.SpendOptions{Approve: j.approve, OnTarget: j.onTarget, Limits: limits}
	o.Backend, _ = models.Billed(j.model.Name)
	if o.Prices, err = j.prices(); err != nil {
		return callbacks.Guard{}, err
	}
	if o.Ledger = open; open == nil {
		if o.Ledger, err = j.openLedger(ctx); err != nil {
			return callbacks.Guard{}, err
		}
	}
	if j.kept != nil {
		account := j.kept.Account()
		o.Account = func(*callbacks.Run) ledger.AccountID { return account }
		if o.Limits, err = j.openAccount(ctx, o.Ledger, limits); err != nil {
			return callbacks.Guard{}, err
		}
	}
	j.hard = o.Limits.Hard
	o.Slices = agents.Slices(j.hard)
	g := guards.Spend(o)
	if g.Err != nil {
		return callbacks.Guard{}, refuse("--budget: %v", g.Err)
	}
	return g, nil
}

// openAccount opens a kept run's account, or finds it with what it has spent, raises its
// limit where --budget says so, and returns the limits it has now.
func (j *job) openAccount(ctx context.Context, l ledger.Ledger, first ledger.Limits) (ledger.Limits, error) {
	b, err := l.Open(ctx, ledger.Opening{Account: j.kept.Account(), Limits: first})
	if err != nil {
		return first, refuse("%s: %v", j.ledgerNamed(), err)
	}
	if j.raise == "" {
		return b.Limits, nil
	}
	limits, err := keptrun.Raised(b, j.raise)
	if little, ok := errors.AsType[*keptrun.TooLittleError](err); ok {
		return first, refuseIn(j.lang, text.ResumeTooLittle, little.Limit.String(), little.Used.String())
	}
	if errors.Is(err, keptrun.ErrAddsNothing) {
		return first, refuseIn(j.lang, text.ResumeAddsNothing, j.raise)
	}
	if err == nil {
		b, err = l.Adjust(ctx, ledger.Adjustment{Account: j.kept.Account(), Approval: "resume-" + rand.Text(), Limits: limits})
	}
	if err != nil {
		return first, refuse("--budget: %v", err)
	}
	return b.Limits, nil
}

// approval puts the question of a soft limit on a terminal; elsewhere nobody is asked and
// the run ends there.
func (j *job) approval(stdin io.Reader) {
	if terminal(j.p.w) == nil || !isTerminalInput(stdin) {
		return
	}
	p := j.p
	j.approve = func(_ context.Context, d *ledger.DeniedError) bool { return p.approve(d, stdin) }
}

func (p *printer) approve(d *ledger.DeniedError, stdin io.Reader) bool {
	limits := d.Balance.Limits
	question := text.Get(p.lang, text.CmdApprove, d.Balance.Used().String(), limits.Soft.String(), limits.Hard.String())
	ask := func() bool {
		fmt.Fprint(p.w, question)
		answer, _ := bufio.NewReader(stdin).ReadString('\n') // an end without an answer is a no
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes", "o", "oui":
			return true
		}
		return false
	}
	if p.live != nil {
		return p.live.pause(ask)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return ask()
}

// passed tells that the expected cost was passed.
func (p *printer) passed(_ context.Context, r ledger.Receipt) {
	p.later(text.Get(p.lang, text.CmdTarget, r.Balance.Limits.Target.String(), r.Balance.Used().String()))
}

// spent tells what the run cost, by agent and model.
func (p *printer) spent(o *pipeline.Outcome) {
	var total, reserved ledger.Nano
	for _, l := range o.Spent {
		p.line("  %-22s %-18s %s", l.Agent, l.What, text.Get(p.lang, text.CmdSpentLine, l.Calls, l.Refused, l.Charged.String(), l.Reserved.String(), l.Estimated.String(), int(100*l.CachedShare())))
		if l.Overrun > 0 {
			p.line("  %-22s %-18s %s", "", "", text.Get(p.lang, text.CmdOverrun, l.Overrun.String()))
		}
		total += l.Charged
		reserved += l.Reserved
	}
	if len(o.Spent) > 0 {
		p.line("%s", text.Get(p.lang, text.CmdSpent, total.String(), reserved.String()))
	}
}
