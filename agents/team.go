// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/telemetry"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/redact"
)

// Setup is what the caller of a pipeline chooses of its team.
type Setup struct {
	// Model answers for every agent. Required.
	Model model.LLM
	// ModelFor gives an agent by name a model of its own; nil, or nil for an agent, means
	// Model.
	ModelFor func(agentName string) model.LLM
	// MaxCalls bounds the model calls of the whole run, AgentCalls those of each agent.
	// Zero means 25 and 6.
	MaxCalls, AgentCalls int
	// MaxTime bounds the run and each agent of it; zero means guards.DefaultRunTime.
	MaxTime time.Duration
	// Spend is the money gate of every model; the zero value is none. It needs the guards
	// on the agents, not on the runner.
	Spend callbacks.Guard
	// Telemetry reports to OpenTelemetry what the chains do; nil means none.
	Telemetry *telemetry.Telemetry
	// RiskModel rates the facts; nil means the built-in model.
	RiskModel *risk.Model
	// AnnualPurchases is what the buyer spends at the supplier in a year, in euros; zero
	// where it is not given.
	AnnualPurchases int64
	// AsPlugin attaches the guards to the runner instead of to each agent.
	AsPlugin bool
	// Monitor lets the guards that refuse watch only: what they would have refused is
	// reported to the journal and the observer, and the step goes on. Landing is left out.
	Monitor bool
	// Replay answers what was answered before, in a run that is resumed; the zero value is
	// none. It is first in every chain and needs the guards on the agents.
	Replay callbacks.Guard
	// Extra guards are first in the chain of the named agent. For tests.
	Extra map[string][]callbacks.Guard
	// Bare builds the agents in plain ADK, with the stash as an ordinary callback and no
	// guard. For measuring what guards cost.
	Bare bool
}

// Purchases is AnnualPurchases, or nil where it is not given.
func (s Setup) Purchases() *int64 {
	if s.AnnualPurchases == 0 {
		return nil
	}
	return &s.AnnualPurchases
}

// Options are what a team is built from.
type Options struct {
	Setup
	// Sources answer the look-ups. Required.
	Sources Sources
	// Journal and Observe are last in every chain. Their zero values are left out.
	Journal, Observe callbacks.Guard
}

// A Team is an agent tree and, where the guards are attached to the runner, the
// plugin that goes with it.
type Team struct {
	Root   agent.Agent
	Plugin *plugin.Plugin
	chains []NamedChain
	scorer scorer
}

// Score rates what the Run of ctx has found so far, without any further look-up: for a
// run that ended before its scorer came.
func (t *Team) Score(ctx context.Context) error { return t.scorer.score(ctx, false) }

// A NamedChain is the chain of one agent, or of the runner.
type NamedChain struct {
	Agent string
	Chain *callbacks.Chain
}

// Chains returns the chains of the team in the order of the pipeline.
func (t *Team) Chains() []NamedChain { return t.chains }

// member is one LLM agent before it is built.
type member struct {
	cfg    llmagent.Config
	guards []callbacks.Guard // of this agent alone
	answer []string          // the tools its answer is given through; none means its text
}

// New builds the team.
func New(o Options) (*Team, error) {
	if o.Model == nil || o.Sources == nil {
		return nil, errors.New("agents: a team needs a model and sources")
	}
	b := &builder{o: o}
	b.runBudget = b.watch(guards.CallBudgetOptions{Calls: o.MaxCalls, Time: b.maxTime(), Scope: guards.ScopeRun}.Guard())
	b.redact = guards.RedactOptions{Options: redact.Options{OnReplace: o.Telemetry.Redacted}}.Guard()
	b.stash = guards.Stash(LookupPrefix)

	research := make([]agent.Agent, 0, len(lookups))
	for _, l := range lookups {
		m, err := b.researcher(l)
		if err != nil {
			return nil, err
		}
		a, err := b.build(m)
		if err != nil {
			return nil, err
		}
		research = append(research, a)
	}
	if o.RiskModel == nil {
		o.RiskModel = risk.DefaultModel()
	}
	b.scorer = scorer{o.Sources, o.RiskModel, o.Purchases()}
	scorer, err := b.scorer.agent()
	if err != nil {
		return nil, err
	}
	writer, err := b.build(b.writer())
	if err != nil {
		return nil, err
	}
	rm, err := b.reviewer()
	if err != nil {
		return nil, err
	}
	reviewer, err := b.build(rm)
	if err != nil {
		return nil, err
	}
	return b.team(research, scorer, writer, reviewer)
}

