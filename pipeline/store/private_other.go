//go:build !unix

// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import "io/fs"

// enforced says whether modes mean something here: Windows has access lists in their place,
// which are not looked at.
const enforced = false

func foreign(fs.FileInfo) bool { return false }
