// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/keptrun"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Keep says how runs are kept: each in a [store.Store] in its dossier's folder. Its
// functions are called by several goroutines.
type Keep struct {
	// Settings are kept with each run, for who resumes it alone.
	Settings json.RawMessage
	// Same reports whether a kept run asks what this batch asks. One that is not finished
	// is resumed then; otherwise it stays as it is, and a run is begun beside it. Required.
	Same func(store.Run) bool
	// Begin is called before each attempt of a run. Nil adds nothing.
	Begin func(context.Context, *keptrun.Run) (Attempt, error)
}

// An Attempt is what the caller adds to one attempt of a kept run. Zero fields add nothing.
type Attempt struct {
	// Spend is the money gate, in place of that of Options.Pipeline.
	Spend callbacks.Guard
	// GoOn is the command that resumes the run.
	GoOn func(*pipeline.Outcome) string
	// Close is called when the attempt has ended, whether Begin failed or not.
	Close func() error
}

// keeper is what one run is kept with.
type keeper struct {
	dir     string
	keep    *Keep
	run     *keptrun.Run // nil where it is not kept
	attempt Attempt
	journal *keptrun.Journal
}

// open goes on with a run that was kept in home, or begins one in a dossier of its own, and
// puts what belongs to it into o.
func (b *batch) open(ctx context.Context, o *pipeline.Options, subject supplier.Subject, query, home string) (_ *keeper, err error) {
	k := &keeper{keep: b.o.Keep}
	if err := b.takeRun(k, subject, query, home); err != nil {
		return nil, err
	}
	if k.run == nil {
		k.journal = keptrun.NewJournal()
		o.Journal = k.journal
		return k, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	if k.journal, err = k.run.Journal(); err != nil {
		return nil, err
	}
	o.Journal = k.journal
	if k.keep.Begin != nil {
		if k.attempt, err = k.keep.Begin(ctx, k.run); err != nil {
			return nil, err
		}
		if k.attempt.Spend.Name != "" {
			o.Spend = k.attempt.Spend
		}
	}
	if _, err = k.run.Attempt(ctx, o); err != nil {
		return nil, err
	}
	return k, nil
}

// takeRun finds the dossier for the next attempt of a run on subject: that of an
// unfinished run with the same question, else a new one. What was finished, asks something
// else or can't be read stays as it is.
func (b *batch) takeRun(k *keeper, subject supplier.Subject, query, home string) (err error) {
	all, _ := dossiers.In(home) // one that can't be read stays, and is no reason not to begin beside it
	for _, d := range slices.Backward(all) {
		switch {
		case !d.Begun():
		case !d.Run.Subject.Same(subject):
			return &RowError{Text: text.Get(b.lang, text.KeptOther, d.Dir, d.Run.Subject.LegalName, subject.LegalName)}
		case k.keep != nil && k.run == nil && !d.Whole() && k.keep.Same(d.Run):
			if k.run, err = resume(d); err != nil {
				return err
			}
			k.dir = d.Dir
		}
	}
	if k.run != nil {
		return nil
	}
	if k.dir, err = dossiers.Next(home, b.o.Pipeline.Sources.AsOf()); err != nil || k.keep == nil {
		return err
	}
	// Of a run that was refused before its first step there may be files.
	k.run, err = keptrun.Create(k.dir, store.Run{Query: query, Subject: subject, Settings: k.keep.Settings}, false)
	return err
}

// resume opens the run of a dossier.
func resume(d dossiers.Dossier) (*keptrun.Run, error) {
	r, err := keptrun.Open(d.Dir)
	if err != nil {
		return nil, err
	}
	if d.Run = r.Store.Run(); d.Whole() { // another process finished it in the meantime
		return nil, errors.Join(store.ErrInUse, r.Store.Close())
	}
	return r, nil
}

// write ends the journal of a run that has come to a report, writes the files of its dossier
// and returns the cells of its row. Only what is written is finished.
func (k *keeper) write(o *pipeline.Outcome, lang text.Lang) ([]string, error) {
	if err := k.journal.Close(); err != nil {
		return nil, err
	}
	lines, err := k.journal.Lines()
	if err != nil {
		return nil, err
	}
	cells, err := cellsOf(o.Report, o.Result.Status, lines, lang)
	if err != nil {
		return nil, err
	}
	all, err := runpage.Files(o, lines, k.journal.Head(), string(lang), k.goOn(o))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return nil, err
	}
	if err := files.Write(k.dir, all...); err != nil || k.run == nil {
		return cells, err
	}
	return cells, k.run.Store.Finish(string(o.Result.Status))
}

func (k *keeper) goOn(o *pipeline.Outcome) string {
	if k.attempt.GoOn == nil || k.run.Store.Err() != nil {
		return ""
	}
	return k.attempt.GoOn(o)
}

// close lets go of everything. The journal may be closed already.
func (k *keeper) close() error {
	var errs []error
	if k.journal != nil {
		errs = append(errs, k.journal.Close())
	}
	if k.attempt.Close != nil {
		errs = append(errs, k.attempt.Close())
	}
	if k.run != nil {
		errs = append(errs, k.run.Store.Close())
	}
	return errors.Join(errs...)
}
