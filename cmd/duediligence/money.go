// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
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
)

// spend makes the money gate that the flags ask for, or none.
func (f *flags) spend(ctx context.Context) (callbacks.Guard, error) {
	if f.budget == "" {
		if f.softBudget != "" || f.targetBudget != "" {
			return callbacks.Guard{}, refuse("--soft-budget and --target-budget need --budget")
		}
		return callbacks.Guard{}, nil
	}
	if f.model == models.Offline {
		return callbacks.Guard{}, refuse("--budget: the offline model costs nothing")
	}
	o := guards.SpendOptions{Backend: f.backend(), Approve: f.approve, OnTarget: f.onTarget}
	for _, l := range []struct {
		flag, value string
		to          *ledger.Nano
	}{{"--budget", f.budget, &o.Limits.Hard}, {"--soft-budget", f.softBudget, &o.Limits.Soft}, {"--target-budget", f.targetBudget, &o.Limits.Target}} {
		if l.value == "" {
			continue
		}
		n, err := ledger.ParseUSD(l.value)
		if err != nil {
			return callbacks.Guard{}, refuse("%s: %v", l.flag, err)
		}
		*l.to = n
	}
	var err error
	if o.Prices, err = f.prices(); err != nil {
		return callbacks.Guard{}, err
	}
	o.Slices = agents.Slices(o.Limits.Hard)
	if o.Ledger, err = f.openLedger(ctx); err != nil {
		return callbacks.Guard{}, err
	}
	g := guards.Spend(o)
	if g.Err != nil {
		return callbacks.Guard{}, refuse("--budget: %v", g.Err)
	}
	return g, nil
}

// backend is who bills, as the price table names it.
func (f *flags) backend() string {
	if strings.HasPrefix(f.model, models.OpenAIPrefix) {
		return "openai"
	}
	return "gemini"
}

func (f *flags) prices() (*prices.Table, error) {
	if f.priceFile == "" {
		return prices.Default(), nil
	}
	data, err := os.ReadFile(f.priceFile)
	if err != nil {
		return nil, refuse("--price-file: %v", err)
	}
	info, err := os.Stat(f.priceFile)
	if err != nil {
		return nil, refuse("--price-file: %v", err)
	}
	// The file has no date of its own: it is as old as it was written.
	own, err := prices.ParseLiteLLM(data, prices.LiteLLMOptions{AsOf: prices.Date(info.ModTime().UTC().Format(time.DateOnly))})
	if err != nil {
		return nil, refuse("--price-file: %v", err)
	}
	return prices.Default().Override(own), nil
}

func (f *flags) openLedger(ctx context.Context) (ledger.Ledger, error) {
	switch {
	case f.ledger == "memory":
		return ledger.NewMemory(ledger.MemoryOptions{})
	case strings.HasPrefix(f.ledger, "file:") && len(f.ledger) > len("file:"):
		l, err := ledger.OpenFile(strings.TrimPrefix(f.ledger, "file:"), ledger.FileOptions{})
		if err != nil {
			return nil, refuse("--ledger: %v", err)
		}
		f.closeLedger = l.CloseFile
		return l, nil
	case strings.HasPrefix(f.ledger, "redis://"), strings.HasPrefix(f.ledger, "rediss://"):
		l, err := redisledger.New(ctx, redisledger.Options{URL: f.ledger})
		if err != nil {
			return nil, refuse("--ledger: %v", err)
		}
		f.closeLedger = func() error { l.Shutdown(); return nil }
		return l, nil
	default:
		return nil, refuse("--ledger must be memory, file:PATH or redis://HOST:PORT")
	}
}

// shut closes the ledger, which told what it could not keep when it refused, and sends
// the last of the telemetry.
func (f *flags) shut() {
	if f.stopTelemetry != nil {
		f.stopTelemetry()
	}
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
	if o.Result.Status == callbacks.StatusBudgetExhausted {
		p.resumePoint(o)
	}
}

// resumePoint says where a run that ran out of money stands: made by code from what is
// there, at no cost.
func (p *printer) resumePoint(o *pipeline.Outcome) {
	done := make([]string, 0, len(o.Findings))
	for _, f := range o.Findings {
		done = append(done, f.Agent)
	}
	if len(done) == 0 {
		done = []string{text.Get(p.lang, text.CmdNone)}
	}
	p.line("%s", text.Get(p.lang, text.CmdResumePoint, o.Result.Reason, strings.Join(done, ", "), strings.Join(o.Report.Gaps, " "), o.Session))
}

func newPricesCommand() *cobra.Command {
	var f flags
	var filter prices.Filter
	cmd := &cobra.Command{
		Use:     "prices [MODEL]",
		Short:   "List the prices that --budget reckons with",
		Long:    "Lists the built-in price table, or one with an override file: who bills, which model, USD per million tokens of input and output, since when, where it was read.",
		Example: "  duediligence prices\n  duediligence prices flash --backend gemini\n  duediligence prices --price-file model_prices_and_context_window.json gpt",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			table, err := f.prices()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				filter.Model = args[0]
			}
			rows := table.List(filter)
			out := cmd.OutOrStdout()
			days := int(table.Age(time.Now()).Hours() / 24)
			fmt.Fprintf(out, "Table %s of %s, %d days old, SHA-256 %.12s…\n", table.ID(), table.Generated().Format(time.DateOnly), days, table.SHA256())
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
