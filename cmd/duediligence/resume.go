// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/store"
)

const resumeHelp = `Goes on with a run that was stopped: by its budget, its time, Ctrl-C or a crash. RUN is
the folder that was given with -o; the resume point names it.

What was looked up and what models answered before is taken from the folder and costs
nothing again. What was spent stays spent: the run has what its budget left, and what
--budget adds to it. The journal goes on in the file it began in. The password of a
ledger is not kept: ` + ledgerVariable + ` or --ledger gives it again.`

func newResumeCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "resume RUN",
		Short:   "Go on with a run that was stopped",
		Long:    resumeHelp,
		Example: "  duediligence resume dossier/\n  duediligence resume dossier/ --budget +0.05\n  duediligence resume dossier/ --timeout 10m --max-calls 40",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.resume(cmd.Context(), args[0], cmd.Flags().Changed, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.budget, "budget", "", "what the run may spend in all, in USD, or how much more with a + before it: +0.05")
	fl.StringVar(&f.ledger, "ledger", "", "the ledger the run was begun with; needed where its address holds a password, which is not kept and may be given in "+ledgerVariable+" too")
	fl.DurationVar(&f.timeout, "timeout", 0, "time allowed from now on (default: as before)")
	fl.IntVar(&f.maxCalls, "max-calls", 0, "model calls allowed from now on (default: as before)")
	fl.StringVar(&f.journal, "journal", "", "append the journal to this file (default: as before)")
	fl.StringVar(&f.format, "format", "md", "format of the report on stdout: md, json, html or csv")
	fl.StringVar(&f.failOn, "fail-on", "", "exit with 7 where the rating is at least this: medium, high, critical or stop")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no summary on stderr")
	return cmd
}

func (f *flags) resume(ctx context.Context, dir string, given func(string) bool, stdin io.Reader, stdout, stderr io.Writer) error {
	lang, err := f.language()
	if err != nil {
		return err
	}
	kept, err := store.Open(filepath.Join(dir, store.Folder))
	if err != nil {
		return keptError(lang, dir, err)
	}
	f.kept, f.out = kept, dir
	defer f.shut()
	var s settings
	if err := json.Unmarshal(kept.Run().Settings, &s); err != nil {
		return keptError(lang, dir, err)
	}
	f.restore(s, given)
	lang = text.Lang(s.Lang)
	if err := f.restoreLedger(s, lang, given); err != nil {
		return err
	}
	switch {
	case f.raise != "" && f.budget == "":
		return refuseIn(lang, text.ResumeNoBudget)
	case f.budget != "" && f.ledger == "memory":
		return refuseIn(lang, text.ResumeMemory)
	}
	return f.begin(ctx, stdin, stdout, stderr, func(ctx context.Context, b *begun) error {
		return f.research(ctx, b.options, kept.Run().Subject, kept.Run().Query, b.printer, stdout)
	})
}

// closeKept is for the end of a command: what could not be kept was told before.
func (f *flags) closeKept() error {
	if f.kept == nil {
		return nil
	}
	return errors.Join(f.kept.Close())
}
