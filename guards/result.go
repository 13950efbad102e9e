// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

// succeeded reports whether a tool did what it was called for. A tool made of a Go struct
// with an Error field says "" where it has none to report.
func succeeded(result map[string]any, err error) bool {
	if err != nil || result == nil {
		return false
	}
	failure := result["error"]
	return failure == nil || failure == ""
}
