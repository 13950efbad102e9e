// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"errors"
	"time"
)

// Fallback returns a store that counts in primary and, while primary is unavailable,
// in this process alone: with what this process has counted so far, so that its own
// share of a limit holds. onError is told of each failure; nil tells nobody, which is
// hardly ever right. A cancelled context is no failure of the store and is returned.
func Fallback(primary Store, onError func(error)) Store {
	return &fallback{primary: primary, local: NewMemoryWith(MemoryOptions{TTL: 7 * 24 * time.Hour}), onError: onError}
}

type fallback struct {
	primary Store
	local   *Memory
	onError func(error)
}

// lost reports whether err means that the local count has to do.
func (f *fallback) lost(ctx context.Context, err error) bool {
	if ctx.Err() != nil || !errors.Is(err, ErrUnavailable) {
		return false
	}
	if f.onError != nil {
		f.onError(err)
	}
	return true
}

// Take implements [Store].
func (f *fallback) Take(ctx context.Context, key string, n, limit int64) (used int64, ok bool, err error) {
	used, ok, err = f.primary.Take(ctx, key, n, limit)
	switch {
	case err == nil && ok:
		_, err = f.local.Add(ctx, key, n)
	case err != nil && f.lost(ctx, err):
		return f.local.Take(ctx, key, n, limit)
	}
	return used, ok, err
}

// Add implements [Store].
func (f *fallback) Add(ctx context.Context, key string, n int64) (int64, error) {
	sum, err := f.primary.Add(ctx, key, n)
	if err != nil && !f.lost(ctx, err) {
		return sum, err
	}
	local, localErr := f.local.Add(ctx, key, n)
	if err != nil {
		return local, localErr
	}
	return sum, localErr
}

// Push implements [Store].
func (f *fallback) Push(ctx context.Context, key string, e Entry, keep int) ([]Entry, error) {
	got, err := f.primary.Push(ctx, key, e, keep)
	if err != nil && !f.lost(ctx, err) {
		return nil, err
	}
	local, localErr := f.local.Push(ctx, key, e, keep)
	if err != nil {
		return local, localErr
	}
	return got, localErr
}

// Settle implements [Store].
func (f *fallback) Settle(ctx context.Context, key, id, result string) error {
	if err := f.primary.Settle(ctx, key, id, result); err != nil && !f.lost(ctx, err) {
		return err
	}
	return f.local.Settle(ctx, key, id, result)
}
