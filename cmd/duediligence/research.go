// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

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

// streams are those of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func streamsOf(cmd *cobra.Command) streams {
	return streams{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()}
}

// begin understands the flags, opens what they name, and calls do within the time allowed.
func (j *job) begin(ctx context.Context, std streams, do func(context.Context, pipeline.Options) error) (err error) {
	if j.lang, err = j.language(); err != nil { // of a kept run
		return err
	}
	if err := j.check(); err != nil {
		return err
	}
	j.p = &printer{w: std.err, quiet: j.quiet, lang: j.lang, short: j.short(std.out)}
	if _, err := j.limits(); err != nil {
		return err
	}
	if tty := terminal(std.err); tty != nil && colours() {
		j.p.color = true
		j.p.live = newDisplay(std.err, j.lang, func() int { return widthOf(tty) }, guards.DefaultAgentCalls, j.options.MaxCalls)
	}
	j.approval(std.in)
	j.onTarget = j.p.passed
	o, err := j.prepare(ctx)
	if err != nil {
		return err
	}
	if o.Previous, err = j.previous(); err != nil {
		return err
	}
	j.p.source(o.Sources)
	defer closeSources(o.Sources)

	ctx, cancel := context.WithTimeout(ctx, o.MaxTime)
	defer cancel()
	return do(ctx, o)
}

// run is one due diligence.
func (j *job) run(ctx context.Context, whom asked, std streams) error {
	return j.begin(ctx, std, func(ctx context.Context, o pipeline.Options) error {
		subject, err := j.resolve(ctx, o.Sources, whom.query, j.lang, std)
		if err != nil {
			return err
		}
		if err := j.checkSince(o.Previous, subject); err != nil {
			return err
		}
		if err := j.keep(o.Sources, subject, whom.typed); err != nil {
			return err
		}
		return j.research(ctx, o, subject, whom.typed, std.out)
	})
}

