// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package dossiers_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// begin leaves a run on subject in dir that ended with status, and can be opened.
func begin(t *testing.T, dir string, subject supplier.Subject, begun time.Time, status callbacks.Status) {
	t.Helper()
	s, err := store.Create(filepath.Join(dir, store.Folder), store.Run{ID: "id", Subject: subject, Started: begun})
	require.NoError(t, err)
	_, _, err = s.Begin(t.Context(), "app", "user")
	require.NoError(t, err)
	require.NoError(t, s.Finish(string(status)))
	require.NoError(t, s.Close())
}

func TestPlaceFor(t *testing.T) {
	own, other := supplier.Subject{SIREN: "999991011", LegalName: "KERVALEC"}, supplier.Subject{SIREN: "999991029", LegalName: "MENHIR"}
	nothing, fresh, replace := dossiers.PlaceOptions{}, dossiers.PlaceOptions{Fresh: true}, dossiers.PlaceOptions{Replace: true}
	write := func(t *testing.T, path, content string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	ended := func(subject supplier.Subject, status callbacks.Status) func(*testing.T, string) {
		return func(t *testing.T, dir string) { t.Helper(); begin(t, dir, subject, day, status) }
	}
	broken := func(t *testing.T, dir string) {
		t.Helper()
		write(t, filepath.Join(dir, store.Folder, store.RunFile), "{")
	}
	notes := func(t *testing.T, dir string) { t.Helper(); write(t, filepath.Join(dir, "notes.txt"), "") }
	gone := func(t *testing.T, dir string) { t.Helper(); require.NoError(t, os.Remove(dir)) }
	for name, c := range map[string]struct {
		there    func(t *testing.T, dir string)
		o        dossiers.PlaceOptions
		at       string // beneath the folder
		replaces bool
		beside   bool
		taken    dossiers.Why
	}{
		"nothing":           {there: func(*testing.T, string) {}, at: "."},
		"no folder":         {there: gone, at: "."},
		"finished":          {there: ended(own, callbacks.StatusDone), at: "2026-11-15", beside: true},
		"finished, fresh":   {there: ended(own, callbacks.StatusDone), o: fresh, at: "2026-11-15", beside: true},
		"finished, replace": {there: ended(own, callbacks.StatusDone), o: replace, at: ".", replaces: true},
		"only beneath, replace": {
			there: func(t *testing.T, dir string) {
				t.Helper()
				begin(t, filepath.Join(dir, "2026-10-01"), own, day, callbacks.StatusDone)
			},
			o: replace, taken: dossiers.WhySeveral,
		},
		"unfinished":          {there: ended(own, callbacks.StatusFailed), taken: dossiers.WhyUnfinished},
		"unfinished, replace": {there: ended(own, callbacks.StatusFailed), o: replace, taken: dossiers.WhyUnfinished},
		"unfinished, fresh":   {there: ended(own, callbacks.StatusFailed), o: fresh, at: ".", replaces: true},
		"under way, fresh": {
			there: func(t *testing.T, dir string) {
				t.Helper()
				begin(t, dir, own, day, "")
				s, err := store.Open(filepath.Join(dir, store.Folder))
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, s.Close()) })
			},
			o: fresh, taken: dossiers.WhyClosed,
		},
		"another supplier's, replace": {there: ended(other, callbacks.StatusDone), o: replace, taken: dossiers.WhyOther},
		"other files":                 {there: notes, taken: dossiers.WhyForeign},
		"files beside a dossier": {
			there: func(t *testing.T, dir string) {
				t.Helper()
				begin(t, dir, own, day, callbacks.StatusDone)
				write(t, filepath.Join(dir, "notes.txt"), "")
			},
			at: "2026-11-15", beside: true,
		},
		"unreadable":          {there: broken, taken: dossiers.WhyUnreadable},
		"unreadable, replace": {there: broken, o: replace, at: ".", replaces: true},
		"unreadable beneath, replace": {
			there: func(t *testing.T, dir string) {
				t.Helper()
				begin(t, dir, own, day, callbacks.StatusDone)
				write(t, filepath.Join(dir, "2026-10-01", store.Folder, store.RunFile), "{")
			},
			o: replace, taken: dossiers.WhyUnreadable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.o == nothing && c.taken == "" {
				require.False(t, c.replaces, "nothing is given up")
			}
			dir := t.TempDir()
			c.there(t, dir)
			at, err := dossiers.PlaceFor(dir, own, day, c.o)
			if c.taken != "" {
				var taken *dossiers.TakenError
				require.ErrorAs(t, err, &taken)
				require.Equal(t, c.taken, taken.Why)
				require.NotEmpty(t, taken.Error())
				return
			}
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, c.at), at.Dir)
			require.Equal(t, c.replaces, at.Replaces.Dir != "")
			require.Equal(t, c.beside, at.Beside.Dir != "")
		})
	}
}
