// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger/redisledger"
)

// server is a redis-server of the test's own, with its data in a temporary folder.
type server struct {
	t       testing.TB
	address string
	args    []string
	command *exec.Cmd
}

// startRedis starts a server with an append-only file that is on disk before the answer. Without the binary the test is skipped,
// or fails when GARDEFOU_REDIS=required.
func startRedis(t testing.TB, args ...string) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("GARDEFOU_REDIS") == "required" {
			t.Fatal("redis-server is required by GARDEFOU_REDIS and isn't on the PATH")
		}
		t.Skip("redis-server isn't on the PATH (Debian package redis-server)")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	s := &server{t: t, address: address, args: append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "yes", "--appendfsync", "always"}, args...)}
	s.start()
	t.Cleanup(func() {
		if s.command != nil {
			s.kill()
		}
	})
	return s
}

func (s *server) url() string { return "redis://" + s.address }

func (s *server) start() {
	s.t.Helper()
	s.command = exec.Command("redis-server", s.args...) // not the test's context: it must outlive the cleanups
	require.NoError(s.t, s.command.Start())
	require.Eventually(s.t, func() bool {
		conn, err := net.DialTimeout("tcp", s.address, time.Second)
		if err != nil {
			return false
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		buffer := make([]byte, 16)
		_, _ = conn.Write([]byte("PING\r\n"))
		n, _ := conn.Read(buffer)
		return strings.HasPrefix(string(buffer[:n]), "+PONG")
	}, 20*time.Second, 10*time.Millisecond, "redis-server didn't start")
}

// kill is kill -9.
func (s *server) kill() {
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
	s.command = nil
}

// client is a plain client, for what a ledger doesn't do.
func (s *server) client() rueidis.Client {
	s.t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.address}, DisableCache: true})
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

func (s *server) ledger(opts redisledger.Options) *redisledger.Ledger {
	s.t.Helper()
	opts.URL = s.url()
	if opts.Timeout == 0 {
		opts.Timeout = 5 * time.Second // a busy machine is not what these tests are about
	}
	l, err := redisledger.New(context.Background(), opts)
	require.NoError(s.t, err)
	s.t.Cleanup(l.Shutdown)
	return l
}
