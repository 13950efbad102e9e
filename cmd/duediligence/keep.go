// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/keptrun"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// keep begins to keep a new run in its output folder, beside the dossiers that are there: one
// that is finished is replaced with --replace only, one that is not with --fresh only, one
// that is under way or another supplier's never. Where the run can't be kept for another
// reason it goes on without.
func (j *job) keep(client *sources.Client, subject supplier.Subject, query string) error {
	if j.out == "" {
		return nil
	}
	at, err := dossiers.PlaceFor(j.out, subject, client.AsOf(), dossiers.PlaceOptions{Fresh: j.fresh, Replace: j.replace})
	if err != nil {
		return j.noPlace(err, subject)
	}
	j.out = at.Dir
	if err := writable(j.out); err != nil {
		return refuse("-o: %v", err)
	}
	own, err := json.Marshal(j.settled(j.lang, client.AsOf()))
	if err != nil {
		return failed(err)
	}
	run := store.Run{Query: query, Subject: subject, Settings: own}
	kept, err := keptrun.Create(j.out, run, at.Replaces.Dir != "")
	if errors.Is(err, store.ErrInUse) || errors.Is(err, store.ErrUnsafe) {
		return keptError(j.lang, j.out, err)
	}
	j.p.placed(at)
	if err != nil {
		j.p.unkept = j.out
		j.p.line("%s", text.Get(j.lang, text.CmdNotKept, j.out, err))
		return nil
	}
	j.kept = kept
	j.closes(kept.Store.Close)
	return nil
}

// placed says where a run is kept, where that is not simply the folder that was named.
func (p *printer) placed(at dossiers.Place) {
	switch d := at.Replaces; {
	case d.Dir != "" && d.Finished():
		p.line("%s", text.Get(p.lang, text.KeptReplaced, at.Dir, d.Run.Subject.LegalName, ended(d, p.lang)))
	case at.Beside.Dir != "":
		p.line("%s", text.Get(p.lang, text.KeptBeside, at.Beside.Dir, at.Beside.Run.Subject.LegalName, ended(at.Beside, p.lang), at.Dir))
	}
}

func keptError(lang text.Lang, dir string, err error) error {
	var unsafe *store.UnsafeError
	switch {
	case errors.As(err, &unsafe) && unsafe.Foreign:
		return refuseIn(lang, text.KeptForeignOwner, unsafe.Path, quoted(filepath.Join(dir, store.Folder)))
	case errors.As(err, &unsafe) && !unsafe.Mode.IsRegular() && !unsafe.Mode.IsDir():
		return refuseIn(lang, text.KeptLink, unsafe.Path)
	case errors.As(err, &unsafe):
		return refuseIn(lang, text.KeptLoose, unsafe.Path, fmt.Sprintf("%04o", unsafe.Mode.Perm()), quoted(filepath.Join(dir, store.Folder)))
	case errors.Is(err, store.ErrInUse):
		return refuseIn(lang, text.KeptInUse, dir)
	case errors.Is(err, store.ErrNoRun):
		return refuseIn(lang, text.KeptNone, dir)
	default:
		return refuseIn(lang, text.KeptBroken, dir, err)
	}
}

// done ends a kept run's attempt. What can't be kept is reported, and costs the report nothing.
func (j *job) done(status string) {
	if j.kept == nil {
		return
	}
	if err := errors.Join(j.kept.Store.Err(), j.kept.Store.Finish(status)); err != nil {
		j.p.line("%s", text.Get(j.lang, text.KeptPart, j.out, err))
	}
}
