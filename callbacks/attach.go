// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
)

// configGuard is the name under which callbacks that were already on a
// configuration stand in the chain, last.
const configGuard = "config"

// NewAgent builds an LLM agent with the chain attached. Guards that wrap agents
// are put around it; such an agent is meant as a child of a workflow agent, so
// sub-agents of its own and the task and single-turn modes are refused then.
func (c *Chain) NewAgent(cfg llmagent.Config) (agent.Agent, error) {
	wrap := c != nil && len(c.h.wrapAgent) > 0
	if wrap && (len(cfg.SubAgents) > 0 || cfg.Mode == llmagent.ModeTask || cfg.Mode == llmagent.ModeSingleTurn) {
		return nil, fmt.Errorf("callbacks: agent %q: guards that wrap agents work on children of workflow agents only, not with sub-agents or in mode %q", cfg.Name, cfg.Mode)
	}
	cfg, err := c.attach(cfg, wrap)
	if err != nil {
		return nil, err
	}
	a, err := llmagent.New(cfg)
	if err != nil {
		return nil, err
	}
	if wrap {
		return c.wrapAgent(a)
	}
	return a, nil
}

// Attach returns cfg with the chain on it: one callback per hook, the model, the
// tools and the toolsets wrapped. cfg itself is not changed. Callbacks that were
// on cfg run as the chain's last guard.
//
// Attach refuses what is certainly wrong, all of it in one joined error: a guard
// that carries an error or stands in the wrong place, one that needs a hook which
// agents don't have, a tool name that the agent does not have, a cfg that this very chain
// is on already. Two different chains on one agent are allowed: the one
// attached last stands outside.
func (c *Chain) Attach(cfg llmagent.Config) (llmagent.Config, error) {
	return c.attach(cfg, false)
}

func (c *Chain) attach(cfg llmagent.Config, wrapped bool) (llmagent.Config, error) {
	if c == nil {
		c = New()
	}
	if c.isOn(cfg) {
		return llmagent.Config{}, fmt.Errorf("agent %q: %w", cfg.Name, errAttached)
	}
	var lacks []inspect.Hook
	if !wrapped {
		lacks = append(lacks, inspect.WrapAgent)
	}
	if err := errors.Join(c.Err(), checkForm(c.guards, formAgent, lacks...), checkTools(c.guards, cfg)); err != nil {
		return llmagent.Config{}, fmt.Errorf("agent %q: %w", cfg.Name, err)
	}
	// Callbacks of the configuration are this agent's own: they join a chain that
	// only this agent has.
	if own := configHooks(cfg); len(own) > 0 {
		c = &Chain{guards: append(c.Guards(), own...), as: c.identity()}
		c.h = sortHooks(c.guards)
	}

	m := modelHooks{c: c}
	// The modes below let ADK itself decide what the output is.
	if cfg.Mode != llmagent.ModeTask && cfg.Mode != llmagent.ModeSingleTurn {
		m.saveAs, m.schema = cfg.OutputKey, cfg.OutputSchema != nil
		cfg.OutputKey = ""
	}
	p := &places{
		agent: cfg, modelHooks: m, toolHooks: toolHooks{c: c, saveAs: m.saveAs}, agentHooks: agentHooks{c: c, wrapped: wrapped},
	}
	for _, r := range p.table() {
		r.onAgent()
	}
	cfg = p.agent

	if cfg.Model != nil {
		var err error
		if cfg.Model, err = c.wrapModel(cfg.Model); err != nil {
			return llmagent.Config{}, fmt.Errorf("agent %q: %w", cfg.Name, err)
		}
	}
	tools := make([]tool.Tool, 0, len(cfg.Tools))
	for _, tl := range cfg.Tools {
		tools = append(tools, c.wrapTool(tl))
	}
	// ADK appends toolset tools to this slice in concurrent runs; spare capacity
	// would be written by all of them.
	cfg.Tools = slices.Clip(tools)
	sets := make([]tool.Toolset, 0, len(cfg.Toolsets))
	for _, ts := range cfg.Toolsets {
		sets = append(sets, &guardedToolset{Toolset: ts, c: c})
	}
	cfg.Toolsets = slices.Clip(sets)
	return cfg, nil
}

// errAttached says that a configuration has the chain already: attached once more, each of
// its hooks would run twice and count twice.
var errAttached = errors.New("callbacks: this chain is on the agent already; use either Chain.NewAgent, or Chain.Attach and llmagent.New")

// isOn reports whether this chain stands around cfg's model or one of its tools.
func (c *Chain) isOn(cfg llmagent.Config) bool {
	for g, ok := cfg.Model.(*guardedModel); ok; g, ok = g.base.(*guardedModel) {
		if g.c.identity() == c.identity() {
			return true
		}
	}
	return slices.ContainsFunc(cfg.Tools, c.wraps) || slices.ContainsFunc(cfg.Toolsets, c.wrapsSet)
}

func (c *Chain) wrapsSet(set tool.Toolset) bool {
	for g, ok := set.(*guardedToolset); ok; g, ok = g.Toolset.(*guardedToolset) {
		if g.c.identity() == c.identity() {
			return true
		}
	}
	return false
}

// ErrNoSuchTool says that a guard refers to a tool its agent does not have.
var ErrNoSuchTool = errors.New("no such tool")

// A toolNameError is ErrNoSuchTool with its names.
type toolNameError struct {
	Guard, Tool string
	// Has are the names of the agent's tools.
	Has []string
}

// Error implements error.
func (e *toolNameError) Error() string {
	return fmt.Sprintf("callbacks: guard %q names the tool %q, which the agent does not have (it has: %s)", e.Guard, e.Tool, strings.Join(e.Has, ", "))
}

// Is reports whether target is ErrNoSuchTool.
func (e *toolNameError) Is(target error) bool { return target == ErrNoSuchTool }

// checkTools can say nothing where a toolset decides at run time what there is,
// or where ADK adds a tool for each sub-agent.
func checkTools(guards []Guard, cfg llmagent.Config) error {
	if len(cfg.Toolsets) > 0 || len(cfg.SubAgents) > 0 {
		return nil
	}
	has := make([]string, 0, len(cfg.Tools))
	for _, t := range cfg.Tools {
		has = append(has, t.Name())
	}
	var errs []error
	for _, g := range guards {
		for _, name := range g.info().Tools {
			if !slices.Contains(has, name) {
				errs = append(errs, &toolNameError{Guard: g.Name, Tool: name, Has: has})
			}
		}
	}
	return errors.Join(errs...)
}

type guardedToolset struct {
	tool.Toolset
	c *Chain
}

// Tools implements tool.Toolset.
func (g *guardedToolset) Tools(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
	tools, err := g.Toolset.Tools(ctx)
	if err != nil {
		return nil, err
	}
	wrapped := make([]tool.Tool, len(tools))
	for i, t := range tools {
		wrapped[i] = g.c.wrapTool(t)
	}
	return wrapped, nil
}

// ProcessRequest forwards to toolsets that change the request themselves.
func (g *guardedToolset) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	if p, ok := g.Toolset.(requestProcessor); ok {
		return p.ProcessRequest(ctx, req)
	}
	return nil
}
