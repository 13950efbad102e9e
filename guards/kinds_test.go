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
	"testing/synctest"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// The tests below are complaints of users of other frameworks, by kind of failure; each
// case names the framework and the number of the issue.

func newAgent(t *testing.T, name string, m model.LLM, tools []tool.Tool, gs ...callbacks.Guard) agent.Agent {
	t.Helper()
	a, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: name, Model: m, Tools: tools})
	require.NoError(t, err)
	return a
}

func lookupTools() []tool.Tool { return []tool.Tool{callbackstest.Tool("lookup")} }

func endless() *callbackstest.Model {
	return callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()
}

func numbered(n int) callbackstest.Turn {
	turns := make([]callbackstest.Turn, n)
	for i := range turns {
		turns[i] = callbackstest.Call("lookup", map[string]any{"n": float64(i)})
	}
	return callbackstest.Calls(turns...)
}

func TestKindAOverAdmission(t *testing.T) {
	t.Run("litellm 34732: five at once pass one limit", func(t *testing.T) {
		budget, m := guards.CallBudget(3), callbackstest.Script(callbackstest.Say("ok")).Repeat()
		var subs []agent.Agent
		for i := range 5 {
			subs = append(subs, newAgent(t, fmt.Sprint("a", i), m, nil, budget))
		}
		require.NoError(t, play(t, parallel(t, subs...)).err)
		require.Equal(t, 3, m.Calls())
	})
	t.Run("pydantic-ai 2978: eight tool calls on a limit of six all start", func(t *testing.T) {
		fake := callbackstest.Tool("lookup")
		out := play(t, newAgent(t, "a", callbackstest.Script(numbered(8), callbackstest.Say("ok")), []tool.Tool{fake}, guards.CallBudgetOptions{ToolCalls: 6}.Guard()))
		require.NoError(t, out.err)
		require.Len(t, fake.Calls(), 6)
		require.Len(t, responses(out.events), 8)
	})
	t.Run("langchain 33269: skipped calls use up quota", func(t *testing.T) {
		fake := callbackstest.Tool("lookup")
		picky := guards.Args("lookup", guards.Arg{Name: "n", Required: true})
		m := callbackstest.Script(callbackstest.Calls(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil)), numbered(2), callbackstest.Say("ok"))
		require.NoError(t, play(t, newAgent(t, "a", m, []tool.Tool{fake}, picky, guards.CallBudgetOptions{ToolCalls: 2}.Guard())).err)
		require.Len(t, fake.Calls(), 2)
	})
	t.Run("deer-flow 3875: a tree of agents multiplies the limit", func(t *testing.T) {
		budget, m := guards.CallBudget(7), endless()
		inner := parallel(t, newAgent(t, "a", m, lookupTools(), budget), newAgent(t, "b", m, lookupTools(), budget))
		require.NoError(t, play(t, sequence(t, inner, newAgent(t, "c", m, lookupTools(), budget))).err)
		require.Equal(t, 7, m.Calls())
	})
}

