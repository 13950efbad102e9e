// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// A cycle of a graph under a budget of three calls makes three rounds, in each form, also where
// the caller neither starts a Run nor stops reading.
func TestACycleUnderABudgetEnds(t *testing.T) {
	for name, budget := range map[string]callbacks.Guard{
		"per agent": guards.CallBudget(3), "whole run": guards.CallBudgetOptions{Calls: 3, Scope: guards.ScopeRun}.Guard(),
	} {
		for _, asPlugin := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				chain := callbacks.New(budget)
				m := callbackstest.Script(callbackstest.Say("draft")).Repeat()
				cfg, plugins := llmagent.Config{Name: "writer", Model: m}, runner.PluginConfig{}
				build := chain.NewAgent
				if asPlugin {
					p, err := chain.Plugin("p")
					require.NoError(t, err)
					plugins.Plugins, build = append(plugins.Plugins, p), llmagent.New
				}
				writer, err := build(cfg)
				require.NoError(t, err)
				w, err := workflow.NewAgentNode(writer, workflow.NodeConfig{})
				require.NoError(t, err)
				var rounds atomic.Int32
				review := workflow.NewFunctionNode("review", func(ctx agent.Context, in any) (*session.Event, error) {
					rounds.Add(1)
					ev := session.NewEvent(ctx, ctx.InvocationID())
					ev.Output, ev.Routes = in, []string{"again"}
					return ev, nil
				}, workflow.NodeConfig{})
				edges, err := chain.Edges(workflow.NewEdgeBuilder().Add(workflow.Start, w).Add(w, review).
					AddRoute(review, w, workflow.StringRoute("again")).Build())
				require.NoError(t, err)
				root, err := workflowagent.New(workflowagent.Config{Name: "graph", Edges: edges})
				require.NoError(t, err)
				r, err := runner.New(runner.Config{
					AppName: "test", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true, PluginConfig: plugins,
				})
				require.NoError(t, err)
				var errs []error
				events := 0
				for _, err := range r.Run(t.Context(), "u", t.Name(), genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
					if err != nil {
						errs = append(errs, err)
					}
					if events++; events > 200 {
						break
					}
				}
				require.EqualValues(t, 3, rounds.Load())
				require.Equal(t, 3, m.Calls())
				require.Len(t, errs, 1)
				var refused *callbacks.FailedError
				require.ErrorAs(t, errs[0], &refused)
				require.Equal(t, callbacks.StatusCallsExhausted, callbacks.Status(refused.Refusal.Code))
			})
		}
	}
}
