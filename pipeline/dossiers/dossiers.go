// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dossiers finds the dossiers of one supplier in a folder, and makes room for the
// next one beside them.
//
// The first dossier stands in the folder itself, each later one in a folder of its own
// there, named by the day its facts are of: DIR/report.json, DIR/2026-12-01/report.json,
// DIR/2026-12-01-2/report.json. The functions of this package replace and remove nothing.
package dossiers

import (
	"cmp"
	"encoding/json"
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
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
)

// dated is the name of the folder of a later dossier.
var dated = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-\d+)?$`)

// A Dossier is what the run of one day left, or is leaving, in a folder.
type Dossier struct {
	Dir string
	Run store.Run
}

// Finished reports whether a run ended as it should: there is nothing to go on with.
func Finished(s callbacks.Status) bool {
	return s == callbacks.StatusDone || s == callbacks.StatusLanded
}

// Finished reports whether the dossier's run ended as it should.
func (d Dossier) Finished() bool { return Finished(callbacks.Status(d.Run.Status)) }

// Begun reports whether anything was paid for.
func (d Dossier) Begun() bool { return d.Run.Attempts > 0 }

// Whole reports whether the run is finished and its report is there to be read.
func (d Dossier) Whole() bool {
	_, err := os.Stat(d.Report())
	return d.Finished() && err == nil
}

// Report is the path of the report, as JSON.
func (d Dossier) Report() string { return filepath.Join(d.Dir, runpage.ReportJSON) }

// Ended is when the run ended, or when it was begun where that is not known.
func (d Dossier) Ended() time.Time {
	if d.Run.Ended.IsZero() { // kept by an earlier version
		return d.Run.Started
	}
	return d.Run.Ended
}

// An UnreadableError says which dossier can't be read.
type UnreadableError struct {
	Dir string
	Err error
}

// Error implements error.
func (e *UnreadableError) Error() string { return e.Err.Error() }

// Unwrap returns the error of package store.
func (e *UnreadableError) Unwrap() error { return e.Err }

// In returns the dossiers of a folder, the oldest first; none is no error. The error is an
// [*UnreadableError] about the first that can't be read; the others are returned all the same.
func In(dir string) ([]Dossier, error) {
	var all []Dossier
	var unreadable error
	for _, dir := range Folders(dir) {
		r, err := store.Read(filepath.Join(dir, store.Folder))
		if errors.Is(err, store.ErrNoRun) {
			continue
		}
		switch {
		case err == nil:
			all = append(all, Dossier{dir, r})
		case unreadable == nil:
			unreadable = &UnreadableError{dir, err}
		}
	}
	slices.SortStableFunc(all, func(a, b Dossier) int { return a.Run.Started.Compare(b.Run.Started) })
	return all, unreadable
}

// Folders are the folders where a dossier may stand: dir itself and the dated ones there, in
// the order of their days, those of one day in the order they were claimed.
func Folders(dir string) []string {
	folders := []string{dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return folders // where it matters it is written to next
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && dated.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(dayOf(a), dayOf(b)), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		folders = append(folders, filepath.Join(dir, name))
	}
	return folders
}

// dayOf is the day in the name of a dated folder.
func dayOf(name string) string { return name[:len(time.DateOnly)] }

// Next returns the folder of the next dossier: dir itself where that holds nothing or is not
// there, else a dated one that is claimed for it.
func Next(dir string, asOf time.Time) (string, error) {
	others, err := Foreign(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	all, err := In(dir)
	if err == nil && len(others) == 0 && !slices.ContainsFunc(all, Dossier.Begun) {
		return dir, nil
	}
	return Claim(dir, asOf)
}

// Claim makes the folder of a later dossier, whose facts are of the day of asOf, and returns
// its path. A folder in which no run was begun is taken again.
func Claim(dir string, asOf time.Time) (string, error) {
	day := asOf.Format(time.DateOnly)
	for n := 1; ; n++ {
		name := day
		if n > 1 {
			name = fmt.Sprintf("%s-%d", day, n)
		}
		next := filepath.Join(dir, name)
		err := os.Mkdir(next, 0o755) //nolint:gosec // a report is for others to read, the run in it is not
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if others, err := Foreign(next); err == nil && len(others) == 0 && !HoldsRun(next) {
			return next, nil // of a run that was refused before its first step
		}
	}
}

// HoldsRun reports whether the folder itself holds a run that was begun, or may hold one.
func HoldsRun(dir string) bool {
	r, err := store.Read(filepath.Join(dir, store.Folder))
	return !errors.Is(err, store.ErrNoRun) && (err != nil || r.Attempts > 0)
}

// Foreign names what in a folder is neither a run's nor a dossier's. Hidden files are left
// out: no file of a dossier has such a name.
func Foreign(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
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
	return names, nil
}

func isDossier(dir string) bool {
	_, err := store.Read(filepath.Join(dir, store.Folder))
	if !errors.Is(err, store.ErrNoRun) {
		return err == nil
	}
	others, err := Foreign(dir)
	return err == nil && len(others) == 0
}

// onlyStore reports whether a folder holds files of a kept run and nothing else.
func onlyStore(dir string) bool {
	own := []string{store.RunFile, store.LockFile, store.LedgerFile, runpage.JournalFile, store.SessionFile, store.SessionFile + "-wal", store.SessionFile + "-shm", store.SessionFile + "-journal"}
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), ".") && !slices.Contains(own, e.Name())
	})
}

// Latest is the newest dossier that is whole.
func Latest(all []Dossier) (d Dossier, ok bool) {
	for _, d := range slices.Backward(all) {
		if d.Whole() {
			return d, true
		}
	}
	return Dossier{}, false
}

// ToResume is the dossier to go on with: the newest that was begun and is not whole, else the
// newest that was begun, else the newest.
func ToResume(all []Dossier) (d Dossier, ok bool) {
	for _, d := range slices.Backward(all) {
		if d.Begun() && !d.Whole() {
			return d, true
		}
	}
	for _, d := range slices.Backward(all) {
		if d.Begun() {
			return d, true
		}
	}
	if len(all) == 0 {
		return Dossier{}, false
	}
	return all[len(all)-1], true
}

// Journals are the journals of the dossiers of a folder, the oldest first.
func Journals(dir string) []string {
	folders := Folders(dir)
	// A journal is read, not believed: also where the run beside it may not be.
	if all, err := In(dir); err == nil && len(all) > 0 {
		folders = folders[:0]
		for _, d := range all {
			folders = append(folders, d.Dir)
		}
	}
	paths := make([]string, len(folders))
	for i, dir := range folders {
		paths[i] = Journal(dir)
	}
	return paths
}

// Journal is the journal of the dossier in dir itself: beside the report, or, as long as the
// run there has not come to one, a crash and Ctrl-C included, beside the kept run.
func Journal(dir string) string {
	beside, kept := filepath.Join(dir, runpage.JournalFile), filepath.Join(dir, store.Folder, runpage.JournalFile)
	if _, err := os.Stat(kept); err != nil {
		return beside
	}
	if _, err := os.Stat(beside); err != nil {
		return kept
	}
	if r, ok := Recorded(dir); ok && r.Attempts > 0 && (r.Status == "" || r.Status == string(callbacks.StatusInterrupted)) {
		return kept // what is beside the report is an earlier run's
	}
	return beside
}

// Recorded reads what the run in dir itself was asked for, without asking who could have
// written it. It may be under way.
func Recorded(dir string) (r store.Run, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, store.Folder, store.RunFile)) //nolint:gosec // the folder is the caller's to choose
	return r, err == nil && json.Unmarshal(data, &r) == nil
}
