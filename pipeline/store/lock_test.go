// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/store"
)

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
