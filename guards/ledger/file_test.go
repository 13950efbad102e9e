// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/ledgertest"
)

func openFile(t testing.TB, path string, opts ledger.FileOptions) *ledger.File {
	t.Helper()
	f, err := ledger.OpenFile(path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.CloseFile() })
	return f
}

func TestFileContract(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture {
		path, c := filepath.Join(t.TempDir(), "ledger"), &clock{}
		opts := ledger.FileOptions{NoSync: true, Now: c.now}
		f := openFile(t, path, opts)
		// Whatever the test did, reading the file again gives the same books.
		t.Cleanup(func() {
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_ = f.CloseFile() // unless it was
			require.NoError(t, openFile(t, path, opts).CloseFile())
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
		return ledgertest.Fixture{Ledger: f, Elapse: c.elapse, Reopen: func(t *testing.T) ledger.Ledger {
			require.NoError(t, f.CloseFile())
			f = openFile(t, path, opts)
			return f
		}}
	})
}

func TestFileSurvives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	f := openFile(t, path, ledger.FileOptions{})
	open(t, f, "t", 100)
	a, b := reserve(t, f, "t", "a", 60), reserve(t, f, "t", "b", 30)
	_, err := f.Commit(t.Context(), a, ledger.Charge{Source: ledger.SourceProvider, Actual: 5, ResponseID: "r"})
	require.NoError(t, err)
	_, err = ledger.OpenFile(path, ledger.FileOptions{})
	require.ErrorIs(t, err, ledger.ErrUnavailable, "one process at a time")
	require.NoError(t, f.CloseFile())
	_, err = f.Balance(t.Context(), "t")
	require.ErrorIs(t, err, ledger.ErrUnavailable)

	for range 2 {
		f = openFile(t, path, ledger.FileOptions{})
		bal, err := f.Balance(t.Context(), "t")
		require.NoError(t, err)
		require.Equal(t, ledger.Nano(5), bal.Committed)
		require.Equal(t, ledger.Nano(30), bal.Unsettled, "whoever made this call is gone; the provider may have billed")
		e, err := f.Entry(t.Context(), a)
		require.NoError(t, err)
		require.Equal(t, "r", e.Charge.ResponseID)
		require.NoError(t, f.CloseFile())
	}
	f = openFile(t, path, ledger.FileOptions{})
	_, err = f.Commit(t.Context(), b, ledger.Charge{Source: ledger.SourceProvider, Actual: 30})
	require.NoError(t, err)
}

// Wherever a crash cuts the last line off, the lines before it count.
func TestFileTornLastLine(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "ledger")
	f := openFile(t, path, ledger.FileOptions{NoSync: true})
	open(t, f, "t", 100)
	reserve(t, f, "t", "a", 30)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	reserve(t, f, "t", "b", 30)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, f.CloseFile())
	torn := filepath.Join(folder, "torn")
	for length := len(before); length < len(whole); length++ {
		require.NoError(t, os.WriteFile(torn, whole[:length], 0o600))
		f := openFile(t, torn, ledger.FileOptions{NoSync: true})
		b, err := f.Balance(t.Context(), "t")
		require.NoError(t, err)
		require.Equal(t, ledger.Nano(30), b.Used(), length)
		reserve(t, f, "t", "c", 70)
		require.NoError(t, f.CloseFile())
		f = openFile(t, torn, ledger.FileOptions{NoSync: true})
		b, err = f.Balance(t.Context(), "t")
		require.NoError(t, err)
		require.Equal(t, ledger.Nano(100), b.Used(), length)
		require.NoError(t, f.CloseFile())
	}
	for length := range strings.IndexByte(string(whole), '\n') {
		require.NoError(t, os.WriteFile(torn, whole[:length], 0o600))
		require.NoError(t, openFile(t, torn, ledger.FileOptions{NoSync: true}).CloseFile(), "torn while it was made")
	}
}

func TestFileDamageIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "ledger")
	f := openFile(t, path, ledger.FileOptions{NoSync: true})
	open(t, f, "t", 100)
	reserve(t, f, "t", "a", 30)
	reserve(t, f, "t", "b", 30)
	require.NoError(t, f.CloseFile())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	for name, content := range map[string]string{
		"a changed amount":      strings.Replace(string(data), "0.00000003", "0.00000001", 1),
		"a line is missing":     lines[0] + lines[2] + lines[3],
		"no header":             lines[1] + lines[2],
		"another kind of file":  "package main\n\nfunc main() {}\n",
		"something in between":  lines[0] + lines[1] + "\n" + lines[2],
		"torn, yet it went on":  lines[0] + lines[1][:20] + lines[2] + lines[3],
		"the first of two half": lines[0][:20] + lines[1],
		"a line of no ledger":   "important",
		"a damaged last line":   lines[0] + lines[1][:20] + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			damaged := filepath.Join(t.TempDir(), "ledger")
			require.NoError(t, os.WriteFile(damaged, []byte(content), 0o600))
			_, err := ledger.OpenFile(damaged, ledger.FileOptions{})
			require.ErrorIs(t, err, ledger.ErrUnavailable)
			after, err := os.ReadFile(damaged)
			require.NoError(t, err)
			require.Equal(t, content, string(after), "evidence is left alone")
		})
	}
	_, err = ledger.OpenFile(filepath.Join(folder, "no such folder", "ledger"), ledger.FileOptions{})
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	_, err = ledger.OpenFile(os.DevNull, ledger.FileOptions{})
	require.ErrorContains(t, err, "no regular file")
	_, err = ledger.OpenFile(path, ledger.FileOptions{Remember: -1})
	require.Error(t, err)
}

func FuzzOpenFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "ledger")
	l := openFile(f, path, ledger.FileOptions{NoSync: true})
	open(f, l, "t", 100)
	_, err := l.Commit(f.Context(), reserve(f, l, "t", "a", 30), ledger.Charge{})
	require.NoError(f, err)
	require.NoError(f, l.CloseFile())
	data, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(data)
	f.Add(data[:len(data)-7])
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "ledger")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		if l, err := ledger.OpenFile(path, ledger.FileOptions{NoSync: true}); err == nil {
			require.NoError(t, l.CloseFile())
		}
	})
}
