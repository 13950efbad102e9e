// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package callbackstest is the test kit for guards: one hook with a fake tool in
// three lines, a scripted model that is as strict as a provider, a recorder of
// events, and a runner that tries a chain in every form and topology.
//
//	res := callbackstest.BeforeTool(t, guards.AllowTools("lookup"), callbackstest.Tool("delete"), nil)
//	require.Equal(t, map[string]any{"error": "tool not allowed: delete"}, res)
//
// A guard of your own is held against the laws of the chain by one line, and tried in
// every form, mode and topology by a [Matrix]:
//
//	callbackstest.AssertContract(t, myGuard)
//
// A real model's answers are kept once with [Record] and played ever after with [Replay].
//
// Nothing in it needs a key or a network. For time there is testing/synctest: a test
// inside synctest.Test moves the clock by sleeping, and guards that look at it follow.
package callbackstest
