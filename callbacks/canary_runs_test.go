// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
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
