// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// The traps that a guard cures and not the chain itself; docs/traps.md lists them all.

// run plays root once, as a caller of a plain runner does.
func run(t *testing.T, root agent.Agent, mode agent.StreamingMode) (events []*session.Event, run *callbacks.Run) {
	t.Helper()
	r, err := runner.New(runnerConfig(root, nil))
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	t.Cleanup(run.Close)
	for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("the user's message", genai.RoleUser), agent.RunConfig{StreamingMode: mode})) {
		if err == nil {
			events = append(events, ev)
		}
	}
	return events, run
}

func agentOf(t *testing.T, cfg llmagent.Config, gs ...callbacks.Guard) agent.Agent {
	t.Helper()
	a, err := callbacks.New(gs...).NewAgent(cfg)
	require.NoError(t, err)
	return a
}

// Fact 1: IncludeContentsNone under a parallel agent sends responses without their
// calls, empty requests, and the user's message all the same. Isolate over the default
// contents sends the agent's own question and its own turns. The scripted model fails
// any request a provider would reject.
func TestTrap01IsolateKeepsParallelRequestsWhole(t *testing.T) {
	for round := range 20 {
		var models []*callbackstest.Model
		var subs []agent.Agent
		for i := range 3 {
			name := fmt.Sprintf("r%d", i)
			m := callbackstest.Script(callbackstest.Call("lookup_"+name, nil), callbackstest.Call("lookup_"+name, nil), callbackstest.Say("answer"))
			models = append(models, m)
			subs = append(subs, agentOf(t, llmagent.Config{
				Name: name, Model: m, Tools: []tool.Tool{callbackstest.ToolReturning("lookup_"+name, map[string]any{"of": name}, nil)},
			}, guards.Isolate("question "+name)))
		}
		run(t, parallel(t, subs...), agent.StreamingModeNone)
		for i, m := range models {
			require.Empty(t, m.Faults(), "round %d", round)
			require.Equal(t, 3, m.Calls())
			for _, req := range m.Requests() {
				require.Equal(t, fmt.Sprintf("question r%d", i), req.Contents[0].Parts[0].Text)
				for _, c := range req.Contents {
					for _, p := range c.Parts {
						require.NotContains(t, p.Text, "the user's message")
						if p.FunctionResponse != nil {
							require.Equal(t, map[string]any{"of": fmt.Sprintf("r%d", i)}, p.FunctionResponse.Response)
						}
					}
				}
			}
		}
	}
}

// Fact 7: after_model can't hand out the tail of a stream that it held back; Redact
// does it in the model wrapper, so that chunks and final say the same.
func TestTrap07TheHeldTailOfAStreamComesAsAChunk(t *testing.T) {
	m := callbackstest.Script(callbackstest.Stream("write to jean@", "example.org or jean", "@example.org"))
	events, _ := run(t, agentOf(t, llmagent.Config{Name: "a", Model: m}, guards.Redact()), agent.StreamingModeSSE)
	var streamed, final strings.Builder
	for _, ev := range events {
		into := &final
		if ev.Partial {
			into = &streamed
		}
		for _, p := range ev.Content.Parts {
			into.WriteString(p.Text)
		}
	}
	require.Equal(t, final.String(), streamed.String())
	require.NotContains(t, streamed.String(), "jean@")
}

