// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
)

// wrappers tries what the guard puts around tools and models.
func (a *asserted) wrappers() {
	a.Helper()
	if a.g.WrapTool != nil {
		a.panics("wrapper", "wrap_tool", a.wrapTool)
	}
	if a.g.WrapModel != nil {
		a.panics("wrapper", "wrap_model", a.wrapModel)
	}
}

func (a *asserted) wrapTool() {
	a.Helper()
	pending := ToolReturning("lookup", nil, nil).LongRunning()
	got := a.g.WrapTool(pending)
	run, ok := got.(interface {
		Run(ctx agent.Context, args any) (map[string]any, error)
	})
	if got.Name() != "lookup" || !ok || !got.IsLongRunning() {
		a.broken("wrapper", "wrap_tool changes the name or the kind of a function tool")
		return
	}
	if res, err := run.Run(Context(a), stored()); res != nil || err != nil {
		a.broken("wrapper", "wrap_tool turns the missing result of a long-running tool into %v, %v", res, err)
	}
	if _, ok := a.g.WrapTool(StreamingTool("lookup", "chunk")).(interface {
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	}); !ok {
		a.broken("wrapper", "wrap_tool changes the kind of a streaming tool")
	}
}

func (a *asserted) wrapModel() {
	a.Helper()
	same := func(m model.LLM) model.LLM { return m }
	wrapped := a.g.WrapModel(Script(Stream("a", "b", "c")).Repeat(), same)
	if wrapped.Name() != "scripted" {
		a.broken("wrapper", "wrap_model changes the model's name to %q", wrapped.Name())
	}
	req := &model.LLMRequest{Contents: storedContents()[:1]}
	for _, err := range wrapped.GenerateContent(Context(a), req, true) {
		_ = err
		break // a wrapper that goes on panics here
	}
}

// sideBySide is how many runs are played at once, one in launchedOf of them launched.
const (
	sideBySide = 64
	launchedOf = 4
)

// runs plays the same short run once started and once launched, and then many times side by
// side. It reports whether they all ended.
func (a *asserted) runs() bool {
	a.Helper()
	before := goleak.IgnoreCurrent()
	var started, again, launched, monitored string
	var err error
	done := make(chan struct{})
	others := make([]string, sideBySide)
	go func() {
		defer close(done)
		if started, err = a.play(false); err != nil {
			return
		}
		again, _ = a.play(false)
		launched, _ = a.play(true)
		monitored, _ = a.play(false, callbacks.Monitor(refusesAll()))
		var wg sync.WaitGroup
		for i := range others {
			wg.Go(func() {
				got, err := a.play(i%launchedOf == 0)
				if err != nil {
					got = err.Error()
				}
				others[i] = got
			})
		}
		wg.Wait()
	}()
	select {
	case <-done:
	case <-time.After(a.Timeout):
		a.broken("parallel", "%d runs side by side did not end within %s", sideBySide, a.Timeout)
		return false
	}
	if err != nil {
		a.broken("run", "it can't be attached: %v", err)
		return true
	}
	if !a.KeepsState {
		if a.alike(started, again, launched, others) && monitored != started {
			a.broken("monitored", "a run goes another way beside a monitored guard that refuses everything\nalone: %s\nbeside it: %s", started, monitored)
		}
	}
	a.leaks(before)
	return true
}

// refusesAll is a guard that says no to every step, before it and after it.
func refusesAll() callbacks.Guard {
	no := callbacks.Deny("no", "no")
	return callbacks.Guard{
		Name:        "refuses all",
		BeforeAgent: func(agent.Context) (*genai.Content, error) { return nil, no },
		AfterAgent:  func(agent.Context) (*genai.Content, error) { return nil, no },
		BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { return nil, no },
		AfterModel:  func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) { return nil, no },
		BeforeTool:  func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return nil, no },
		AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return nil, no
		},
	}
}

func (a *asserted) alike(started, again, launched string, others []string) bool {
	a.Helper()
	for i, later := range append([]string{again}, others...) {
		if wasLaunched := i > 0 && (i-1)%launchedOf == 0; !wasLaunched && later != started {
			a.broken("run", "a later run goes another way than the first: it keeps what it knows outside the Run\nfirst: %s\nlater: %s", started, later)
			return false
		}
	}
	if launched != started {
		a.broken("launched", "a run goes another way where nobody calls callbacks.Start\nstarted: %s\nlaunched: %s", started, launched)
		return false
	}
	return true
}

// leaks finds goroutines by their stacks. What ends with a run may take a moment to be gone.
func (a *asserted) leaks(before goleak.Option) {
	a.Helper()
	var err error
	for deadline := time.Now().Add(min(a.Timeout, 5*time.Second)); ; {
		err = goleak.Find(before,
			// Idle connections belong to the client, not to the run.
			goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
		if err == nil || time.Now().After(deadline) {
			break
		}
	}
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n\n")
		a.broken("leak", "%s", text)
	}
}

// play is one run through the form the guard works in; it returns what its observers
// were told, without what differs from run to run and what beside would have refused.
func (a *asserted) play(launched bool, beside ...callbacks.Guard) (string, error) {
	rec := &Recorder{}
	chain := callbacks.New(append([]callbacks.Guard{a.g, rec.Guard()}, beside...)...)
	cfg := llmagent.Config{
		Name: AgentName, Model: Script(Call("lookup", stored()), Calls(Call("lookup", nil), Call("lookup", map[string]any{"supplier": "B"})), Say("answer")),
		DisallowTransferToParent: true, DisallowTransferToPeers: true,
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(toolsOf(a.g), "lookup")))) {
		cfg.Tools = append(cfg.Tools, tool.Tool(Tool(name)))
	}
	inner, err := chain.NewAgent(cfg)
	var plugins []*plugin.Plugin
	if err != nil {
		p, pluginErr := chain.Plugin("gardefou")
		if pluginErr != nil {
			return "", fmt.Errorf("as an agent: %w; as a plugin: %w", err, pluginErr)
		}
		plugins = append(plugins, p)
		if inner, err = llmagent.New(cfg); err != nil {
			return "", err
		}
	}
	root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{inner}}})
	if err != nil {
		return "", err
	}
	r, err := runner.NewInMemory("contract", root)
	if len(plugins) > 0 {
		r, err = runner.New(runner.Config{AppName: "contract", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: plugins}})
	}
	if err != nil {
		return "", err
	}
	run := follow(context.Background(), launched, rec, func(ctx context.Context) iter.Seq2[*session.Event, error] {
		return r.Run(ctx, User, Session, genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})
	}, func(*session.Event, error) {}) // the outcome has it
	var lines []string
	for _, ev := range rec.Events() {
		if len(beside) > 0 && ev.Guard == beside[0].Name {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s", ev.Step, ev.Tool, ev.Outcome, ev.Guard, ev.Code))
	}
	slices.Sort(lines)
	return strings.Join(append(lines, string(run.Outcome().Status)), "\n"), nil
}

func toolsOf(g callbacks.Guard) []string {
	if g.Info == nil {
		return nil
	}
	return slices.Clone(g.Info().Tools)
}