func TestKindDNestedAgentsEscape(t *testing.T) {
	t.Run("adk-js 484: a limit starts over in each round of a loop", func(t *testing.T) {
		m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("round")).Repeat()
		loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{newAgent(t, "a", m, lookupTools(), guards.CallBudget(4))}}, MaxIterations: 3})
		require.NoError(t, err)
		require.NoError(t, play(t, loop).err)
		require.Equal(t, 4, m.Calls())
	})
	var innerLookup *callbackstest.FakeTool
	nested := func(t *testing.T, inner model.LLM, g func() callbacks.Guard) (*callbackstest.Model, played) {
		innerLookup = callbackstest.Tool("lookup")
		g1 := g()
		cfg, err := callbacks.New(g1).Attach(llmagent.Config{Name: "inner", Description: "d", Model: inner, Tools: []tool.Tool{innerLookup}})
		require.NoError(t, err)
		a, err := llmagent.New(cfg)
		require.NoError(t, err)
		outer := callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "q"})).Repeat()
		return outer, play(t, newAgent(t, "outer", outer, []tool.Tool{agenttool.New(a, nil)}, g1))
	}
	t.Run("harness 528: a nested run ignores its parent's limit", func(t *testing.T) {
		m := endless()
		outer, out := nested(t, m, func() callbacks.Guard { return guards.CallBudget(10) })
		require.NoError(t, out.err)
		require.Equal(t, 10, outer.Calls()+m.Calls())
	})
	t.Run("openai-agents 448: max_turns does not reach an agent used as a tool", func(t *testing.T) {
		m := endless()
		outer, out := nested(t, m, func() callbacks.Guard {
			return guards.CallBudgetOptions{Calls: 5, Scope: guards.ScopeRun}.Guard()
		})
		require.NoError(t, out.err)
		require.Equal(t, 5, outer.Calls()+m.Calls())
		require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
	})
	t.Run("adk-go 669: a nested agent's tool calls are not counted", func(t *testing.T) {
		inner := callbackstest.Script(numbered(5), callbackstest.Say("ok")).Repeat()
		_, out := nested(t, inner, func() callbacks.Guard {
			return guards.CallBudgetOptions{Calls: 6, ToolCalls: 4}.Guard()
		})
		require.NoError(t, out.err)
		require.Len(t, innerLookup.Calls(), 3, "the fourth is that of the agent itself")
	})
}

func TestKindEHookSkipped(t *testing.T) {
	t.Run("adk-js 790: unknown tools are not seen", func(t *testing.T) {
		rec := &callbackstest.Recorder{}
		m := callbackstest.Script(callbackstest.Call("nope", nil)).Repeat()
		require.NoError(t, play(t, newAgent(t, "a", m, lookupTools(), guards.Loop(), rec.Guard())).err)
		require.Equal(t, 4, m.Calls())
		require.Equal(t, []codes.Code{codes.RepeatedCall, codes.LoopDetected}, codesOf(rec.Events()))
	})
	t.Run("openai-agents 956: streaming tools pass by", func(t *testing.T) {
		stream := callbackstest.StreamingTool("lookup", "a")
		m := callbackstest.Script(numbered(4), callbackstest.Say("ok"))
		require.NoError(t, play(t, newAgent(t, "a", m, []tool.Tool{stream}, guards.CallBudgetOptions{ToolCalls: 2}.Guard())).err)
		require.Len(t, stream.Calls(), 2)
	})
	t.Run("adk-python 4774: hooks after an error are skipped", func(t *testing.T) {
		rec := &callbackstest.Recorder{}
		failing := callbackstest.ToolReturning("lookup", nil, errDSN)
		require.NoError(t, play(t, newAgent(t, "a", endless(), []tool.Tool{failing}, guards.LoopOptions{Repeats: 2}.Guard(), rec.Guard())).err)
		require.Len(t, failing.Calls(), 1)
	})
	t.Run("adk-python 5665: calls inside the SDK are not counted", func(t *testing.T) {
		m := callbackstest.Script(callbackstest.Fail(errors.New("503"))).Repeat()
		require.NoError(t, play(t, newAgent(t, "a", m, nil, retrying(50), guards.CallBudget(4))).err)
		require.Equal(t, 4, m.Calls())
	})
}

