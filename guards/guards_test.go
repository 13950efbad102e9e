// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/guards/counters"
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

func runnerOf(root agent.Agent) (*runner.Runner, error) { return runnerWith(root, nil) }

func runnerWith(root agent.Agent, p *plugin.Plugin) (*runner.Runner, error) {
	return runner.New(runnerConfig(root, p))
}

func sequence(t *testing.T, subs ...agent.Agent) agent.Agent {
	t.Helper()
	root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: subs}})
	require.NoError(t, err)
	return root
}

func parallel(t *testing.T, subs ...agent.Agent) agent.Agent {
	t.Helper()
	root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: subs}})
	require.NoError(t, err)
	return root
}

// hungryModel calls a tool for ever, until no tool is left to call; then it answers.
// It begins when all its siblings have.
type hungryModel struct {
	answers, began *atomic.Int64
	gate           chan struct{}
	siblings       int64
	once           sync.Once
}

func (*hungryModel) Name() string { return "hungry" }

func (m *hungryModel) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.once.Do(func() {
			if m.began.Add(1) == m.siblings {
				close(m.gate)
			}
		})
		<-m.gate
		part := genai.NewPartFromFunctionCall("lookup", nil)
		if len(req.Tools) == 0 {
			m.answers.Add(1)
			part = genai.NewPartFromText("what I have")
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel)}, nil)
	}
}

func runKey(key string, err error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return key, err }
}

// deadHistory is a store whose histories can't be reached.
type deadHistory struct{ counters.Store }

func (deadHistory) Push(context.Context, string, counters.Entry, int) ([]counters.Entry, error) {
	return nil, fmt.Errorf("%w: connection refused", counters.ErrUnavailable)
}

func loopOf(t *testing.T, rounds uint, subs ...agent.Agent) agent.Agent {
	t.Helper()
	root, err := loopagent.New(loopagent.Config{MaxIterations: rounds, AgentConfig: agent.Config{Name: "loop", SubAgents: subs}})
	require.NoError(t, err)
	return root
}
