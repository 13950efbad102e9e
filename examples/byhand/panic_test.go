// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// ADK calls tool hooks on bare goroutines: no recover of the caller's sees the panic.
func TestAPanickingToolHookKillsTheProcess(t *testing.T) {
	buggy := func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { panic("a bug in the guard") }
	config := llmagent.Config{
		Name: "agent", Tools: []tool.Tool{callbackstest.Tool("lookup")},
		Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done")),
	}

	t.Run("plain ADK", func(t *testing.T) {
		out, err := inChild(t, func() {
			defer func() { _ = recover() }()
			config.BeforeToolCallbacks = []llmagent.BeforeToolCallback{buggy}
			run(t, plain(t, config))
			select {} // ADK goes on while the panic is still on its way to end the process
		})
		require.Error(t, err, "the process died")
		require.Contains(t, out, "panic: a bug in the guard")
	})
	t.Run("with the chain", func(t *testing.T) {
		out, err := inChild(t, func() {
			chain := callbacks.New(callbacks.Guard{Name: "buggy", BeforeTool: buggy})
			events := run(t, guarded(t, chain, config))
			require.Equal(t, []map[string]any{{"error": "refused: a guard failed"}}, toolAnswers(events))
		})
		require.NoError(t, err, out)
		require.Contains(t, out, alive)
	})
}

const alive = "the process lives"

// inChild runs f in a process of its own: this test again, told apart by the
// environment. In that process inChild does not return.
func inChild(t *testing.T, f func()) (output string, err error) {
	t.Helper()
	const child = "BYHAND_CHILD"
	if os.Getenv(child) != "" {
		f()
		if t.Failed() {
			os.Exit(1)
		}
		fmt.Println(alive)
		os.Exit(0)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
