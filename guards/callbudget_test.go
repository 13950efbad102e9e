// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// ofAgent is the status of a run in which the guarded agent was cut short: in a parallel
// branch, or as a tool of an agent in the same Run, it is not the run's.
func ofAgent(cell callbackstest.Cell, cut callbacks.Status) callbacks.Status {
	aside := cell.Topology == callbackstest.TopologyParallel ||
		cell.Topology == callbackstest.TopologyAgentTool && (!cell.Launched || cell.Form == callbackstest.FormPlugin)
	if aside {
		return callbacks.StatusDone
	}
	return cut
}

func TestCallBudgetMatrix(t *testing.T) {
	callbackstest.Matrix{
		OutputKey: "out",
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{callbacks.ForAgents(guards.CallBudget(3), "guarded")}
		},
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("lookup", map[string]any{"n": 1})).Repeat()
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, 3, tr.Model.Calls(), "exactly the budget reaches the model")
			// ADK itself stores "" for a turn of calls under a plugin; a refusal it does not.
			require.Empty(t, tr.State["out"], "a refusal is no output")
			last := tr.Told[len(tr.Told)-1]
			var refused int
			for _, ev := range tr.Told {
				if ev.Outcome == callbacks.OutcomeRefused && ev.Step == callbacks.StepModel {
					refused++
					require.Equal(t, codes.CallsExhausted, ev.Code)
					require.Equal(t, "calls: 3/3", ev.Reason)
				}
			}
			require.Equal(t, 1, refused, last)
			if tr.Form == callbackstest.FormPlugin && tr.Topology != callbackstest.TopologyAgentTool {
				require.Equal(t, callbacks.StatusCallsExhausted, tr.Run.Outcome().Status, "as a plugin the budget is the run's")
				require.Contains(t, texts(tr.Stored), "[guard] Model call budget exceeded: run stopped.")
			}
			if tr.Form == callbackstest.FormAgent {
				require.Equal(t, ofAgent(tr.Cell, callbacks.StatusCallsExhausted), tr.Run.Outcome().Status)
			}
		},
	}.Run(t)
}

func TestCallBudgetOnARunStopsTheRun(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{guards.CallBudgetOptions{Calls: 2, Scope: guards.ScopeRun}.Guard()}
		},
		Model: func() *callbackstest.Model { return callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat() },
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.LessOrEqual(t, tr.Model.Calls(), 2)
			require.Equal(t, callbacks.StatusCallsExhausted, tr.Run.Outcome().Status)
			require.Equal(t, "run_call_budget", tr.Run.Outcome().Guard)
		},
	}.Run(t)
}

// An unbounded loop agent over a refused agent ends: through Events, through the
// plugin, and through callbacks.Loop.
func TestCallBudgetGuardNonsense(t *testing.T) {
	for name, g := range map[string]callbacks.Guard{
		"zero":              guards.CallBudget(0),
		"negative":          guards.CallBudget(-1),
		"scope":             guards.CallBudgetOptions{Scope: 9}.Guard(),
		"tools":             guards.CallBudgetOptions{ToolCalls: -1}.Guard(),
		"no call of a tool": guards.CallBudgetOptions{PerTool: map[string]int{"lookup": 0}}.Guard(),
		"nameless tool":     guards.CallBudgetOptions{PerTool: map[string]int{"": 1}}.Guard(),
		"tokens":            guards.CallBudgetOptions{Tokens: -1}.Guard(),
		"time":              guards.CallBudgetOptions{Time: -time.Second}.Guard(),
		"session":           guards.CallBudgetOptions{SessionCalls: -1}.Guard(),
		"user":              guards.CallBudgetOptions{UserCalls: -1}.Guard(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "a"})
			require.Error(t, err)
			_, err = callbacks.New(g).Plugin("p")
			require.Error(t, err)
		})
	}
	g := guards.CallBudgetOptions{}.Guard()
	require.Equal(t, []string{"6 model calls per agent", "40000 tokens per agent", "90 s per agent"}, g.Info().Limits)
	require.Equal(t, []string{"25 model calls per run", "300 s per run"}, g.ForPlugin().Info().Limits)
}

// retrying makes n attempts of each call.
func retrying(n int) callbacks.Guard {
	return callbacks.Guard{Name: "retrying", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
		return &retryModel{LLM: next, n: n}
	}}
}

type retryModel struct {
	model.LLM
	n int
}

func (r *retryModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		var err error
		for range r.n {
			for resp, e := range r.LLM.GenerateContent(ctx, req, stream) {
				if err = e; err == nil && (!yield(resp, nil) || !resp.Partial) {
					return
				}
			}
			if errors.Is(err, callbacks.ErrEnded) || errors.Is(err, callbacks.ErrStopped) {
				break
			}
		}
		yield(nil, err)
	}
}

