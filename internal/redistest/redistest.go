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
	t    testing.TB
	args []string
	cmd  *exec.Cmd
}

// Start starts a server on a free port. Without the binary the test is skipped, unless
// GARDEFOU_REDIS is "required".
func Start(t testing.TB) *Server {
	t.Helper()
	return StartWith(t)
}

// StartWith is [Start] with further arguments, which win over its own: no dump and no
// append-only file.
func StartWith(t testing.TB, args ...string) *Server {
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
		if s := start(t, bin, freePort(t), args); s != nil {
			return s
		}
	}
	t.Fatal("redis-server does not start")
	return nil
}

func start(t testing.TB, bin string, port int, args []string) *Server {
	t.Helper()
	all := []string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), t: t, args: append(append([]string{bin}, all...), args...)}
	t.Cleanup(s.Stop)
	if !s.run() {
		return nil
	}
	return s
}

// run starts the process and reports whether it answers.
func (s *Server) run() bool {
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("starting redis-server: %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if s.answers() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Stop()
	return false
}

// Restart starts a stopped server again, at the same address and with what it kept.
func (s *Server) Restart() {
	s.t.Helper()
	if !s.run() {
		s.t.Fatal("redis-server does not start again")
	}
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
