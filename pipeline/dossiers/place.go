// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package dossiers

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// PlaceOptions say what a new run may replace. The zero value is nothing.
type PlaceOptions struct {
	// Fresh lets it replace a run that is not finished, Replace the finished dossier in the
	// folder itself, or what can't be read there.
	Fresh, Replace bool
}

// A Place is where a new run is kept.
type Place struct {
	Dir string
	// Replaces is the dossier that gives way; its Dir is empty where none does.
	Replaces Dossier
	// Beside is a finished dossier of the same supplier that stays; its Dir is empty where
	// there is none.
	Beside Dossier
}

// Why a folder has no place for a new run.
type Why string

// The reasons of a [TakenError].
const (
	// WhyUnsafe means that Dossier may have been written by others.
	WhyUnsafe Why = "unsafe"
	// WhyUnreadable means that Dossier can't be read.
	WhyUnreadable Why = "unreadable"
	// WhyClosed means that Dossier is not finished and can't be opened; it is in use, say.
	WhyClosed Why = "closed"
	// WhyOther means that Dossier is another supplier's.
	WhyOther Why = "other supplier"
	// WhyUnfinished means that Dossier is not finished.
	WhyUnfinished Why = "unfinished"
	// WhySeveral means that there is none in the folder itself to replace, and Dossier is the
	// newest of those beneath.
	WhySeveral Why = "several"
	// WhyForeign means that the folder holds Others, which are no dossiers.
	WhyForeign Why = "foreign"
)

// A TakenError says why a folder has no place for a new run.
type TakenError struct {
	Why     Why
	Dossier Dossier  // of which Dir alone is known where it can't be read
	Others  []string // names of files
	Err     error    // of package store, or nil
}

// Error implements error.
func (e *TakenError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("dossiers: %s: %s: %v", e.Why, e.Dossier.Dir, e.Err)
	}
	return fmt.Sprintf("dossiers: %s: %s", e.Why, e.Dossier.Dir)
}

// Unwrap returns the error of package store.
func (e *TakenError) Unwrap() error { return e.Err }

// PlaceFor says where a run on subject, judged at asOf, is kept in dir, and claims the folder.
// What is there is never replaced but for a dossier of the same supplier that o gives up. The
// error is a [*TakenError], or of the file system.
func PlaceFor(dir string, subject supplier.Subject, asOf time.Time, o PlaceOptions) (Place, error) {
	others, err := Foreign(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Place{Dir: dir}, nil
	}
	if err != nil {
		return Place{}, err
	}
	all, err := In(dir)
	if broken, ok := errors.AsType[*UnreadableError](err); ok {
		why := WhyUnreadable
		switch {
		case errors.Is(err, store.ErrUnsafe):
			why = WhyUnsafe
		case o.Replace && broken.Dir == dir:
			return Place{Dir: dir, Replaces: Dossier{Dir: dir}}, nil
		}
		return Place{}, &TakenError{Why: why, Dossier: Dossier{Dir: broken.Dir}, Err: broken.Err}
	}
	begun := slices.DeleteFunc(all, func(d Dossier) bool { return !d.Begun() })
	for _, d := range begun {
		if !d.Run.Subject.Same(subject) {
			return Place{}, &TakenError{Why: WhyOther, Dossier: d}
		}
	}
	if i := slices.IndexFunc(begun, func(d Dossier) bool { return !d.Finished() }); i >= 0 {
		return unfinished(begun[i], o)
	}
	return amongFinished(dir, begun, others, asOf, o)
}

// unfinished is the place of a run that is not finished and not under way.
func unfinished(d Dossier, o PlaceOptions) (Place, error) {
	kept, err := store.Open(filepath.Join(d.Dir, store.Folder))
	if err == nil {
		err = kept.Close()
	}
	switch {
	case err != nil:
		return Place{}, &TakenError{Why: WhyClosed, Dossier: d, Err: err}
	case !o.Fresh:
		return Place{}, &TakenError{Why: WhyUnfinished, Dossier: d}
	}
	return Place{Dir: d.Dir, Replaces: d}, nil
}

// amongFinished finds a place among dossiers that are finished.
func amongFinished(dir string, finished []Dossier, others []string, asOf time.Time, o PlaceOptions) (Place, error) {
	own := slices.IndexFunc(finished, func(d Dossier) bool { return d.Dir == dir })
	switch {
	case o.Replace && own >= 0:
		return Place{Dir: dir, Replaces: finished[own]}, nil
	case o.Replace && len(finished) > 0:
		return Place{}, &TakenError{Why: WhySeveral, Dossier: finished[len(finished)-1]}
	case own < 0 && len(others) > 0:
		return Place{}, &TakenError{Why: WhyForeign, Dossier: Dossier{Dir: dir}, Others: others}
	}
	next, err := Next(dir, asOf)
	if err != nil {
		return Place{}, err
	}
	at := Place{Dir: next}
	if len(finished) > 0 {
		at.Beside = finished[len(finished)-1]
	}
	return at, nil
}
