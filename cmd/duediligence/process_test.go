// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// asCommand turns the test binary into the command, for tests that need a process of
// their own: its globals, limits, death.
const asCommand = "GARDEFOU_TEST_AS_COMMAND"

// fileLimit is the most bytes a file of the process may have, where limitFiles can see to
// that.
const fileLimit = "GARDEFOU_TEST_FILE_LIMIT"

var limitFiles = func(string) { panic("no limits on this system") }

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		if limit := os.Getenv(fileLimit); limit != "" {
			limitFiles(limit)
		}
		main()
	}
	os.Exit(m.Run())
}

// process prepares the command as a process; the test's environment goes with it.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "LC_ALL=en_US.UTF-8")
	return cmd
}

// finish runs a prepared process to its end.
func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}
