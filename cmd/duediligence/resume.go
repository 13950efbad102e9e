// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/keptrun"
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
	var c config
	var given given
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was stopped",
		Long:  resumeHelp,
		Example: `  duediligence resume dossier/
  duediligence resume dossier/ --budget +0.05
  duediligence resume dossier/ --timeout 10m --max-calls 40`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := newJob(c)
			if err != nil {
				return err
			}
			defer j.end()
			return j.resume(cmd.Context(), args[0], given, streamsOf(cmd))
		},
	}
	given = c.register(cmd, onResume)
	return cmd
}

func (j *job) resume(ctx context.Context, dir string, given given, std streams) error {
	d, err := toResume(dir, j.lang)
	if err != nil {
		return err
	}
	if d.Whole() {
		p := &printer{w: std.err, quiet: j.quiet, lang: j.lang}
		p.line("%s", text.Get(j.lang, text.ResumeFinished, d.Run.Subject.LegalName, ended(d, j.lang), d.Dir))
		return nil
	}
	if filepath.Clean(d.Dir) != filepath.Clean(dir) {
		dir = d.Dir
	}
	if j.kept, err = keptrun.Open(dir); err != nil {
		return keptError(j.lang, dir, err)
	}
	j.out = dir
	j.closes(j.kept.Store.Close)
	run := j.kept.Store.Run()
	var kept config
	if err := json.Unmarshal(run.Settings, &kept); err != nil {
		return keptError(j.lang, dir, err)
	}
	if err := j.goOnAs(kept, given); err != nil {
		return err
	}
	return j.begin(ctx, std, func(ctx context.Context, o pipeline.Options) error {
		if err := j.checkSince(o.Previous, run.Subject); err != nil {
			return err
		}
		return j.research(ctx, o, run.Subject, run.Query, std.out)
	})
}

// goOnAs takes what the run was begun with, in its language.
func (j *job) goOnAs(kept config, given given) error {
	j.restore(kept, given)
	j.lang = text.Lang(kept.options.Lang)
	if err := j.restoreHosts(kept, given); err != nil {
		return err
	}
	if err := j.restoreLedger(kept, given); err != nil {
		return err
	}
	switch {
	case j.raise != "" && j.budget == "":
		return refuseIn(j.lang, text.ResumeNoBudget)
	case j.budget != "" && j.ledger == "memory":
		return refuseIn(j.lang, text.ResumeMemory)
	}
	return nil
}

// restoreLedger takes the ledger the run was begun with, and from the flag or the environment
// only the login that is not kept.
func (j *job) restoreLedger(kept config, given given) error {
	var named *string
	if given.has(&j.config, &j.ledger) {
		named = &j.ledger
	}
	place := keptrun.LedgerPlace{Address: kept.ledger, Login: kept.ledgerLogin}
	address, err := place.Restore(named, os.Getenv(ledgerVariable), kept.budget != "")
	switch {
	case errors.Is(err, keptrun.ErrOtherLedger):
		return refuseIn(j.lang, text.ResumeLedger, cmp.Or(kept.ledger, text.Get(j.lang, text.ResumeLedgerKept)))
	case errors.Is(err, keptrun.ErrNoLogin):
		return refuseIn(j.lang, text.ResumeLogin, kept.ledger, ledgerVariable)
	case errors.Is(err, keptrun.ErrNoHost):
		return refuseIn(j.lang, text.ResumeHost, kept.ledger, j.named(&j.ledger)+" "+quotedAddress(kept.ledger))
	}
	j.ledger = address
	return err
}
