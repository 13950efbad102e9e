// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"io"
	"os"
)

// moduleFile is a file of this module, for a module's zip archive.
type moduleFile string

// Path implements zip.File.
func (f moduleFile) Path() string { return string(f) }

// Lstat implements zip.File.
func (f moduleFile) Lstat() (os.FileInfo, error) { return os.Lstat(string(f)) }

// Open implements zip.File.
func (f moduleFile) Open() (io.ReadCloser, error) { return os.Open(string(f)) }
