// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/serve"
	"github.com/gardefou/gardefou/pipeline/sources"
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

// slowToStop answers only when it is cut off, and takes its time then.
type slowToStop struct {
	offline.Model
	began    chan struct{} // takes one for each call
	returned chan struct{} // closed when the server has returned
}

func (m *slowToStop) GenerateContent(ctx context.Context, _ *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.began <- struct{}{}
		<-ctx.Done()
		select {
		case <-m.returned:
		case <-time.After(200 * time.Millisecond):
		}
		yield(nil, ctx.Err())
	}
}

// A run that goes on past the grace is cut off, and waited for: its end is in the journal
// before that is closed.
func TestRunsAreWaitedForAfterTheGrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), journalName)
	j, err := journal.OpenFile(path, journal.FileOptions{})
	require.NoError(t, err)
	c, err := sources.New(sources.Options{})
	require.NoError(t, err)
	m := &slowToStop{began: make(chan struct{}, 100), returned: make(chan struct{})}
	s, err := serve.New(serve.Options{Journal: j, Pipeline: pipeline.Options{Setup: agents.Setup{Model: m}, Sources: c}})
	require.NoError(t, err)
	defer s.Close()
	l, err := listen(t.Context(), "127.0.0.1:0", "")
	require.NoError(t, err)

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, s, l, time.Millisecond, func() {}) }()
	address := "http://" + l.Addr().String() + "/api"
	post := func(path, body string) error {
		resp, err := http.Post(address+path, "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	require.NoError(t, post("/apps/duediligence/users/u/sessions/s", "{}"))
	go func() {
		_ = post("/run", `{"appName":"duediligence","userId":"u","sessionId":"s","newMessage":{"role":"user","parts":[{"text":"Transports Kervalec"}]}}`)
	}()
	<-m.began
	full, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Drain(full), context.Canceled, "a run is under way")
	interrupt()
	err = <-ended
	close(m.returned)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the grace")
	require.NotContains(t, err.Error(), "runs still go on")
	require.NoError(t, j.Close())
	ends := 0
	for e, err := range journal.FileEntries(path) {
		require.NoError(t, err)
		if e.Kind == line.KindEnd {
			ends++
		}
	}
	require.Equal(t, 1, ends, "the end of the run is told")
	require.Contains(t, command(t, "serve", "--help").stdout, "30 s")
	require.Equal(t, 30*time.Second, shutdownGrace, "as the help says")
}

// A loopback name is one however it is written, here as in what the server answers for.
func TestListenOnLoopback(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "LOCALHOST:0"} {
		l, err := listen(t.Context(), address, "")
		require.NoError(t, err, address)
		require.NoError(t, l.Close())
	}
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

// A second Ctrl-C does not wait for the grace.
func TestASecondInterruptCutsRunsOff(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process can't interrupt itself there")
	}
	c, err := sources.New(sources.Options{})
	require.NoError(t, err)
	m := &slowToStop{began: make(chan struct{}, 100), returned: make(chan struct{})}
	close(m.returned)
	s, err := serve.New(serve.Options{Pipeline: pipeline.Options{Setup: agents.Setup{Model: m}, Sources: c}})
	require.NoError(t, err)
	defer s.Close()
	l, err := listen(t.Context(), "127.0.0.1:0", "")
	require.NoError(t, err)
	address := "http://" + l.Addr().String() + "/api"
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan error, 1)
	go func() {
		ended <- serveUntil(ctx, s, l, time.Hour, func() {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				_ = self.Signal(os.Interrupt)
			}
		})
	}()
	post := func(path, body string) {
		if resp, err := http.Post(address+path, "application/json", strings.NewReader(body)); err == nil {
			_ = resp.Body.Close()
		}
	}
	post("/apps/duediligence/users/u/sessions/s", "{}")
	go post("/run", `{"appName":"duediligence","userId":"u","sessionId":"s","newMessage":{"role":"user","parts":[{"text":"Transports Kervalec"}]}}`)
	<-m.began
	interrupt()
	err = <-ended
	require.ErrorContains(t, err, "stopping")
	require.NotContains(t, err.Error(), "runs still go on")
}
