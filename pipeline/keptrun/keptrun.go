// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package keptrun is the life of a run that is kept in the folder of its dossier: it is
// begun, each attempt adds to it, and its money may be raised. Package store keeps its
// events; journal and ledger are beside them.
package keptrun

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
)

// A Run is a kept run, open in one process. Close its Store after use.
type Run struct {
	// Dir is the folder of the dossier.
	Dir   string
	Store *store.Store
}

// Create begins a run in the dossier dir and removes the ledger and the journal of a run that
// was there. The ID and the start of r are set here. Unless replace is set, a run that was
// begun there stays. The error matches [store.ErrInUse] where another process has or has just
// begun a run there, and what [store.Create] says.
func Create(dir string, r store.Run, replace bool) (*Run, error) {
	create := store.CreateNew
	if replace {
		create = store.Create
	}
	r.ID, r.Started = rand.Text(), time.Now().UTC()
	run := &Run{Dir: dir}
	s, err := create(run.Path(""), r)
	if errors.Is(err, store.ErrBegun) { // another process was faster
		return nil, store.ErrInUse
	}
	if err != nil {
		return nil, err
	}
	run.Store = s
	for _, name := range []string{store.LedgerFile, runpage.JournalFile} {
		if err := os.Remove(run.Path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, s.Close())
		}
	}
	return run, nil
}

// Open opens the run of the dossier dir. Its errors are those of [store.Open].
func Open(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	var err error
	if r.Store, err = store.Open(r.Path("")); err != nil {
		return nil, err
	}
	return r, nil
}

// Path is that of a file of the run; an empty name means their folder.
func (r *Run) Path(name string) string { return filepath.Join(r.Dir, store.Folder, name) }

// Account names the run's account, the same whenever it is resumed.
func (r *Run) Account() ledger.AccountID { return ledger.AccountID("run-" + r.Store.Run().ID) }

// Attempt begins the next attempt: o gets its session, and answers from the attempts before
// it. It returns how many answers of models these gave.
func (r *Run) Attempt(ctx context.Context, o *pipeline.Options) (answers int, err error) {
	session, recorded, err := r.Store.Begin(ctx, pipeline.AppName, pipeline.UserID)
	if err != nil {
		return 0, err
	}
	o.Sessions, o.Session, o.AttemptOf = r.Store.Sessions(), session, r.Store.Run().ID
	o.Replay = recorded.Replay(agents.LookupPrefix)
	return recorded.Answers(), nil
}

// Journal opens the run's journal, in which its attempts follow each other.
func (r *Run) Journal() (*Journal, error) {
	path := r.Path(runpage.JournalFile)
	file, err := journal.OpenFile(path, journal.FileOptions{})
	if err != nil {
		return nil, err
	}
	return &Journal{file, func() ([]byte, error) { return os.ReadFile(path) }}, nil //nolint:gosec // the folder is the caller's to choose
}
