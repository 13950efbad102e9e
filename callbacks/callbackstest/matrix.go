// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
)

// Form is how a chain is attached.
type Form string

// The forms of attachment.
const (
	FormAgent  Form = "agent"
	FormPlugin Form = "plugin"
)

// Topology is the agent tree a chain is tried in.
type Topology string

// The topologies. In TopologyAgentTool the guarded agent is a tool of an outer
// agent; as a plugin the chain is attached to the inner agent as well, as the
// documentation of Chain.Plugin asks.
const (
	TopologyLLM        Topology = "llm"
	TopologySequential Topology = "sequential"
	TopologyLoop       Topology = "loop"
	TopologyParallel   Topology = "parallel"
	TopologyAgentTool  Topology = "agent_tool"
)

// The topologies in which the guarded agent works in a node of ADK's graph, whose edges are of
// Chain.Edges in both forms: alone, before a node that calls a tool, beside another branch that
// a join waits for, in a cycle, for the items of a list, and as a child of a node that is code.
const (
	TopologyAgentNode   Topology = "agent_node"
	TopologyToolNode    Topology = "tool_node"
	TopologyFanOut      Topology = "fan_out"
	TopologyCycle       Topology = "cycle"
	TopologyWorker      Topology = "parallel_worker"
	TopologyDynamicNode Topology = "dynamic_node"
)

// Topologies are all of them.
func Topologies() []Topology {
	return []Topology{
		TopologyLLM, TopologySequential, TopologyLoop, TopologyParallel, TopologyAgentTool,
		TopologyAgentNode, TopologyToolNode, TopologyFanOut, TopologyCycle, TopologyWorker, TopologyDynamicNode,
	}
}

// Graph reports whether it is one of ADK's graph of nodes.
func (t Topology) Graph() bool {
	return slices.Index(Topologies(), t) >= slices.Index(Topologies(), TopologyAgentNode)
}

// Stored reports whether the guarded agent's events are in the caller's session. Not those of an
// agent used as a tool, which has a session of its own, nor those of the items of a parallel
// worker: ADK drops them, so that the agent's model does not read what its tools answered.
func (t Topology) Stored() bool { return t != TopologyAgentTool && t != TopologyWorker }

// A Cell is one combination of the matrix.
type Cell struct {
	Form      Form
	Streaming bool
	Topology  Topology
	// Launched says that nobody calls callbacks.Start or ranges over Run.Events, as under
	// ADK's own launchers.
	Launched bool
}

// String names the cell as a subtest.
func (c Cell) String() string {
	mode := "whole"
	if c.Streaming {
		mode = "stream"
	}
	if c.Launched {
		mode += "-launched"
	}
	return fmt.Sprintf("%s/%s/%s", c.Form, mode, c.Topology)
}

// Cells returns every cell of the matrix: each form and topology whole, in chunks, and
// launched by somebody who starts no Run.
func Cells() []Cell {
	var cells []Cell
	for _, form := range []Form{FormAgent, FormPlugin} {
		for _, mode := range []Cell{{}, {Streaming: true}, {Launched: true}} {
			for _, top := range Topologies() {
				cells = append(cells, Cell{Form: form, Streaming: mode.Streaming, Topology: top, Launched: mode.Launched})
			}
		}
	}
	return cells
}

// A Matrix tries guards in every cell.
type Matrix struct {
	// Guards makes the guards anew for each cell. Required.
	Guards func() []callbacks.Guard
	// Model makes the guarded agent's model; nil is one that calls the tool
	// "lookup" once and then says "answer".
	Model func() *Model
	// Tools makes the guarded agent's tools; nil is one fake tool "lookup".
	Tools func() []tool.Tool
	// OutputKey of the guarded agent.
	OutputKey string
	// Refused says in which cells construction must fail; nil means in none.
	Refused func(Cell) bool
	// Check looks at what happened in a cell that was built. Required.
	Check func(t *testing.T, trial *Trial)
	// CheckWorker is Check for the items of a parallel worker, whose events ADK drops: the
	// agent's model does not read there what its tools answered, and nothing is stored. Nil
	// checks what holds in every graph only: after a refusal no further node has run.
	CheckWorker func(t *testing.T, trial *Trial)
}

