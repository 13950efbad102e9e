// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

// Names of guards that others must stand after.
const (
	finishName  = "finish"
	isolateName = "isolate"
	reaskName   = "reask"
	retryName   = "retry"
	routeName   = "route"
	windowName  = "window"
)

// bringsCalls are the guards that make further model calls; what counts or pays for calls
// stands after them.
var bringsCalls = []string{finishName, reaskName, retryName, routeName, windowName}
