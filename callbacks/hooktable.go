// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
)

// ADK's hook types under shorter names.
type (
	beforeModel  = llmagent.BeforeModelCallback
	afterModel   = llmagent.AfterModelCallback
	onModelError = llmagent.OnModelErrorCallback
	beforeTool   = llmagent.BeforeToolCallback
	afterTool    = llmagent.AfterToolCallback
	onToolError  = llmagent.OnToolErrorCallback
	toolWrapper  = named[func(tool.Tool) tool.Tool]
)

// hooks are the guards' hooks sorted by kind once, so that a step touches only
// the hooks it runs.
type hooks struct {
	onUserMessage    []named[plugin.OnUserMessageCallback]
	beforeRun        []named[plugin.BeforeRunCallback]
	afterRun         []named[plugin.AfterRunCallback]
	onEvent          []named[plugin.OnEventCallback]
	beforeAgent      []named[agent.BeforeAgentCallback]
	afterAgent       []named[agent.AfterAgentCallback]
	beforeModel      []named[beforeModel]
	afterModel       []named[afterModel]
	onModelError     []named[onModelError]
	beforeTool       []named[beforeTool]
	afterTool        []named[afterTool]
	onToolError      []named[onToolError]
	gate             []named[func(context.Context, Step) error]
	recheck          []named[beforeTool]
	lastModel        []lastHook[afterModel]
	lastTool         []lastHook[afterTool]
	argsLate         bool // a hook may change the arguments after those of recheck
	argsWrapped      bool // a wrapper may
	wrapModel        []named[func(model.LLM, func(model.LLM) model.LLM) model.LLM]
	wrapTool         []toolWrapper
	wrapAgent        []named[func(agent.Agent) agent.Agent]
	observe          []named[func(context.Context, Event)]
	observeMonitored []named[func(context.Context, Event)]
}

type named[F any] struct {
	guard string
	f     F
	// monitored hooks run on copies and decide nothing.
	monitored bool
}

// A part is what a hook belongs to.
type part int

const (
	ofRun part = iota + 1
	ofAgent
	ofModel
	ofTool
	ofGate
	ofWrapping
	ofObserving
)

func (p part) ofStep() bool { return p == ofAgent || p == ofModel || p == ofTool || p == ofGate }

// places are where a hook has a field of its own, each empty where it is not asked for: on a
// guard, in the chain, on an agent and on a plugin. What ADK calls there runs the chain's.
type places struct {
	guard  Guard
	sorted hooks
	agent  llmagent.Config
	plugin plugin.Config

	modelHooks
	toolHooks
	agentHooks
	runHooks
}

