// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

func TestCanaryP05AnAgentToolDropsPluginsStateAndInvocation(t *testing.T) {
	var tools []string
	invocations := map[string]bool{}
	p := plainPlugin(t, plugin.Config{BeforeToolCallback: func(_ agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
		tools = append(tools, tl.Name())
		return nil, nil
	}})
	note := onBeforeModel(func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
		invocations[ctx.InvocationID()] = true
		return nil, nil
	})
	inner := plainAgent(t, llmagent.Config{
		Name: "inner", Description: "d", OutputKey: "inner_out", Tools: []tool.Tool{callbackstest.Tool("lookup")}, BeforeModelCallbacks: note,
		Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Turn{Parts: []*genai.Part{{Text: "secret thought", Thought: true}, {Text: "answer"}}}),
	})
	l := launch(t, plainAgent(t, llmagent.Config{
		Name: "outer", Tools: []tool.Tool{agenttool.New(inner, nil)}, BeforeModelCallbacks: note,
		Model: callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "go"}), callbackstest.Say("done")),
	}), agent.StreamingModeNone, p)
	require.Equal(t, []string{"inner"}, tools, revisit(t, "plugin.go"))
	require.Len(t, invocations, 2, revisit(t, "toolwrap.go"))
	require.NotContains(t, l.state(t), "inner_out", revisit(t, "doc.go"))
	require.Equal(t, []map[string]any{{"result": "secret thought\nanswer"}}, responses(l.stored(t)), revisit(t, "doc.go"))
}

func TestCanaryTrap04AnErrorOfBeforeAgentFailsOpen(t *testing.T) {
	m := callbackstest.Script(callbackstest.Say("ran"))
	first := plainAgent(t, llmagent.Config{Model: m, BeforeAgentCallbacks: []agent.BeforeAgentCallback{func(agent.Context) (*genai.Content, error) {
		return nil, errors.New("refused")
	}}})
	l := launch(t, sequence(t, first), agent.StreamingModeNone)
	require.Len(t, l.errs, 1)
	require.Equal(t, 1, m.Calls(), revisit(t, "agentstep.go"))
}

func TestCanaryP21ContentOfBeforeAgentEndsOneAgent(t *testing.T) {
	first := plainAgent(t, llmagent.Config{Name: "first", OutputKey: "out", Model: callbackstest.Script(), BeforeAgentCallbacks: []agent.BeforeAgentCallback{func(agent.Context) (*genai.Content, error) {
		return genai.NewContentFromText("instead", genai.RoleModel), nil
	}}})
	l := launch(t, sequence(t, first, plainAgent(t, llmagent.Config{Name: "second", Model: callbackstest.Script(callbackstest.Say("next"))})), agent.StreamingModeNone)
	require.Equal(t, []string{"instead", "next"}, texts(l.events), revisit(t, "agentstep.go"))
	require.NotContains(t, l.state(t), "out", revisit(t, "agentstep.go"))
}

// P37, P38 and P39: transfer, parallel branches and single-turn sub-agents share one
// invocation, and their own tools pass a plugin.
func TestCanaryP37OneInvocationForTransferAndSingleTurn(t *testing.T) {
	for mode, call := range map[llmagent.Mode]callbackstest.Turn{
		llmagent.ModeChat:       callbackstest.Call("transfer_to_agent", map[string]any{"agent_name": "sub"}),
		llmagent.ModeSingleTurn: callbackstest.Call("sub", map[string]any{"request": "go"}),
	} {
		invocations := map[string]bool{}
		var tools []string
		p := plainPlugin(t, plugin.Config{
			BeforeModelCallback: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
				invocations[ctx.InvocationID()] = true
				return nil, nil
			},
			BeforeToolCallback: func(_ agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
				tools = append(tools, tl.Name())
				return nil, nil
			},
		})
		sub := plainAgent(t, llmagent.Config{Name: "sub", Description: "d", Mode: mode, Model: callbackstest.Script(callbackstest.Say("from sub"))})
		launch(t, plainAgent(t, llmagent.Config{Name: "root", SubAgents: []agent.Agent{sub}, Model: callbackstest.Script(call, callbackstest.Say("done"))}), agent.StreamingModeNone, p)
		require.Len(t, invocations, 1, revisit(t, "registry.go"))
		require.Equal(t, []string{call.Parts[0].FunctionCall.Name}, tools, revisit(t, "../guards/allowtools.go"))
	}
}

// Fact 1, forced: another agent's event between a call and its response cuts the call
// off a request made with IncludeContentsNone.
func TestCanaryTrap01IncludeContentsNoneOrphansAResponse(t *testing.T) {
	started, spoken := make(chan struct{}), make(chan struct{})
	waits := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
		close(started)
		<-spoken
		return map[string]any{"result": "ok"}, nil
	})
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
	cut := plainAgent(t, llmagent.Config{Name: "cut", Model: m, Tools: []tool.Tool{waits}, IncludeContents: llmagent.IncludeContentsNone})
	other := plainAgent(t, llmagent.Config{
		Name: "other",
		Model: callbackstest.Script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
			<-started
			return callbackstest.Say("spoken in between")
		}}),
		AfterAgentCallbacks: []agent.AfterAgentCallback{func(agent.Context) (*genai.Content, error) {
			close(spoken)
			return nil, nil
		}},
	})
	launch(t, parallelOf(t, cut, other), agent.StreamingModeNone)
	require.Len(t, m.Faults(), 1, revisit(t, "../guards/isolate.go"))
}

// Fact 10: what becomes of an embedding wrapper around an agent.
func TestCanaryTrap10WrappedAgentsAreLost(t *testing.T) {
	probe := func(sub agent.Agent) []string {
		m := callbackstest.Script(callbackstest.Say("done"))
		launch(t, plainAgent(t, llmagent.Config{Name: "root", Model: m, SubAgents: []agent.Agent{sub}}), agent.StreamingModeNone)
		var offered []string
		for name := range m.Requests()[0].Tools {
			offered = append(offered, name)
		}
		return offered
	}
	mk := func() agent.Agent {
		return plainAgent(t, llmagent.Config{Name: "sub", Description: "d", Mode: llmagent.ModeSingleTurn, Model: callbackstest.Script()})
	}
	require.Equal(t, []string{"sub"}, probe(mk()))
	require.Equal(t, []string{"transfer_to_agent"}, probe(struct{ agent.Agent }{mk()}), revisit(t, "attach.go"))
}

// Fact 8: a value put into a tool's context reaches the agent used as that tool.
func TestCanaryTrap08WithDeltaCarriesAValueIntoAnAgentTool(t *testing.T) {
	type key struct{}
	var got any
	inner := plainAgent(t, llmagent.Config{Name: "inner", Description: "d", Model: callbackstest.Script(callbackstest.Say("answer")), BeforeModelCallbacks: onBeforeModel(func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
		got = ctx.Value(key{})
		return nil, nil
	})})
	wrapped := agenttool.New(inner, nil).(adkFunctionTool)
	carry := callbackstest.ToolFunc("inner", func(ctx agent.Context, args map[string]any) (map[string]any, error) {
		carried := context.WithValue(ctx, key{}, "carried")
		return wrapped.Run(ctx.WithDelta(&agent.CommonContextDelta{InvocationContextDelta: &agent.InvocationContextDelta{Context: &carried}}), args)
	})
	launch(t, plainAgent(t, llmagent.Config{Name: "outer", Tools: []tool.Tool{carry}, Model: callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "go"}), callbackstest.Say("done"))}), agent.StreamingModeNone)
	require.Equal(t, "carried", got, revisit(t, "toolwrap.go"))
}
