// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package filelock keeps a second process, or a second opening in this one, from a file.
package filelock

import "errors"

// ErrLocked is the error of a file that somebody else has locked.
var ErrLocked = errors.New("another process has it open")
