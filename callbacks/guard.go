// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
)

// A Guard is a named bundle of hooks. Every hook is optional and has ADK's own
// function type, so a hook written for plain ADK works in a chain and a hook
// taken out of a Guard works in plain ADK.
//
// A Guard is a value: copying it copies the hooks, which share whatever account
// the constructor made for them. One guard value is therefore one account
// wherever it is attached, and two constructor calls are two accounts.
//
// Hooks may be called by many goroutines at once and must be safe for that.
type Guard struct {
	// Name identifies the guard in refusals, events and Explain. It must not be
	// empty.
	Name string

	// OnUserMessage, BeforeRun, AfterRun and OnEvent run only where the chain is
	// a plugin: ADK has no such hook on an agent.
	OnUserMessage plugin.OnUserMessageCallback
	BeforeRun     plugin.BeforeRunCallback
	AfterRun      plugin.AfterRunCallback
	OnEvent       plugin.OnEventCallback

	BeforeAgent agent.BeforeAgentCallback
	AfterAgent  agent.AfterAgentCallback

	BeforeModel  llmagent.BeforeModelCallback
	AfterModel   llmagent.AfterModelCallback
	OnModelError llmagent.OnModelErrorCallback

	BeforeTool  llmagent.BeforeToolCallback
	AfterTool   llmagent.AfterToolCallback
	OnToolError llmagent.OnToolErrorCallback

	// Gate is asked directly before each effect: each attempt of a model and each run of a
	// tool, inside all wrappers, after every wait, with what was decided. An error refuses the
	// effect, as one of BeforeModel or BeforeTool does. No answer of another hook steps around
	// it: where there is an effect, the gate was asked. s.Hook is [inspect.WrapModel] or
	// [inspect.WrapTool]. ctx is that of the effect; for a tool it is an agent.Context.
	// As a plugin, which sees no attempts, the model's gate follows the before_model hooks.
	Gate func(ctx context.Context, s Step) error

	// LastPass says that AfterModel and AfterTool have the last look at what was decided,
	// before it is stored, streamed or handed on: where another guard answered before they
	// ran, may have changed the value after them, or refused, they run on the decided value,
	// as they do on what agent hooks answer. They may change the copy they are handed or
	// refuse. They may run twice on one value.
	LastPass bool

	// WrapModel returns a model that stands around next. Every further model a
	// guard brings itself, a fallback say, must be passed through inner first, so
	// that its calls meet the guards that stand inside this one. It runs only
	// where the chain is attached to an agent: a plugin never sees the model.
	// [AroundModel] makes one.
	WrapModel func(next model.LLM, inner func(model.LLM) model.LLM) model.LLM
	// WrapTool returns a tool that stands around the one given, inside the tool
	// hooks. It must keep the tool's name and its kind (function or streaming), as
	// what [AroundTool] makes does.
	WrapTool func(tool.Tool) tool.Tool
	// WrapAgent returns an agent that stands around the one given. It runs only
	// in NewAgent and only for children of workflow agents. [AroundAgent] makes one
	// that works in a graph of nodes, too.
	WrapAgent func(agent.Agent) agent.Agent

	// ForPlugin returns the guard that stands in this one's place where the chain is
	// a plugin. Nil means this one.
	ForPlugin func() Guard

	// Observe gets every step once, after the whole chain, with the final
	// value. It decides nothing; a panic in it is contained and dropped.
	Observe func(context.Context, Event)
	// ObserveMonitored gets what a guard in [Monitor] would have refused or replaced, with
	// [OutcomeWouldRefuse]. The step goes on: Observe gets it when it ends, so what settles
	// an account belongs there. It decides nothing; a panic in it is contained and dropped.
	ObserveMonitored func(context.Context, Event)

	// Info describes the guard to Explain and to the rules Attach checks. Nil
	// means: no limits, needs every hook that is set, fails closed.
	Info func() Info

	// Err is the reason this guard can't be used, set by a constructor that was
	// given nonsense. NewAgent, Attach and Plugin return the errors of all guards
	// joined.
	Err error

	monitored bool
}

// Info describes a guard.
type Info struct {
	// Limits are the guard's settings as people read them, such as
	// "6 model calls per agent".
	Limits []string
	// Tools are the tool names the guard refers to. Attach refuses a name that
	// the agent does not have.
	Tools []string
	// Needs lists the hooks without which the guard does not do what its name
	// says. A form of attachment that can't run one of them is refused. Hooks the
	// guard has but does not need are extras that run where they can. Nil means
	// every hook that is set.
	Needs []inspect.Hook
	// After lists names of guards that must stand earlier in the chain where both
	// are present.
	After []string
	// Rechecks says that BeforeTool judges the arguments a tool runs with: it looks again
	// where a hook or a wrapper may have changed them since.
	Rechecks bool
	// OnlyJudges says that the hooks and wrappers of the guard let pass or refuse, and change
	// neither arguments nor results nor responses: what judged or masked those before need
	// not look again. False is always right.
	OnlyJudges bool
	// Only are the tools that stay callable where the guard refuses every other one.
	// Nil means that it refuses none for its name.
	Only []string
	// Agents are those the guard is limited to. Nil means all.
	Agents []string
	// Wants names guards of which one must stand in the same chain, or in the plugin, for
	// this one to do anything. Nil means none.
	Wants []string
	// Root returns why the guard, as part of a plugin, does not work under a root agent, or
	// nil. [Check] asks it. Nil means that any root will do.
	Root func(agent.Agent) error
	// MaxCalls is how many model calls the guard allows: to each agent, or, with
	// WholeRun, to all agents together. Zero means that it does not count them, math.MaxInt that it never refuses.
	MaxCalls int
	WholeRun bool
	// Account is a pointer to what the guard counts in, so that two guards that should
	// share one account and don't are found. Nil means that there is none.
	Account any
	// Fails says which way the guard fails when it can't do its work. Empty means
	// closed: the step is refused.
	Fails string
}

func (g Guard) info() Info {
	var info Info
	if g.Info != nil {
		info = g.Info()
	}
	if info.Needs == nil {
		info.Needs = g.Hooks()
	}
	if info.Fails == "" {
		info.Fails = "closed"
	}
	return info
}
