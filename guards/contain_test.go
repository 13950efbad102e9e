// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"errors"
	"io"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func TestContainMatrix(t *testing.T) {
	boom := errors.New("the model is down")
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard { return []callbacks.Guard{guards.Contain()} },
		Model:  func() *callbackstest.Model { return callbackstest.Script(callbackstest.Fail(boom)) },
		Refused: func(c callbackstest.Cell) bool {
			return c.Form == callbackstest.FormPlugin || c.Topology == callbackstest.TopologyLLM || c.Topology == callbackstest.TopologyAgentTool
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			gaps := guards.Records(callbackstest.InRun(t, tr.Run)).Gaps()
			require.Len(t, gaps, 1)
			require.Equal(t, gaps, guards.Records(callbackstest.InRun(t, tr.Run)).Gaps(), "as often as one asks")
			require.Equal(t, "guarded", gaps[0].Agent)
			require.ErrorIs(t, gaps[0].Err, boom)
			if tr.Topology == callbackstest.TopologyParallel {
				require.Contains(t, texts(tr.Stored), "sibling's answer")
			}
			var told bool
			for _, ev := range tr.Told {
				told = told || ev.Step == callbacks.StepAgent && ev.Outcome == callbacks.OutcomeFailed
			}
			require.True(t, told)
		},
	}.Run(t)
}

// A child that panics in its own code leaves its siblings and followers alone.
func TestContainCatchesPanics(t *testing.T) {
	for name, build := range map[string]func([]agent.Agent) (agent.Agent, error){
		"parallel": func(subs []agent.Agent) (agent.Agent, error) {
			return parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: subs}})
		},
		"sequential": func(subs []agent.Agent) (agent.Agent, error) {
			return sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: subs}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			panicky := callbacks.Guard{Name: "panicky", WrapAgent: func(a agent.Agent) agent.Agent { return &panickyAgent{a} }}
			one, err := callbacks.New(guards.Contain(), panicky).NewAgent(llmagent.Config{Name: "one", Model: callbackstest.Script(callbackstest.Say("never"))})
			require.NoError(t, err)
			two, err := callbacks.New(guards.Contain()).NewAgent(llmagent.Config{Name: "two", Model: callbackstest.Script(callbackstest.Say("second"))})
			require.NoError(t, err)
			root, err := build([]agent.Agent{one, two})
			require.NoError(t, err)
			out := play(t, root)
			require.NoError(t, out.err)
			require.Equal(t, []string{"second"}, texts(out.events))
			gaps := guards.Records(callbackstest.InRun(t, out.run)).Gaps()
			require.Len(t, gaps, 1)
			var p *callbacks.PanicError
			require.ErrorAs(t, gaps[0].Err, &p)
			require.NotEmpty(t, p.Stack)
		})
	}
}

type panickyAgent struct{ agent.Agent }

func (p *panickyAgent) Run(agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(func(*session.Event, error) bool) { panic("in the agent") }
}

func TestJournalLinesInEveryCell(t *testing.T) {
	var buf lines
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			buf.reset()
			return []callbacks.Guard{callbacks.ForAgents(guards.AllowTools("lookup"), "guarded"), callbacks.ForAgents(guards.Journal(&buf), "guarded")}
		},
		Tools: func() []tool.Tool { return []tool.Tool{callbackstest.Tool("lookup"), callbackstest.Tool("delete")} },
		Model: func() *callbackstest.Model {
			return callbackstest.Script(
				callbackstest.Calls(callbackstest.Call("lookup", map[string]any{"to": "alice@example.com"}), callbackstest.Call("delete", nil)),
				callbackstest.Stream("an", "swer").WithUsage(10, 3))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			got := buf.byKind(t)
			require.Len(t, got["run"], 1)
			require.Len(t, got["model"], 2)
			require.Len(t, got["tool"], 2)
			require.Len(t, got["refusal"], 1)
			require.Equal(t, "tool_not_allowed", got["refusal"][0]["code"])
			require.EqualValues(t, 10, got["model"][1]["tokens_in"])
			require.EqualValues(t, 3, got["model"][1]["tokens_out"])
			for _, l := range got["tool"] {
				if l["tool"] == "lookup" {
					require.Equal(t, map[string]any{"to": "[email redacted]"}, l["args"])
					require.Equal(t, false, l["error"])
				} else {
					require.Equal(t, true, l["error"])
					require.Equal(t, "refused", l["outcome"])
				}
				require.NotEmpty(t, l["call_id"])
			}
			require.Len(t, got["end"], 1)
			require.Equal(t, "done", got["end"][0]["status"])
			require.EqualValues(t, 2, got["end"][0]["model_calls"])
		},
	}.Run(t)
}

// A tool that fails was not refused. An agent that fails has a line of its own.
func TestJournalTellsFailureFromRefusal(t *testing.T) {
	var buf lines
	journal := guards.Journal(&buf)
	ctx := callbackstest.Context(t)
	for _, ev := range []callbacks.Event{
		{Step: callbacks.StepTool, Tool: "lookup", Outcome: callbacks.OutcomeFailed},
		{Step: callbacks.StepModel, Attempt: 1, Outcome: callbacks.OutcomeFailed},
		{Step: callbacks.StepAgent, Agent: "a", Outcome: callbacks.OutcomeFailed},
		{Step: callbacks.StepAgent, Agent: "b", Outcome: callbacks.OutcomeAllowed},
	} {
		journal.Observe(ctx, ev)
	}
	refused := buf.byKind(t)["refusal"]
	require.Len(t, refused, 1)
	require.Equal(t, "a", refused[0]["agent"])
	require.Equal(t, "failed", refused[0]["outcome"])
}

func TestJournalNonsenseAndFailure(t *testing.T) {
	require.Error(t, callbacks.New(guards.Journal(nil)).Err())
	var failed error
	g := guards.JournalOptions{Writer: broken{}, OnError: func(err error) { failed = err }}.Guard()
	require.Nil(t, callbackstest.BeforeTool(t, callbacks.Guard{Name: "x", BeforeTool: nil}, callbackstest.Tool("lookup"), nil))
	g.Observe(callbackstest.Context(t), callbacks.Event{Step: callbacks.StepTool, Tool: "lookup"})
	require.ErrorIs(t, failed, errBroken)
}

// In a graph of nodes a contained agent reads its node's input at every attempt.
func TestContainKeepsTheInputOfANode(t *testing.T) {
	m := callbackstest.Script(callbackstest.Fail(errors.New("busy")), callbackstest.Say("answer"))
	a, err := callbacks.New(guards.ContainOptions{Attempts: 2}.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	pre := workflow.NewFunctionNode("pre", func(agent.Context, string) (string, error) { return "the node's input", nil }, workflow.NodeConfig{})
	node, err := workflow.NewAgentNode(a, workflow.NodeConfig{})
	require.NoError(t, err)
	root, err := workflowagent.New(workflowagent.Config{Name: "graph", Edges: workflow.Chain(workflow.Start, pre, node)})
	require.NoError(t, err)
	_, err = callbackstest.Play(io.Discard, root, "the user's question")
	require.NoError(t, err)
	require.Len(t, m.Requests(), 2)
	for _, req := range m.Requests() {
		require.Equal(t, "the node's input", req.Contents[len(req.Contents)-1].Parts[0].Text)
	}
}
