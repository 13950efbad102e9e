// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/geminitool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// built returns an agent named name with a tool "lookup" and the guards on it; with none
// it is plain ADK.
func built(t *testing.T, name string, gs ...callbacks.Guard) agent.Agent {
	t.Helper()
	return builtWith(t, name, []tool.Tool{callbackstest.Tool("lookup")}, gs...)
}

func builtWith(t *testing.T, name string, tools []tool.Tool, gs ...callbacks.Guard) agent.Agent {
	t.Helper()
	cfg := llmagent.Config{Name: name, Model: callbackstest.Script(), Tools: tools}
	build := callbacks.New(gs...).NewAgent
	if gs == nil {
		build = llmagent.New
	}
	a, err := build(cfg)
	require.NoError(t, err)
	return a
}

func inOrder(t *testing.T, subs ...agent.Agent) agent.Agent {
	t.Helper()
	a, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: subs}})
	require.NoError(t, err)
	return a
}

// Each set-up is broken in one way and Check names it; the last line is what it says.
func TestCheckFindsBrokenSetups(t *testing.T) {
	budget := guards.CallBudget(4)
	runBudget := func(n int) callbacks.Guard {
		return guards.CallBudgetOptions{Calls: n, Scope: guards.ScopeRun}.Guard()
	}
	custom, err := agent.New(agent.Config{Name: "custom", Run: func(agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(func(*session.Event, error) bool) {}
	}})
	require.NoError(t, err)
	search := []tool.Tool{callbackstest.Tool("lookup"), geminitool.GoogleSearch{}}

	for name, tc := range map[string]struct {
		root    agent.Agent
		plugins []callbacks.Guard
		want    string
	}{
		"an agent that was forgotten": {
			root: inOrder(t, built(t, "a", budget), built(t, "b")),
			want: `unguarded: agent "b": no chain is attached; build it with Chain.NewAgent`,
		},
		"a forgotten agent behind a tool": {
			root: builtWith(t, "a", []tool.Tool{agenttool.New(built(t, "inner"), nil)}, budget),
			want: `unguarded: agent "a": the agent behind its tool "inner" has no chain around its model`,
		},
		"an agent with code of its own": {
			root: inOrder(t, built(t, "a", budget), custom),
			want: `unknown: agent "custom": its code calls what it likes; nothing here can be said to hold for it`,
		},
		"nothing that bounds": {
			root: built(t, "a", guards.AllowTools("lookup")),
			want: `unbounded: agent "a": nothing counts its model calls; add guards.CallBudget`,
		},
		"a tool that runs at the provider": {
			root: builtWith(t, "a", search, budget),
			want: `uncovered_tool: agent "a": no hook sees calls of "google_search": it runs at the provider, or is neither a function nor a streaming tool`,
		},
		"a tool that no agent has": {
			root: built(t, "a", budget), plugins: []callbacks.Guard{guards.AllowTools("lokup")},
			want: `no_such_tool: agent "", guard "allow_tools": no agent has the tool "lokup"`,
		},
		"an agent that is not there": {
			root: built(t, "a", budget), plugins: []callbacks.Guard{callbacks.ForAgents(guards.AllowTools("lookup"), "aa")},
			want: `no_such_agent: agent "a", guard "allow_tools": it is limited to the agent "aa", which is not in the tree`,
		},
		"two lists with nothing in common": {
			root:    builtWith(t, "a", []tool.Tool{callbackstest.Tool("lookup"), callbackstest.Tool("report")}, budget, guards.AllowTools("lookup")),
			plugins: []callbacks.Guard{guards.AllowTools("report")},
			want:    `conflict: agent "a", guard "allow_tools": it and "allow_tools" allow no tool in common`,
		},
		"a finish that is not allowed": {
			root: builtWith(t, "a", []tool.Tool{callbackstest.Tool("lookup"), callbackstest.Tool("report")}, guards.Finish("report", nil), budget, guards.AllowTools("lookup")),
			want: `conflict: agent "a", guard "finish": it names the tool "report", which "allow_tools" refuses`,
		},
		"masking after what is kept": {
			root: built(t, "a", budget, guards.Stash("lookup")), plugins: []callbacks.Guard{guards.Redact()},
			want: `order: agent "a", guard "stash": "redact" comes too late for it: in after_tool the agent's guards come first; attach both in one form`,
		},
		"a window before the question is alone": {
			root: built(t, "a", budget, guards.Isolate("question")), plugins: []callbacks.Guard{guards.Window(4)},
			want: `order: agent "a", guard "window": "isolate" comes too late for it: in before_model the runner's guards come first; attach both in one form`,
		},
		"more calls for an agent than for the run": {
			root: built(t, "a", guards.CallBudget(30), runBudget(25)),
			want: `unreachable: agent "a", guard "call_budget": 30 calls of the agent are never reached: the run ends at 25`,
		},
		"a second, looser budget": {
			root: built(t, "a", guards.CallBudget(4), guards.CallBudget(6)),
			want: `unreachable: agent "a", guard "call_budget": 6 calls are never reached: another one ends at 4`,
		},
		"a landing without a budget": {
			root: built(t, "a", guards.Landing()),
			want: `idle: agent "a", guard "landing": it does nothing without call_budget or run_call_budget`,
		},
		"a budget of the run that is two": {
			root: inOrder(t, built(t, "a", runBudget(9)), built(t, "b", runBudget(9))),
			want: `split_account: agent "b", guard "run_call_budget": it was made more than once, so each counts alone; make it once and share the value`,
		},
		"the same guard twice": {
			root: built(t, "a", budget, guards.AllowTools("lookup"), guards.AllowTools("lookup")),
			want: `repeated: agent "a", guard "allow_tools": it stands on the agent more than once`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range callbacks.Check(tc.root, callbacks.New(tc.plugins...)) {
				got = append(got, p.String())
			}
			require.Contains(t, got, tc.want)
		})
	}
}

