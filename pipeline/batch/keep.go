// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Keep says how runs are kept: each in a [store.Store] in its supplier's folder. Its
// functions are called by several goroutines.
type Keep struct {
	// Settings are kept with each run, for who resumes it alone.
	Settings json.RawMessage
	// Same reports whether a kept run asks what this batch asks: it is resumed then, and
	// begun anew otherwise. Required.
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

// open begins to keep a run, or goes on with one that was kept, and puts what belongs to it
// into o.
func (b *batch) open(ctx context.Context, o *pipeline.Options, subject supplier.Subject, query, dir string) (_ *keeper, err error) {
	k := &keeper{dir: dir, keep: b.o.Keep}
	if k.keep == nil {
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
	if k.store, err = k.resume(subject); err != nil {
		return nil, err
	}
	if k.store == nil {
		if k.store, err = k.create(subject, query); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, store.Folder, runpage.JournalFile)
	file, err := journal.OpenFile(path, journal.FileOptions{})
	if err != nil {
		return nil, err
	}
	k.chain, k.lines = file, func() ([]byte, error) { return os.ReadFile(path) } //nolint:gosec // in the batch's folder
	o.Journal = file
	if k.keep.Begin != nil {
		if k.attempt, err = k.keep.Begin(ctx, dir, k.store); err != nil {
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

// resume opens the run that the folder holds, or none where it is to be begun anew.
func (k *keeper) resume(subject supplier.Subject) (*store.Store, error) {
	s, err := store.Open(filepath.Join(k.dir, store.Folder))
	switch {
	case errors.Is(err, store.ErrInUse):
		return nil, fmt.Errorf("batch: %w", err)
	case err != nil:
		return nil, nil //nolint:nilerr // what can't be read is replaced
	}
	r := s.Run()
	if folderName(r.Subject.SIREN, r.Subject.LEI, r.Subject.VAT) != folderName(subject.SIREN, subject.LEI, subject.VAT) || !k.keep.Same(r) {
		return nil, s.Close()
	}
	return s, nil
}

// create begins a run in place of an earlier one.
func (k *keeper) create(subject supplier.Subject, query string) (*store.Store, error) {
	dir := filepath.Join(k.dir, store.Folder)
	s, err := store.Create(dir, store.Run{ID: rand.Text(), Query: query, Subject: subject, Started: time.Now().UTC(), Settings: k.keep.Settings})
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	for _, name := range []string{store.LedgerFile, runpage.JournalFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("batch: %w", err), s.Close())
		}
	}
	return s, nil
}

// end closes the journal of a run that has ended and returns its lines.
func (k *keeper) end(o *pipeline.Outcome) ([]byte, journal.Head, error) {
	if err := k.chain.Close(); err != nil {
		return nil, journal.Head{}, err
	}
	if k.store != nil {
		if err := k.store.Finish(string(o.Result.Status)); err != nil {
			return nil, journal.Head{}, err
		}
	}
	lines, err := k.lines()
	return lines, k.chain.Head(), err
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