// A Trial is what happened in one cell.
type Trial struct {
	Cell
	// Run is, in a launched cell, the one that the chain kept for the guarded agent.
	Run *callbacks.Run
	// Model is the guarded agent's model, Tools its tools.
	Model *Model
	Tools []tool.Tool
	// Events are all events the caller saw, partial ones included; Stored those of
	// the session afterwards; State the session's state.
	Events []*session.Event
	Stored []*session.Event
	State  map[string]any
	// Told are the events the guarded agent's observers were told.
	Told []callbacks.Event
	Err  error
	// Ended is the refusal with which a node ended the graph: in any other tree it is no error.
	Ended error
	// After is how often the node after the guarded agent's ran, in a graph. A refused agent's
	// does not.
	After int
}

// Run tries every cell as a subtest.
func (m Matrix) Run(t *testing.T) {
	t.Helper()
	for _, cell := range Cells() {
		t.Run(cell.String(), func(t *testing.T) { m.try(t, cell) })
	}
}

// RunCell tries one cell in t itself, for tests that bring their own time.
func (m Matrix) RunCell(t *testing.T, cell Cell) {
	t.Helper()
	m.try(t, cell)
}

const guardedAgent = "guarded"

func (m Matrix) try(t *testing.T, cell Cell) {
	t.Helper()
	rec := &Recorder{}
	trial := &Trial{Cell: cell, Model: m.model(), Tools: m.tools()}
	chain := callbacks.New(m.Guards()...).With(callbacks.ForAgents(rec.Guard(), guardedAgent))
	root, plugins, err := m.build(cell, chain, trial)
	if refused := m.Refused != nil && m.Refused(cell); refused {
		if err == nil {
			t.Fatalf("cell %s: construction went through, it should be refused", cell)
		}
		return
	}
	if err != nil {
		t.Fatalf("cell %s: %v", cell, err)
	}
	m.play(t, trial, root, plugins, rec)
	trial.Told = rec.Events()
	if faults := trial.Model.Faults(); len(faults) > 0 {
		t.Errorf("cell %s: the model got requests a provider would reject: %v", cell, faults)
	}
	if trial.Ended != nil && trial.After != 0 {
		t.Errorf("cell %s: a node ran after the refusal %v", cell, trial.Ended)
	}
	switch {
	case cell.Topology != TopologyWorker:
		m.Check(t, trial)
	case m.CheckWorker != nil:
		m.CheckWorker(t, trial)
	}
}

func (m Matrix) model() *Model {
	if m.Model != nil {
		return m.Model()
	}
	return Script(Call("lookup", map[string]any{"supplier": "Acme"}), Say("answer"))
}

func (m Matrix) tools() []tool.Tool {
	if m.Tools != nil {
		return m.Tools()
	}
	return []tool.Tool{Tool("lookup")}
}

func (m Matrix) build(cell Cell, chain *callbacks.Chain, trial *Trial) (agent.Agent, []*plugin.Plugin, error) {
	cfg := llmagent.Config{
		Name: guardedAgent, Description: "The agent under test.", Model: trial.Model, Tools: trial.Tools, OutputKey: m.OutputKey,
		// An agent that may transfer gets a tool the script does not expect.
		DisallowTransferToParent: true, DisallowTransferToPeers: true,
	}
	var plugins []*plugin.Plugin
	build := chain.NewAgent
	if cell.Topology == TopologyLLM || cell.Topology == TopologyAgentTool {
		build = func(cfg llmagent.Config) (agent.Agent, error) {
			cfg, err := chain.Attach(cfg)
			if err != nil {
				return nil, err
			}
			return llmagent.New(cfg)
		}
	}
	if cell.Form == FormPlugin {
		p, err := chain.Plugin("gardefou")
		if err != nil {
			return nil, nil, err
		}
		plugins = []*plugin.Plugin{p}
		if cell.Topology != TopologyAgentTool {
			build = llmagent.New
		}
	}
	inner, err := build(cfg)
	if err != nil {
		return nil, nil, err
	}
	if cell.Topology.Graph() {
		root, err := m.graph(cell.Topology, chain, inner, trial)
		return root, plugins, err
	}
	root, err := around(cell.Topology, inner)
	return root, plugins, err
}

