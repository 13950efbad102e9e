// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"testing"

	"github.com/dlclark/regexp2/v2"
	"go.uber.org/goleak"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(stopsClock{m}) }

// stopsClock ends the goroutine that times regexp2 matches.
type stopsClock struct{ *testing.M }

func (s stopsClock) Run() int {
	code := s.M.Run()
	regexp2.StopTimeoutClock()
	return code
}

func texts(evs []*session.Event) []string {
	var out []string
	for _, ev := range evs {
		if ev.Content == nil || ev.Content.Role != genai.RoleModel {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.Text != "" {
				out = append(out, p.Text)
			}
		}
	}
	return out
}

func responses(evs []*session.Event) []map[string]any {
	var out []map[string]any
	for _, ev := range evs {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionResponse != nil {
				out = append(out, p.FunctionResponse.Response)
			}
		}
	}
	return out
}

type event = *session.Event

func runnerConfig(root agent.Agent, p *plugin.Plugin) runner.Config {
	cfg := runner.Config{AppName: "test", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true}
	if p != nil {
		cfg.PluginConfig = runner.PluginConfig{Plugins: []*plugin.Plugin{p}}
	}
	return cfg
}

func request(contents ...*genai.Content) *model.LLMRequest {
	return &model.LLMRequest{Contents: contents}
}

func runnerOf(root agent.Agent) (*runner.Runner, error) { return runner.New(runnerConfig(root, nil)) }
