// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// P15: any value a plugin hook returns switches off the plugins after it, so the
// chain returns one only where it changed something.
func TestP15ALaterPluginStillSeesTheUserMessage(t *testing.T) {
	p, err := callbacks.New(allow("a")).Plugin("p")
	require.NoError(t, err)
	seen := 0
	later, err := plugin.New(plugin.Config{Name: "later", OnUserMessageCallback: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
		seen++
		return nil, nil
	}})
	require.NoError(t, err)
	a, err := llmagent.New(llmagent.Config{Name: "a", Model: callbackstest.Script(callbackstest.Say("answer"))})
	require.NoError(t, err)
	require.NoError(t, play(t, a, agent.StreamingModeNone, p, later).err)
	require.Equal(t, 1, seen)
}

// P5: an agent used as a tool hands back its last text, whatever it is. Where that
// text is a refusal, the outer agent must not read it as an answer.
func TestP05ARefusedAgentToolIsNoAnswer(t *testing.T) {
	refuse := func() error { return callbacks.Deny("no", "not this agent") }
	for _, hook := range []inspect.Hook{inspect.BeforeAgent, inspect.BeforeModel, inspect.AfterModel} {
		t.Run(string(hook), func(t *testing.T) {
			inner := build(t, callbacks.New(refusing(hook, refuse)), llmagent.Config{Name: "inner", Description: "d", Model: callbackstest.Script(callbackstest.Say("answer"))})
			outer := build(t, callbacks.New(allow("a")), llmagent.Config{
				Name: "outer", Tools: []tool.Tool{agenttool.New(inner, nil)},
				Model: callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "go"}), callbackstest.Say("done")),
			})
			out := play(t, outer, agent.StreamingModeNone)
			require.NoError(t, out.err)
			require.Equal(t, []map[string]any{{"error": "not this agent"}}, responses(out.events))
		})
	}
}

// Fact 4 and P21: an error of before_agent lets a sequence go on where the consumer
// goes on, as ADK's web server does. A refusal is content and ends that agent; content
// ends it too. Each is told once, also under a guard that wraps the agent.
func TestTrap04ARefusedAgentDoesNotRunAndIsToldOnce(t *testing.T) {
	wraps := callbacks.Guard{Name: "wraps", WrapAgent: func(a agent.Agent) agent.Agent { return a }}
	answers := callbacks.Guard{Name: "refusing", BeforeAgent: func(agent.Context) (*genai.Content, error) {
		return genai.NewContentFromText("instead", genai.RoleModel), nil
	}}
	for name, tc := range map[string]struct {
		guard   callbacks.Guard
		text    string
		outcome callbacks.Outcome
	}{
		"deny":    {refusing(inspect.BeforeAgent, func() error { return callbacks.Deny("no", "no") }), "[guard] no", callbacks.OutcomeRefused},
		"error":   {refusing(inspect.BeforeAgent, func() error { return errors.New("bug") }), "[guard] refused: a guard failed", callbacks.OutcomeRefused},
		"panic":   {refusing(inspect.BeforeAgent, func() error { panic("bug") }), "[guard] refused: a guard failed", callbacks.OutcomePanicked},
		"content": {answers, "instead", callbacks.OutcomeReplaced},
	} {
		for _, wrapped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/wrapped %v", name, wrapped), func(t *testing.T) {
				rec := &callbackstest.Recorder{}
				chain := callbacks.New(tc.guard, rec.Guard())
				if wrapped {
					chain = chain.With(wraps)
				}
				m := callbackstest.Script(callbackstest.Say("ran"))
				next := callbackstest.Script(callbackstest.Say("next"))
				first := build(t, chain, llmagent.Config{Name: "first", Model: m, OutputKey: "out"})
				seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{
					Name: "seq", SubAgents: []agent.Agent{first, plainAgent(t, llmagent.Config{Name: "second", Model: next})},
				}})
				require.NoError(t, err)
				l := launch(t, seq, agent.StreamingModeNone)
				require.Empty(t, l.errs)
				require.Equal(t, []string{tc.text, "next"}, texts(l.events), "that agent ends, its followers run")
				require.Zero(t, m.Calls())
				require.NotContains(t, l.state(t), "out")
				told := rec.Events(callbacks.StepAgent)
				require.Len(t, told, 1)
				require.Equal(t, tc.outcome, told[0].Outcome)
				require.Equal(t, "refusing", told[0].Guard)
			})
		}
	}
}

// The same chain as plugin and on the agent: the agent's steps pass it once too.
func TestP15TheSameChainTwiceRunsAgentHooksOnce(t *testing.T) {
	for name, wraps := range map[string]bool{"plain": false, "wrapped": true} {
		t.Run(name, func(t *testing.T) {
			before, after := 0, 0
			rec := &callbackstest.Recorder{}
			counts := callbacks.Guard{
				Name:        "counts",
				BeforeAgent: func(agent.Context) (*genai.Content, error) { before++; return nil, nil },
				AfterAgent:  func(agent.Context) (*genai.Content, error) { after++; return nil, nil },
			}
			if wraps {
				counts.WrapAgent = func(a agent.Agent) agent.Agent { return a }
				counts.Info = func() callbacks.Info { return callbacks.Info{Needs: []inspect.Hook{inspect.BeforeAgent}} }
			}
			chain := callbacks.New(counts, rec.Guard())
			p, err := chain.Plugin("p")
			require.NoError(t, err)
			seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{
				Name: "seq", SubAgents: []agent.Agent{build(t, chain, llmagent.Config{Model: callbackstest.Script(callbackstest.Say("answer"))})},
			}})
			require.NoError(t, err)
			require.NoError(t, play(t, seq, agent.StreamingModeNone, p).err)
			require.Equal(t, []int{2, 2}, []int{before, after}, "the sequence and the agent")
			require.Len(t, rec.Events(callbacks.StepAgent), 2)
		})
	}
}

