// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
)

// cutAgent calls its tool and is ended in the hook given.
func cutAgent(t *testing.T, name string, hook inspect.Hook, code codes.Code) agent.Agent {
	t.Helper()
	g := refusing(hook, func() error { return callbacks.End(code, "enough").WithDetail("calls: 1/1").By("limit") })
	g.Name = "limit"
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer")).Repeat()
	return build(t, callbacks.New(g), llmagent.Config{Name: name, Description: "cut", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
}

func wellAgent(t *testing.T, name string, tools ...tool.Tool) agent.Agent {
	t.Helper()
	turns := []callbackstest.Turn{callbackstest.Say("answer")}
	for _, tl := range tools {
		turns = append([]callbackstest.Turn{callbackstest.Call(tl.Name(), map[string]any{"request": "x"})}, turns...)
	}
	return build(t, callbacks.New(allow("a")), llmagent.Config{Name: name, Model: callbackstest.Script(turns...).Repeat(), Tools: tools})
}

// An agent that a guard ended gives the whole run its status, where nothing comes after it.
func TestAnAgentThatIsCutLastGivesTheRunItsStatus(t *testing.T) {
	const exhausted = callbacks.StatusCallsExhausted
	cut := func(t *testing.T, name string) agent.Agent {
		t.Helper()
		return cutAgent(t, name, inspect.BeforeModel, codes.Code(exhausted))
	}
	loop := func(t *testing.T, rounds uint, refuse func(round int) bool) agent.Agent {
		t.Helper()
		round := 0
		g := callbacks.Guard{Name: "limit", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			if round++; refuse(round) {
				return nil, callbacks.End(codes.Code(exhausted), "enough").WithDetail("calls: 1/1")
			}
			return nil, nil
		}}
		a := build(t, callbacks.New(g), llmagent.Config{Name: "cut", Model: callbackstest.Script(callbackstest.Say("answer")).Repeat()})
		l, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{a}}, MaxIterations: rounds})
		require.NoError(t, err)
		return l
	}
	for name, tc := range map[string]struct {
		root func(t *testing.T) agent.Agent
		want callbacks.Status
	}{
		"one agent": {func(t *testing.T) agent.Agent { return cut(t, "cut") }, exhausted},
		"by a tool hook": {func(t *testing.T) agent.Agent {
			return cutAgent(t, "cut", inspect.BeforeTool, codes.Code(exhausted))
		}, exhausted},
		"after its tool": {func(t *testing.T) agent.Agent {
			return cutAgent(t, "cut", inspect.AfterTool, codes.Code(exhausted))
		}, exhausted},
		"after its model": {func(t *testing.T) agent.Agent {
			return cutAgent(t, "cut", inspect.AfterModel, codes.Code(exhausted))
		}, exhausted},
		"by a wrapper": {func(t *testing.T) agent.Agent {
			return cutAgent(t, "cut", inspect.WrapModel, codes.Code(exhausted))
		}, exhausted},
		"before it began": {func(t *testing.T) agent.Agent {
			return cutAgent(t, "cut", inspect.BeforeAgent, codes.Code(exhausted))
		}, exhausted},
		"for another reason": {func(t *testing.T) agent.Agent {
			return cutAgent(t, "cut", inspect.BeforeModel, "closed")
		}, callbacks.StatusDenied},
		"the last of a sequence": {func(t *testing.T) agent.Agent { return sequence(t, wellAgent(t, "well"), cut(t, "cut")) }, exhausted},
		"a follower ends well":   {func(t *testing.T) agent.Agent { return sequence(t, cut(t, "cut"), wellAgent(t, "well")) }, callbacks.StatusDone},
		"a follower without a chain": {func(t *testing.T) agent.Agent {
			return sequence(t, cut(t, "cut"), plainAgent(t, llmagent.Config{Name: "plain", Model: callbackstest.Script(callbackstest.Say("answer"))}))
		}, callbacks.StatusDone},
		"a follower is cut as well": {func(t *testing.T) agent.Agent {
			return sequence(t, cut(t, "first"), cutAgent(t, "cut", inspect.BeforeTool, codes.Code(exhausted)))
		}, exhausted},
		"in a parallel branch":      {func(t *testing.T) agent.Agent { return parallelOf(t, cut(t, "cut"), wellAgent(t, "well")) }, callbacks.StatusDone},
		"all parallel branches":     {func(t *testing.T) agent.Agent { return parallelOf(t, cut(t, "cut"), cut(t, "other")) }, callbacks.StatusDone},
		"in a sequence of a branch": {func(t *testing.T) agent.Agent { return parallelOf(t, sequence(t, wellAgent(t, "well"), cut(t, "cut"))) }, callbacks.StatusDone},
		"after parallel branches":   {func(t *testing.T) agent.Agent { return sequence(t, parallelOf(t, wellAgent(t, "well")), cut(t, "cut")) }, exhausted},
		"in the first round":        {func(t *testing.T) agent.Agent { return loop(t, 2, func(round int) bool { return round == 1 }) }, callbacks.StatusDone},
		"in the last round":         {func(t *testing.T) agent.Agent { return loop(t, 2, func(round int) bool { return round == 2 }) }, exhausted},
		"an agent used as a tool":   {func(t *testing.T) agent.Agent { return wellAgent(t, "well", agenttool.New(cut(t, "cut"), nil)) }, callbacks.StatusDone},
		"as a tool, no chain around": {func(t *testing.T) agent.Agent {
			m := callbackstest.Script(callbackstest.Call("cut", map[string]any{"request": "x"}), callbackstest.Say("answer"))
			return plainAgent(t, llmagent.Config{Model: m, Tools: []tool.Tool{agenttool.New(cut(t, "cut"), nil)}})
		}, callbacks.StatusDone},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(res callbacks.Result) {
				t.Helper()
				require.Equal(t, tc.want, res.Status)
				if tc.want == callbacks.StatusDone {
					require.Equal(t, callbacks.Result{Status: callbacks.StatusDone}, res)
					return
				}
				require.Equal(t, "cut", res.Agent)
				require.Equal(t, "limit", res.Guard)
				require.Equal(t, "calls: 1/1", res.Reason)
				require.NotEmpty(t, res.Code)
			}
			out := play(t, tc.root(t), agent.StreamingModeNone)
			require.NoError(t, out.err)
			require.Nil(t, out.run.Stopped(), "the run was not stopped")
			check(out.run.Outcome())

			// Under a plugin of somebody's chain the hooks of workflow agents run too.
			p, err := callbacks.New(allow("b")).Plugin("p")
			require.NoError(t, err)
			check(play(t, tc.root(t), agent.StreamingModeNone, p).run.Outcome())
		})
	}
}

// Where nobody started a Run it is told the same; the agents here all have the chain.
func TestAnAgentThatIsCutInALaunchedRun(t *testing.T) {
	for _, cutLast := range []bool{true, false} {
		var run *callbacks.Run
		finds := callbacks.Guard{Name: "finds", BeforeAgent: func(ctx agent.Context) (*genai.Content, error) { run = callbacks.RunOf(ctx); return nil, nil }}
		p, err := callbacks.New(finds).Plugin("p")
		require.NoError(t, err)
		cut, well := cutAgent(t, "cut", inspect.BeforeModel, "calls_exhausted"), wellAgent(t, "well")
		root, want := sequence(t, cut, well), callbacks.StatusDone
		if cutLast {
			root, want = sequence(t, wellAgent(t, "well"), cutAgent(t, "cut", inspect.BeforeModel, "calls_exhausted")), callbacks.StatusCallsExhausted
		}
		launch(t, root, agent.StreamingModeNone, []*plugin.Plugin{p}...)
		require.Equal(t, want, run.Outcome().Status)
	}
}
