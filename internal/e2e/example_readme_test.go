// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// The regions between "DOC name" and "DOC end" are the Go blocks of README.md and docs/;
// TestDocBlocks keeps them the same.

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

// DOC test
func TestDeleteIsRefused(t *testing.T) {
	if callbackstest.BeforeTool(t, guards.AllowTools("lookup"), callbackstest.Tool("delete"), nil) == nil {
		t.Error("delete may run")
	}
}

// DOC end

func seeWhatIsActive(chain *callbacks.Chain, clerk agent.Agent) {
	// DOC active
	fmt.Print(chain.Explain())
	for _, problem := range callbacks.Check(clerk) {
		fmt.Println(problem)
	}
	// DOC end
}

func TestReadmeLoopEnds(t *testing.T) {
	chain := callbacks.New(guards.CallBudget(6), guards.AllowTools("lookup"), guards.Redact())
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("found"))
	a, err := chain.NewAgent(llmagent.Config{Name: "clerk", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	seeWhatIsActive(chain, a)
	r, err := runner.NewInMemory("readme", a)
	require.NoError(t, err)
	res, err := runGuarded(t.Context(), r, genai.NewContentFromText("question", genai.RoleUser))
	require.NoError(t, err)
	require.Equal(t, callbacks.StatusDone, res.Status)
	require.Equal(t, 2, m.Calls())
}
