// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/batch"
)

const batchHelp = `Researches every supplier of a CSV file, one a row, and writes a folder for each and
a summary table, index.html and summary.csv, sorted by risk.

The file's separator is , or ; and it may begin with a byte order mark. A column named
siren, vat, lei or name (or supplier) says who is meant, in this order and the
first that is not empty; without a header the first column does. A supplier that stands
twice is researched once. A row that can't be researched has its reason in the summary
and stops nothing.

Each run is kept in its folder while it goes on. Run again, the batch goes on where it was
interrupted: whole reports of the same day stay, and runs that a limit, a dead model or a
crash stopped are resumed at no cost for what was answered before; so does "duediligence
resume DIR/NUMBER" with one of them. The budgets of the flags hold for each supplier, over
all its attempts. With another model or source a run is begun anew.

Exit codes: 0 every supplier has its whole report; 1 a row has no report, or a run failed;
2 input refused; 5 calls, time or money ran out for a run, its report is partial; 130
interrupted.`

func newBatchCommand() *cobra.Command {
	var f flags
	var jobs int
	cmd := &cobra.Command{
		Use:     "batch SUPPLIERS.csv -o DIR",
		Short:   "Research the suppliers of a CSV file",
		Long:    batchHelp,
		Example: "  duediligence batch suppliers.csv -o dossiers/ -j 4\n  duediligence batch suppliers.csv -o dossiers/ --source live --lang fr",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.batch(cmd.Context(), args[0], jobs, cmd.ErrOrStderr())
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "folder for the reports and summary.csv (required)")
	cmd.Flags().IntVarP(&jobs, "jobs", "j", 2, "suppliers researched at the same time")
	return cmd
}

func (f *flags) batch(ctx context.Context, file string, jobs int, stderr io.Writer) error {
	lang, err := f.language()
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case f.out == "":
		return refuse("batch: -o DIR is required")
	case jobs < 1 || jobs > 64:
		return refuse("batch: -j must be 1 to 64, got %d", jobs)
	}
	in, err := os.Open(file)
	if err != nil {
		return refuse("batch: %v", err)
	}
	defer func() { _ = in.Close() }()
	defer f.shut()
	options, err := f.optionsWithoutMoney(ctx, lang)
	if err != nil {
		return err
	}
	p := &printer{w: stderr, quiet: f.quiet, lang: lang}
	p.source(options.Sources)
	defer closeSources(options.Sources)
	keep, err := f.batchKeep(ctx, lang, options.Sources)
	if err != nil {
		return err
	}
	result := exitOK
	sum, err := batch.Run(ctx, in, batch.Options{
		Pipeline: options, Dir: f.out, Jobs: jobs, Timeout: f.timeout,
		Keep: keep,
		Done: func(r batch.Row) {
			result = graver(result, r)
			p.line("%s", text.Get(lang, text.CmdBatchRow, r.Number, r.Query, rowText(lang, r)))
		},
	})
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, text.Get(lang, text.CmdBatchInterrupted, sum.Done+sum.Partial)}
	}
	if err != nil {
		return failed(err)
	}
	p.line("%s", text.Get(lang, text.CmdBatchSummary, sum.Done, sum.Partial, sum.Kept, sum.Repeated, sum.Failed, f.out))
	if sum.Partial > 0 {
		p.line("%s", text.Get(lang, text.CmdBatchAgain))
	}
	if result != exitOK {
		return &exitError{code: result}
	}
	return notKept(options.Sources, p)
}
