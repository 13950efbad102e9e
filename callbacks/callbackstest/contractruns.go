// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

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

// runs plays the same short run once alone and then 64 times side by side.
func (a *asserted) runs() {
	a.Helper()
	before := runtime.NumGoroutine()
	first, err := a.play()
	if err != nil {
		a.broken("run", "it can't be attached: %v", err)
		return
	}
	done := make(chan struct{})
	others := make([]string, 64)
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for i := range others {
			wg.Go(func() {
				got, err := a.play()
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
		a.broken("parallel", "64 runs side by side did not end within %s", a.Timeout)
		return
	}
	if i := slices.IndexFunc(others, func(o string) bool { return o != first }); i >= 0 && !a.KeepsState {
		a.broken("run", "a later run goes another way than the first: it keeps what it knows outside the Run\nfirst: %s\nlater: %s", first, others[i])
	}
	// What ends with a run may take a moment to be gone.
	for deadline := time.Now().Add(min(a.Timeout, 5*time.Second)); runtime.NumGoroutine() > before+32; {
		if time.Now().After(deadline) {
			a.broken("leak", "%d goroutines before the runs, %d after", before, runtime.NumGoroutine())
			return
		}
		runtime.Gosched()
	}
}

// play is one run through the form the guard works in; it returns what its observers
// were told, without what differs from run to run.
func (a *asserted) play() (string, error) {
	rec := &Recorder{}
	chain := callbacks.New(a.g, rec.Guard())
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
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, User, Session, genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
		_ = err // the outcome has it
	}
	var lines []string
	for _, ev := range rec.Events() {
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