// previous is the report to compare with. Where a folder was named, since is the report in it
// from then on.
func (j *job) previous() (*report.Report, error) {
	if j.since == "" {
		return nil, nil
	}
	if info, err := os.Stat(j.since); err == nil && info.IsDir() {
		if j.since, err = latestReport(j.since, j.lang); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(j.since)
	if err != nil {
		return nil, refuse("--since: %v", err)
	}
	r, err := report.Parse(data)
	if err != nil {
		return nil, refuse("--since: %v", err)
	}
	return &r, nil
}

// checkSince refuses to compare with another supplier's report: no run could end with one.
func (j *job) checkSince(previous *report.Report, subject supplier.Subject) error {
	if previous == nil || previous.Subject.Same(subject) {
		return nil
	}
	return refuseIn(j.lang, text.SinceOther, j.since, previous.Subject.LegalName, subject.LegalName)
}

func (j *job) research(ctx context.Context, o pipeline.Options, subject supplier.Subject, query string, stdout io.Writer) error {
	out, err := j.openOutputs()
	if err != nil {
		return err
	}
	defer out.close()
	if o.Spend, err = j.spend(ctx, nil); err != nil {
		return err
	}
	j.p.subject(subject)
	if err := j.attempt(ctx, &o); err != nil {
		return err
	}
	o.Journal, o.JournalError, o.Observe = out.journal(), out.journalFailed, j.p.step
	pl, err := pipeline.New(o)
	if err != nil {
		return failed(err)
	}
	outcome, err := pl.Run(ctx, subject, query)
	if errors.Is(err, context.Canceled) {
		return j.interrupted(out, subject)
	}
	if err != nil {
		return failed(err)
	}
	if err := j.finish(outcome, out, stdout); err != nil {
		return err
	}
	return notKept(o.Sources, j.p)
}

// attempt begins an attempt of a run that is kept.
func (j *job) attempt(ctx context.Context, o *pipeline.Options) error {
	if j.kept == nil {
		return nil
	}
	answers, err := j.kept.Attempt(ctx, o)
	if err != nil {
		return keptError(j.lang, j.out, err)
	}
	if answers > 0 {
		j.p.line("%s", text.Get(j.lang, text.CmdResumed, answers))
	} else if j.kept.Store.Run().Attempts > 1 {
		j.p.line("%s", text.Get(j.lang, text.ResumedNothing, j.kept.Path(store.SessionFile)))
	}
	return nil
}

// interrupted ends a run that has no report.
func (j *job) interrupted(out *outputs, subject supplier.Subject) error {
	j.done(string(callbacks.StatusInterrupted))
	again := j.goOn()
	if again == "" {
		return &exitError{exitInterrupted, text.Get(j.lang, text.CmdInterrupted)}
	}
	if err := out.writeInterrupted(subject, j.lang, again); err != nil {
		j.p.line("%s", text.Get(j.lang, text.KeptPart, j.out, err))
	}
	return &exitError{exitInterrupted, text.Get(j.lang, text.CmdInterruptedKept, again)}
}

// finish prints and writes what a run has come to. What was paid for is printed, whatever
// could not be kept on disk. On a terminal the answer comes last, below what is said of the
// run.
func (j *job) finish(outcome *pipeline.Outcome, out *outputs, stdout io.Writer) error {
	p, lang := j.p, report.Lang(j.lang)
	unkept := out.write(outcome, j.lang, j.goOnAfter(outcome))
	if !p.short {
		if err := j.print(stdout, outcome.Report, lang); err != nil {
			return failed(fmt.Errorf("writing the report: %w", errors.Join(err, unkept)))
		}
	}
	lost := unkept != nil && j.out != "" && !out.whole
	written := j.out
	if lost {
		written = ""
	} else {
		j.done(string(outcome.Result.Status))
	}
	p.summary(outcome, written, j.goOnAfter(outcome))
	if head, ok := out.head(); ok && unkept == nil && !p.short {
		p.line("%s", text.Get(j.lang, text.JournalHead, head))
	}
	full := ""
	if written != "" && out.whole {
		full = filepath.Join(written, runpage.IndexFile)
	}
	answer := outcome.Report.Answer(lang)
	if p.short {
		if _, err := io.WriteString(stdout, answer.Terminal(lang, widthOf(stdout), terminal(stdout) != nil && colours(), full)); err != nil {
			return failed(fmt.Errorf("writing the answer: %w", errors.Join(err, unkept)))
		}
	} else {
		p.line("%s", answer.VerdictLine(p.color))
	}
	switch {
	case lost:
		return &exitError{exitFailed, "duediligence: " + unkept.Error() + "\n" + j.stillThere(outcome)}
	case unkept != nil:
		return failed(unkept)
	}
	return j.exit(outcome)
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
func (c *config) short(stdout io.Writer) bool {
	return c.format == "short" || c.format == "" && terminal(stdout) != nil
}

// print writes the report to stdout in the format asked for.
func (c *config) print(w io.Writer, r report.Report, lang report.Lang) error {
	var err error
	switch c.format {
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
func (c *config) exit(o *pipeline.Outcome) error {
	if code := exitOf(o.Result.Status); code != exitOK {
		return &exitError{code: code}
	}
	// A rating that could not be given is never taken for a good one.
	rating := slices.Index(ratings, o.Report.Summary.Rating)
	if c.failOn != "" && (rating < 0 || rating >= c.threshold()) {
		return &exitError{code: exitRating}
	}
	return nil
}

// resolve finds the one company that is meant, or says why no agent is started.
func (c *config) resolve(
	ctx context.Context, client *sources.Client, query supplier.Query, lang text.Lang, std streams,
) (supplier.Subject, error) {
	res := client.ResolveQuery(ctx, query)
	if err := c.over(ctx, lang); err != nil {
		return supplier.Subject{}, err
	}
	if res.Status == supplier.StatusCandidates && terminal(std.err) != nil && isTerminalInput(std.in) {
		choice, err := c.ask(res, lang, std)
		if err != nil {
			return supplier.Subject{}, err
		}
		res = client.Resolve(ctx, choice)
		if err := c.over(ctx, lang); err != nil {
			return supplier.Subject{}, err
		}
	}
	if res.Status != supplier.StatusResolved {
		return supplier.Subject{}, c.unresolved(res, client, lang)
	}
	return res.Subject, nil
}

// over reports that the run ended before the supplier was known.
func (c *config) over(ctx context.Context, lang text.Lang) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &exitError{exitInterrupted, text.Get(lang, text.CmdInterrupted)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &exitError{exitExhausted, text.Get(lang, text.CmdNoTime, c.options.MaxTime)}
	default:
		return nil
	}
}
