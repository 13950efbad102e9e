// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package approvers are the ways in which guards.Confirm asks a person: at a terminal,
// over HTTP with signed webhooks, or by a script in a test.
package approvers