// What is meant as it stands gives no problem.
func TestCheckFindsNothing(t *testing.T) {
	run := guards.CallBudgetOptions{Calls: 9, Scope: guards.ScopeRun}.Guard()
	own := func() []callbacks.Guard {
		return []callbacks.Guard{
			guards.Contain(), guards.CallBudget(4), run, guards.Landing(), guards.AllowTools("lookup"),
			guards.Args("lookup", guards.Arg{Name: "a"}), guards.Args("lookup", guards.Arg{Name: "b"}),
			callbacks.When(func(callbacks.Step) bool { return false }, guards.AllowTools("lookup")), guards.Redact(),
		}
	}
	both, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: []agent.Agent{built(t, "a", own()...), built(t, "b", own()...)}}})
	require.NoError(t, err)
	again, err := callbacks.Loop(loopagent.Config{AgentConfig: agent.Config{Name: "again", SubAgents: []agent.Agent{built(t, "c", own()...)}}})
	require.NoError(t, err)
	require.Empty(t, callbacks.Check(inOrder(t, both, again)))

	plain := inOrder(t, built(t, "a"), builtWith(t, "b", []tool.Tool{agenttool.New(built(t, "inner", guards.CallBudget(2)), nil)}))
	require.Empty(t, callbacks.Check(plain, callbacks.New(run, callbacks.ForAgents(guards.AllowTools("lookup"), "a"))), "a plugin stands before every agent of its runner")
	require.Empty(t, callbacks.Check(nil))
}

func Example_check() {
	researcher, err := callbacks.New(guards.CallBudget(6)).NewAgent(llmagent.Config{Name: "researcher", Model: callbackstest.Script()})
	if err != nil {
		panic(err)
	}
	forgotten, err := llmagent.New(llmagent.Config{Name: "writer", Model: callbackstest.Script()})
	if err != nil {
		panic(err)
	}
	root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{researcher, forgotten}}})
	if err != nil {
		panic(err)
	}
	for _, p := range callbacks.Check(root) {
		fmt.Println(p)
	}
	// Output:
	// unguarded: agent "writer": no chain is attached; build it with Chain.NewAgent
}
