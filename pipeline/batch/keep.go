// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/dossiers"
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
	// Begin is called before each attempt of a run in a folder. Nil adds nothing.
	Begin func(ctx context.Context, dir string, kept *store.Store) (Attempt, error)
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
	store   *store.Store
	attempt Attempt
	chain   interface {
		io.Writer
		Close() error
		Head() journal.Head
	}
	lines func() ([]byte, error)
}

// open goes on with a run that was kept in home, or begins one in a dossier of its own, and
// puts what belongs to it into o.
func (b *batch) open(ctx context.Context, o *pipeline.Options, subject supplier.Subject, query, home string) (_ *keeper, err error) {
	k := &keeper{keep: b.o.Keep}
	if err := b.takeStore(k, subject, query, home); err != nil {
		return nil, err
	}
	if k.store == nil {
		var buf bytes.Buffer
		k.chain, k.lines = journal.NewWriter(&buf), func() ([]byte, error) { return buf.Bytes(), nil }
		o.Journal = k.chain
		return k, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	path := filepath.Join(k.dir, store.Folder, runpage.JournalFile)
	file, err := journal.OpenFile(path, journal.FileOptions{})
	if err != nil {
		return nil, err
	}
	k.chain, k.lines = file, func() ([]byte, error) { return os.ReadFile(path) } //nolint:gosec // in the batch's folder
	o.Journal = file
	if k.keep.Begin != nil {
		if k.attempt, err = k.keep.Begin(ctx, k.dir, k.store); err != nil {
			return nil, err
		}
		if k.attempt.Spend.Name != "" {
			o.Spend = k.attempt.Spend
		}
	}
	session, recorded, err := k.store.Begin(ctx, pipeline.AppName, pipeline.UserID)
	if err != nil {
		return nil, err
	}
	o.Sessions, o.Session, o.Replay, o.AttemptOf = k.store.Sessions(), session, recorded.Replay(agents.LookupPrefix), k.store.Run().ID
	return k, nil
}

// takeStore finds the dossier for the next attempt of a run on subject: that of an
// unfinished run with the same question, else a new one. What was finished, asks something
// else or can't be read stays as it is.
func (b *batch) takeStore(k *keeper, subject supplier.Subject, query, home string) (err error) {
	all, _ := dossiers.In(home) // one that can't be read stays, and is no reason not to begin beside it
	for _, d := range slices.Backward(all) {
		switch {
		case !d.Begun():
		case !d.Run.Subject.Same(subject):
			return &RowError{Text: text.Get(b.lang, text.KeptOther, d.Dir, d.Run.Subject.LegalName, subject.LegalName)}
		case k.keep != nil && k.store == nil && !d.Whole() && k.keep.Same(d.Run):
			if k.store, err = resume(d); err != nil {
				return err
			}
			k.dir = d.Dir
		}
	}
	if k.store != nil {
		return nil
	}
	if k.dir, err = dossiers.Next(home, b.o.Pipeline.Sources.AsOf()); err != nil || k.keep == nil {
		return err
	}
	k.store, err = k.create(subject, query)
	return err
}

// resume opens the run of a dossier.
func resume(d dossiers.Dossier) (*store.Store, error) {
	s, err := store.Open(filepath.Join(d.Dir, store.Folder))
	if err != nil {
		return nil, err
	}
	if d.Run = s.Run(); d.Whole() { // another process finished it in the meantime
		return nil, errors.Join(store.ErrInUse, s.Close())
	}
	return s, nil
}

// create begins a run in a dossier of its own.
func (k *keeper) create(subject supplier.Subject, query string) (*store.Store, error) {
	dir := filepath.Join(k.dir, store.Folder)
	s, err := store.CreateNew(dir, store.Run{ID: rand.Text(), Query: query, Subject: subject, Started: time.Now().UTC(), Settings: k.keep.Settings})
	if errors.Is(err, store.ErrBegun) { // another process was faster
		return nil, store.ErrInUse
	}
	if err != nil {
		return nil, err
	}
	// Of a run that was refused before its first step.
	for _, name := range []string{store.LedgerFile, runpage.JournalFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// write ends the journal of a run that has come to a report, writes the files of its dossier
// and returns the cells of its row. Only what is written is finished.
func (k *keeper) write(o *pipeline.Outcome, lang text.Lang) ([]string, error) {
	if err := k.chain.Close(); err != nil {
		return nil, err
	}
	lines, err := k.lines()
	if err != nil {
		return nil, err
	}
	cells, err := cellsOf(o.Report, o.Result.Status, lines, lang)
	if err != nil {
		return nil, err
	}
	all, err := runpage.Files(o, lines, k.chain.Head(), string(lang), k.goOn(o))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return nil, err
	}
	if err := files.Write(k.dir, all...); err != nil || k.store == nil {
		return cells, err
	}
	return cells, k.store.Finish(string(o.Result.Status))
}

func (k *keeper) goOn(o *pipeline.Outcome) string {
	if k.attempt.GoOn == nil || k.store.Err() != nil {
		return ""
	}
	return k.attempt.GoOn(o)
}

// close lets go of everything. The journal may be closed already.
func (k *keeper) close() error {
	var errs []error
	if k.chain != nil {
		errs = append(errs, k.chain.Close())
	}
	if k.attempt.Close != nil {
		errs = append(errs, k.attempt.Close())
	}
	if k.store != nil {
		errs = append(errs, k.store.Close())
	}
	return errors.Join(errs...)
}