// P5 and fact 8: an agent used as a tool runs without plugins, in a new invocation and
// session. The Run reaches it, also where nobody called Start, and a chain on the inner
// agent holds there.
func TestTrap08TheRunReachesAnAgentUsedAsATool(t *testing.T) {
	key := callbacks.NewKey(func() *int { return new(int) })
	for _, started := range []bool{true, false} {
		for _, form := range allForms {
			t.Run(fmt.Sprintf("%s/started %v", form, started), func(t *testing.T) {
				var counted []int
				invocations := map[string]bool{}
				chain := callbacks.New(callbacks.Guard{Name: "counts", BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
					n := key.Of(ctx)
					*n++
					counted = append(counted, *n)
					invocations[ctx.InvocationID()] = true
					return nil, nil
				}})
				inner := build(t, chain, llmagent.Config{
					Name: "inner", Description: "d", Tools: []tool.Tool{callbackstest.Tool("lookup")},
					Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer")),
				})
				outer, plugins := attached(t, chain, form, llmagent.Config{
					Name: "outer", Tools: []tool.Tool{agenttool.New(inner, nil)},
					Model: callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "go"}), callbackstest.Say("done")),
				})
				if started {
					require.NoError(t, play(t, outer, agent.StreamingModeNone, plugins...).err)
				} else {
					require.Empty(t, launch(t, outer, agent.StreamingModeNone, plugins...).errs)
				}
				require.Equal(t, []int{1, 2}, counted, "one account for both")
				require.Len(t, invocations, 2)
			})
		}
	}
}

// P5: as a plugin the chain does not reach the inside of an agent used as a tool.
func TestP05AnUnguardedAgentToolIsDocumented(t *testing.T) {
	deny := callbacks.Guard{Name: "deny", BeforeTool: func(_ agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
		if tl.Name() == "delete" {
			return nil, callbacks.Deny("no", "no")
		}
		return nil, nil
	}}
	del := callbackstest.Tool("delete")
	inner := plainAgent(t, llmagent.Config{
		Name: "inner", Description: "d", Tools: []tool.Tool{del},
		Model: callbackstest.Script(callbackstest.Call("delete", nil), callbackstest.Say("deleted")),
	})
	outer, plugins := attached(t, callbacks.New(deny), "plugin", llmagent.Config{
		Name: "outer", Tools: []tool.Tool{agenttool.New(inner, nil)},
		Model: callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "go"}), callbackstest.Say("done")),
	})
	launch(t, outer, agent.StreamingModeNone, plugins...)
	require.Len(t, del.Calls(), 1)
	documented(t, "doc.go", "but not the inside of an agent used as a tool: ADK runs that without plugins, so attach the chain there as well")
}

// P60: an agent reads another one's thoughts as "For context: … said". Nothing in the
// chain takes them out; Isolate does for an agent that needs no other's turns.
func TestP60ThoughtsOfOthersAreDocumented(t *testing.T) {
	thought := callbackstest.Turn{Parts: []*genai.Part{{Text: "secret thought", Thought: true}, {Text: "answer"}}}
	second := callbackstest.Script(callbackstest.Say("done"))
	seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{
		build(t, callbacks.New(allow("a")), llmagent.Config{Name: "first", Model: callbackstest.Script(thought)}),
		build(t, callbacks.New(allow("a")), llmagent.Config{Name: "second", Model: second}),
	}}})
	require.NoError(t, err)
	launch(t, seq, agent.StreamingModeNone)
	var read string
	for _, c := range second.Requests()[0].Contents {
		for _, p := range c.Parts {
			read += p.Text
		}
	}
	require.Contains(t, read, "secret thought", "no longer so: take the sentence out of doc.go and the row out of docs/traps.md")
	documented(t, "doc.go", "It hands thoughts on as text: to the agents that read another agent's turns")
}

// Fact 10: an agent that is wrapped must be a child of a workflow agent. What ADK would
// lose in silence is refused, the rest is in NewAgent's doc.
func TestTrap10WrappedAgentsAreRefusedWhereADKLosesThem(t *testing.T) {
	chain := callbacks.New(callbacks.Guard{Name: "wraps", WrapAgent: func(a agent.Agent) agent.Agent { return a }})
	sub := plainAgent(t, llmagent.Config{Name: "sub"})
	for name, cfg := range map[string]llmagent.Config{
		"with sub-agents": {Name: "a", SubAgents: []agent.Agent{sub}},
		"single turn":     {Name: "a", Mode: llmagent.ModeSingleTurn},
		"task":            {Name: "a", Mode: llmagent.ModeTask},
	} {
		_, err := chain.NewAgent(cfg)
		require.ErrorContains(t, err, "children of workflow agents only", name)
	}
	_, err := chain.Attach(llmagent.Config{Name: "a"})
	require.ErrorIs(t, err, callbacks.ErrForm)
	_, err = chain.Plugin("p")
	require.ErrorIs(t, err, callbacks.ErrForm)
	require.Empty(t, chain.Explain().Guards[0].Forms[1:], "Explain shows the one form")
	documented(t, "attach.go", "such an agent is meant as a child of a workflow agent")
}
