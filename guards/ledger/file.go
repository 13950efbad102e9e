// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gardefou/gardefou/internal/filelock"
	"github.com/gardefou/gardefou/internal/files"
)

// FileOptions configure [OpenFile]. The zero value is ready to use.
type FileOptions struct {
	// NoSync leaves it to the operating system when a record reaches the disk. Records then
	// survive the process, kill -9 included, but the last ones may not survive the machine.
	NoSync bool
	// Remember is as in [MemoryOptions]. A file keeps the value it was made with.
	Remember int
	// Now is the clock for leases. nil is time.Now.
	Now func() time.Time
}

// File is a [Ledger] in an append-only file: one line per change, on disk before the change is
// acknowledged. It survives its process; reservations that were open when it ended are
// unsettled when the file is opened again, and stay charged. One process at a time has the file
// open. It grows by some hundred bytes per operation and is never rewritten.
//
// When a record can't be written every further operation gives [ErrUnavailable] until the file
// is opened again.
type File struct {
	mu     sync.Mutex
	file   *os.File
	memory *Memory
	sync   bool
	now    func() time.Time
	at     time.Time // of the operation under way
	broken error
}

// OpenFile opens a ledger file, or makes one readable by its owner only. A last line that was
// cut off by a crash was never acknowledged, and is dropped; any other damage is an error, as is
// a file that another process has open, or that is on a system without file locks, where two
// could spend the same money: all match [ErrUnavailable].
func OpenFile(path string, opts FileOptions) (*File, error) {
	memory, err := MemoryOptions{Remember: opts.Remember, Now: opts.Now}.filled()
	if err != nil {
		return nil, err
	}
	f := &File{sync: !opts.NoSync, now: memory.Now}
	memory.Now = func() time.Time { return f.at }
	f.memory = &Memory{opts: memory, tasks: map[AccountID]*task{}}
	f.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600) //nolint:gosec // the path is the caller's to choose
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err := f.start(path); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: ledger file %s: %w", ErrUnavailable, path, err), f.file.Close())
	}
	return f, nil
}

func (f *File) start(path string) error {
	switch info, err := f.file.Stat(); {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("is no regular file")
	}
	if err := filelock.Lock(f.file); err != nil {
		return err
	}
	fresh, err := f.replay()
	if err != nil {
		return err
	}
	if fresh {
		if err := f.write(f.header()); err != nil {
			return err
		}
		if err := files.SyncFolder(filepath.Dir(path)); err != nil {
			return err
		}
	}
	// Whoever held the leases is gone.
	for _, t := range f.memory.tasks {
		t.unsettleAll()
	}
	return nil
}

// CloseFile closes the file. Every later operation gives [ErrUnavailable].
func (f *File) CloseFile() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.broken = errors.New("the file was closed")
	}
	return f.file.Close()
}

// run does one operation in memory and, when it changed something, records it.
func run[T any](f *File, op string, id AccountID, key Key, r record, apply func() (T, error)) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var none T
	unavailable := func() (T, error) {
		return none, &OpError{Op: op, Account: id, Key: key, Err: fmt.Errorf("%w: %w", ErrUnavailable, f.broken)}
	}
	if f.broken != nil {
		return unavailable()
	}
	f.at = f.now()
	before := f.memory.version(id)
	result, err := apply()
	if err != nil || r == (record{}) || f.memory.version(id) == before {
		return result, err
	}
	r.At = f.at.UnixNano()
	if f.broken = f.write(r); f.broken != nil {
		return unavailable() // memory is ahead of the file from here on
	}
	return result, nil
}

// version is the version of an account's task, 0 where there is none.
func (m *Memory) version(id AccountID) int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if t := m.tasks[id.Root()]; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.version
	}
	return 0
}

// Open implements [Ledger].
func (f *File) Open(ctx context.Context, o Opening) (Balance, error) {
	return run(f, "open", o.Account, Key{}, record{Open: &o}, func() (Balance, error) { return f.memory.Open(ctx, o) })
}

// Reserve implements [Ledger].
func (f *File) Reserve(ctx context.Context, r Request) (Reservation, error) {
	return run(f, "reserve", r.Key.Account, r.Key, record{Reserve: &r}, func() (Reservation, error) { return f.memory.Reserve(ctx, r) })
}

// Extend implements [Ledger].
func (f *File) Extend(ctx context.Context, k Key, lease time.Duration) error {
	_, err := run(f, "extend", k.Account, k, record{Extend: &extendRecord{k, lease}}, func() (struct{}, error) {
		return struct{}{}, f.memory.Extend(ctx, k, lease)
	})
	return err
}

// Commit implements [Ledger].
func (f *File) Commit(ctx context.Context, k Key, c Charge) (Receipt, error) {
	return run(f, "commit", k.Account, k, record{Commit: &commitRecord{k, c}}, func() (Receipt, error) { return f.memory.Commit(ctx, k, c) })
}

// Release implements [Ledger].
func (f *File) Release(ctx context.Context, k Key, p Proof) error {
	_, err := run(f, "release", k.Account, k, record{Release: &releaseRecord{k, p}}, func() (struct{}, error) {
		return struct{}{}, f.memory.Release(ctx, k, p)
	})
	return err
}

// Balance implements [Ledger].
func (f *File) Balance(ctx context.Context, id AccountID) (Balance, error) {
	return run(f, "balance", id, Key{}, record{}, func() (Balance, error) { return f.memory.Balance(ctx, id) })
}

// Entry implements [Ledger].
func (f *File) Entry(ctx context.Context, k Key) (Entry, error) {
	return run(f, "entry", k.Account, k, record{}, func() (Entry, error) { return f.memory.Entry(ctx, k) })
}

// Pending implements [Ledger].
func (f *File) Pending(ctx context.Context, id AccountID) ([]Entry, error) {
	return run(f, "pending", id, Key{}, record{}, func() ([]Entry, error) { return f.memory.Pending(ctx, id) })
}

// Close implements [Ledger].
func (f *File) Close(ctx context.Context, id AccountID) (Balance, error) {
	return run(f, "close", id, Key{}, record{Close: id}, func() (Balance, error) { return f.memory.Close(ctx, id) })
}

// Adjust implements [Ledger].
func (f *File) Adjust(ctx context.Context, a Adjustment) (Balance, error) {
	return run(f, "adjust", a.Account, Key{}, record{Adjust: &a}, func() (Balance, error) { return f.memory.Adjust(ctx, a) })
}
