// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/batch"
)

const batchHelp = `Researches every supplier of a CSV file, one a row. Writes a dossier for each, index.html
with the gravest first, and summary.csv with one row for each of the file, in its order
and with its columns; folder names the dossier.

The file may be as Excel writes it: separated by , or ; or tabs, in UTF-8, UTF-16 or
Windows-1252, with line breaks in quoted cells. Its header says which columns name the
supplier: one for the name (such as name, supplier, raison sociale) and any for numbers
(SIREN, SIRET, VAT, LEI). --column names others. All that a row says must mean the same
company: one whose number belongs to another name is refused, as a single run would be.
A file with a header that is not known is refused, too. A supplier that stands twice is
researched once; same_as names the first row. A row that can't be researched has its
reason in the summary and stops nothing.

The first dossier of a supplier is DIR/NUMBER, each later one, of another day or source,
DIR/NUMBER/YYYY-MM-DD. One that is finished never changes. --since DIR/NUMBER, resume
DIR/NUMBER and journal verify DIR/NUMBER find all of them. index.html and summary.csv are
those of the last batch; where others wrote them, or DIR is the folder of one supplier, the
batch is refused.

Each run is kept in its dossier while it goes on. Run again, the batch goes on where it was
interrupted, and index.html and summary.csv list what was not begun: whole reports of the same day stay, and runs that a limit, a dead model or a
crash stopped are resumed at no cost for what was answered before; so does "duediligence
resume DIR/NUMBER" with one of them. The budgets of the flags hold for each supplier, over
all its attempts. With another model or source, a run that was stopped stays as it is and
one is begun beside it.

Exit codes: 0 every supplier has its whole report; 1 a row has no report, or a run failed;
2 input refused; 5 calls, time or money ran out for a run, its report is partial; 7 a
rating is at or above --fail-on; 130 interrupted.`

func newBatchCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:     "batch SUPPLIERS.csv -o DIR",
		Short:   "Research the suppliers of a CSV file",
		Long:    batchHelp,
		Example: "  duediligence batch suppliers.csv -o dossiers/ -j 4\n  duediligence batch suppliers.csv -o dossiers/ --source live --lang fr\n  duediligence batch vendors.csv -o dossiers/ --column \"Vendor name\" --column \"VAT no.\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := newJob(c)
			if err != nil {
				return err
			}
			defer j.end()
			return j.batch(cmd.Context(), args[0], cmd.ErrOrStderr())
		},
	}
	c.register(cmd, onBatch)
	return cmd
}

func (j *job) batch(ctx context.Context, file string, stderr io.Writer) error {
	if err := j.check(); err != nil {
		return err
	}
	switch {
	case j.out == "":
		return refuse("batch: -o DIR is required")
	case j.jobs < 1 || j.jobs > 64:
		return refuse("batch: -j must be 1 to 64, got %d", j.jobs)
	}
	in, err := os.Open(file)
	if err != nil {
		return refuse("batch: %v", err)
	}
	defer func() { _ = in.Close() }()
	p := &printer{w: stderr, quiet: j.quiet, lang: j.lang, color: terminal(stderr) != nil && colours()}
	j.p = p
	options, err := j.prepare(ctx)
	if err != nil {
		return err
	}
	p.source(options.Sources)
	defer closeSources(options.Sources)
	keep, err := j.batchKeep(ctx, options.Sources)
	if err != nil {
		return err
	}
	var ended tally
	sum, err := batch.Run(ctx, in, batch.Options{
		Pipeline: options, Dir: j.out, Jobs: j.jobs, Timeout: options.MaxTime,
		Keep: keep, Columns: j.columns,
		Found: func(how batch.Found) { p.line("%s", foundText(j.lang, how)) },
		Done: func(r batch.Row) {
			ended.add(r)
			p.line("%s", text.Get(j.lang, text.CmdBatchRow, r.Number, r.Query, rowText(j.lang, r, p.color)))
		},
	})
	if err != nil {
		return j.batchError(ctx, file, sum, err)
	}
	p.line("%s", text.Get(j.lang, text.CmdBatchSummary, sum.Done, sum.Partial, sum.Kept, sum.Repeated, sum.Failed, j.out))
	if sum.Partial > 0 {
		p.line("%s", text.Get(j.lang, text.CmdBatchAgain))
	}
	p.line("%s", ended.text(j.lang, p.color))
	if ended.code != exitOK {
		return &exitError{code: ended.code}
	}
	if err := notKept(options.Sources, p); err != nil {
		return err
	}
	if j.failOn != "" && ended.reaches(j.threshold()) {
		return &exitError{code: exitRating}
	}
	return nil
}

// batchError says why a batch of a file came to no end.
func (j *job) batchError(ctx context.Context, file string, sum batch.Summary, err error) error {
	if ctx.Err() != nil {
		if !errors.Is(err, context.Canceled) { // the overview could not be written
			return &exitError{exitInterrupted, err.Error()}
		}
		begun, finished := sum.Begun()
		return &exitError{exitInterrupted, text.Get(j.lang, text.CmdBatchInterrupted, begun, finished, sum.NotBegun, j.out)}
	}
	if refused, ok := errors.AsType[*batch.InputError](err); ok {
		return refuse("batch: %s: %v", file, refused)
	}
	if folder, ok := errors.AsType[*batch.FolderError](err); ok {
		return refuse("batch: %v", folder)
	}
	return failed(err)
}
