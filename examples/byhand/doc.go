// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package byhand holds no code: its tests show, one hole of ADK a file, what happens
// to a guard written by hand and what happens to the same hook in a chain.
package byhand
