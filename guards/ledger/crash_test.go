// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/internal/crashtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, func(path string) (ledger.Ledger, error) { return ledger.OpenFile(path, ledger.FileOptions{}) })
}

// A process that spends from a ledger file is killed again and again, and takes up where the
// file says it was.
func TestKilledWithAFile(t *testing.T) {
	const limit ledger.Nano = 20_000
	path := filepath.Join(t.TempDir(), "ledger")
	f := openFile(t, path, ledger.FileOptions{})
	open(t, f, "task", limit)
	require.NoError(t, f.CloseFile())

	got := crashtest.Torment{Store: path, Account: "task", Workers: 1, Kills: 25}.Run(t)

	f = openFile(t, path, ledger.FileOptions{})
	b, err := f.Balance(t.Context(), "task")
	require.NoError(t, err)
	t.Logf("%d calls, %d kills, billed %d of %d, committed %d, unsettled %d", got.Calls, got.Killed, got.Billed, limit, b.Committed, b.Unsettled)
	require.Equal(t, 25, got.Killed)
	require.LessOrEqual(t, got.Billed, limit)
	require.LessOrEqual(t, got.Billed, b.Spent+b.Held, "billed, but on no account")
	require.Zero(t, b.Overrun)
	require.Greater(t, got.Billed, limit/2, "the money was there to be spent")
}
