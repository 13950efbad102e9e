//go:build unix && !solaris && !aix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the file for this process. The lock ends with the process, however it ends.
func lockFile(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a file descriptor fits an int
		return fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return nil
}