func around(top Topology, inner agent.Agent) (agent.Agent, error) {
	base := agent.Config{Name: "root", SubAgents: []agent.Agent{inner}}
	switch top {
	case TopologySequential:
		return sequentialagent.New(sequentialagent.Config{AgentConfig: base})
	case TopologyLoop:
		return loopagent.New(loopagent.Config{AgentConfig: base, MaxIterations: 1})
	case TopologyParallel:
		sibling, err := llmagent.New(llmagent.Config{Name: "sibling", Model: Script(Say("sibling's answer"))})
		if err != nil {
			return nil, err
		}
		base.SubAgents = append(base.SubAgents, sibling)
		return parallelagent.New(parallelagent.Config{AgentConfig: base})
	case TopologyAgentTool:
		return llmagent.New(llmagent.Config{
			Name:  "outer",
			Model: Script(Call(guardedAgent, map[string]any{"request": "question"}), Say("outer answer")),
			Tools: []tool.Tool{agenttool.New(inner, nil)},
		})
	default:
		return inner, nil
	}
}

func (m Matrix) play(t *testing.T, trial *Trial, root agent.Agent, plugins []*plugin.Plugin, rec *Recorder) {
	t.Helper()
	svc := session.InMemoryService()
	r, err := runner.New(runner.Config{
		AppName: "matrix", Agent: root, SessionService: svc, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	if err != nil {
		t.Fatalf("cell %s: %v", trial.Cell, err)
	}
	mode := agent.StreamingModeNone
	if trial.Streaming {
		mode = agent.StreamingModeSSE
	}
	msg := genai.NewContentFromText("question", genai.RoleUser)
	collect := func(ev *session.Event, err error) {
		var refused *callbacks.FailedError
		switch {
		case errors.As(err, &refused) && trial.Topology.Graph() && !errors.Is(err, callbacks.ErrFailed):
			trial.Ended = err
		case err != nil:
			trial.Err = err
		default:
			trial.Events = append(trial.Events, ev)
		}
	}
	trial.Run = follow(t.Context(), trial.Launched, rec, func(ctx context.Context) iter.Seq2[*session.Event, error] {
		return r.Run(ctx, User, Session, msg, agent.RunConfig{StreamingMode: mode})
	}, collect)
	got, err := svc.Get(t.Context(), &session.GetRequest{AppName: "matrix", UserID: User, SessionID: Session})
	if err != nil {
		t.Fatalf("cell %s: %v", trial.Cell, err)
	}
	for ev := range got.Session.Events().All() {
		trial.Stored = append(trial.Stored, ev)
	}
	trial.State = maps.Collect(got.Session.State().All())
}

// follow ranges over a run as a caller does who starts a Run, or as a launcher, which knows
// of none; rec then finds the one the chain kept. It returns the Run, closed.
func follow(ctx context.Context, launched bool, rec *Recorder, start func(context.Context) iter.Seq2[*session.Event, error], each func(*session.Event, error)) *callbacks.Run {
	if !launched {
		ctx, run := callbacks.Start(ctx)
		defer run.Close()
		for ev, err := range run.Events(start(ctx)) {
			each(ev, err)
		}
		return run
	}
	var failed error
	for ev, err := range start(ctx) {
		if err != nil && failed == nil {
			failed = err
		}
		each(ev, err)
	}
	run := rec.foundRun()
	if run == nil {
		_, run = callbacks.Start(ctx) // nobody was told of anything
	}
	defer run.Close()
	if failed != nil {
		// So that Outcome says what it says of a Run that was started.
		run.Events(func(yield func(*session.Event, error) bool) { yield(nil, failed) })(func(*session.Event, error) bool { return true })
	}
	return run
}

var _ model.LLM = (*Model)(nil)
