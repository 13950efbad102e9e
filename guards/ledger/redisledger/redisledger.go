// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisledger keeps a [ledger.Ledger] on Redis, for several processes that spend from
// one account. It passes the same contract as the ledger in memory.
//
// Every operation is one script, run by Redis in one step and safe to repeat, so that an answer
// lost on the way is asked for again instead of guessed. All keys of a task share a hash tag:
// one task lives on one node of a cluster. Leases are measured by Redis' own clock. No key has
// a time to live.
//
// It refuses rather than guess: when Redis is down, slow or out of memory every operation gives
// [ledger.ErrUnavailable]; when it lost changes it had acknowledged (a restart from an old dump,
// a failover to a replica that lagged behind, FLUSHALL) this process gets
// [ledger.ErrRolledBack] for the task from then on. A process that started after the loss can't
// notice, so [New] refuses a Redis whose configuration would lose acknowledged writes in a crash.
//
// The client is rueidis. It pipelines concurrent commands by itself, and doesn't repeat a
// command that writes behind the caller's back.
package redisledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/gardefou/gardefou/guards/ledger"
)

// Options configure [New].
type Options struct {
	// URL is where Redis is: redis://host:port/db, rediss:// or unix://. Required unless
	// Client is given.
	URL string
	// Client is a client to use instead; it stays the caller's to close. Make it with
	// DisableRetry.
	Client rueidis.Client
	// Prefix begins every key. "" is "gardefou".
	Prefix string
	// Timeout is for one attempt of one operation. 0 is 250 ms.
	Timeout time.Duration
	// Attempts is how often an operation is tried when the connection fails or is too slow.
	// 0 is 3.
	Attempts int
	// Remember is as in [ledger.MemoryOptions]. Give every process the same.
	Remember int
	// AssumeDurable skips the look at Redis' configuration, for servers that forbid CONFIG.
	AssumeDurable bool
	// AllowDelayedFsync also accepts appendfsync everysec and no. A crash of Redis can then
	// lose what it acknowledged: with everysec about the last second, also where only the
	// process dies, as Redis puts off the write while an fsync runs. Processes that saw the
	// lost changes notice and refuse; new ones can not.
	AllowDelayedFsync bool
}

// ErrNotDurable is wrapped when Redis would lose acknowledged writes in a crash.
var ErrNotDurable = fmt.Errorf("%w: Redis isn't configured to keep acknowledged writes", ledger.ErrUnavailable)

// Ledger is a [ledger.Ledger] on Redis, safe for concurrent use.
type Ledger struct {
	opts   Options
	client rueidis.Client
	own    bool

	mu sync.Mutex
	// seen is the highest version this process saw of each open task: a lower one means that
	// Redis forgot something.
	seen map[ledger.AccountID]int64
}

// lost is a version no task reaches.
const lost int64 = 1 << 53

// New connects to Redis and checks that it keeps what it acknowledges: append-only file on,
// written to disk before the answer (appendfsync always), and no eviction. The error matches [ledger.ErrUnavailable], or [ErrNotDurable] too.
func New(ctx context.Context, opts Options) (*Ledger, error) {
	if opts.Timeout < 0 || opts.Attempts < 0 || opts.Remember < 0 {
		return nil, errors.New("redisledger: Timeout, Attempts and Remember must not be negative")
	}
	if (opts.URL == "") == (opts.Client == nil) {
		return nil, errors.New("redisledger: give either URL or Client")
	}
	if opts.Prefix == "" {
		opts.Prefix = "gardefou"
	}
	if opts.Timeout == 0 {
		opts.Timeout = 250 * time.Millisecond
	}
	if opts.Attempts == 0 {
		opts.Attempts = 3
	}
	if opts.Remember == 0 {
		opts.Remember = 4096
	}
	l := &Ledger{opts: opts, client: opts.Client, seen: map[ledger.AccountID]int64{}}
	if l.client == nil {
		option, err := rueidis.ParseURL(opts.URL)
		if err != nil {
			return nil, errors.New("redisledger: URL is no Redis URL") // it may hold a password
		}
		option.DisableRetry, option.DisableCache = true, true
		option.Dialer.Timeout = max(option.Dialer.Timeout, opts.Timeout)
		l.client, err = rueidis.NewClient(option)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
		}
		l.own = true
	}
	if !opts.AssumeDurable {
		if err := l.checkDurable(ctx); err != nil {
			l.Shutdown()
			return nil, err
		}
	}
	return l, nil
}

// Shutdown closes the connection, unless the client was given. Accounts stay as they are.
func (l *Ledger) Shutdown() {
	if l.own {
		l.client.Close()
	}
}

func (l *Ledger) checkDurable(ctx context.Context) error {
	for address, node := range l.client.Nodes() {
		want := map[string]string{"appendonly": "yes", "maxmemory-policy": "noeviction"}
		if !l.opts.AllowDelayedFsync {
			want["appendfsync"] = "always"
		}
		for name, value := range want {
			got, err := node.Do(ctx, node.B().ConfigGet().Parameter(name).Build()).AsStrMap()
			var reply *rueidis.RedisError
			switch {
			case errors.As(err, &reply):
				return fmt.Errorf("%w: %s doesn't tell %s (set AssumeDurable if you know it): %w", ErrNotDurable, address, name, err)
			case err != nil:
				return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
			case got[name] != value:
				return fmt.Errorf("%w: %s has %s %q, not %q; set it with CONFIG SET and in redis.conf", ErrNotDurable, address, name, got[name], value)
			}
		}
	}
	return nil
}
