// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/redisledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// limits are those that the flags set; zero is no gate. A model whose calls have no price is
// refused here, before the first of them would be.
func (f *flags) limits() (ledger.Limits, error) {
	limits, err := f.amounts()
	if err == nil && limits.Hard > 0 {
		err = f.priced()
	}
	return limits, err
}

// priced refuses a model whose calls the price table can't bound.
func (f *flags) priced() error {
	table, err := f.prices()
	if err != nil {
		return err
	}
	lang, err := f.language()
	if err != nil {
		return err
	}
	now := time.Now()
	backend, name := models.Billed(f.model)
	quote, err := table.Quote(prices.Query{Backend: backend, Model: name}, now, now.Add(ledger.DefaultLease))
	if err == nil {
		_, err = quote.WorstCase(prices.Bound{Input: 1, Output: 1, TextInput: true, TextOutput: !quote.ImagesCostMore()})
	}
	if err != nil {
		return refuseIn(lang, text.BudgetUnpriced, f.model, err)
	}
	return nil
}

// amounts are the limits as they are written.
func (f *flags) amounts() (ledger.Limits, error) {
	var limits ledger.Limits
	if f.budget == "" {
		if f.softBudget != "" || f.targetBudget != "" {
			return limits, refuse("--soft-budget and --target-budget need --budget")
		}
		return limits, nil
	}
	if f.model == models.Offline {
		return limits, refuse("--budget: the offline model costs nothing")
	}
	for _, l := range []struct {
		flag, value string
		to          *ledger.Nano
	}{{"--budget", f.budget, &limits.Hard}, {"--soft-budget", f.softBudget, &limits.Soft}, {"--target-budget", f.targetBudget, &limits.Target}} {
		if l.value == "" {
			continue
		}
		n, err := ledger.ParseUSD(l.value)
		if err != nil {
			return limits, refuse("%s: %v", l.flag, err)
		}
		*l.to = n
	}
	if err := (ledger.Opening{Account: "run", Limits: limits}).Check(); err != nil {
		return limits, refuse("--budget: %v", err)
	}
	return limits, nil
}

// spend makes the money gate that the flags ask for, or none.
func (f *flags) spend(ctx context.Context) (callbacks.Guard, error) { return f.spendOn(ctx, nil) }

// spendOn is spend on a ledger that is open already, where there is one.
func (f *flags) spendOn(ctx context.Context, open ledger.Ledger) (callbacks.Guard, error) {
	limits, err := f.limits()
	if err != nil || limits.Hard == 0 {
		return callbacks.Guard{}, err
	}
	o := guards.SpendOptions{Approve: f.approve, OnTarget: f.onTarget, Limits: limits}
	o.Backend, _ = models.Billed(f.model)
	if o.Prices, err = f.prices(); err != nil {
		return callbacks.Guard{}, err
	}
	if o.Ledger = open; open == nil {
		if o.Ledger, err = f.openLedger(ctx); err != nil {
			return callbacks.Guard{}, err
		}
	}
	if f.kept != nil {
		o.Account = func(*callbacks.Run) ledger.AccountID { return f.account() }
		if o.Limits, err = f.raised(ctx, o.Ledger, limits); err != nil {
			return callbacks.Guard{}, err
		}
	}
	f.hard = o.Limits.Hard
	o.Slices = agents.Slices(f.hard)
	g := guards.Spend(o)
	if g.Err != nil {
		return callbacks.Guard{}, refuse("--budget: %v", g.Err)
	}
	return g, nil
}

