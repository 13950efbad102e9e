//go:build unix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/store"
)

// A run that others may have written is not believed; what to do about it is said.
func TestARunThatOthersCanWriteIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, s := interrupted(t, 4, dir)
	calls := len(s.Bodies())
	run := filepath.Join(dir, store.Folder)
	args := [][]string{resumeArgs(s.URL, dir), runArgs(s.URL, dir, "--budget", "1"), runArgs(s.URL, dir, "--budget", "1", "--fresh"), {"Transports Kervalec", "--since", dir}}
	refused := func(want string) {
		t.Helper()
		for _, a := range args {
			r := command(t, a...)
			require.Equal(t, exitRefused, r.code, r.stderr)
			require.Contains(t, r.stderr, want)
		}
	}
	require.NoError(t, os.Chmod(run, 0o777))
	refused("chmod -R go-rwx " + run)
	require.NoError(t, os.Chmod(run, 0o700))
	require.NoError(t, os.Chmod(filepath.Join(run, store.SessionFile), 0o666))
	refused("chmod -R go-rwx " + run)
	require.NoError(t, os.Chmod(filepath.Join(run, store.SessionFile), 0o600))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(run, 65534, 65534))
		refused("belongs to another user")
		require.NoError(t, os.Chown(run, 0, 0))
	}
	require.Len(t, s.Bodies(), calls)
	require.Equal(t, exitOK, command(t, resumeArgs(s.URL, dir)...).code)
}
