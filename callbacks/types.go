// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import "google.golang.org/adk/v2/agent/llmagent"

// ADK's hook types under shorter names, for this package only.
type (
	beforeModel  = llmagent.BeforeModelCallback
	afterModel   = llmagent.AfterModelCallback
	onModelError = llmagent.OnModelErrorCallback
	beforeTool   = llmagent.BeforeToolCallback
	afterTool    = llmagent.AfterToolCallback
	onToolError  = llmagent.OnToolErrorCallback
)
