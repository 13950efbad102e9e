// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger_test

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/redisledger"
)

func open(t *testing.T, l ledger.Ledger, id ledger.AccountID, limit ledger.Nano) {
	t.Helper()
	_, err := l.Open(t.Context(), ledger.Opening{Account: id, Limits: ledger.Limits{Hard: limit}})
	require.NoError(t, err)
}

func key(id ledger.AccountID, call string) ledger.Key {
	return ledger.Key{Account: id, Call: call, Attempt: 1}
}

func reserve(t *testing.T, l ledger.Ledger, id ledger.AccountID, call string, amount ledger.Nano) error {
	t.Helper()
	_, err := l.Reserve(t.Context(), ledger.Request{Key: key(id, call), Amount: amount})
	return err
}

func paid(n ledger.Nano) ledger.Charge {
	return ledger.Charge{Source: ledger.SourceProvider, Actual: n}
}

func TestOptions(t *testing.T) {
	for _, o := range []redisledger.Options{
		{},
		{URL: "redis://localhost", Timeout: -1},
		{URL: "redis://localhost", Attempts: -1},
		{URL: "redis://localhost", Remember: -1},
		{URL: "http://user:secret@localhost"},
	} {
		_, err := redisledger.New(t.Context(), o)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret")
	}
}

// A Redis that would lose acknowledged writes in a crash is refused.
func TestNotDurable(t *testing.T) {
	for name, args := range map[string][]string{
		"no append-only file": {"--appendonly", "no"},
		"delays fsync":        {"--appendfsync", "everysec"},
		"evicts":              {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"},
		"forbids CONFIG":      {"--rename-command", "CONFIG", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := startRedis(t, args...)
			_, err := redisledger.New(t.Context(), redisledger.Options{URL: s.url()})
			require.ErrorIs(t, err, redisledger.ErrNotDurable)
			require.ErrorIs(t, err, ledger.ErrUnavailable)
			open(t, s.ledger(redisledger.Options{AssumeDurable: true}), "t", 100)
		})
	}
}

// Redis down, before and after the call: nothing starts, and what happened is charged.
func TestDown(t *testing.T) {
	s := startRedis(t)
	l := s.ledger(redisledger.Options{})
	open(t, l, "t", 100)
	require.NoError(t, reserve(t, l, "t", "under way", 60))
	s.kill()
	err := reserve(t, l, "t", "b", 1)
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	require.NotErrorIs(t, err, ledger.ErrRolledBack)
	_, err = l.Commit(t.Context(), key("t", "under way"), paid(50))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	_, err = redisledger.New(t.Context(), redisledger.Options{URL: s.url()})
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	s.start()
	b, err := l.Balance(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, ledger.Nano(60), b.Used(), "still charged")
	r, err := l.Commit(t.Context(), key("t", "under way"), paid(50))
	require.NoError(t, err)
	require.Equal(t, ledger.Nano(50), r.Balance.Used())
}

// A Redis that accepts connections and never answers.
func TestHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, err = redisledger.New(t.Context(), redisledger.Options{URL: "redis://" + listener.Addr().String() + "?dial_timeout=100ms", Timeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, ledger.ErrUnavailable)
}

// Everything Redis can forget while a process runs is noticed by that process.
func TestRollback(t *testing.T) {
	refuses := func(t *testing.T, l ledger.Ledger) {
		t.Helper()
		for range 2 {
			err := reserve(t, l, "t", "after", 1)
			require.ErrorIs(t, err, ledger.ErrRolledBack)
			require.ErrorIs(t, err, ledger.ErrUnavailable)
			_, err = l.Open(t.Context(), ledger.Opening{Account: "t", Limits: ledger.Limits{Hard: 100}})
			require.ErrorIs(t, err, ledger.ErrRolledBack, "opening again would hand the money out twice")
		}
	}
	t.Run("FLUSHALL", func(t *testing.T) {
		s := startRedis(t)
		l := s.ledger(redisledger.Options{})
		open(t, l, "t", 100)
		c := s.client()
		require.NoError(t, c.Do(t.Context(), c.B().Flushall().Build()).Error())
		refuses(t, l)
		open(t, l, "another-task", 100)
	})
	t.Run("a key is evicted", func(t *testing.T) {
		s := startRedis(t)
		l := s.ledger(redisledger.Options{})
		open(t, l, "t", 100)
		c := s.client()
		require.NoError(t, c.Do(t.Context(), c.B().Del().Key("gardefou:{t}:accounts").Build()).Error())
		refuses(t, l)
	})
	t.Run("restart from an old dump", func(t *testing.T) {
		s := startRedis(t, "--appendonly", "no")
		l := s.ledger(redisledger.Options{AssumeDurable: true})
		open(t, l, "t", 100)
		require.NoError(t, reserve(t, l, "t", "a", 10))
		c := s.client()
		require.NoError(t, c.Do(t.Context(), c.B().Save().Build()).Error())
		require.NoError(t, reserve(t, l, "t", "b", 80))
		s.kill()
		s.start()
		fresh := s.ledger(redisledger.Options{AssumeDurable: true})
		b, err := fresh.Balance(t.Context(), "t")
		require.NoError(t, err)
		require.Equal(t, ledger.Nano(10), b.Used(), "the 80 are gone: this is what must not be trusted")
		refuses(t, l)
		for i := range 10 { // another process carries on past the version this one saw
			require.NoError(t, reserve(t, fresh, "t", fmt.Sprint("fresh ", i), 1))
		}
		refuses(t, l)
	})
	t.Run("a replica that lagged behind takes over", func(t *testing.T) {
		primary, replica := startRedis(t, "--repl-diskless-sync-delay", "0"), startRedis(t)
		front := newProxy(t, primary.address)
		l, err := redisledger.New(t.Context(), redisledger.Options{URL: "redis://" + front.address(), Timeout: 5 * time.Second})
		require.NoError(t, err)
		t.Cleanup(l.Shutdown)
		open(t, l, "t", 100)
		host, port, err := net.SplitHostPort(primary.address)
		require.NoError(t, err)
		c, p := replica.client(), primary.client()
		require.NoError(t, c.Do(t.Context(), c.B().Arbitrary("REPLICAOF", host, port).Build()).Error())
		require.Eventually(t, func() bool {
			n, err := c.Do(t.Context(), c.B().Exists().Key("gardefou:{t}:accounts").Build()).AsInt64()
			return err == nil && n == 1
		}, 20*time.Second, 10*time.Millisecond)
		require.NoError(t, c.Do(t.Context(), c.B().Arbitrary("REPLICAOF", "NO", "ONE").Build()).Error())
		require.NoError(t, reserve(t, l, "t", "acknowledged by the primary only", 90))
		require.NoError(t, p.Do(t.Context(), p.B().Arbitrary("CLIENT", "KILL", "TYPE", "replica").Build()).Error())
		front.target.Store(&replica.address)
		front.hangUp()
		refuses(t, l)
	})
}

