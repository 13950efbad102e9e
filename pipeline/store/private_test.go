//go:build unix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/pipeline/store"
)

// umask lets files be made with the modes they ask for.
func umask(t *testing.T, mask int) {
	t.Helper()
	before := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(before) })
}

// all are the files of a store, with their modes.
func all(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	modes := map[string]fs.FileMode{}
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		modes[e.Name()] = info.Mode().Perm()
	}
	return modes
}

// Whatever the umask, and whatever the folder was before, nobody else has access.
func TestAStoreIsItsOwnersOnly(t *testing.T) {
	umask(t, 0)
	for name, before := range map[string]fs.FileMode{"new": 0, "readable": 0o755, "writable": 0o777} {
		dir := filepath.Join(t.TempDir(), "run")
		if before != 0 {
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chmod(dir, before))
		}
		s := create(t, dir)
		attempt(t, s, callbackstest.Script(callbackstest.Say("found")), callbackstest.Tool("lookup"))
		open := all(t, dir)
		require.Contains(t, open, store.SessionFile)
		for file, mode := range open {
			require.Zero(t, mode&0o077, "%s: %s %o", name, file, mode)
		}
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), name)
		require.NoError(t, s.Close())
	}
}

// A run that others could have written is not believed, and one that they can read is not
// added to.
func TestALooseStoreIsNotOpened(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		mode fs.FileMode
	}{
		"a readable folder": {"", 0o750}, "a folder to search": {"", 0o711}, "a writable folder": {"", 0o777},
		"a run that others wrote": {store.RunFile, 0o666}, "sessions that a group writes": {store.SessionFile, 0o660},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		require.NoError(t, create(t, dir).Close())
		require.NoError(t, os.Chmod(filepath.Join(dir, tc.file), tc.mode))
		_, err := store.Open(dir)
		require.ErrorIs(t, err, store.ErrUnsafe, name)
		var unsafe *store.UnsafeError
		require.ErrorAs(t, err, &unsafe)
		require.False(t, unsafe.Foreign)
		_, err = store.Read(dir)
		require.ErrorIs(t, err, store.ErrUnsafe, name)
		require.NoError(t, os.Chmod(filepath.Join(dir, tc.file), 0o700))
		s, err := store.Open(dir)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

// What an earlier version left readable in a folder that nobody else could enter is closed.
func TestReadableFilesOfAClosedFolderAreTightened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, create(t, dir).Close())
	require.NoError(t, os.Chmod(filepath.Join(dir, store.SessionFile), 0o644))
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, fs.FileMode(0o600), all(t, dir)[store.SessionFile])
}

func TestAStoreOfAnotherUserIsNotUsed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, name := range []string{"", store.RunFile, store.SessionFile} {
		dir := filepath.Join(t.TempDir(), "run")
		require.NoError(t, create(t, dir).Close())
		require.NoError(t, os.Chown(filepath.Join(dir, name), 65534, 65534))
		for _, use := range []func() error{
			func() error { _, err := store.Open(dir); return err },
			func() error { _, err := store.Read(dir); return err },
			func() error { _, err := store.Create(dir, store.Run{ID: "R2"}); return err },
		} {
			err := use()
			require.ErrorIs(t, err, store.ErrUnsafe, name)
			var unsafe *store.UnsafeError
			require.ErrorAs(t, err, &unsafe)
			require.True(t, unsafe.Foreign)
		}
	}
}

// A link leads to what is not the folder's.
func TestALinkIsNoStore(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, create(t, filepath.Join(dir, "run")).Close())
	require.NoError(t, os.Symlink("run", filepath.Join(dir, "link")))
	for _, use := range []func(string) error{
		func(dir string) error { _, err := store.Open(dir); return err },
		func(dir string) error { _, err := store.Create(dir, store.Run{ID: "R2"}); return err },
	} {
		require.ErrorIs(t, use(filepath.Join(dir, "link")), store.ErrUnsafe)
	}
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "run", "ledger")))
	_, err := store.Open(filepath.Join(dir, "run"))
	require.ErrorIs(t, err, store.ErrUnsafe)
}

// A run that was begun stands in the way of a new one, and is as it was.
func TestCreateNewKeepsARun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s, err := store.CreateNew(dir, store.Run{ID: "R1"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	s, err = store.CreateNew(dir, store.Run{ID: "R2"})
	require.NoError(t, err, "a run that never began is nothing to keep")
	_, _, err = s.Begin(t.Context(), app, user)
	require.NoError(t, err)
	require.NoError(t, s.Finish("done"))
	require.NoError(t, s.Close())
	_, err = store.CreateNew(dir, store.Run{ID: "R3"})
	require.ErrorIs(t, err, store.ErrBegun)
	r, err := store.Read(dir)
	require.NoError(t, err)
	require.Equal(t, "R2", r.ID)
	require.False(t, r.Ended.IsZero())
	require.NoError(t, os.WriteFile(filepath.Join(dir, store.RunFile), []byte("{"), 0o600))
	_, err = store.CreateNew(dir, store.Run{ID: "R3"})
	require.ErrorIs(t, err, store.ErrBegun, "what can't be read may be a run")
	_, err = store.Read(t.TempDir())
	require.ErrorIs(t, err, store.ErrNoRun)
}
