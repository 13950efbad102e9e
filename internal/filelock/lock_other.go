//go:build !windows && (!unix || solaris || aix)

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"errors"
	"fmt"
	"os"
)

// Lock fails with [errors.ErrUnsupported]: this system has no lock that ends with the
// process.
func Lock(*os.File) error { return fmt.Errorf("file locks: %w", errors.ErrUnsupported) }
