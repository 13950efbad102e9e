// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package callbackstest_test

const raceDetector = false
