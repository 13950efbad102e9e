// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rediskillswitch keeps the state of a kill switch in Redis, for processes on several machines.
package rediskillswitch

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/gardefou/gardefou/guards/killswitch"
)

// Key is where the state is. It has no time to live.
const Key = "gardefou:killswitch"

// dialTimeout is for a connection, which a client makes anew when one is lost.
const dialTimeout = time.Second

// Store is a [killswitch.Store] on Redis 3.2 or later, safe for concurrent use. Give Redis appendonly
// yes: one that forgets the state stops all agents, and one that goes back to an older state is
// noticed only by processes that read the newer one.
type Store struct{ client rueidis.Client }

var _ killswitch.Store = (*Store)(nil)

// New returns a store on client, which stays the caller's to close. Make it with DisableRetry.
func New(client rueidis.Client) *Store { return &Store{client} }

// Dial connects to the Redis at url, redis://host:port/db, rediss:// or unix://, and returns its
// store and what closes it.
func Dial(url string) (store *Store, shut func(), err error) {
	option, err := rueidis.ParseURL(url)
	if err != nil {
		return nil, nil, errors.New("rediskillswitch: this is no Redis URL") // it may hold a password
	}
	option.DisableRetry, option.DisableCache = true, true
	option.Dialer.Timeout = max(option.Dialer.Timeout, dialTimeout)
	client, err := rueidis.NewClient(option)
	if err != nil {
		return nil, nil, fmt.Errorf("rediskillswitch: %w", err)
	}
	return New(client), client.Close, nil
}

// Load implements [killswitch.Store].
func (s *Store) Load(ctx context.Context) ([]byte, error) {
	data, err := s.client.Do(ctx, s.client.B().Get().Key(Key).Build()).AsBytes()
	switch {
	case rueidis.IsRedisNil(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("rediskillswitch: %w", err)
	case data == nil:
		return []byte{}, nil // a key that is there
	}
	return data, nil
}

var (
	//go:embed swap.lua
	swapSource string
	swapScript = rueidis.NewLuaScript(swapSource)
)

// Swap implements [killswitch.Store].
func (s *Store) Swap(ctx context.Context, last, next []byte) (bool, error) {
	args := []string{string(next)}
	if last != nil {
		args = append(args, string(last))
	}
	swapped, err := swapScript.Exec(ctx, s.client, []string{Key}, args).AsInt64()
	if err != nil {
		return false, fmt.Errorf("rediskillswitch: %w", err)
	}
	return swapped == 1, nil
}
