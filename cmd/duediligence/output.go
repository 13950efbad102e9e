// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/keptrun"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// journalName is the journal in an output folder.
const journalName = runpage.JournalFile

// outputs are the files of one run. Those in the folder are written at the end, all
// under temporary names first: a run that is interrupted leaves none of them but a page that
// says so.
type outputs struct {
	dir   string
	file  *journal.File    // --journal
	kept  *keptrun.Journal // in dir
	whole bool             // the files in dir are those of this run

	mu         sync.Mutex
	journalErr error
}

// openKept begins the folder's journal: beside the run where that is kept, written as it
// goes on, else in memory.
func (o *outputs) openKept(kept *keptrun.Run) (err error) {
	if kept == nil {
		o.kept = keptrun.NewJournal()
		return nil
	}
	o.kept, err = kept.Journal()
	return err
}

func (j *job) openOutputs() (*outputs, error) {
	o := &outputs{dir: j.out}
	if j.out != "" {
		if err := o.openKept(j.kept); err != nil {
			switch {
			case errors.Is(err, journal.ErrForeign):
				return nil, refuseIn(j.lang, text.KeptForeign, j.kept.Path(journalName))
			case j.kept != nil && j.kept.Store.Run().Attempts > 0:
				return nil, refuseIn(j.lang, text.KeptJournal, j.out, err)
			default:
				return nil, refuse("-o: %v", err)
			}
		}
	}
	if j.journal != "" {
		if dir, name := filepath.Split(j.journal); name == journalName && (dossiers.HoldsRun(dir) || j.out != "" && filepath.Clean(dir) == filepath.Clean(j.out)) {
			return nil, refuseIn(j.lang, text.KeptDossier, "--journal", filepath.Clean(dir))
		}
		file, err := journal.OpenFile(j.journal, journal.FileOptions{MaxBytes: j.journalSize})
		if err != nil {
			return nil, refuse("--journal: %v", err)
		}
		o.file = file
	}
	return o, nil
}

// writable makes a folder and a file in it: better to fail now than after the work is
// paid for.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".duediligence-*")
	if err != nil {
		return fmt.Errorf("the folder can't be written to: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// journal is where the journal's lines go, or nil where nobody wants them.
func (o *outputs) journal() io.Writer {
	switch {
	case o.kept != nil && o.file != nil:
		return both{o.kept, o.file}
	case o.kept != nil:
		return o.kept
	case o.file != nil:
		return o.file
	default:
		return nil
	}
}

// both writes to one journal even where the other takes nothing.
type both [2]io.Writer

// Write implements io.Writer.
func (b both) Write(line []byte) (int, error) {
	_, err := b[0].Write(line)
	_, err2 := b[1].Write(line)
	return len(line), errors.Join(err, err2)
}

func (o *outputs) journalFailed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.journalErr == nil {
		o.journalErr = err
	}
}

// close writes the closing records. It may be called more than once.
func (o *outputs) close() {
	if o.kept != nil {
		o.journalFailed(o.kept.Close())
	}
	if o.file != nil {
		o.journalFailed(o.file.Close())
	}
}

// head names the last line of the journal, for who keeps it elsewhere.
func (o *outputs) head() (journal.Head, bool) {
	switch {
	case o.file != nil:
		return o.file.Head(), true
	case o.kept != nil:
		return o.kept.Head(), true
	default:
		return journal.Head{}, false
	}
}

// write ends the journal and puts it and the report into the folder. A journal elsewhere
// that failed keeps nothing out of the folder.
func (o *outputs) write(outcome *pipeline.Outcome, lang text.Lang, goOn string) error {
	o.close()
	o.mu.Lock()
	err := o.journalErr
	o.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("the journal could not be written: %w", err)
	}
	if o.dir == "" {
		return err
	}
	lines, ferr := o.kept.Lines()
	if ferr != nil {
		return errors.Join(err, fmt.Errorf("reading the journal back: %w", ferr))
	}
	all, ferr := runpage.Files(outcome, lines, o.kept.Head(), string(lang), goOn)
	if ferr == nil {
		ferr = files.Write(o.dir, all...)
		o.whole = ferr == nil
	}
	return errors.Join(err, ferr)
}

// writeInterrupted ends the journal of a kept run and puts a page into the folder that says
// that the run was interrupted and how to go on. There is no report to put there.
func (o *outputs) writeInterrupted(s supplier.Subject, lang text.Lang, goOn string) error {
	o.close()
	lines, err := o.kept.Lines()
	if err != nil {
		return fmt.Errorf("reading the journal back: %w", err)
	}
	index, err := runpage.Interrupted(s, lines, store.Folder+"/"+journalName, o.kept.Head(), string(lang), goOn)
	if err != nil {
		return err
	}
	return files.Write(o.dir, index)
}