func (b *builder) team(research []agent.Agent, scorer, writer, reviewer agent.Agent) (*Team, error) {
	parallel, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "research", SubAgents: research}})
	if err != nil {
		return nil, err
	}
	loop, err := callbacks.Loop(loopagent.Config{
		AgentConfig:   agent.Config{Name: "report", SubAgents: []agent.Agent{writer, reviewer}},
		MaxIterations: MaxRounds,
	})
	if err != nil {
		return nil, err
	}
	root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{
		Name: "due_diligence", SubAgents: []agent.Agent{parallel, scorer, loop},
	}})
	if err != nil {
		return nil, err
	}
	t := &Team{Root: root, chains: b.chains, scorer: b.scorer}
	if b.o.AsPlugin {
		chain := callbacks.New(b.pluginGuards()...)
		if t.Plugin, err = chain.Plugin("gardefou"); err != nil {
			return nil, err
		}
		t.chains = append([]NamedChain{{"runner", chain}}, t.chains...)
	}
	return t, nil
}

type builder struct {
	o             Options
	scorer        scorer
	runBudget     callbacks.Guard
	redact, stash callbacks.Guard
	members       []member
	chains        []NamedChain
}

// build attaches the guards in the form asked for. Containing a branch is about the
// agent itself and has no other form.
func (b *builder) build(m member) (agent.Agent, error) {
	b.members = append(b.members, m)
	own := []callbacks.Guard{guards.Contain()}
	if b.o.Bare {
		return llmagent.New(bare(m, b.stash))
	}
	if !b.o.AsPlugin {
		if b.o.Replay.Name != "" {
			own = append(own, b.o.Replay)
		}
		own = append(own, b.o.Extra[m.cfg.Name]...)
		own = append(own, guards.Reask())
		own = append(own, m.guards...)
		own = append(own, b.shared(b.landing(m)...)...)
	}
	chain := callbacks.New(own...)
	b.chains = append(b.chains, NamedChain{m.cfg.Name, chain})
	return chain.NewAgent(m.cfg)
}

// shared are the guards that every agent has. Landing keeps an agent's last call for its
// answer and needs the budgets before it; Redact stands before whatever keeps or writes
// results.
func (b *builder) shared(landings ...callbacks.Guard) []callbacks.Guard {
	out := append([]callbacks.Guard{b.runBudget}, landings...)
	if b.o.Spend.Name != "" {
		out = append(out, b.o.Spend)
	}
	out = append(out, b.redact, b.stash, keepDraft())
	for _, g := range []callbacks.Guard{b.o.Journal, b.o.Observe, b.o.Telemetry.Guard()} {
		if g.Name != "" {
			out = append(out, g)
		}
	}
	return out
}

func (b *builder) pluginGuards() []callbacks.Guard {
	var out, landings []callbacks.Guard
	for _, m := range b.members {
		for _, g := range append(b.o.Extra[m.cfg.Name], m.guards...) {
			out = append(out, callbacks.ForAgents(g, m.cfg.Name))
		}
		for _, g := range b.landing(m) {
			landings = append(landings, callbacks.ForAgents(g, m.cfg.Name))
		}
	}
	return append(out, b.shared(landings...)...)
}

