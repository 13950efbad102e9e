// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// A folder given with -o is that of one supplier. Its first dossier stands in the folder
// itself, each later one in a folder of its own there, named by the day its facts are of:
// DIR/report.json, DIR/2026-12-01/report.json, DIR/2026-12-01-2/report.json.

// dated is the name of the folder of a later dossier.
var dated = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-\d+)?$`)

// A dossier is what the run of one day left, or is leaving, in a folder.
type dossier struct {
	dir string
	run store.Run
}

// finished reports whether the run ended as it should: there is nothing to go on with.
func (d dossier) finished() bool { return finished(callbacks.Status(d.run.Status)) }

// begun reports whether anything was paid for.
func (d dossier) begun() bool { return d.run.Attempts > 0 }

// whole reports whether the dossier is there to be read.
func (d dossier) whole() bool {
	_, err := os.Stat(filepath.Join(d.dir, runpage.ReportJSON))
	return d.finished() && err == nil
}

// ended is the day the run ended.
func (d dossier) ended(lang text.Lang) string {
	at := d.run.Ended
	if at.IsZero() { // kept by an earlier version
		at = d.run.Started
	}
	return text.Date(lang, at.Format(time.DateOnly))
}

// dossiersIn returns the dossiers of an output folder, the oldest first. The error is that of
// the first that can't be read.
func dossiersIn(dir string) ([]dossier, error) {
	var all []dossier
	add := func(dir string) error {
		r, err := store.Read(filepath.Join(dir, store.Folder))
		if errors.Is(err, store.ErrNoRun) {
			return nil
		}
		if err != nil {
			return &dossierError{dir, err}
		}
		all = append(all, dossier{dir, r})
		return nil
	}
	if err := add(dir); err != nil {
		return nil, err
	}
	for _, name := range datedIn(dir) {
		if err := add(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b dossier) int { return a.run.Started.Compare(b.run.Started) })
	return all, nil
}

// datedIn are the names of the folders of later dossiers.
func datedIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // where it matters it is written to next
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && dated.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// dossierError says which of several dossiers can't be read.
type dossierError struct {
	dir string
	err error
}

func (e *dossierError) Error() string { return e.err.Error() }
func (e *dossierError) Unwrap() error { return e.err }

// place is where a new run is kept.
type place struct {
	dir string
	// replaces is the dossier that gives way; its dir is empty where none does.
	replaces dossier
	// beside is a finished dossier of the same supplier that stays.
	beside dossier
}

// placeFor says where a run on subject is kept in the output folder. What is there is never
// replaced but for a dossier that may be: of the same supplier, with --replace where it is
// finished, with --fresh where it is not.
func (f *flags) placeFor(subject supplier.Subject, asOf time.Time, lang text.Lang) (place, error) {
	entries, err := os.ReadDir(f.out)
	if errors.Is(err, fs.ErrNotExist) {
		return place{dir: f.out}, nil
	}
	if err != nil {
		return place{}, refuse("-o: %v", err)
	}
	all, err := dossiersIn(f.out)
	var broken *dossierError
	switch {
	case errors.As(err, &broken) && errors.Is(err, store.ErrUnsafe):
		return place{}, keptError(lang, broken.dir, broken.err)
	case errors.As(err, &broken) && f.replace && broken.dir == f.out:
		return place{dir: f.out, replaces: dossier{dir: f.out}}, nil
	case errors.As(err, &broken):
		return place{}, refuseIn(lang, text.KeptBroken, broken.dir, fmt.Sprintf("%v\n%s", broken.err, text.Get(lang, text.KeptReplace)))
	}
	for _, d := range all {
		if d.begun() && !d.run.Subject.Same(subject) {
			return place{}, refuseIn(lang, text.KeptOther, d.dir, d.run.Subject.LegalName, subject.LegalName)
		}
	}
	if i := slices.IndexFunc(all, func(d dossier) bool { return d.begun() && !d.finished() }); i >= 0 {
		return f.unfinished(all[i], lang)
	}
	return f.placeAmong(all, foreignIn(f.out, entries), asOf, lang)
}

// unfinished refuses to begin a run where one is that is not finished, unless it is to be
// begun afresh.
func (f *flags) unfinished(d dossier, lang text.Lang) (place, error) {
	kept, err := store.Open(filepath.Join(d.dir, store.Folder))
	if err != nil {
		return place{}, keptError(lang, d.dir, err)
	}
	if err := kept.Close(); err != nil {
		return place{}, keptError(lang, d.dir, err)
	}
	if f.fresh {
		return place{dir: d.dir, replaces: d}, nil
	}
	return place{}, refuseIn(lang, text.KeptUnfinished, d.dir, d.run.Subject.LegalName, f.resumeCommand(d)+"\n"+text.Get(lang, text.KeptAfresh))
}

// placeAmong finds a place among dossiers that are finished, or never began.
func (f *flags) placeAmong(all []dossier, others []string, asOf time.Time, lang text.Lang) (place, error) {
	kept := slices.DeleteFunc(slices.Clone(all), func(d dossier) bool { return !d.begun() })
	own := slices.IndexFunc(kept, func(d dossier) bool { return d.dir == f.out })
	switch {
	case f.replace && own >= 0:
		return place{dir: f.out, replaces: kept[own]}, nil
	case f.replace && len(kept) > 0:
		return place{}, refuseIn(lang, text.KeptWhich, f.out, filepath.Join(f.out, filepath.Base(kept[len(kept)-1].dir)))
	case own < 0 && len(others) > 0:
		return place{}, refuseIn(lang, text.KeptNotOurs, f.out, listed(others))
	case len(kept) == 0:
		return place{dir: f.out}, nil
	}
	dir, err := f.claimDated(asOf)
	if err != nil {
		return place{}, refuse("-o: %v", err)
	}
	return place{dir: dir, beside: kept[len(kept)-1]}, nil
}

// claimDated makes the folder of a later dossier.
func (f *flags) claimDated(asOf time.Time) (string, error) {
	day := asOf.Format(time.DateOnly)
	for n := 1; ; n++ {
		name := day
		if n > 1 {
			name = fmt.Sprintf("%s-%d", day, n)
		}
		dir := filepath.Join(f.out, name)
		err := os.Mkdir(dir, 0o755) //nolint:gosec // a report is for others to read, the run in it is not
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if entries, err := os.ReadDir(dir); err == nil && len(foreignIn(dir, entries)) == 0 && !holdsBegun(dir) {
			return dir, nil // of a run that was refused before its first step
		}
	}
}

// holdsBegun reports whether a folder holds a run that was begun, or may hold one.
func holdsBegun(dir string) bool {
	r, err := store.Read(filepath.Join(dir, store.Folder))
	return !errors.Is(err, store.ErrNoRun) && (err != nil || r.Attempts > 0)
}

// foreignIn names what in an output folder is neither a run's nor a dossier's. Hidden files
// are left out: no file of a dossier has such a name.
func foreignIn(dir string, entries []fs.DirEntry) []string {
	var names []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case name == store.Folder && e.IsDir() && onlyStore(filepath.Join(dir, name)):
		case e.IsDir() && dated.MatchString(name) && isDossier(filepath.Join(dir, name)):
		default:
			names = append(names, name)
		}
	}
	return names
}

func isDossier(dir string) bool {
	_, err := store.Read(filepath.Join(dir, store.Folder))
	if !errors.Is(err, store.ErrNoRun) {
		return err == nil
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(foreignIn(dir, entries)) == 0
}

// onlyStore reports whether a folder holds files of a kept run and nothing else.
func onlyStore(dir string) bool {
	own := []string{store.RunFile, store.LockFile, ledgerName, journalName, store.SessionFile, store.SessionFile + "-wal", store.SessionFile + "-shm", store.SessionFile + "-journal"}
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), ".") && !slices.Contains(own, e.Name())
	})
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
	if dir == "" || !holdsBegun(dir) {
		return nil
	}
	return refuseIn(lang, text.KeptDossier, flag, dir)
}

// latestReport is the report of the newest dossier that is finished in an output folder.
func latestReport(dir string, lang text.Lang) (string, error) {
	all, err := dossiersIn(dir)
	var broken *dossierError
	if errors.As(err, &broken) {
		return "", keptError(lang, broken.dir, broken.err)
	}
	for _, d := range slices.Backward(all) {
		if d.whole() {
			return filepath.Join(d.dir, runpage.ReportJSON), nil
		}
	}
	path := filepath.Join(dir, runpage.ReportJSON)
	if _, err := os.Stat(path); err == nil && len(all) == 0 {
		return path, nil // of serve, or of a batch
	}
	return "", refuseIn(lang, text.SinceNone, dir)
}

// toResume is the dossier of an output folder to go on with: the newest that is not finished,
// else the newest.
func toResume(dir string, lang text.Lang) (dossier, error) {
	all, err := dossiersIn(dir)
	var broken *dossierError
	if errors.As(err, &broken) {
		return dossier{}, keptError(lang, broken.dir, broken.err)
	}
	if len(all) == 0 {
		return dossier{}, keptError(lang, dir, store.ErrNoRun)
	}
	for _, d := range slices.Backward(all) {
		if d.begun() && !d.whole() {
			return d, nil
		}
	}
	for _, d := range slices.Backward(all) {
		if d.begun() {
			return d, nil
		}
	}
	return all[len(all)-1], nil
}

// journalsIn are the journals of an output folder's dossiers, the oldest first.
func journalsIn(dir string) []string {
	all, err := dossiersIn(dir)
	paths := []string{}
	if err != nil || len(all) == 0 {
		// A journal is read, not believed: also where the run beside it may not be.
		paths = append(paths, folderJournalPath(dir))
		for _, name := range datedIn(dir) {
			paths = append(paths, folderJournalPath(filepath.Join(dir, name)))
		}
		return paths
	}
	for _, d := range all {
		paths = append(paths, folderJournalPath(d.dir))
	}
	return paths
}
