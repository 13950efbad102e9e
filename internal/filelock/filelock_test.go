// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"go/build"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneHasTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	require.NoError(t, Lock(first))
	_, err := first.WriteString("written")
	require.NoError(t, err)
	require.ErrorIs(t, Lock(second), ErrLocked)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "written", string(data), "others may read")
	require.NoError(t, first.Close())
	require.NoError(t, Lock(second))
}

// The systems that binaries are released for have a lock: without one a ledger file is
// refused, and with it every --budget that has an output folder.
func TestReleasedSystemsHaveALock(t *testing.T) {
	for system, want := range map[string]string{"linux": "lock_unix.go", "darwin": "lock_unix.go", "windows": "lock_windows.go", "plan9": "lock_other.go"} {
		c := build.Default
		c.GOOS = system
		p, err := c.ImportDir(".", 0)
		require.NoError(t, err)
		require.Equal(t, []string{"filelock.go", want}, p.GoFiles, system)
	}
}