// bare is an agent in plain ADK with the callbacks it can't work without: its question,
// the stash, the draft.
func bare(m member, stash callbacks.Guard) llmagent.Config {
	cfg := m.cfg
	for _, g := range m.guards {
		if g.Name == "isolate" {
			cfg.BeforeModelCallbacks = append(cfg.BeforeModelCallbacks, g.BeforeModel)
		}
	}
	cfg.AfterModelCallbacks = []llmagent.AfterModelCallback{keepDraft().AfterModel}
	cfg.AfterToolCallbacks = []llmagent.AfterToolCallback{stash.AfterTool}
	return cfg
}

func (b *builder) config(name, description string, instruction text.Key, tools ...tool.Tool) llmagent.Config {
	m := b.o.Model
	if b.o.ModelFor != nil {
		if own := b.o.ModelFor(name); own != nil {
			m = own
		}
	}
	return llmagent.Config{
		Name: name, Description: description, Model: m, Tools: tools,
		// A provider's text is used as it is; an Instruction would be a template
		// into which ADK writes session state.
		InstructionProvider: func(ctx agent.ReadonlyContext) (string, error) {
			return text.Get(text.Parse(callbacks.RunOf(ctx).Lang()), instruction), nil
		},
		DisallowTransferToParent: true, DisallowTransferToPeers: true,
	}
}

// watch is put around the guards that refuse.
func (b *builder) watch(g callbacks.Guard) callbacks.Guard {
	if b.o.Monitor {
		return callbacks.Monitor(g)
	}
	return g
}

// landing keeps the last call that a budget allows; one that only watches allows them all.
func (b *builder) landing(m member) []callbacks.Guard {
	if b.o.Monitor {
		return nil
	}
	return []callbacks.Guard{guards.Landing(m.answer...)}
}

func (b *builder) agentBudget() callbacks.Guard {
	// The clock starts at the first call: the writer works through every review round.
	return b.watch(guards.CallBudgetOptions{Calls: b.o.AgentCalls, Time: b.maxTime()}.Guard())
}

func (b *builder) maxTime() time.Duration { return cmp.Or(b.o.MaxTime, guards.DefaultRunTime) }

func (b *builder) researcher(l lookup) (member, error) {
	look, err := newLookupTool(l, b.o.Sources)
	if err != nil {
		return member{}, fmt.Errorf("agents: %s: %w", l.tool, err)
	}
	report, err := newFindingTool(l)
	if err != nil {
		return member{}, fmt.Errorf("agents: %s: %w", ReportFinding, err)
	}
	return member{
		cfg: b.config(l.agent, "Researches "+l.name+".", text.InstructionResearcher, look, report),
		guards: []callbacks.Guard{
			b.watch(guards.AllowTools(l.tool, ReportFinding)),
			b.watch(guards.Args(l.tool, guards.Arg{Name: "supplier", Label: "supplier name", Required: true, NotBlank: true, MaxLen: MaxSupplierLen})),
			b.watch(guards.Args(ReportFinding,
				guards.Arg{Name: "summary", Required: true, NotBlank: true, MaxLen: 4000},
				guards.Arg{Name: "confidence", Required: true, OneOf: []string{"high", "medium", "low"}})),
			guards.IsolateFunc(func(ctx context.Context) (string, error) {
				return question(ctx, l.goal, map[string]any{"supplier": supplierArg(subjectOf(ctx))})
			}),
			// A lookup is about the supplier of this run, whatever a model reads and writes.
			b.watch(guards.ScopeOptions{
				Arg: "supplier", Tools: []string{l.tool}, Unlisted: true, ValuesFunc: supplierNames, Match: sameSupplier,
			}.Guard()),
			b.watch(guards.Loop()),
			b.agentBudget(),
		},
		answer: []string{ReportFinding},
	}, nil
}

// question is a sentence and, apart from it, the data it is about: what comes from
// outside stays inside JSON strings.
func question(ctx context.Context, goal text.Key, data map[string]any) (string, error) {
	enc, err := json.Marshal(data)
	if err != nil {
		return "", fmt.Errorf("agents: making a question: %w", err)
	}
	return text.Get(text.Parse(callbacks.RunOf(ctx).Lang()), goal) + "\n" + string(enc), nil
}
