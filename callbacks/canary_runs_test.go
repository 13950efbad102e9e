// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

func sequence(t *testing.T, subs ...agent.Agent) agent.Agent {
	t.Helper()
	seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: subs}})
	require.NoError(t, err)
	return seq
}

// Fact 22: the facts were seen on one version.
func TestCanaryTrap22TheFactsAreOfThisVersion(t *testing.T) {
	b, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^\s*google\.golang\.org/adk/v2 v2\.2\.0$`, string(b), "ADK was changed: when the canaries are settled, name the version here and in docs/traps.md")
}

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

func TestCanaryP06BeforeRunIsDroppedAndTheMessageStoredTwice(t *testing.T) {
	for name, err := range map[string]error{"content": nil, "error": errors.New("closed")} {
		p := plainPlugin(t, plugin.Config{
			BeforeRunCallback: func(agent.InvocationContext) (*genai.Content, error) {
				return genai.NewContentFromText("closed today", genai.RoleModel), err
			},
			OnUserMessageCallback: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
				return genai.NewContentFromText("masked", genai.RoleUser), nil
			},
		})
		l := launch(t, plainAgent(t, llmagent.Config{Model: callbackstest.Script()}), agent.StreamingModeNone, p)
		require.Equal(t, []string{"masked", "question"}, texts(l.stored(t)), "%s: %s", name, revisit(t, "plugin.go"))
	}
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

func TestCanaryP21bASequenceGoesOnAfterAGuardsError(t *testing.T) {
	m := callbackstest.Script(callbackstest.Say("next"))
	first := plainAgent(t, llmagent.Config{Name: "first", Model: callbackstest.Script(), BeforeModelCallbacks: onBeforeModel(func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		return nil, errors.New("budget")
	})})
	l := launch(t, sequence(t, first, plainAgent(t, llmagent.Config{Name: "second", Model: m})), agent.StreamingModeNone)
	require.Len(t, l.errs, 1)
	require.Equal(t, 1, m.Calls(), revisit(t, "run.go"))
}

// Fact 5: no answer of a hook ends a loop agent; escalating an event in place does.
func TestCanaryTrap05OnlyEscalatingEndsALoop(t *testing.T) {
	polite := llmagent.Config{Model: callbackstest.Script(), BeforeModelCallbacks: onBeforeModel(func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		return say("no"), nil
	})}
	loop := func() agent.Agent {
		a, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{plainAgent(t, polite)}}})
		require.NoError(t, err)
		return a
	}
	require.Len(t, launch(t, loop(), agent.StreamingModeNone).events, endless, revisit(t, "loop.go"))
	escalate := plainPlugin(t, plugin.Config{OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
		ev.Actions.Escalate = true
		return nil, nil
	}})
	require.Len(t, launch(t, loop(), agent.StreamingModeNone, escalate).events, 1, revisit(t, "plugin.go"))
}

// P35 and P36: a resumed run has the id of the paused one; after_run is called for both.
func TestCanaryP36APauseEndsTheRunForPlugins(t *testing.T) {
	var ended, asked []string
	p := plainPlugin(t, plugin.Config{
		AfterRunCallback: func(ctx agent.InvocationContext) { ended = append(ended, ctx.InvocationID()) },
		BeforeToolCallback: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			asked = append(asked, ctx.FunctionCallID())
			return nil, nil
		},
	})
	pay, err := functiontool.New(functiontool.Config{Name: "pay", Description: "d", RequireConfirmation: true},
		func(agent.Context, payArgs) (map[string]any, error) { return map[string]any{"paid": true}, nil })
	require.NoError(t, err)
	c := &pausedCall{launched: launch(t, plainAgent(t, llmagent.Config{
		Tools: []tool.Tool{pay}, Model: callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "Acme"}), callbackstest.Say("done")),
	}), agent.StreamingModeNone, p)}
	c.answer(t, true)
	require.Len(t, ended, 2, revisit(t, "registry.go"))
	require.Equal(t, ended[0], ended[1], revisit(t, "registry.go"))
	require.Len(t, asked, 2, revisit(t, "toolhooks.go"))
	require.Equal(t, asked[0], asked[1], revisit(t, "toolhooks.go"))
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

func TestCanaryP52AnErrorOfOnEventOrphansAResponse(t *testing.T) {
	first := true
	p := plainPlugin(t, plugin.Config{OnEventCallback: func(agent.InvocationContext, *session.Event) (*session.Event, error) {
		if first {
			first = false
			return nil, errors.New("rejected")
		}
		return nil, nil
	}})
	l, _ := plainLookup(t, llmagent.Config{Tools: []tool.Tool{callbackstest.Tool("lookup")}}, p)
	require.NotEmpty(t, l.errs)
	require.Empty(t, calls(l.stored(t)), revisit(t, "plugin.go"))
	require.Len(t, responses(l.stored(t)), 1, revisit(t, "plugin.go"))
}

// spanRecorder is set up once a process: ADK's tracer keeps the first provider it gets.
var spanRecorder = sync.OnceValue(func() *tracetest.SpanRecorder {
	rec := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec)))
	return rec
})

// P63: the span of a tool call holds its raw arguments, before any hook has run.
func TestCanaryP63SpansHoldRawArguments(t *testing.T) {
	rec := spanRecorder()
	rec.Reset()
	plainLookup(t, llmagent.Config{Tools: []tool.Tool{callbackstest.Tool("lookup")}, BeforeToolCallbacks: onBeforeTool(func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		args["supplier"] = "masked"
		return nil, nil
	})})
	var recorded []string
	for _, s := range rec.Ended() {
		for _, kv := range s.Attributes() {
			if kv.Key == "gcp.vertex.agent.tool_call_args" {
				recorded = append(recorded, kv.Value.AsString())
			}
		}
	}
	require.Len(t, recorded, 1, revisit(t, "doc.go"))
	require.JSONEq(t, `{"supplier":"Acme"}`, recorded[0], revisit(t, "doc.go"))
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

// Fact 2: where ADK's own confirmation finds its tool again, and where it does not.
// Under a parallel agent it depends on who speaks last.
func TestCanaryTrap02ConfirmationIsLostInMostTopologies(t *testing.T) {
	for name, tc := range map[string]struct {
		around func(paying, other agent.Agent) agent.Agent
		asked  bool
		paid   int
	}{
		"llm root":           {func(paying, _ agent.Agent) agent.Agent { return paying }, true, 1},
		"first in sequence":  {func(paying, other agent.Agent) agent.Agent { return sequence(t, paying, other) }, true, 1},
		"second in sequence": {func(paying, other agent.Agent) agent.Agent { return sequence(t, other, paying) }, true, 0},
		"agent tool": {func(paying, _ agent.Agent) agent.Agent {
			return plainAgent(t, llmagent.Config{
				Name: "outer", Tools: []tool.Tool{agenttool.New(paying, nil)},
				Model: callbackstest.Script(callbackstest.Call("paying", map[string]any{"request": "go"}), callbackstest.Say("done")),
			})
		}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := &pausedCall{}
			pay, err := functiontool.New(functiontool.Config{Name: "pay", Description: "d", RequireConfirmation: true},
				func(_ agent.Context, a payArgs) (map[string]any, error) {
					c.paid = append(c.paid, a.To)
					return map[string]any{"paid": true}, nil
				})
			require.NoError(t, err)
			paying := plainAgent(t, llmagent.Config{
				Name: "paying", Description: "d", Tools: []tool.Tool{pay},
				Model: callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "Acme"}), callbackstest.Say("done")),
			})
			other := plainAgent(t, llmagent.Config{Name: "other", Model: callbackstest.Script(callbackstest.Say("hello")).Repeat()})
			c.launched = launch(t, tc.around(paying, other), agent.StreamingModeNone)
			require.Equal(t, tc.asked, c.question(t) != "", revisit(t, "toolhooks.go"))
			if tc.asked {
				c.tryAnswer(t, true)
			}
			require.Len(t, c.paid, tc.paid, revisit(t, "toolhooks.go"))
		})
	}
}

// Fact 11: live mode asks a model for Client() only.
func TestCanaryTrap11LiveNeedsClientAndGivesNoRunConfig(t *testing.T) {
	var cfgs []*agent.RunConfig
	p := plainPlugin(t, plugin.Config{BeforeRunCallback: func(ctx agent.InvocationContext) (*genai.Content, error) {
		cfgs = append(cfgs, ctx.RunConfig())
		return nil, nil
	}})
	l := launch(t, plainAgent(t, llmagent.Config{Model: callbackstest.Script(callbackstest.Say("answer"))}), agent.StreamingModeNone, p)
	_, _, err := l.runner.RunLive(t.Context(), "u", "s", agent.LiveRunConfig{})
	require.ErrorContains(t, err, "model does not support live connection", revisit(t, "modelwrap.go"))
	require.Len(t, cfgs, 2)
	require.NotNil(t, cfgs[0], revisit(t, "plugin.go"))
	require.Nil(t, cfgs[1], revisit(t, "plugin.go"))
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

// Fact 12: a count in before_model counts calls that are not made.
func TestCanaryTrap12ALaterHookAnswersACountedCall(t *testing.T) {
	counted := 0
	m := callbackstest.Script()
	count := plainPlugin(t, plugin.Config{BeforeModelCallback: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		counted++
		return nil, nil
	}})
	launch(t, plainAgent(t, llmagent.Config{Model: m, BeforeModelCallbacks: onBeforeModel(func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		return say("cached"), nil
	})}), agent.StreamingModeNone, count)
	require.Equal(t, []int{1, 0}, []int{counted, m.Calls()}, revisit(t, "../guards/callbudget.go"))
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
