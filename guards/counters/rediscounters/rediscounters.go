// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rediscounters keeps counters in Redis, so that several processes share one
// limit.
package rediscounters

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/gardefou/gardefou/guards/counters"
)

// Options are the options of [NewWith].
type Options struct {
	// Client is the connection. Required; the store does not close it. A script is never
	// sent again by itself: where its answer is lost the store is unavailable.
	Client rueidis.Client
	// Prefix comes before every key. Empty means "gardefou:".
	Prefix string
	// TTL is how long a counter or history lives from its first use. Zero means
	// [counters.DefaultTTL]; less than a millisecond otherwise is an error.
	TTL time.Duration
}

// Store is a [counters.Store] on Redis 3.2 or later, one script per operation. With
// Redis Cluster every operation stays on one slot.
type Store struct {
	client rueidis.Client
	prefix string
	ttl    string // in milliseconds
}

// New returns a store on client.
func New(client rueidis.Client) (*Store, error) { return NewWith(Options{Client: client}) }

// NewWith is [New] with options.
func NewWith(o Options) (*Store, error) {
	if o.Client == nil {
		return nil, errors.New("rediscounters: no client")
	}
	if o.TTL == 0 {
		o.TTL = counters.DefaultTTL
	}
	if o.TTL < time.Millisecond {
		return nil, fmt.Errorf("rediscounters: TTL %v", o.TTL)
	}
	if o.Prefix == "" {
		o.Prefix = "gardefou:"
	}
	return &Store{client: o.Client, prefix: o.Prefix, ttl: decimal(o.TTL.Milliseconds())}, nil
}

var (
	//go:embed take.lua
	takeSource string
	//go:embed add.lua
	addSource string
	//go:embed push.lua
	pushSource string
	//go:embed settle.lua
	settleSource string

	takeScript   = rueidis.NewLuaScript(takeSource)
	addScript    = rueidis.NewLuaScript(addSource)
	pushScript   = rueidis.NewLuaScript(pushSource)
	settleScript = rueidis.NewLuaScript(settleSource)
)

// Take implements [counters.Store].
func (s *Store) Take(ctx context.Context, key string, n, limit int64) (used int64, ok bool, err error) {
	got, err := takeScript.Exec(ctx, s.client, s.keys(key)[:1], []string{s.ttl, decimal(n), decimal(limit)}).AsIntSlice()
	if err != nil {
		return 0, false, failed("take", err)
	}
	if len(got) != 2 {
		return 0, false, failed("take", fmt.Errorf("%d values in the answer", len(got)))
	}
	return got[0], got[1] == 1, nil
}

// Add implements [counters.Store].
func (s *Store) Add(ctx context.Context, key string, n int64) (int64, error) {
	got, err := addScript.Exec(ctx, s.client, s.keys(key)[:1], []string{s.ttl, decimal(n)}).AsInt64()
	if err != nil {
		return 0, failed("add", err)
	}
	return got, nil
}

// Push implements [counters.Store].
func (s *Store) Push(ctx context.Context, key string, e counters.Entry, keep int) ([]counters.Entry, error) {
	got, err := pushScript.Exec(ctx, s.client, s.keys(key)[1:], []string{s.ttl, e.ID, e.Call, e.Result, strconv.Itoa(keep)}).AsStrSlice()
	if err != nil {
		return nil, failed("push", err)
	}
	if len(got)%3 != 0 {
		return nil, failed("push", fmt.Errorf("%d values in the answer", len(got)))
	}
	entries := make([]counters.Entry, 0, len(got)/3)
	for i := 0; i < len(got); i += 3 {
		entries = append(entries, counters.Entry{ID: got[i], Call: got[i+1], Result: got[i+2]})
	}
	return entries, nil
}

// Settle implements [counters.Store].
func (s *Store) Settle(ctx context.Context, key, id, result string) error {
	if err := settleScript.Exec(ctx, s.client, s.keys(key)[1:], []string{s.ttl, id, result}).Error(); err != nil && !rueidis.IsRedisNil(err) {
		return failed("settle", err)
	}
	return nil
}

// keys are the counter, the history and the history's results; the braces keep them on
// one slot of a cluster.
func (s *Store) keys(key string) []string {
	base := s.prefix + "{" + key + "}"
	return []string{base, base + ":calls", base + ":results"}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func failed(op string, err error) error {
	return fmt.Errorf("rediscounters: %s: %w: %w", op, counters.ErrUnavailable, err)
}
