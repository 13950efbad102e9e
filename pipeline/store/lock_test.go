// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/store"
)

// What run.json says is read by who has the folder: another may be changing it.
func TestAFolderIsLockedBeforeItIsRead(t *testing.T) {
	dir := t.TempDir()
	foreign := t.TempDir()
	_, err := store.Open(foreign)
	require.ErrorIs(t, err, store.ErrNoRun)
	entries, err := os.ReadDir(foreign)
	require.NoError(t, err)
	require.Empty(t, entries, "nothing is left in a folder without a run")

	s, err := store.Create(dir, store.Run{ID: "x"})
	require.NoError(t, err)
	path := filepath.Join(dir, store.RunFile)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, whole[:10], 0o600))
	_, err = store.Open(dir)
	require.ErrorIs(t, err, store.ErrInUse, "it is not looked at before it is ours")
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	require.NoError(t, s.Close())
	s, err = store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// Of several that begin a run in one empty folder at once, one gets it; the others do
// not take away what it made.
func TestOneOfManyGetsTheFolder(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		var got atomic.Pointer[store.Store]
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := store.Create(dir, store.Run{ID: "x"})
				if err != nil {
					if !errors.Is(err, store.ErrInUse) {
						t.Error(err)
					}
					return
				}
				if !got.CompareAndSwap(nil, s) {
					t.Error("two have it")
				}
			})
		}
		wg.Wait()
		require.NotNil(t, got.Load())
		require.NoError(t, got.Load().Close())
		again, err := store.Open(dir)
		require.NoError(t, err)
		require.NoError(t, again.Close())
	}
}
