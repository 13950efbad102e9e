//go:build unix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// enforced says whether modes mean something here.
const enforced = true

// foreign reports whether another user owns a file.
func foreign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) != os.Geteuid()
}
