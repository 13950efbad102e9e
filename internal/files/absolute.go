// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package files

import "path/filepath"

// Absolute is a path that means the same from another folder; "" stays what it is.
func Absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
