// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A newcomer guards an agent, tests a hook and sees what is active in at most fifteen
// lines each, in a module of their own that knows this one by a replace.
func TestNewcomer(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module")
	}
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	mod := read(t, "go.mod")
	mod = strings.Replace(mod, "module github.com/gardefou/gardefou\n", "module newcomer\n", 1) +
		"\nrequire github.com/gardefou/gardefou v0.0.0\n\nreplace github.com/gardefou/gardefou => " + here + "\n"
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	write("go.mod", mod)
	write("go.sum", read(t, "go.sum"))
	tasks := 0
	for _, name := range []string{"main.go", "hook_test.go"} {
		src := read(t, filepath.Join("testdata", "newcomer", name+".txt"))
		write(name, src)
		for _, task := range strings.Split(src, "// TASK ")[1:] {
			tasks++
			what, body, _ := strings.Cut(task, "\n")
			body, _, found := strings.Cut(body, "// END")
			require.True(t, found)
			require.LessOrEqual(t, strings.Count(strings.TrimSpace(body), "\n")+1, 15, what)
		}
	}
	require.Equal(t, 3, tasks)

	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
		return string(out)
	}
	run("vet", "./...")
	require.Contains(t, run("test", "./..."), "ok")
	out := run("run", ".")
	for _, want := range []string{"3 model calls per agent", "map[contact:[email redacted] supplier:Acme]", "[guard] Model call budget exceeded"} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "alice@example.com")
	require.NotContains(t, out, "unguarded:")
}
