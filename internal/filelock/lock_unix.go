//go:build unix && !solaris && !aix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"fmt"
	"os"
	"syscall"
)

// Lock takes the file without waiting. The lock ends when the file is closed or the
// process ends, however it ends.
func Lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a file descriptor fits an int
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return nil
}
