// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A Run is swept when it was idle for long, never while it waits for an approval, and
// never by the sweep that its own making starts.
func TestTheRegistrySweepsIdleRunsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &registry{byID: make(map[string]*Run)}
		closed := map[string]bool{}
		get := func(id string) *Run {
			run := g.get(id)
			run.OnClose(func() { closed[id] = true })
			return run
		}
		idle, waiting := get("idle"), get("waiting")
		require.Same(t, idle, g.get("idle"))
		waiting.wait("waiting", 1)

		time.Sleep(registryIdle - time.Second)
		used := get("used")
		require.Empty(t, closed, "not idle for long enough")

		time.Sleep(registrySweep)
		get("new")
		require.Equal(t, map[string]bool{"idle": true}, closed)
		require.NotSame(t, idle, g.get("idle"))
		require.Same(t, waiting, g.get("waiting"))
		require.Same(t, used, g.get("used"))

		g.end("waiting")
		require.Same(t, waiting, g.get("waiting"), "the resumed run has the same id")
		waiting.wait("waiting", -1)
		g.end("waiting")
		require.True(t, closed["waiting"])
	})
}
