// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrUnsafe means that somebody else may have written what a folder holds, or may read it:
// it is neither believed nor added to.
var ErrUnsafe = errors.New("other users have access to the run")

// An UnsafeError says what is wrong with a folder. It matches [ErrUnsafe].
type UnsafeError struct {
	// Path is the folder or the file in it.
	Path string
	// Foreign says that another user owns it, Mode which access others have where that is
	// not so.
	Foreign bool
	Mode    fs.FileMode
}

// Error implements error.
func (e *UnsafeError) Error() string {
	switch {
	case e.Foreign:
		return fmt.Sprintf("store: %s belongs to another user", e.Path)
	case !e.Mode.IsRegular() && !e.Mode.IsDir():
		return fmt.Sprintf("store: %s is neither a file nor a folder of its own", e.Path)
	default:
		return fmt.Sprintf("store: other users have access to %s (mode %04o)", e.Path, e.Mode.Perm())
	}
}

// Unwrap returns ErrUnsafe.
func (e *UnsafeError) Unwrap() error { return ErrUnsafe }

const (
	forOthers   fs.FileMode = 0o077
	othersWrite fs.FileMode = 0o022
)

// private refuses a folder to which other users have access, and files in it that others own
// or may write to. A link is refused too: what it leads to is not of the folder.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := judge(dir, info, forOthers); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a temporary file of another process, which is gone
		}
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if err := judge(filepath.Join(dir, e.Name()), info, othersWrite); err != nil {
			return err
		}
	}
	return nil
}

func judge(path string, info fs.FileInfo, refused fs.FileMode) error {
	switch {
	case !info.Mode().IsRegular() && !info.IsDir(), enforced && info.Mode()&refused != 0:
		return &UnsafeError{Path: path, Mode: info.Mode()}
	case foreign(info):
		return &UnsafeError{Path: path, Foreign: true}
	default:
		return nil
	}
}

// claim makes a folder that no other user has access to, or takes access from others where
// the folder is there and ours.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := judge(dir, info, 0); err != nil {
		return err
	}
	if info.Mode()&forOthers != 0 && enforced {
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs its x
			return fmt.Errorf("store: %w", err)
		}
	}
	return private(dir)
}

// tighten takes from others what they could read of a file's, for the day that its folder is
// moved or opened.
func tighten(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case !enforced || info.Mode()&forOthers == 0:
		return nil
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}
