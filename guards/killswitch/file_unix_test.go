//go:build unix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package killswitch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/killswitch"
	"github.com/gardefou/gardefou/internal/filelock"
)

// lock holds the lock at path until the file is closed.
func lock(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	require.NoError(t, filelock.Lock(f))
	return f
}

// A new file is for its owner alone; one that was opened to a group stays so.
func TestAFileKeepsItsMode(t *testing.T) {
	path := begun(t)
	for _, mode := range []os.FileMode{0o600, 0o640} {
		if mode != 0o600 {
			require.NoError(t, os.Chmod(path, mode))
		}
		_, err := killswitch.Put(t.Context(), killswitch.File(path), killswitch.Stop{Selector: agentNamed(mode.String())})
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}
}

// Through a link two processes could have two files for one.
func TestALinkIsRefused(t *testing.T) {
	path := begun(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(path, link))
	for _, path := range []string{link, filepath.Dir(path)} {
		_, err := killswitch.Read(t.Context(), killswitch.File(path))
		require.ErrorContains(t, err, "no regular file")
		_, err = killswitch.Put(t.Context(), killswitch.File(path), killswitch.Stop{Selector: everything})
		require.ErrorContains(t, err, "no regular file")
	}
}

// A change that a lock holds up ends with its context.
func TestAChangeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := begun(t)
	cancel()
	held := lock(t, path+".lock")
	_, err := killswitch.Put(ctx, killswitch.File(path), killswitch.Stop{Selector: everything})
	require.Error(t, err)
	require.NoError(t, held.Close())
	_, err = killswitch.Put(t.Context(), killswitch.File(path), killswitch.Stop{Selector: everything})
	require.NoError(t, err)
}