func TestKindFStopThatDoesNotStop(t *testing.T) {
	t.Run("adk-python 1452: loops and sequences go on", func(t *testing.T) {
		m := endless()
		budget := guards.CallBudgetOptions{Calls: 3, Scope: guards.ScopeRun}.Guard()
		loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{newAgent(t, "a", m, lookupTools(), budget)}}})
		require.NoError(t, err)
		out := play(t, sequence(t, loop, newAgent(t, "b", m, lookupTools(), budget)))
		require.NoError(t, out.err)
		require.Equal(t, 3, m.Calls())
		require.Less(t, len(out.events), 30)
	})
	t.Run("agent-framework 2868: one more model call after the end", func(t *testing.T) {
		m := endless()
		require.NoError(t, play(t, newAgent(t, "a", m, lookupTools(), guards.LoopOptions{Strict: true}.Guard())).err)
		require.Equal(t, 3, m.Calls())
	})
	t.Run("langchainjs 11241: the limit of one run locks the thread for ever", func(t *testing.T) {
		m := endless()
		r, err := runner.New(runnerConfig(newAgent(t, "a", m, lookupTools(), guards.CallBudget(2)), nil))
		require.NoError(t, err)
		for i := range 3 {
			ctx, run := callbacks.Start(t.Context())
			for _, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
				require.NoError(t, err)
			}
			run.Close()
			require.Equal(t, 2*(i+1), m.Calls())
		}
		require.Empty(t, m.Faults(), "and its history is one a provider accepts")
	})
	t.Run("strands 2166: endless refusals in an endless loop", func(t *testing.T) {
		m := endless()
		loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{newAgent(t, "a", m, lookupTools(), guards.CallBudget(2))}}})
		require.NoError(t, err)
		out := play(t, loop)
		require.NoError(t, out.err)
		require.Equal(t, 2, m.Calls())
		require.Less(t, len(out.events), 30)
		require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
	})
}

// again runs the agent a second time on the same session and returns what the model
// would have been right to reject.
func again(t *testing.T, a agent.Agent, m *callbackstest.Model) []error {
	t.Helper()
	r, err := runner.New(runnerConfig(a, nil))
	require.NoError(t, err)
	for range 2 {
		ctx, run := callbacks.Start(t.Context())
		for range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
		}
		run.Close()
	}
	return m.Faults()
}

func TestKindGCorruptHistory(t *testing.T) {
	three := func() *callbackstest.Model { return callbackstest.Script(numbered(3)).Repeat() }
	for name, gs := range map[string][]callbacks.Guard{
		"langchain 34159: unanswered calls after a tool limit":       {guards.CallBudgetOptions{Calls: 3, ToolCalls: 1}.Guard()},
		"agent-framework 1366: a thread corrupt at max iterations":   {guards.CallBudget(1)},
		"strands 1077: a refused call breaks the conversation":       {guards.Scope("n", "1"), guards.CallBudget(2)},
		"a loop that was ended in the middle of a turn":              {guards.LoopOptions{Repeats: 2, Window: 9}.Guard(), guards.CallBudget(4)},
		"a call that was stripped on landing":                        {guards.CallBudget(2), guards.Landing()},
		"a branch that failed in the middle of a turn":               {guards.Finish("lookup", map[string]any{"required": []string{"x"}}), guards.CallBudget(4)},
		"langchainjs 11391: rejecting one call skips its sibling":    {guards.Scope("n", "0"), guards.CallBudget(2)},
		"a run that was stopped while tools were on their way":       {guards.CallBudgetOptions{Calls: 2, Scope: guards.ScopeRun}.Guard()},
		"a deadline that passed in the middle of a turn, in no time": {guards.DeadlineOptions{ToolCall: time.Nanosecond}.Guard(), guards.CallBudget(2)},
	} {
		t.Run(name, func(t *testing.T) {
			m := three()
			require.Empty(t, again(t, newAgent(t, "a", m, lookupTools(), gs...), m))
			require.Greater(t, m.Calls(), 1)
		})
	}
}

