// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onTerminal runs the command with a real terminal of 80 columns for stdout and stderr,
// and returns what is left on it.
func onTerminal(t *testing.T, args ...string) (raw string, screen []string, code int) {
	t.Helper()
	primary, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here")
	}
	defer primary.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(primary.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(primary.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(primary) // ends with EIO once the other side is closed
		got <- string(all)
	}()
	code = run(t.Context(), args, strings.NewReader(""), tty, tty)
	require.NoError(t, tty.Close())
	raw = <-got
	return raw, screenOf(raw), code
}

var (
	upLines = regexp.MustCompile(`^\x1b\[(\d+)A`)
	colour  = regexp.MustCompile(`^\x1b\[[0-9;]*m`)
)

// screenOf is what a terminal shows after raw: it knows the few codes the display uses.
func screenOf(raw string) []string {
	lines, at := []string{""}, 0
	for raw != "" {
		switch {
		case upLines.MatchString(raw):
			var up int
			_, _ = fmt.Sscanf(raw, "\x1b[%dA", &up)
			at, raw = at-up, raw[len(upLines.FindString(raw)):]
		case strings.HasPrefix(raw, "\x1b[2K"):
			lines[at], raw = "", raw[4:]
		case strings.HasPrefix(raw, "\x1b[J"):
			lines, raw = append(lines[:at:at], ""), raw[3:]
		case colour.MatchString(raw):
			raw = raw[len(colour.FindString(raw)):]
		case raw[0] == '\r':
			raw = raw[1:]
		case raw[0] == '\n':
			if at++; at == len(lines) {
				lines = append(lines, "")
			}
			raw = raw[1:]
		default:
			lines[at], raw = lines[at]+raw[:1], raw[1:]
		}
	}
	return lines[:len(lines)-1]
}

// On a terminal the command leaves at most fifteen lines, the verdict last, in colour,
// with its reason and the next step.
func TestTheAnswerOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	t.Setenv("LC_ALL", "en_US.UTF-8")
	for name, tc := range map[string]struct {
		args          []string
		code          int
		reason, last  string
		colouredAs    string
		alsoOnTheWall string
	}{
		"low":         {[]string{"Transports Kervalec"}, exitOK, "Sector: vigilance", "LOW RISK   Nothing stands against your standard process.", "\x1b[1;32m LOW RISK \x1b[0m", ""},
		"high":        {[]string{"Conserverie des Embruns"}, exitOK, "Negative equity: -12.6", "HIGH RISK   Do not order before a person has reviewed this file.", "\x1b[1;33m HIGH RISK \x1b[0m", ""},
		"stop":        {[]string{"999991029"}, exitOK, "Open judicial liquidation E-BOD-001", "STOP   Do not order. A person has to look at this first.", "\x1b[1;37;41m STOP \x1b[0m", ""},
		"french":      {[]string{"999991029", "--lang", "fr"}, exitOK, "Liquidation judiciaire ouverte E-BOD-001", "ARRÊT   Ne pas commander. Une personne doit d'abord examiner ce dossier.", "\x1b[1;37;41m ARRÊT \x1b[0m", ""},
		"cut":         {[]string{"999991029", "--max-calls", "7"}, exitExhausted, "Open judicial liquidation", "STOP   Do not order. A person has to look at this first.", "\x1b[1;37;41m", "calls exhausted (calls: 7/7)"},
		"with folder": {[]string{"Transports Kervalec", "-o", t.TempDir()}, exitOK, "Sector", "LOW RISK   Nothing stands against your standard process.", "\x1b[1;32m", "index.html"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, screen, code := onTerminal(t, tc.args...)
			require.Equal(t, tc.code, code, raw)
			shown := strings.Join(screen, "\n")
			require.LessOrEqual(t, len(screen), 15, shown)
			require.Equal(t, tc.last, strings.TrimSpace(screen[len(screen)-1]), shown)
			require.Contains(t, shown, tc.reason)
			require.Contains(t, raw, tc.colouredAs)
			require.Contains(t, shown, tc.alsoOnTheWall)
			require.NotContains(t, shown, "# Supplier due diligence")
		})
	}
	t.Setenv("NO_COLOR", "1")
	raw, screen, _ := onTerminal(t, "Transports Kervalec")
	require.NotContains(t, raw, "\x1b")
	require.LessOrEqual(t, len(screen), 15)
	_, screen, _ = onTerminal(t, "Transports Kervalec", "--format", "md")
	require.Contains(t, strings.Join(screen, "\n"), "# Supplier due diligence")
}

// Piped, stdout is the report, and stderr ends with the verdict.
func TestTheVerdictEndsStderr(t *testing.T) {
	r := command(t, "999991029")
	require.Contains(t, r.stdout, "# Supplier due diligence")
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	require.Equal(t, "STOP  Do not order. A person has to look at this first.", lines[len(lines)-1])
	short := command(t, "999991029", "--format", "short")
	require.NotContains(t, short.stdout, "\x1b")
	require.True(t, strings.HasSuffix(short.stdout, "\nSTOP  Do not order. A person has to look at this first.\n"), short.stdout)
}
