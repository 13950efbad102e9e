// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package dossiers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
)

var day = time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)

// leave puts a dossier into dir.
func leave(t *testing.T, dir string, begun time.Time, status callbacks.Status, report bool) {
	t.Helper()
	kept := filepath.Join(dir, store.Folder)
	require.NoError(t, os.MkdirAll(kept, 0o700))
	data, err := json.Marshal(store.Run{Version: 1, ID: "id", Started: begun, Status: string(status), Attempts: 1})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(kept, store.RunFile), data, 0o600))
	if report {
		require.NoError(t, os.WriteFile(filepath.Join(dir, runpage.ReportJSON), []byte("{}"), 0o600))
	}
}

func dirs(all []dossiers.Dossier) []string {
	var list []string
	for _, d := range all {
		list = append(list, d.Dir)
	}
	return list
}

func TestDossiersAreFoundInTheOrderTheyWereBegun(t *testing.T) {
	dir := t.TempDir()
	none, err := dossiers.In(filepath.Join(dir, "none"))
	require.NoError(t, err)
	require.Empty(t, none)
	later, last := filepath.Join(dir, "2026-11-15"), filepath.Join(dir, "2026-10-01-2")
	leave(t, last, day.Add(2*time.Hour), callbacks.StatusFailed, true)
	leave(t, later, day.Add(time.Hour), callbacks.StatusLanded, true)
	leave(t, dir, day, callbacks.StatusDone, true)
	leave(t, filepath.Join(dir, "another"), day, callbacks.StatusDone, true)
	all, err := dossiers.In(dir)
	require.NoError(t, err)
	require.Equal(t, []string{dir, later, last}, dirs(all))
	d, ok := dossiers.Latest(all)
	require.True(t, ok)
	require.Equal(t, later, d.Dir)
	d, ok = dossiers.ToResume(all)
	require.True(t, ok)
	require.Equal(t, last, d.Dir)
	require.Len(t, dossiers.Journals(dir), 3)

	require.NoError(t, os.WriteFile(filepath.Join(later, store.Folder, store.RunFile), []byte("{"), 0o600))
	_, err = dossiers.In(dir)
	var unreadable *dossiers.UnreadableError
	require.ErrorAs(t, err, &unreadable)
	require.Equal(t, later, unreadable.Dir)
	require.True(t, dossiers.HoldsRun(later), "it may hold one")
}

// A run whose report is not there is one to go on with, whatever it says of itself.
func TestADossierIsWholeWithItsReport(t *testing.T) {
	for status, report := range map[callbacks.Status]bool{callbacks.StatusDone: false, callbacks.StatusFailed: true, "": true} {
		dir := t.TempDir()
		leave(t, dir, day, status, report)
		all, err := dossiers.In(dir)
		require.NoError(t, err)
		require.False(t, all[0].Whole(), status)
		_, ok := dossiers.Latest(all)
		require.False(t, ok)
	}
}

// A claimed folder is a new one, or one in which nothing was begun and nothing else is.
func TestClaimTakesNoFolderThatHoldsAnything(t *testing.T) {
	dir := t.TempDir()
	claim := func() string {
		claimed, err := dossiers.Claim(dir, day)
		require.NoError(t, err)
		return filepath.Base(claimed)
	}
	require.Equal(t, "2026-11-15", claim())
	require.Equal(t, "2026-11-15", claim(), "it is empty")
	leave(t, filepath.Join(dir, "2026-11-15"), day, "", false)
	require.Equal(t, "2026-11-15-2", claim())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "2026-11-15-2", "notes.txt"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "2026-11-15-3"), nil, 0o600))
	require.Equal(t, "2026-11-15-4", claim())
	others, err := dossiers.Foreign(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"2026-11-15-2", "2026-11-15-3"}, others)
	_, err = dossiers.Claim(filepath.Join(dir, "none"), day)
	require.ErrorIs(t, err, os.ErrNotExist)
}
