// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package guards_test

// raceDetector says whether the tests run under the race detector.
const raceDetector = true