// Fact 10: as a child of a parallel agent a wrapped agent works: its failure is a gap,
// and its sibling and follower go on.
func TestTrap10ContainKeepsTheSiblings(t *testing.T) {
	for name, turn := range map[string]callbackstest.Turn{
		"error": callbackstest.Fail(errors.New("503")),
		"panic": {Do: func(context.Context, *model.LLMRequest) callbackstest.Turn { panic("bug") }},
	} {
		t.Run(name, func(t *testing.T) {
			bad := agentOf(t, llmagent.Config{Name: "bad", Model: callbackstest.Script(turn)}, guards.Contain())
			good := agentOf(t, llmagent.Config{
				Name: "good", Tools: []tool.Tool{callbackstest.Tool("lookup")},
				Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Say("answer")),
			}, guards.Contain())
			follower := agentOf(t, llmagent.Config{Name: "follower", Model: callbackstest.Script(callbackstest.Say("report"))})
			seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{parallel(t, bad, good), follower}}})
			require.NoError(t, err)
			events, r := run(t, seq, agent.StreamingModeNone)
			require.Equal(t, []string{"answer", "report"}, texts(events))
			gaps := guards.Records(callbackstest.InRun(t, r)).Gaps()
			require.Len(t, gaps, 1)
			require.Equal(t, "bad", gaps[0].Agent)
		})
	}
}

// Fact 12: a count in before_model counts calls that a later hook answers. In a chain
// the slot goes back.
func TestTrap12ACallThatWasNotMadeIsNotCounted(t *testing.T) {
	n := 0
	cache := callbacks.Guard{Name: "cache", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		if n++; n <= 3 {
			return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromFunctionCall("lookup", nil)}}}, nil
		}
		return nil, nil
	}}
	m := callbackstest.Script(callbackstest.Say("answer"))
	events, _ := run(t, agentOf(t, llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}, guards.CallBudget(1), cache), agent.StreamingModeNone)
	require.Equal(t, []string{"answer"}, texts(events), "three cached answers cost no slot")
	require.Equal(t, 1, m.Calls())
}

// Fact 17: whoever may write to a session may write its state. What Stash hands to code
// that decides comes from the Run.
func TestTrap17ForgedStateIsNotStashed(t *testing.T) {
	svc := session.InMemoryService()
	_, err := svc.Create(t.Context(), &session.CreateRequest{
		AppName: "test", UserID: "u", SessionID: "s",
		State: map[string]any{guards.StashKey + "registry": map[string]any{"status": "sound"}, guards.StashKey + "never_asked": map[string]any{"status": "sound"}},
	})
	require.NoError(t, err)
	a := agentOf(t, llmagent.Config{
		Name: "a", Tools: []tool.Tool{callbackstest.ToolReturning("lookup_registry", map[string]any{"status": "in liquidation"}, nil)},
		Model: callbackstest.Script(callbackstest.Call("lookup_registry", nil), callbackstest.Say("answer")),
	}, guards.Stash("lookup_"))
	cfg := runnerConfig(a, nil)
	cfg.SessionService = svc
	r, err := runner.New(cfg)
	require.NoError(t, err)
	ctx, rn := callbacks.Start(t.Context())
	defer rn.Close()
	for _, err := range r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
	}
	require.Equal(t, map[string]map[string]any{"registry": {"status": "in liquidation"}}, guards.Records(ctx).Stashed())
}

// P58 and P59: ADK bounds neither a model that always calls a tool nor one that only
// thinks.
func TestP58NoLoopOutlivesItsBudget(t *testing.T) {
	for name, turn := range map[string]callbackstest.Turn{
		"tool calls": callbackstest.Call("lookup", nil),
		"thoughts":   {Parts: []*genai.Part{{Text: "hmm", Thought: true}}},
	} {
		for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
			t.Run(fmt.Sprintf("%s/%s", name, mode), func(t *testing.T) {
				made := &endlessModel{turn: turn}
				run(t, agentOf(t, llmagent.Config{Name: "a", Model: made, Tools: []tool.Tool{callbackstest.Tool("lookup")}}, guards.CallBudget(5)), mode)
				require.Equal(t, 5, made.calls)
			})
		}
	}
}

// endlessModel gives the same answer for ever, to any request: a history of thoughts
// alone is none that the strict scripted model takes.
type endlessModel struct {
	turn  callbackstest.Turn
	calls int
}

func (*endlessModel) Name() string { return "endless" }

func (m *endlessModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.calls++
		yield(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: m.turn.Parts}}, nil)
	}
}
