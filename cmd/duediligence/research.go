// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// begun is what a run works with once its flags are understood.
type begun struct {
	options pipeline.Options
	printer *printer
	lang    text.Lang
}

// begin understands the flags, opens what they name, and calls do within the time allowed.
func (f *flags) begin(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, do func(context.Context, *begun) error) error {
	lang, err := f.language()
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	p := &printer{w: stderr, quiet: f.quiet, lang: lang, short: f.short(stdout)}
	f.onUnusable = p.unusablePrices(f.priceFile)
	if _, err := f.limits(); err != nil {
		return err
	}
	if tty := terminal(stderr); tty != nil && colours() {
		p.color = true
		p.live = newDisplay(stderr, lang, func() int { return widthOf(tty) }, guards.DefaultAgentCalls, f.maxCalls)
	}
	f.approval(p, stdin)
	f.onTarget = p.passed
	f.onTelemetry = p.notSent
	options, err := f.optionsWithoutMoney(ctx, lang)
	if err != nil {
		return err
	}
	if options.Previous, err = f.previous(); err != nil {
		return err
	}
	p.source(options.Sources)
	defer closeSources(options.Sources)

	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	return do(ctx, &begun{options, p, lang})
}

// run is one due diligence.
func (f *flags) run(ctx context.Context, whom asked, stdin io.Reader, stdout, stderr io.Writer) error {
	defer f.shut()
	return f.begin(ctx, stdin, stdout, stderr, func(ctx context.Context, b *begun) error {
		subject, err := f.resolve(ctx, b.options.Sources, whom.query, b.lang, stdin, stderr)
		if err != nil {
			return err
		}
		if err := f.checkSince(b.options.Previous, subject, b.lang); err != nil {
			return err
		}
		if err := f.keep(b.printer, b.options.Sources, subject, whom.typed); err != nil {
			return err
		}
		return f.research(ctx, b.options, subject, whom.typed, b.printer, stdout)
	})
}

// options are those of the pipeline that do not depend on the supplier.
func (f *flags) options(ctx context.Context, lang text.Lang) (pipeline.Options, error) {
	o, err := f.optionsWithoutMoney(ctx, lang)
	if err == nil {
		o.Spend, err = f.spend(ctx)
	}
	return o, err
}

// optionsWithoutMoney leaves the money gate to whoever knows first where the run, and with
// it the ledger, is kept.
func (f *flags) optionsWithoutMoney(ctx context.Context, lang text.Lang) (pipeline.Options, error) {
	o := pipeline.Options{Setup: agents.Setup{MaxCalls: f.maxCalls, MaxTime: f.timeout, AnnualPurchases: f.purchases}, Lang: string(lang), ToolVersion: version(), DraftModel: f.draftModel()}
	var err error
	if o.Sources, err = f.client(); err != nil {
		return o, err
	}
	if o.Model, err = f.llm(ctx, lang); err != nil {
		return o, err
	}
	if o.RiskModel, err = f.riskModel(); err != nil {
		return o, err
	}
	o.Telemetry, err = f.startTelemetry(ctx)
	return o, err
}

func (f *flags) research(ctx context.Context, o pipeline.Options, subject supplier.Subject, query string, p *printer, stdout io.Writer) error {
	out, err := f.openOutputs(p.lang)
	if err != nil {
		return err
	}
	defer out.close()
	if o.Spend, err = f.spend(ctx); err != nil {
		return err
	}
	p.subject(subject)
	if f.kept != nil {
		session, recorded, err := f.kept.Begin(ctx, pipeline.AppName, pipeline.UserID)
		if err != nil {
			return keptError(p.lang, f.out, err)
		}
		o.Sessions, o.Session, o.Replay, o.AttemptOf = f.kept.Sessions(), session, recorded.Replay(agents.LookupPrefix), f.kept.Run().ID
		if n := recorded.Answers(); n > 0 {
			p.line("%s", text.Get(p.lang, text.CmdResumed, n))
		} else if f.kept.Run().Attempts > 1 {
			p.line("%s", text.Get(p.lang, text.ResumedNothing, f.keptPath(store.SessionFile)))
		}
	}
	o.Journal, o.JournalError, o.Observe = out.journal(), out.journalFailed, p.step
	pl, err := pipeline.New(o)
	if err != nil {
		return failed(err)
	}
	outcome, err := pl.Run(ctx, subject, query)
	if errors.Is(err, context.Canceled) {
		f.done(p, string(callbacks.StatusInterrupted))
		if again := f.goOn(); again != "" {
			if err := out.writeInterrupted(subject, p.lang, again); err != nil {
				p.line("%s", text.Get(p.lang, text.KeptPart, f.out, err))
			}
			return &exitError{exitInterrupted, text.Get(p.lang, text.CmdInterruptedKept, again)}
		}
		return &exitError{exitInterrupted, text.Get(p.lang, text.CmdInterrupted)}
	}
	if err != nil {
		return failed(err)
	}
	// What was paid for is printed, whatever could not be kept on disk. On a terminal the
	// answer comes last, below what is said of the run.
	unkept := out.write(outcome, p.lang, f.goOnAfter(outcome))
	if !p.short {
		if err := f.print(stdout, outcome.Report, report.Lang(p.lang)); err != nil {
			return failed(fmt.Errorf("writing the report: %w", errors.Join(err, unkept)))
		}
	}
	lost := unkept != nil && f.out != "" && !out.whole
	written := f.out
	if lost {
		written = ""
	} else {
		f.done(p, string(outcome.Result.Status))
	}
	p.summary(outcome, written, f.goOnAfter(outcome))
	if head, ok := out.head(); ok && unkept == nil && !p.short {
		p.line("%s", text.Get(p.lang, text.JournalHead, head))
	}
	full := ""
	if written != "" && out.whole {
		full = filepath.Join(written, runpage.IndexFile)
	}
	answer := outcome.Report.Answer(report.Lang(p.lang))
	if p.short {
		if _, err := io.WriteString(stdout, answer.Terminal(report.Lang(p.lang), widthOf(stdout), terminal(stdout) != nil && colours(), full)); err != nil {
			return failed(fmt.Errorf("writing the answer: %w", errors.Join(err, unkept)))
		}
	} else {
		p.line("%s", answer.VerdictLine(p.color))
	}
	switch {
	case lost:
		return &exitError{exitFailed, "duediligence: " + unkept.Error() + "\n" + f.stillThere(outcome, p.lang)}
	case unkept != nil:
		return failed(unkept)
	}
	if err := f.exit(outcome); err != nil {
		return err
	}
	return notKept(o.Sources, p)
}

