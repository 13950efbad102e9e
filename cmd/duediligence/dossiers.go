// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// ended is the day a dossier's run ended, in words.
func ended(d dossiers.Dossier, lang text.Lang) string {
	return text.Date(lang, d.Ended().Format(time.DateOnly))
}

// unreadable refuses a folder with a dossier that can't be read.
func unreadable(dir string, err error, lang text.Lang) error {
	if e, ok := errors.AsType[*dossiers.UnreadableError](err); ok {
		dir, err = e.Dir, e.Err
	}
	return keptError(lang, dir, err)
}

// place is where a new run is kept.
type place struct {
	dir string
	// replaces is the dossier that gives way; its dir is empty where none does.
	replaces dossiers.Dossier
	// beside is a finished dossier of the same supplier that stays.
	beside dossiers.Dossier
}

// placeFor says where a run on subject is kept in the output folder. What is there is never
// replaced but for a dossier that may be: of the same supplier, with --replace where it is
// finished, with --fresh where it is not.
func (f *flags) placeFor(subject supplier.Subject, asOf time.Time, lang text.Lang) (place, error) {
	others, err := dossiers.Foreign(f.out)
	if errors.Is(err, fs.ErrNotExist) {
		return place{dir: f.out}, nil
	}
	if err != nil {
		return place{}, refuse("-o: %v", err)
	}
	all, err := dossiers.In(f.out)
	var broken *dossiers.UnreadableError
	switch {
	case errors.As(err, &broken) && errors.Is(err, store.ErrUnsafe):
		return place{}, keptError(lang, broken.Dir, broken.Err)
	case errors.As(err, &broken) && f.replace && broken.Dir == f.out:
		return place{dir: f.out, replaces: dossiers.Dossier{Dir: f.out}}, nil
	case errors.As(err, &broken):
		return place{}, refuseIn(lang, text.KeptBroken, broken.Dir, fmt.Sprintf("%v\n%s", broken.Err, text.Get(lang, text.KeptReplace)))
	}
	for _, d := range all {
		if d.Begun() && !d.Run.Subject.Same(subject) {
			return place{}, refuseIn(lang, text.KeptOther, d.Dir, d.Run.Subject.LegalName, subject.LegalName)
		}
	}
	if i := slices.IndexFunc(all, func(d dossiers.Dossier) bool { return d.Begun() && !d.Finished() }); i >= 0 {
		return f.unfinished(all[i], lang)
	}
	return f.placeAmong(all, others, asOf, lang)
}

// unfinished refuses to begin a run where one is that is not finished, unless it is to be
// begun afresh.
func (f *flags) unfinished(d dossiers.Dossier, lang text.Lang) (place, error) {
	kept, err := store.Open(filepath.Join(d.Dir, store.Folder))
	if err != nil {
		return place{}, keptError(lang, d.Dir, err)
	}
	if err := kept.Close(); err != nil {
		return place{}, keptError(lang, d.Dir, err)
	}
	if f.fresh {
		return place{dir: d.Dir, replaces: d}, nil
	}
	return place{}, refuseIn(lang, text.KeptUnfinished, d.Dir, d.Run.Subject.LegalName, f.resumeCommand(d)+"\n"+text.Get(lang, text.KeptAfresh))
}

// placeAmong finds a place among dossiers that are finished, or never began.
func (f *flags) placeAmong(all []dossiers.Dossier, others []string, asOf time.Time, lang text.Lang) (place, error) {
	kept := slices.DeleteFunc(slices.Clone(all), func(d dossiers.Dossier) bool { return !d.Begun() })
	own := slices.IndexFunc(kept, func(d dossiers.Dossier) bool { return d.Dir == f.out })
	switch {
	case f.replace && own >= 0:
		return place{dir: f.out, replaces: kept[own]}, nil
	case f.replace && len(kept) > 0:
		return place{}, refuseIn(lang, text.KeptWhich, f.out, filepath.Join(f.out, filepath.Base(kept[len(kept)-1].Dir)))
	case own < 0 && len(others) > 0:
		return place{}, refuseIn(lang, text.KeptNotOurs, f.out, listed(others))
	}
	dir, err := dossiers.Next(f.out, asOf)
	if err != nil {
		return place{}, refuse("-o: %v", err)
	}
	at := place{dir: dir}
	if len(kept) > 0 {
		at.beside = kept[len(kept)-1]
	}
	return at, nil
}

// listed names some of what a folder holds.
func listed(names []string) string {
	const some = 5
	shown := make([]string, 0, some+1)
	for _, n := range names[:min(some, len(names))] {
		shown = append(shown, supplier.Clean(n, 60))
	}
	if len(names) > some {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// refuseDossier refuses to write files of another kind where a dossier is.
func refuseDossier(dir, flag string, lang text.Lang) error {
	if dir == "" || !dossiers.HoldsRun(dir) {
		return nil
	}
	return refuseIn(lang, text.KeptDossier, flag, dir)
}

// latestReport is the report of the newest dossier that is finished in an output folder.
func latestReport(dir string, lang text.Lang) (string, error) {
	all, err := dossiers.In(dir)
	if err != nil {
		return "", unreadable(dir, err, lang)
	}
	if d, ok := dossiers.Latest(all); ok {
		return d.Report(), nil
	}
	path := filepath.Join(dir, runpage.ReportJSON)
	if _, err := os.Stat(path); err == nil && len(all) == 0 {
		return path, nil // of serve, or of a batch
	}
	return "", refuseIn(lang, text.SinceNone, dir)
}

// toResume is the dossier of an output folder to go on with.
func toResume(dir string, lang text.Lang) (dossiers.Dossier, error) {
	all, err := dossiers.In(dir)
	if err != nil {
		return dossiers.Dossier{}, unreadable(dir, err, lang)
	}
	d, ok := dossiers.ToResume(all)
	if !ok {
		return d, keptError(lang, dir, store.ErrNoRun)
	}
	return d, nil
}
