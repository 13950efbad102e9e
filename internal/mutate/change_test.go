// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const sample = `package p

func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}
`

func TestChanges(t *testing.T) {
	changes, err := changesIn("p.go", []byte(sample))
	require.NoError(t, err)
	var what []string
	for _, c := range changes {
		what = append(what, c.String())
	}
	require.Equal(t, []string{"p.go:4: not a > b", "p.go:4: > becomes >= in a > b"}, what)
	require.Contains(t, string(changes[0].source()), "if !(a > b) {")
	require.Contains(t, string(changes[1].source()), "if a >= b {")
	_, err = changesIn("p.go", []byte("package"))
	require.Error(t, err)
}

// What a test holds is noticed, what it doesn't survives, and the files stay as they are.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) { require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(src), 0o600)) }
	write("go.mod", "module p\n\ngo 1.26\n")
	write("p.go", sample)
	write("p_test.go", "package p\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) {\n\tif Max(1, 2) != 2 || Max(2, 1) != 2 {\n\t\tt.Fail()\n\t}\n}\n")
	t.Chdir(dir)
	share, err := run(t.Context(), ".", nil, 0, 1, time.Minute)
	require.NoError(t, err)
	require.InDelta(t, 0.5, share, 0, "with equal numbers either way is right")
	src, err := os.ReadFile("p.go")
	require.NoError(t, err)
	require.Equal(t, sample, string(src))
}
