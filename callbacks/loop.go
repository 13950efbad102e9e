// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"fmt"
	"iter"
	"slices"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/session"
)

// Loop is ADK's loop agent with one difference: it ends when the Run is stopped.
// ADK's own goes on for ever over agents that are refused, unless the chain is a
// plugin of the runner or the caller ranges over Run.Events.
func Loop(cfg loopagent.Config) (agent.Agent, error) {
	check, err := agent.New(agent.Config{
		Name:        cfg.AgentConfig.Name + "_stop_check",
		Description: "Ends the loop when the run is stopped.",
		Run: func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
			return func(yield func(*session.Event, error) bool) {
				if !RunOf(ctx).isStopped() {
					return
				}
				ev := session.NewEvent(ctx, ctx.InvocationID())
				ev.Branch = ctx.Branch()
				ev.Actions.Escalate = true
				yield(ev, nil)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("callbacks: loop %q: %w", cfg.AgentConfig.Name, err)
	}
	cfg.AgentConfig.SubAgents = slices.Concat(cfg.AgentConfig.SubAgents, []agent.Agent{&stopCheck{check}})
	return loopagent.New(cfg)
}

// stopCheck is known by its type to whoever looks at the tree.
type stopCheck struct{ agent.Agent }