// raised opens a kept run's account, or finds it with what it has spent, raises its limit
// where --budget says so, and returns the limits it has now.
func (f *flags) raised(ctx context.Context, l ledger.Ledger, first ledger.Limits) (ledger.Limits, error) {
	id, lang := f.account(), text.Parse(f.lang)
	b, err := l.Open(ctx, ledger.Opening{Account: id, Limits: first})
	if err != nil {
		return first, refuse("%s: %v", f.ledgerNamed(), err)
	}
	if f.raise == "" {
		return b.Limits, nil
	}
	more, add := strings.CutPrefix(f.raise, "+")
	n, err := ledger.ParseUSD(more)
	if err != nil {
		return first, refuse("--budget: %v", err)
	}
	if n <= 0 {
		return first, refuseIn(lang, text.ResumeAddsNothing, f.raise)
	}
	limits := b.Limits
	if add {
		n += limits.Hard
	}
	if used := b.Spent + b.Held; n < used {
		return first, refuseIn(lang, text.ResumeTooLittle, n.String(), used.String())
	}
	limits.Hard = n
	limits.Soft, limits.Target = min(limits.Soft, n), min(limits.Target, n)
	if b, err = l.Adjust(ctx, ledger.Adjustment{Account: id, Approval: "resume-" + rand.Text(), Limits: limits}); err != nil {
		return first, refuse("--budget: %v", err)
	}
	return b.Limits, nil
}

// prices is the price table, which is read once. That rows of the price file can't be used
// is reported once, too.
func (f *flags) prices() (*prices.Table, error) {
	if f.table == nil {
		if f.priceFile == "" {
			return prices.Default(), nil
		}
		own, err := readPrices(f.priceFile)
		if err != nil {
			return nil, refuse("--price-file: %s", inOneLine(err))
		}
		f.table = prices.Default().Override(own)
	}
	if n := len(f.table.Refused()); n > 0 && f.onUnusable != nil {
		f.onUnusable(n)
		f.onUnusable = nil
	}
	return f.table, nil
}

// maxPriceFile is many times the size of LiteLLM's file.
const maxPriceFile = 64 << 20

func readPrices(name string) (*prices.Table, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxPriceFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxPriceFile {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxPriceFile>>20)
	}
	// The file has no date of its own: it is as old as it was written.
	return prices.ParseLiteLLM(data, prices.LiteLLMOptions{AsOf: prices.Date(info.ModTime().UTC().Format(time.DateOnly))})
}

// inOneLine is what an error says about a price file, whatever stands in that.
func inOneLine(err error) string {
	return supplier.Clean(strings.ReplaceAll(err.Error(), "\n", "; "), maxRefusedRow)
}

// unusablePrices says how many rows of the price file can't be used: a call of such a model
// is refused, and the row may be the one that was meant.
func (p *printer) unusablePrices(file string) func(rows int) {
	return func(rows int) { p.line("%s", unusable(p.lang, file, rows)) }
}

func unusable(lang text.Lang, file string, rows int) string {
	return text.Get(lang, text.PricesUnusable, rows, "duediligence prices --price-file "+quoted(file))
}

// refusedPrices are the rows of the price file that can't be used, and why, each in a line.
func refusedPrices(table *prices.Table, filter prices.Filter) []string {
	var lines []string
	for _, err := range table.Refused() {
		var row *prices.RowError
		if filter.Model != "" && (!errors.As(err, &row) || !strings.Contains(strings.ToLower(row.Row), strings.ToLower(filter.Model))) {
			continue
		}
		lines = append(lines, inOneLine(err))
	}
	return lines
}

// maxRefusedRow is how much is shown of why a row can't be used.
const maxRefusedRow = 300

// ledgerVariable names the ledger as --ledger does, where other users of the machine can't
// read its password.
const ledgerVariable = "DUEDILIGENCE_LEDGER"

// ledgerNamed is where the ledger in use was named.
func (f *flags) ledgerNamed() string {
	if f.ledger != "" && f.ledger == os.Getenv(ledgerVariable) {
		return ledgerVariable
	}
	return "--ledger"
}

