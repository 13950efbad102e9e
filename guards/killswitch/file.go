// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package killswitch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gardefou/gardefou/internal/filelock"
	"github.com/gardefou/gardefou/internal/files"
)

// File returns the store in the file at path, which is replaced whole by each change, under a lock in
// the file of that name with ".lock" at its end. It must be a regular file, on a file system that all
// processes see. A new one is for its owner alone, an old one keeps its mode.
func File(path string) Store { return file(path) }

type file string

// lockWait is how long another process may hold the lock: a change takes milliseconds.
const lockWait = 5 * time.Second

// Load implements [Store].
func (f file) Load(context.Context) ([]byte, error) {
	data, _, err := f.load()
	return data, err
}

func (f file) load() ([]byte, fs.FileMode, error) {
	info, err := os.Lstat(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		// A link would be replaced, and what it leads to read by others all the same.
		return nil, 0, fmt.Errorf("%s is no regular file: name the file itself", string(f))
	}
	r, err := os.Open(string(f))
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, largest+1))
	return data, info.Mode().Perm(), err
}

// Swap implements [Store].
func (f file) Swap(ctx context.Context, last, next []byte) (swapped bool, err error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	data, mode, err := f.load()
	if err != nil || (data == nil) != (last == nil) || !bytes.Equal(data, last) {
		return false, err
	}
	dir, name := filepath.Split(string(f))
	if dir == "" {
		dir = "."
	}
	if err := files.Write(dir, files.File{Name: name, Data: next, Mode: mode}); err != nil {
		return false, err
	}
	return true, files.SyncFolder(dir)
}

// lock keeps other processes from changing the file until unlock is called.
func (f file) lock(ctx context.Context) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	l, err := os.OpenFile(string(f)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := filelock.Lock(l)
		if err == nil {
			return l.Close, nil
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return nil, errors.Join(err, l.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, l.Close())
		case <-time.After(5 * time.Millisecond):
		}
	}
}
