// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes the file without waiting. The lock ends when the file is closed or the
// process ends, however it ends.
func Lock(f *os.File) error {
	// A lock here keeps others from reading the bytes it is on, so it is on one that no
	// file has.
	at := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at); err != nil {
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return nil
}
