// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redistest starts a redis-server of its own for tests.
package redistest

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Server is a redis-server that lives as long as the test.
type Server struct {
	Addr string
	cmd  *exec.Cmd
}

// Start starts a server on a free port. Without the binary the test is skipped, unless
// GARDEFOU_REDIS is "required".
func Start(t testing.TB) *Server {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("GARDEFOU_REDIS") == "required" {
			t.Fatalf("GARDEFOU_REDIS=required: %v", err)
		}
		t.Skip("no redis-server on this machine")
	}
	// The port is free when it is asked for and may be taken a moment later.
	for range 5 {
		if s := start(t, bin, freePort(t)); s != nil {
			return s
		}
	}
	t.Fatal("redis-server does not start")
	return nil
}

func start(t testing.TB, bin string, port int) *Server {
	t.Helper()
	cmd := exec.Command(bin, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting redis-server: %v", err)
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), cmd: cmd}
	t.Cleanup(s.Stop)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if s.answers() {
			return s
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Stop()
	return nil
}

// answers reports whether the server answers a PING.
func (s *Server) answers() bool {
	conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "+PONG")
}

// Stop kills the server.
func (s *Server) Stop() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("looking for a free port: %v", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
