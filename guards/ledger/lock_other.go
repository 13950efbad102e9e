//go:build !unix || solaris || aix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"os"
)

// lockFile fails: without a lock that ends with the process, two could spend the same money.
func lockFile(*os.File) error {
	return fmt.Errorf("ledger files need flock: %w", errors.ErrUnsupported)
}