func (f *flags) openLedger(ctx context.Context) (ledger.Ledger, error) {
	switch {
	case f.ledger == "" && f.kept != nil:
		return f.ledgerFile(f.keptPath(ledgerName))
	case f.ledger == "memory", f.ledger == "":
		return ledger.NewMemory(ledger.MemoryOptions{})
	case strings.HasPrefix(f.ledger, "file:") && len(f.ledger) > len("file:"):
		return f.ledgerFile(strings.TrimPrefix(f.ledger, "file:"))
	case strings.HasPrefix(f.ledger, "redis://"), strings.HasPrefix(f.ledger, "rediss://"):
		l, err := redisledger.New(ctx, redisledger.Options{URL: f.ledger})
		if err != nil {
			return nil, refuse("%s: %v", f.ledgerNamed(), err)
		}
		f.closeLedger = func() error { l.Shutdown(); return nil }
		return l, nil
	default:
		return nil, refuse("%s must be memory, file:PATH or redis://HOST:PORT", f.ledgerNamed())
	}
}

func (f *flags) ledgerFile(path string) (ledger.Ledger, error) {
	l, err := ledger.OpenFile(path, ledger.FileOptions{})
	if err != nil {
		return nil, refuse("%s: %v", f.ledgerNamed(), err)
	}
	f.closeLedger = l.CloseFile
	return l, nil
}

// shut closes the ledger and the kept run, which told what they could not keep when they
// refused, and sends the last of the telemetry.
func (f *flags) shut() {
	if f.stopTelemetry != nil {
		f.stopTelemetry()
	}
	_ = f.closeKept()
	if f.closeLedger != nil {
		_ = f.closeLedger()
	}
}

// approval puts the question of a soft limit on a terminal; elsewhere nobody is asked and
// the run ends there.
func (f *flags) approval(p *printer, stdin io.Reader) {
	if terminal(p.w) == nil || !isTerminalInput(stdin) {
		return
	}
	f.approve = func(_ context.Context, d *ledger.DeniedError) bool { return p.approve(d, stdin) }
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

func newPricesCommand() *cobra.Command {
	var f flags
	var filter prices.Filter
	cmd := &cobra.Command{
		Use:     "prices [MODEL]",
		Short:   "List the prices that --budget reckons with",
		Long:    "Lists the built-in price table, or one with an override file: who bills, which model, USD per million tokens of input and output, since when, where it was read. Then the rows of that file that can't be used: calls of their models have no price.",
		Example: "  duediligence prices\n  duediligence prices flash --backend gemini\n  duediligence prices --price-file model_prices_and_context_window.json gpt",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lang, err := f.language()
			if err != nil {
				return err
			}
			table, err := f.prices()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				filter.Model = args[0]
				if backend, bare := models.Billed(args[0]); bare != args[0] { // as --model names it
					filter.Backend, filter.Model = cmp.Or(filter.Backend, backend), bare
				}
			}
			rows := table.List(filter)
			out := cmd.OutOrStdout()
			days := int(table.Age(time.Now()).Hours() / 24)
			fmt.Fprintf(out, "Table %s of %s, %d days old, SHA-256 %.12s…\n", table.ID(), table.Generated().Format(time.DateOnly), days, table.SHA256())
			if refused := refusedPrices(table, filter); len(refused) > 0 {
				// Whatever their seller: the row may be refused for not naming one.
				defer fmt.Fprintf(out, "\n%s\n  %s\n", text.Get(lang, text.PricesUnused, len(refused)), strings.Join(refused, "\n  "))
			}
			if len(rows) == 0 {
				return &exitError{exitNotFound, "duediligence: no such price; duediligence prices lists all"}
			}
			w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "backend\tmodel\tservice\tinput\toutput\tfrom\tas of\tsource")
			for _, r := range rows {
				source := ""
				if len(r.Source) > 0 {
					source = r.Source[0]
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Backend, r.Model, r.Service, r.Rates.Input.PerMillion(), r.Rates.Output.PerMillion(), r.From, r.AsOf, source)
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVar(&filter.Backend, "backend", "", "only this seller: gemini, vertex_ai, openai, …")
	cmd.Flags().StringVar(&f.priceFile, "price-file", "", "LiteLLM's model_prices_and_context_window.json, to override built-in prices")
	return cmd
}
