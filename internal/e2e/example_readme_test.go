// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// The regions between "DOC name" and "DOC end" are the Go blocks of README.md and docs/;
// TestDocBlocks keeps them the same.

func newResearcher(m model.LLM, lookup tool.Tool) (agent.Agent, error) {
	// DOC chain
	chain := callbacks.New(
		guards.AllowTools("lookup_registry"),
		guards.Args("lookup_registry", guards.Arg{Name: "supplier", Required: true, NotBlank: true, MaxLen: 80}),
		guards.CallBudget(6),
		guards.Redact(),
		guards.Stash("lookup_"),
		guards.Journal(os.Stderr),
	)
	return chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{lookup}})
	// DOC end
}

func runGuarded(ctx context.Context, r *runner.Runner, msg *genai.Content) (callbacks.Result, error) {
	// DOC run
	ctx, run := callbacks.Start(ctx)
	defer run.Close()
	for ev, err := range run.Events(r.Run(ctx, "user", "session", msg, agent.RunConfig{})) {
		if err != nil {
			return run.Outcome(), err
		}
		_ = ev // show it
	}
	return run.Outcome(), nil // done, calls_exhausted, …
	// DOC end
}

func TestUnlistedToolIsRefused(t *testing.T) {
	// DOC test
	got := callbackstest.BeforeTool(t, guards.AllowTools("lookup"), callbackstest.Tool("delete_supplier"), nil)
	require.Equal(t, map[string]any{"error": "tool not allowed: delete_supplier"}, got)
	require.Nil(t, callbackstest.BeforeTool(t, guards.AllowTools("lookup"), callbackstest.Tool("lookup"), nil))
	// DOC end
}

func TestReadmeChainRuns(t *testing.T) {
	m := callbackstest.Script(callbackstest.Call("lookup_registry", map[string]any{"supplier": "Acme"}), callbackstest.Say("found"))
	a, err := newResearcher(m, callbackstest.Tool("lookup_registry"))
	require.NoError(t, err)
	r, err := runner.NewInMemory("readme", a)
	require.NoError(t, err)
	res, err := runGuarded(t.Context(), r, genai.NewContentFromText("question", genai.RoleUser))
	require.NoError(t, err)
	require.Equal(t, callbacks.StatusDone, res.Status)
	require.Equal(t, 2, m.Calls())
}