func TestKindJEmptyLastAnswer(t *testing.T) {
	last := func(turn callbackstest.Turn) played {
		m := callbackstest.Script(callbackstest.Call("lookup", nil), turn)
		return play(t, newAgent(t, "a", m, lookupTools(), guards.CallBudget(2), guards.Landing()))
	}
	t.Run("hermes-agent 36246: the last call still calls a tool", func(t *testing.T) {
		out := last(callbackstest.Call("lookup", nil))
		require.Equal(t, []string{"No answer: the agent used up its calls before it came to one."}, texts(out.events))
	})
	t.Run("hermes-agent 437: the last answer holds only thoughts", func(t *testing.T) {
		out := last(callbackstest.Turn{Parts: []*genai.Part{{Text: "hmm", Thought: true}}})
		require.Contains(t, texts(out.events), "No answer: the agent used up its calls before it came to one.")
	})
	t.Run("pydantic-ai 1083: the work is lost at the limit", func(t *testing.T) {
		require.Equal(t, []string{"what I have"}, texts(last(callbackstest.Say("what I have")).events))
	})
	t.Run("trpc-agent-go 2306: a cache that saw tools answers with a call", func(t *testing.T) {
		cache := callbacks.Guard{Name: "cache", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return next }}
		m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Calls(callbackstest.Say("cached"), callbackstest.Call("lookup", nil)))
		fake := callbackstest.Tool("lookup")
		out := play(t, newAgent(t, "a", m, []tool.Tool{fake}, cache, guards.CallBudget(2), guards.Landing()))
		require.NoError(t, out.err)
		require.Len(t, fake.Calls(), 1)
		require.Equal(t, []string{"cached"}, texts(out.events))
	})
}

func TestKindKRetries(t *testing.T) {
	t.Run("trpc-agent-go 1427: silent retries are not counted", func(t *testing.T) {
		rec := &callbackstest.Recorder{}
		m := callbackstest.Script(callbackstest.Fail(errors.New("503")), callbackstest.Say("ok"))
		require.NoError(t, play(t, newAgent(t, "a", m, nil, retrying(3), guards.CallBudget(2), rec.Guard())).err)
		require.Equal(t, 2, rec.Events(callbacks.StepModel)[0].Attempt)
	})
	t.Run("cognee 4321: a used up budget is taken for a passing failure", func(t *testing.T) {
		m := callbackstest.Script(callbackstest.Fail(errors.New("503"))).Repeat()
		out := play(t, sequence(t, newAgent(t, "a", m, nil, guards.ContainOptions{Attempts: 15}.Guard(), retrying(3), guards.CallBudget(2))))
		require.NoError(t, out.err)
		require.Equal(t, 2, m.Calls())
		require.Empty(t, guards.Records(out.run.Context(t.Context())).Gaps(), "the agent ended, it did not fail")
	})
	t.Run("adk-go 641: a request for approval is retried as an error", func(t *testing.T) {
		asks := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) { return nil, tool.ErrConfirmationRequired })
		m := endless()
		out := play(t, sequence(t, newAgent(t, "a", m, []tool.Tool{asks}, guards.ContainOptions{Attempts: 3}.Guard(), guards.BusinessErrors(), guards.CallBudget(9))))
		require.NoError(t, out.err)
		require.Empty(t, guards.Records(out.run.Context(t.Context())).Gaps())
	})
	t.Run("agno 8094: a further attempt has a fresh limit", func(t *testing.T) {
		m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Fail(errDSN)).Repeat()
		require.NoError(t, play(t, sequence(t, newAgent(t, "a", m, lookupTools(), guards.ContainOptions{Attempts: 9}.Guard(), guards.CallBudget(5)))).err)
		require.Equal(t, 5, m.Calls())
	})
	t.Run("agent-framework 7222: identical retries after a neutral error", func(t *testing.T) {
		failing := callbackstest.ToolReturning("lookup", nil, errors.New("Argument parsing failed."))
		m := endless()
		require.NoError(t, play(t, newAgent(t, "a", m, []tool.Tool{failing}, guards.Loop())).err)
		require.Len(t, failing.Calls(), 2)
	})
}