func TestCallBudgetCountsRetriesInsideTheChain(t *testing.T) {
	boom := errors.New("503")
	m := callbackstest.Script(callbackstest.Fail(boom)).Repeat()
	chain := callbacks.New(retrying(10), guards.CallBudget(4))
	a, err := chain.NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Equal(t, 4, m.Calls())
	require.Equal(t, []string{"[guard] Model call budget exceeded: agent ended."}, texts(out.events))
}

func TestCallBudgetGivesASlotBackWhenALaterHookAnswers(t *testing.T) {
	answers := 0
	cache := callbacks.Guard{Name: "cache", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		if answers++; answers <= 3 {
			return &model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionCall("lookup", nil)}, genai.RoleModel)}, nil
		}
		return nil, nil
	}}
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done"))
	chain := callbacks.New(guards.CallBudget(2), cache)
	a, err := chain.NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Equal(t, 2, m.Calls())
	require.Contains(t, texts(out.events), "done")
}

// The hook alone, in plain ADK: never more than N.
func TestCallBudgetHookInPlainADK(t *testing.T) {
	g := guards.CallBudget(2)
	m := callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()
	a, err := llmagent.New(llmagent.Config{
		Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")},
		BeforeModelCallbacks: []llmagent.BeforeModelCallback{g.BeforeModel},
	})
	require.NoError(t, err)
	out := play(t, a)
	require.ErrorContains(t, out.err, "Model call budget exceeded: agent ended.")
	require.Equal(t, 2, m.Calls())
}

type played struct {
	events []event
	err    error
	run    *callbacks.Run
}

func play(t *testing.T, root agent.Agent) played { return playWith(t, root, nil, false) }

func playWith(t *testing.T, root agent.Agent, p *plugin.Plugin, streaming bool) played {
	t.Helper()
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	return playIn(ctx, t, run, root, p, streaming)
}

// playIn plays in a Run that goes on.
func playIn(ctx context.Context, t *testing.T, run *callbacks.Run, root agent.Agent, p *plugin.Plugin, streaming bool) played {
	t.Helper()
	r, err := runner.New(runnerConfig(root, p))
	require.NoError(t, err)
	mode := agent.StreamingModeNone
	if streaming {
		mode = agent.StreamingModeSSE
	}
	out := played{run: run}
	for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{StreamingMode: mode})) {
		if err != nil {
			out.err = err
			break
		}
		out.events = append(out.events, ev)
	}
	return out
}

// A budget of an agent names tools the agent must have; that of a Run is put on agents
// with different tools.
// What is bounded is told, and what is not is not.
func TestCallBudgetTellsItsLimits(t *testing.T) {
	g := guards.CallBudgetOptions{
		Calls: 3, Tokens: guards.Unlimited, Time: time.Minute, ToolCalls: 4, PerTool: map[string]int{"lookup": 2}, SessionCalls: 50,
	}.Guard()
	require.Equal(t, []string{
		"3 model calls per agent", "60 s per agent", "4 tool calls per agent", "2 calls of lookup per agent", "50 model calls per session",
	}, g.Info().Limits)
}

func TestCallBudgetChecksToolNames(t *testing.T) {
	o := guards.CallBudgetOptions{PerTool: map[string]int{"lokup": 2}}
	cfg := llmagent.Config{Name: "a", Tools: []tool.Tool{callbackstest.Tool("lookup")}}
	_, err := callbacks.New(o.Guard()).NewAgent(cfg)
	require.ErrorIs(t, err, callbacks.ErrNoSuchTool)
	o.Scope = guards.ScopeRun
	_, err = callbacks.New(o.Guard()).NewAgent(cfg)
	require.NoError(t, err)
}

// A monitored budget counts what it would have refused for, tokens too.
func TestAMonitoredBudgetCountsTokens(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		rec := &callbackstest.Recorder{}
		budget := callbacks.Monitor(guards.CallBudgetOptions{Calls: 9, Tokens: 10}.Guard())
		m := callbackstest.Script(callbackstest.Call("lookup", nil).WithUsage(1000, 1000), callbackstest.Say("answer").WithUsage(1000, 1000))
		a, err := callbacks.New(budget, rec.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
		require.NoError(t, err)
		out := playWith(t, a, nil, streaming)
		require.NoError(t, out.err)
		require.Equal(t, 2, m.Calls(), "it refuses nothing")
		var would []string
		for _, ev := range rec.Events(callbacks.StepModel) {
			if ev.Outcome == callbacks.OutcomeWouldRefuse {
				would = append(would, ev.Reason)
			}
		}
		require.Equal(t, []string{"tokens: 2000/10"}, would)
	}
}
