// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"fmt"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// agents makes the program's tree, and the plugin where the chain is one.
func (w *world) agents() (agent.Agent, *plugin.Plugin, error) {
	chain := w.chain()
	if err := chain.Err(); err != nil {
		return nil, nil, err
	}
	var p *plugin.Plugin
	var err error
	if w.spec.Form == callbackstest.FormPlugin {
		if p, err = chain.Plugin("guards"); err != nil {
			return nil, nil, err
		}
	}
	var helper tool.Tool = w.tool("helper")
	if w.spec.Helper != nil {
		inner, err := w.attach(chain, w.config("helper", *w.spec.Helper, w.tool("helper")))
		if err != nil {
			return nil, nil, err
		}
		helper = agenttool.New(inner, nil)
	}
	var subs []agent.Agent
	for i, a := range w.spec.Agents {
		cfg := w.config(agentNameOf(i), a, helper)
		helper = w.tool("helper")
		build := chain.NewAgent
		switch {
		case p != nil:
			build = llmagent.New
		case w.spec.Tree == "one":
			build = func(cfg llmagent.Config) (agent.Agent, error) { return w.attach(chain, cfg) }
		}
		sub, err := build(cfg)
		if err != nil {
			return nil, nil, err
		}
		subs = append(subs, sub)
	}
	root, err := treeOf(w.spec.Tree, subs)
	return root, p, err
}

func (*world) attach(chain *callbacks.Chain, cfg llmagent.Config) (agent.Agent, error) {
	cfg, err := chain.Attach(cfg)
	if err != nil {
		return nil, err
	}
	return llmagent.New(cfg)
}

func (w *world) config(name string, a programAgent, helper tool.Tool) llmagent.Config {
	return llmagent.Config{
		Name: name, Description: "An agent.", Model: &programModel{w: w, agent: name, turns: a.Turns}, OutputKey: "out_" + name,
		Tools:                    []tool.Tool{w.tool("lookup"), w.tool("pay"), w.tool("secret"), programStream{w.tool("stream"), w}, helper},
		DisallowTransferToParent: true, DisallowTransferToPeers: true,
	}
}

func (w *world) tool(name string) *callbackstest.FakeTool {
	return callbackstest.ToolFunc(name, func(ctx agent.Context, args map[string]any) (map[string]any, error) { return w.use(ctx, name, args) })
}

// programStream is the tool that answers in chunks.
type programStream struct {
	tool.Tool
	w *world
}

func (s programStream) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: s.Name(), Description: s.Description()}
}

func (s programStream) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	return s.Tool.(*callbackstest.FakeTool).ProcessRequest(ctx, req)
}

func (s programStream) RunStream(ctx agent.Context, args any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		given, _ := args.(map[string]any)
		result, err := s.w.use(ctx, s.Name(), given)
		if err != nil {
			yield("", err)
			return
		}
		if yield("a piece, ", nil) {
			yield(fmt.Sprint(result), nil)
		}
	}
}

func treeOf(tree string, subs []agent.Agent) (agent.Agent, error) {
	base := agent.Config{Name: "root", SubAgents: subs}
	switch tree {
	case "sequence":
		return sequentialagent.New(sequentialagent.Config{AgentConfig: base})
	case "loop":
		return loopagent.New(loopagent.Config{MaxIterations: 12, AgentConfig: base})
	case "parallel":
		return parallelagent.New(parallelagent.Config{AgentConfig: base})
	case "nested":
		half := len(subs) / 2 // a loop around some agents and the others in parallel, in a sequence
		both, err := treeOf("parallel", subs[half:])
		if err != nil {
			return nil, err
		}
		base.SubAgents = subs[:half:half]
		base.SubAgents = append(base.SubAgents, both)
		base.Name = "inner"
		inner, err := loopagent.New(loopagent.Config{MaxIterations: 3, AgentConfig: base})
		if err != nil {
			return nil, err
		}
		return sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "outer", SubAgents: []agent.Agent{inner}}})
	case "one":
		return subs[0], nil
	}
	return nil, fmt.Errorf("no tree %q", tree)
}