func TestKindLFailOpen(t *testing.T) {
	t.Run("ai-gateway 288: a panicking guard lets through", func(t *testing.T) {
		fake := callbackstest.Tool("lookup")
		scope := guards.ScopeOptions{Arg: "n", ValuesFunc: func(context.Context) ([]string, error) { panic("boom") }, Unlisted: true}.Guard()
		require.NoError(t, play(t, newAgent(t, "a", callbackstest.Script(numbered(1), callbackstest.Say("ok")), []tool.Tool{fake}, scope)).err)
		require.Empty(t, fake.Calls())
	})
	t.Run("eino 929: an abandoned tool panics and takes the process down", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			late := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
				time.Sleep(time.Minute)
				panic("long after")
			})
			out := play(t, newAgent(t, "a", callbackstest.Script(numbered(1), callbackstest.Say("ok")), []tool.Tool{late}, guards.DeadlineOptions{ToolCall: time.Second}.Guard()))
			require.NoError(t, out.err)
			time.Sleep(time.Hour)
		})
	})
	t.Run("langwatch 6157: a store that is down means no limit", func(t *testing.T) {
		m := endless()
		require.NoError(t, play(t, newAgent(t, "a", m, lookupTools(), guards.CallBudgetOptions{Store: &deadStore{}}.Guard())).err)
		require.Zero(t, m.Calls())
	})
	t.Run("litellm 35524: what is not reported is free", func(t *testing.T) {
		m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"t": strings.Repeat("x", 4000)})).Repeat()
		require.NoError(t, play(t, newAgent(t, "a", m, lookupTools(), guards.CallBudgetOptions{Calls: 99, Tokens: 5000}.Guard())).err)
		require.Less(t, m.Calls(), 5)
	})
}

func TestKindMOrderAndAttribution(t *testing.T) {
	guardsOf := func(evs []callbacks.Event) []string {
		var out []string
		for _, ev := range evs {
			if ev.Guard != "" {
				out = append(out, ev.Guard)
			}
		}
		return out
	}
	t.Run("genkit 5913: nobody knows who decided", func(t *testing.T) {
		for name, gs := range map[string][]callbacks.Guard{
			"call_budget":     {guards.CallBudget(1)},
			"run_call_budget": {guards.CallBudgetOptions{Calls: 1, Scope: guards.ScopeRun}.Guard()},
			"loop":            {guards.LoopOptions{Strict: true}.Guard()},
			"scope":           {guards.Scope("n", "7"), guards.CallBudget(2)},
			"deadline":        {guards.DeadlineOptions{ToolCall: time.Nanosecond}.Guard(), guards.CallBudget(2)},
		} {
			rec := &callbackstest.Recorder{}
			m := callbackstest.Script(numbered(1)).Repeat()
			require.NoError(t, play(t, newAgent(t, "a", m, lookupTools(), append(gs, rec.Guard())...)).err)
			require.Contains(t, guardsOf(rec.Events()), name)
		}
	})
	t.Run("pydantic-ai 4858: who counts a retry", func(t *testing.T) {
		// A wrapper that a retry stands outside of names its guard too.
		rec := &callbackstest.Recorder{}
		m := callbackstest.Script(callbackstest.Fail(errors.New("503"))).Repeat()
		require.NoError(t, play(t, newAgent(t, "a", m, nil, retrying(9), guards.CallBudget(2), rec.Guard())).err)
		require.Equal(t, []string{"call_budget"}, guardsOf(rec.Events()))
	})
	t.Run("adk-python 5494: a limit ends the run in silence", func(t *testing.T) {
		out := play(t, newAgent(t, "a", endless(), lookupTools(), guards.CallBudgetOptions{Calls: 1, Scope: guards.ScopeRun}.Guard()))
		require.Equal(t, callbacks.Result{Status: callbacks.StatusCallsExhausted, Agent: "a", Guard: "run_call_budget", Code: codes.CallsExhausted, Reason: "calls: 1/1"}, out.run.Outcome())
		require.Contains(t, texts(out.events), "[guard] Model call budget exceeded: run stopped.")
	})
	t.Run("eino 1000: wrappers of tools in another order than those of models", func(t *testing.T) {
		require.ErrorIs(t, callbacks.New(guards.Landing(), guards.CallBudget(1)).Err(), callbacks.ErrOrder)
		require.ErrorIs(t, callbacks.New(guards.Truncate(), guards.Redact()).Err(), callbacks.ErrOrder)
		require.ErrorIs(t, callbacks.New(guards.CallBudget(1), guards.Reask()).Err(), callbacks.ErrOrder)
	})
}

