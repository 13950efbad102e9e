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
siren, vat, lei or name (or supplier) says who is meant, in this order; without a
header the first column does. A supplier that stands twice is researched once. A row
that can't be researched has its reason in the summary and stops nothing. Run again,
the batch goes on where it was interrupted.`

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
	options, err := f.options(ctx, lang)
	if err != nil {
		return err
	}
	p := &printer{w: stderr, quiet: f.quiet, lang: lang}
	p.source(options.Sources)
	defer closeSources(options.Sources)
	sum, err := batch.Run(ctx, in, batch.Options{
		Pipeline: options, Dir: f.out, Jobs: jobs, Timeout: f.timeout,
		Done: func(r batch.Row) { p.line("%s", text.Get(lang, text.CmdBatchRow, r.Number, r.Query, r.Result)) },
	})
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, text.Get(lang, text.CmdBatchInterrupted, sum.Done)}
	}
	if err != nil {
		return failed(err)
	}
	p.line("%s", text.Get(lang, text.CmdBatchSummary, sum.Done, sum.Kept, sum.Repeated, sum.Failed, f.out))
	return notKept(options.Sources, p)
}