// closeSources is for the end of a command: what could not be kept was told before.
func closeSources(c *sources.Client) { _ = c.Close() }

// notKept tells of answers that could not be kept: a recording with holes is of no
// use, a cache only saves time.
func notKept(c *sources.Client, p *printer) error {
	err := c.StoreError()
	switch {
	case err == nil:
		return nil
	case c.Mode() == sources.ModeRecord:
		return failed(fmt.Errorf("the recording is not whole: %w", err))
	default:
		p.line("%s", text.Get(p.lang, text.CmdNotCached, err))
		return nil
	}
}

func failed(err error) error { return &exitError{exitFailed, "duediligence: " + err.Error()} }

// short reports whether stdout gets the answer alone: where it is asked for, and on a
// terminal where nothing else is.
func (f *flags) short(stdout io.Writer) bool {
	return f.format == "short" || f.format == "" && terminal(stdout) != nil
}

// print writes the report to stdout in the format asked for.
func (f *flags) print(w io.Writer, r report.Report, lang report.Lang) error {
	var err error
	switch f.format {
	case "json":
		_, err = w.Write(r.JSON())
	case "html":
		_, err = w.Write(r.HTML(lang))
	case "csv":
		err = report.WriteCSV(w, r.CSVRow())
	default:
		_, err = io.WriteString(w, r.Markdown(lang))
	}
	return err
}

// exitOf maps the closed set of statuses to exit codes.
func exitOf(s callbacks.Status) int {
	switch s {
	case callbacks.StatusDone, callbacks.StatusLanded:
		return exitOK
	case callbacks.StatusCallsExhausted, callbacks.StatusTokensExhausted, callbacks.StatusTimeExhausted, callbacks.StatusBudgetExhausted:
		return exitExhausted
	case callbacks.StatusInterrupted:
		return exitInterrupted
	default:
		return exitFailed
	}
}

// exit maps how the run ended, and the rating where asked, to an exit code.
func (f *flags) exit(o *pipeline.Outcome) error {
	if code := exitOf(o.Result.Status); code != exitOK {
		return &exitError{code: code}
	}
	// A rating that could not be given is never taken for a good one.
	rating := slices.Index(ratings, o.Report.Summary.Rating)
	if f.failOn != "" && (rating < 0 || rating >= f.threshold()) {
		return &exitError{code: exitRating}
	}
	return nil
}

// resolve finds the one company that is meant, or tells why no agent is started.
func (f *flags) resolve(ctx context.Context, c *sources.Client, query supplier.Query, lang text.Lang, stdin io.Reader, stderr io.Writer) (supplier.Subject, error) {
	res := c.ResolveQuery(ctx, query)
	if err := f.over(ctx, lang); err != nil {
		return supplier.Subject{}, err
	}
	if res.Status == supplier.StatusCandidates && terminal(stderr) != nil && isTerminalInput(stdin) {
		choice, err := f.ask(res, lang, stdin, stderr)
		if err != nil {
			return supplier.Subject{}, err
		}
		res = c.Resolve(ctx, choice)
		if err := f.over(ctx, lang); err != nil {
			return supplier.Subject{}, err
		}
	}
	if res.Status != supplier.StatusResolved {
		return supplier.Subject{}, f.unresolved(res, c, lang)
	}
	return res.Subject, nil
}

// over reports that the run ended before the supplier was known.
func (f *flags) over(ctx context.Context, lang text.Lang) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &exitError{exitInterrupted, text.Get(lang, text.CmdInterrupted)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &exitError{exitExhausted, text.Get(lang, text.CmdNoTime, f.timeout)}
	default:
		return nil
	}
}
