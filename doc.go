// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gardefou is the root of a guard framework for Google's Agent
// Development Kit for Go and of a supplier due-diligence pipeline built with it.
//
// Start with package callbacks (the chain) and package guards (what to put in
// it); package redact finds and masks personal data and needs neither.
package gardefou
