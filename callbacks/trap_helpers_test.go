// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"iter"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
)

// A launched run is one as ADK's own launchers make it: nobody calls Start, nobody
// ranges over Run.Events, and the consumer goes on after an error.
type launched struct {
	runner *runner.Runner
	svc    session.Service

	events []*session.Event
	errs   []error
}

// endless is the number of events after which launch takes a run for one without
// end.
const endless = 200

func launch(t *testing.T, root agent.Agent, mode agent.StreamingMode, plugins ...*plugin.Plugin) *launched {
	t.Helper()
	l := &launched{svc: session.InMemoryService()}
	r, err := runner.New(runner.Config{
		AppName: "test", Agent: root, SessionService: l.svc, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	require.NoError(t, err)
	l.runner = r
	l.send(t, genai.NewContentFromText("question", genai.RoleUser), mode)
	return l
}

// send runs one more turn of the session; events and errs are then that turn's.
func (l *launched) send(t *testing.T, msg *genai.Content, mode agent.StreamingMode) {
	t.Helper()
	l.events, l.errs = nil, nil
	for ev, err := range l.runner.Run(t.Context(), "u", "s", msg, agent.RunConfig{StreamingMode: mode}) {
		if err != nil {
			l.errs = append(l.errs, err)
		} else {
			l.events = append(l.events, ev)
		}
		if len(l.events)+len(l.errs) >= endless {
			return
		}
	}
}

func (l *launched) session(t *testing.T) session.Session {
	t.Helper()
	got, err := l.svc.Get(t.Context(), &session.GetRequest{AppName: "test", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	return got.Session
}

func (l *launched) stored(t *testing.T) []*session.Event {
	t.Helper()
	var out []*session.Event
	for ev := range l.session(t).Events().All() {
		out = append(out, ev)
	}
	return out
}

func (l *launched) state(t *testing.T) map[string]any {
	t.Helper()
	return maps.Collect(l.session(t).State().All())
}

func plainAgent(t *testing.T, cfg llmagent.Config) agent.Agent {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "plain"
	}
	a, err := llmagent.New(cfg)
	require.NoError(t, err)
	return a
}

func plainPlugin(t *testing.T, cfg plugin.Config) *plugin.Plugin {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "plain"
	}
	p, err := plugin.New(cfg)
	require.NoError(t, err)
	return p
}

// modelFunc is a model that answers with f.
type modelFunc func(ctx context.Context, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool)

func (modelFunc) Name() string { return "func" }

func (f modelFunc) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { f(ctx, req, yield) }
}

func say(text string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel)}
}

// texts are the texts of events, function calls and responses left out.
func texts(evs []*session.Event) []string {
	var out []string
	for _, ev := range evs {
		if ev.Content == nil {
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

// calls are the function calls of events.
func calls(evs []*session.Event) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	for _, ev := range evs {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionCall != nil {
				out = append(out, p.FunctionCall)
			}
		}
	}
	return out
}

// documented asserts that the documentation in file says sentence, line breaks
// aside.
func documented(t *testing.T, file, sentence string) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	text := regexp.MustCompile(`(?m)^\s*// ?`).ReplaceAllString(string(b), " ")
	require.Contains(t, strings.Join(strings.Fields(text), " "), sentence, "%s must say what the chain can't do", file)
}

// roots are the ways ADK runs a root: an LLM agent through its node runtime, any
// other agent through the older one.
func roots(t *testing.T) map[string]func(agent.Agent) agent.Agent {
	t.Helper()
	return map[string]func(agent.Agent) agent.Agent{
		"llm root": func(a agent.Agent) agent.Agent { return a },
		"sequential root": func(a agent.Agent) agent.Agent {
			t.Helper()
			s, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{a}}})
			require.NoError(t, err)
			return s
		},
	}
}

func parallelOf(t *testing.T, subs ...agent.Agent) agent.Agent {
	t.Helper()
	par, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: subs}})
	require.NoError(t, err)
	return par
}
