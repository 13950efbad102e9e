// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// noPlace refuses to keep a run on subject in the output folder.
func (j *job) noPlace(err error, subject supplier.Subject) error {
	taken, ok := errors.AsType[*dossiers.TakenError](err)
	if !ok {
		return refuse("-o: %v", err)
	}
	d := taken.Dossier
	switch taken.Why {
	case dossiers.WhyUnreadable:
		return refuseIn(j.lang, text.KeptBroken, d.Dir, fmt.Sprintf("%v\n%s", taken.Err, text.Get(j.lang, text.KeptReplace)))
	case dossiers.WhyOther:
		return refuseIn(j.lang, text.KeptOther, d.Dir, d.Run.Subject.LegalName, subject.LegalName)
	case dossiers.WhyUnfinished:
		again := j.resumeCommand(d) + "\n" + text.Get(j.lang, text.KeptAfresh)
		return refuseIn(j.lang, text.KeptUnfinished, d.Dir, d.Run.Subject.LegalName, again)
	case dossiers.WhySeveral:
		return refuseIn(j.lang, text.KeptWhich, j.out, filepath.Join(j.out, filepath.Base(d.Dir)))
	case dossiers.WhyForeign:
		return refuseIn(j.lang, text.KeptNotOurs, j.out, listed(taken.Others))
	default:
		return keptError(j.lang, d.Dir, taken.Err)
	}
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
