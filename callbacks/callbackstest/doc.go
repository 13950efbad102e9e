// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package callbackstest is the test kit for guards: one hook with a fake tool in
// three lines, a scripted model that is as strict as a provider, a recorder of
// events, and a runner that tries a chain in every form and topology.
//
//	res := callbackstest.BeforeTool(t, guards.AllowTools("lookup"), callbackstest.Tool("delete"), nil)
//	require.Equal(t, map[string]any{"error": "tool not allowed: delete"}, res)
//
// Nothing in it needs a key, a network or a clock.
package callbackstest
