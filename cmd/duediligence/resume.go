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
the folder that was given with -o; the resume point names it. Where the folder holds several
dossiers the newest that is not finished goes on. One that is finished stays as it is.

What was looked up and what models answered before is taken from the folder and costs
nothing again. What was spent stays spent: the run has what its budget left, and what
--budget adds to it. The journal goes on in the file it began in. The password of a
ledger is not kept: ` + ledgerVariable + ` or --ledger gives it again.

No host is taken from the folder, since whoever wrote it would get the prompts and the key:
--base-url, --source-url and --ledger name again what the run was begun with, as the resume
point says. A folder run/ that another user owns, or that others can read or write, is
refused (chmod -R go-rwx); on Windows owner and access are not looked at.`

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
	fl.StringVar(&f.baseURL, "base-url", "", "address of the model's server; required where the run was begun with one")
	fl.StringVar(&f.allowHTTP, "allow-http", "", "let the model's key go to this host over plain http, where others can read it on the way (default: to this machine only)")
	fl.StringToStringVar(&f.sourceURLs, "source-url", nil, "the addresses of sources, NAME=URL, where the run was begun with some")
	fl.BoolVar(&f.allowPrivate, "allow-private-hosts", false, "let --source-url name any host, private ones too (for tests)")
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
	d, err := toResume(dir, lang)
	if err != nil {
		return err
	}
	if d.Whole() {
		p := &printer{w: stderr, quiet: f.quiet, lang: lang}
		p.line("%s", text.Get(lang, text.ResumeFinished, d.Run.Subject.LegalName, ended(d, lang), d.Dir))
		return nil
	}
	if filepath.Clean(d.Dir) != filepath.Clean(dir) {
		dir = d.Dir
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
	if err := f.restoreHosts(s, lang, given); err != nil {
		return err
	}
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
		if err := f.checkSince(b.options.Previous, kept.Run().Subject, lang); err != nil {
			return err
		}
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
