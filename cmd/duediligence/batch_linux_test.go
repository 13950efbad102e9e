// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// On a terminal a stop is red with its reason, in its row and in the last line.
func TestABatchOnATerminalMarksStops(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	t.Setenv("LC_ALL", "en_US.UTF-8")
	list := suppliers(t, "name", "Bâtisseurs du Menhir", "Transports Kervalec", "Nobody Anywhere")
	raw, _, code := onTerminal(t, "batch", list, "-o", t.TempDir(), "-j", "1")
	require.Equal(t, exitFailed, code, raw)
	require.Contains(t, raw, "done: \x1b[1;37;41m STOP \x1b[0m  Do not order. A person has to look at this first. (Open judicial liquidation)")
	require.Contains(t, raw, "Nobody Anywhere: not found: ")
	require.Contains(t, raw, "Ratings: \x1b[1;37;41m STOP 1 \x1b[0m, LOW 1, without a report 1.")
}
