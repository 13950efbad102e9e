// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package byhand_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
)

// tooMany is where the tests give up on a run that would not end.
const tooMany = 100

// run asks root one question through ADK's own runner and returns the events.
func run(t *testing.T, root agent.Agent, plugins ...*plugin.Plugin) []*session.Event {
	t.Helper()
	r, err := runner.New(runner.Config{
		AppName: "byhand", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	require.NoError(t, err)
	var events []*session.Event
	question := genai.NewContentFromText("question", genai.RoleUser)
	for ev, err := range r.Run(t.Context(), "user", "session", question, agent.RunConfig{StreamingMode: agent.StreamingModeSSE}) {
		if err == nil {
			events = append(events, ev)
		}
		if len(events) == tooMany {
			break
		}
	}
	return events
}

func plain(t *testing.T, cfg llmagent.Config) agent.Agent {
	t.Helper()
	a, err := llmagent.New(cfg)
	require.NoError(t, err)
	return a
}

func guarded(t *testing.T, chain *callbacks.Chain, cfg llmagent.Config) agent.Agent {
	t.Helper()
	a, err := chain.NewAgent(cfg)
	require.NoError(t, err)
	return a
}

// toolAnswers are the tool results that the model read.
func toolAnswers(events []*session.Event) []map[string]any {
	var answers []map[string]any
	for _, ev := range events {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionResponse != nil {
				answers = append(answers, p.FunctionResponse.Response)
			}
		}
	}
	return answers
}
