// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agents holds the agents of the due-diligence pipeline, their tools and
// their prompts: three researchers in parallel, a scorer that is plain code, then
// a writer and a reviewer in a loop of at most two rounds. It is a part of the product, no
// library: its names change without notice.
//
// What decides anything, the facts, the score, the verdict of the reviewer, is kept
// in the Run and never read back from session state.
package agents