// A server out of memory changes nothing, in no operation.
func TestOutOfMemory(t *testing.T) {
	s := startRedis(t)
	l := s.ledger(redisledger.Options{})
	open(t, l, "t", 100)
	require.NoError(t, reserve(t, l, "t", "a", 60))
	before, err := l.Balance(t.Context(), "t")
	require.NoError(t, err)
	c := s.client()
	config := func(value string) {
		require.NoError(t, c.Do(t.Context(), c.B().ConfigSet().ParameterValue().ParameterValue("maxmemory", value).Build()).Error())
	}
	config("1")
	require.ErrorIs(t, reserve(t, l, "t", "b", 1), ledger.ErrUnavailable)
	_, err = l.Commit(t.Context(), key("t", "a"), paid(10))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	require.ErrorIs(t, l.Release(t.Context(), key("t", "a"), ledger.Proof{Reason: ledger.NotDispatched}), ledger.ErrUnavailable)
	_, err = l.Open(t.Context(), ledger.Opening{Account: "t/s", Limits: ledger.Limits{Hard: 10}})
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	_, err = l.Adjust(t.Context(), ledger.Adjustment{Account: "t", Approval: "a", Limits: ledger.Limits{Hard: 90}})
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	config("0")
	after, err := l.Balance(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// Answers are lost after Redis applied the operation. The same operation is sent again and
// counts once, and its caller can't tell.
func TestLostAnswers(t *testing.T) {
	s := startRedis(t, "--appendfsync", "no")
	front := newProxy(t, s.address)
	l, err := redisledger.New(t.Context(), redisledger.Options{AllowDelayedFsync: true, URL: "redis://" + front.address(), Timeout: 5 * time.Second, Attempts: 20})
	require.NoError(t, err)
	t.Cleanup(l.Shutdown)
	open(t, l, "t", 1000)
	sure := s.ledger(redisledger.Options{AllowDelayedFsync: true})
	for i := range 10 {
		front.dropNext.Store(true)
		r, err := l.Reserve(t.Context(), ledger.Request{Key: key("t", fmt.Sprint(i)), Amount: 50})
		require.NoError(t, err)
		require.False(t, r.Duplicate, "its own repetition is no duplicate")
		front.dropNext.Store(true)
		if i%2 == 0 {
			_, err = l.Commit(t.Context(), key("t", fmt.Sprint(i)), paid(10))
		} else {
			err = l.Release(t.Context(), key("t", fmt.Sprint(i)), ledger.Proof{Reason: ledger.NotDispatched})
		}
		require.NoError(t, err)
		other, err := sure.Reserve(t.Context(), ledger.Request{Key: key("t", fmt.Sprint(i)), Amount: 50})
		require.NoError(t, err)
		require.True(t, other.Duplicate, "anybody else's is")
	}
	require.GreaterOrEqual(t, front.dropped.Load(), int64(20))
	b, err := sure.Balance(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, ledger.Nano(50), b.Committed)
	require.Equal(t, ledger.Nano(50), b.Used())
}

// proxy stands between a ledger and Redis.
type proxy struct {
	listener net.Listener
	target   atomic.Pointer[string]
	// dropNext cuts the connection instead of passing the next answer on.
	dropNext atomic.Bool
	dropped  atomic.Int64
	mu       sync.Mutex
	open     []net.Conn
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener}
	p.target.Store(&target)
	t.Cleanup(func() {
		_ = listener.Close()
		p.hangUp()
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

func (p *proxy) serve(client net.Conn) {
	redis, err := net.Dial("tcp", *p.target.Load())
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, client, redis)
	p.mu.Unlock()
	defer client.Close()
	defer redis.Close()
	// The handshake of a new connection passes; rueidis sends its commands in one go.
	var handshake atomic.Bool
	go func() {
		buffer := make([]byte, 1<<16)
		for {
			n, err := client.Read(buffer)
			if err != nil {
				_ = redis.Close()
				return
			}
			handshake.Store(n > 0 && bytes.Contains(buffer[:n], []byte("HELLO")))
			if _, err := redis.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := redis.Read(buffer)
		if err != nil {
			return
		}
		if !handshake.Load() && p.dropNext.CompareAndSwap(true, false) {
			p.dropped.Add(1)
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