func TestKindNTruncation(t *testing.T) {
	t.Run("gaia 2620: cut JSON is no JSON", func(t *testing.T) {
		inner := `{"a":"` + strings.Repeat(`\"`, 2000) + `"}`
		require.LessOrEqual(t, characters(t, truncated(t, 300, map[string]any{"json": inner})), 300)
	})
	t.Run("pi-mono 60: runes are cut", func(t *testing.T) {
		require.NotContains(t, truncated(t, 200, map[string]any{"s": strings.Repeat("é漢", 999)})["s"], "\ufffd")
	})
	t.Run("openclaw 104156: the shape changes with the size", func(t *testing.T) {
		for _, n := range []int{1, 10, 100, 1000} {
			got := truncated(t, 400, map[string]any{"rows": make([]any, n), "note": strings.Repeat("x", n), "n": 1.0})
			require.IsType(t, []any{}, got["rows"])
			require.IsType(t, "", got["note"])
			require.IsType(t, 1.0, got["n"])
		}
	})
	t.Run("eino 1090: a streaming tool's output is dropped", func(t *testing.T) {
		stream := callbackstest.StreamingTool("lookup", strings.Repeat("a", 3000), strings.Repeat("b", 3000))
		m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
		out := play(t, newAgent(t, "a", m, []tool.Tool{stream}, guards.Truncate()))
		require.Contains(t, responses(out.events)[0]["result"], "bbb")
		require.Contains(t, responses(out.events)[0]["result"], "more characters]")
	})
}

func TestKindPStateSharedBetweenRuns(t *testing.T) {
	// twenty runs of one agent value at once, each of which must have its own counts.
	atOnce := func(t *testing.T, m func() *callbackstest.Model, want int, gs ...callbacks.Guard) {
		t.Helper()
		all := make([]*callbackstest.Model, 20)
		// ADK's runner writes the mode of a root that is an LLM agent in every run, without
		// a lock; a sequence is spared that.
		root := sequence(t, newAgent(t, "a", modelPerRun{}, lookupTools(), gs...))
		r, err := runner.New(runnerConfig(root, nil))
		require.NoError(t, err)
		done := make(chan error, len(all))
		for i := range all {
			all[i] = m()
			go func() {
				ctx, run := callbacks.Start(context.WithValue(t.Context(), modelKey{}, all[i]))
				defer run.Close()
				var failed error
				for _, err := range run.Events(r.Run(ctx, "u", fmt.Sprint("s", i), genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
					failed = errors.Join(failed, err)
				}
				done <- failed
			}()
		}
		for range all {
			require.NoError(t, <-done)
		}
		for _, m := range all {
			require.Equal(t, want, m.Calls())
		}
	}
	t.Run("genkit 6092: calls of one budget value are mixed", func(t *testing.T) {
		atOnce(t, endless, 3, guards.CallBudget(3))
	})
	t.Run("aistack 34: histories of one loop guard are mixed", func(t *testing.T) {
		atOnce(t, endless, 4, guards.Loop())
	})
	t.Run("litellm 26672: a landing of one run lands the others", func(t *testing.T) {
		atOnce(t, func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Say("landed"))
		}, 3, guards.CallBudget(3), guards.Landing())
	})
}

type modelKey struct{}

// modelPerRun is a model that its context names.
type modelPerRun struct{}

func (modelPerRun) Name() string { return "per run" }

func (modelPerRun) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return ctx.Value(modelKey{}).(*callbackstest.Model).GenerateContent(ctx, req, stream)
}
