// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// When a record can't be written, nothing is admitted on the strength of memory.
func TestFileThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	f, err := OpenFile(path, FileOptions{})
	require.NoError(t, err)
	_, err = f.Open(t.Context(), Opening{Account: "t", Limits: Limits{Hard: 100}})
	require.NoError(t, err)

	writable := f.file
	f.file, err = os.Open(path)
	require.NoError(t, err)
	request := Request{Key: Key{Account: "t", Call: "a", Attempt: 1}, Amount: 60}
	_, err = f.Reserve(t.Context(), request)
	require.ErrorIs(t, err, ErrUnavailable)
	require.NoError(t, f.file.Close())
	f.file = writable
	_, err = f.Reserve(t.Context(), request)
	require.ErrorIs(t, err, ErrUnavailable, "not until it was read again")
	require.NoError(t, f.CloseFile())

	f, err = OpenFile(path, FileOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.CloseFile()) }()
	b, err := f.Balance(t.Context(), "t")
	require.NoError(t, err)
	require.Zero(t, b.Used())
}
