// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The server as a process: it listens, answers, ends at Ctrl-C with its journal closed.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	cmd := process(t, "serve", "--address", "127.0.0.1:0", "-o", dir)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	address := ""
	for address == "" && lines.Scan() {
		address = regexp.MustCompile(`http://[^ ]+/`).FindString(lines.Text())
	}
	require.NotEmpty(t, address)
	resp, err := http.Get(address + "api/list-apps")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for lines.Scan() { // until it has said all
	}
	require.NoError(t, cmd.Wait())
	require.Equal(t, exitOK, command(t, "journal", "verify", dir).code)
}

// A token is taken from the file or the environment without the line end that came with it.
func TestReadToken(t *testing.T) {
	const good = "0123456789abcdef"
	path := filepath.Join(t.TempDir(), "token")
	t.Setenv(tokenVariable, " "+good+"\r\n")
	got, err := readToken("")
	require.NoError(t, err)
	require.Equal(t, good, got)
	require.NoError(t, os.WriteFile(path, []byte(good+"-file\n"), 0o600))
	got, err = readToken(path)
	require.NoError(t, err)
	require.Equal(t, good+"-file", got)
	for _, bad := range []string{"", "\n", "short", good + "+"} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		_, err = readToken(path)
		require.ErrorContains(t, err, "openssl rand -hex 24", "%q", bad)
	}
	for _, bad := range []string{good + ";", " "} {
		t.Setenv(tokenVariable, bad)
		_, err = readToken("")
		require.ErrorContains(t, err, "openssl rand -hex 24")
	}
	t.Setenv(tokenVariable, "")
	got, err = readToken("")
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestServeIsCareful(t *testing.T) {
	t.Setenv(tokenVariable, "")
	short := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(short, []byte("short\n"), 0o600))
	for name, args := range map[string][]string{
		"every interface, no token": {"--address", "0.0.0.0:0"},
		"no host, no token":         {"--address", ":0"},
		"no port":                   {"--address", "localhost"},
		"short token":               {"--token-file", short},
		"no token file":             {"--token-file", short + "x"},
		"runs":                      {"--max-runs", "0"},
		"output":                    {"--address", "127.0.0.1:0", "-o", short},
	} {
		r := command(t, append([]string{"serve"}, args...)...)
		require.Equal(t, exitRefused, r.code, "%s: %s", name, r.stderr)
		require.NotEmpty(t, r.stderr)
	}
}