// table has a row for each hook, in the order of a Guard's fields. Whatever is done with all
// hooks is done with its rows: a hook that is new to ADK is added here and to Guard.
func (p *places) table() []hookRow {
	g, h, a, pl := &p.guard, &p.sorted, &p.agent, &p.plugin
	return []hookRow{
		runHook(p, inspect.OnUserMessage, &g.OnUserMessage, &h.onUserMessage, &pl.OnUserMessageCallback, p.onUserMessage),
		runHook(p, inspect.BeforeRun, &g.BeforeRun, &h.beforeRun, &pl.BeforeRunCallback, p.beforeRun),
		runHook(p, inspect.AfterRun, &g.AfterRun, &h.afterRun, &pl.AfterRunCallback, p.afterRun),
		runHook(p, inspect.OnEvent, &g.OnEvent, &h.onEvent, &pl.OnEventCallback, p.onEvent),
		stepHook(p, inspect.BeforeAgent, ofAgent, &g.BeforeAgent, &h.beforeAgent,
			&a.BeforeAgentCallbacks, &pl.BeforeAgentCallback, p.agentHooks.before, onlyAgent[agent.BeforeAgentCallback](inspect.BeforeAgent)),
		stepHook(p, inspect.AfterAgent, ofAgent, &g.AfterAgent, &h.afterAgent,
			&a.AfterAgentCallbacks, &pl.AfterAgentCallback, p.agentHooks.after, onlyAgent[agent.AfterAgentCallback](inspect.AfterAgent)),
		stepHook(p, inspect.BeforeModel, ofModel, &g.BeforeModel, &h.beforeModel,
			&a.BeforeModelCallbacks, &pl.BeforeModelCallback, p.modelHooks.before, onlyBeforeModel),
		stepHook(p, inspect.AfterModel, ofModel, &g.AfterModel, &h.afterModel,
			&a.AfterModelCallbacks, &pl.AfterModelCallback, p.modelHooks.after, onlyAfterModel),
		stepHook(p, inspect.OnModelError, ofModel, &g.OnModelError, &h.onModelError,
			&a.OnModelErrorCallbacks, &pl.OnModelErrorCallback, p.modelHooks.onError, onlyOnModelError),
		stepHook(p, inspect.BeforeTool, ofTool, &g.BeforeTool, &h.beforeTool,
			&a.BeforeToolCallbacks, &pl.BeforeToolCallback, p.toolHooks.before, onlyBeforeTool),
		stepHook(p, inspect.AfterTool, ofTool, &g.AfterTool, &h.afterTool,
			&a.AfterToolCallbacks, &pl.AfterToolCallback, p.toolHooks.after, onlyAfterTool),
		stepHook(p, inspect.OnToolError, ofTool, &g.OnToolError, &h.onToolError,
			&a.OnToolErrorCallbacks, &pl.OnToolErrorCallback, p.toolHooks.onError, onlyOnToolError),
		limitedHook(p, inspect.Gate, ofGate, &g.Gate, &h.gate, onlyGate),
		otherHook(p, inspect.WrapModel, ofWrapping, formPlugin, &g.WrapModel, &h.wrapModel),
		otherHook(p, inspect.WrapTool, ofWrapping, "", &g.WrapTool, &h.wrapTool),
		otherHook(p, inspect.WrapAgent, ofWrapping, formPlugin, &g.WrapAgent, &h.wrapAgent),
		otherHook(p, inspect.Observe, ofObserving, "", &g.Observe, &h.observe),
		otherHook(p, inspect.ObserveMonitored, ofObserving, "", &g.ObserveMonitored, &h.observeMonitored),
	}
}

func onlyAgent[F ~func(agent.Context) (*genai.Content, error)](hook inspect.Hook) func(F, func(Step) bool) F {
	return func(f F, pred func(Step) bool) F {
		return func(ctx agent.Context) (*genai.Content, error) {
			if !pred(PlaceOf(ctx).step(hook)) {
				return nil, nil
			}
			return f(ctx)
		}
	}
}

func onlyBeforeModel(f beforeModel, pred func(Step) bool) beforeModel {
	return func(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
		if !pred(PlaceOf(ctx).step(inspect.BeforeModel)) {
			return nil, nil
		}
		return f(ctx, req)
	}
}

func onlyAfterModel(f afterModel, pred func(Step) bool) afterModel {
	return func(ctx agent.Context, resp *model.LLMResponse, err error) (*model.LLMResponse, error) {
		if !pred(PlaceOf(ctx).step(inspect.AfterModel)) {
			return nil, nil
		}
		return f(ctx, resp, err)
	}
}

func onlyOnModelError(f onModelError, pred func(Step) bool) onModelError {
	return func(ctx agent.Context, req *model.LLMRequest, err error) (*model.LLMResponse, error) {
		if !pred(PlaceOf(ctx).step(inspect.OnModelError)) {
			return nil, nil
		}
		return f(ctx, req, err)
	}
}

func onlyBeforeTool(f beforeTool, pred func(Step) bool) beforeTool {
	return func(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
		if !pred(toolStepOf(ctx, inspect.BeforeTool, t, args)) {
			return nil, nil
		}
		return f(ctx, t, args)
	}
}

func onlyAfterTool(f afterTool, pred func(Step) bool) afterTool {
	return func(ctx agent.Context, t tool.Tool, args, result map[string]any, err error) (map[string]any, error) {
		if !pred(toolStepOf(ctx, inspect.AfterTool, t, args)) {
			return nil, nil
		}
		return f(ctx, t, args, result, err)
	}
}

func onlyOnToolError(f onToolError, pred func(Step) bool) onToolError {
	return func(ctx agent.Context, t tool.Tool, args map[string]any, err error) (map[string]any, error) {
		if !pred(toolStepOf(ctx, inspect.OnToolError, t, args)) {
			return nil, nil
		}
		return f(ctx, t, args, err)
	}
}

func onlyGate(f func(context.Context, Step) error, pred func(Step) bool) func(context.Context, Step) error {
	return func(ctx context.Context, s Step) error {
		if !pred(s) {
			return nil
		}
		return f(ctx, s)
	}
}
