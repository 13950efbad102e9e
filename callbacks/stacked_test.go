// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// twoChains is an agent with one chain on it and another around that, in either form.
func twoChains(t *testing.T, form string, inner, outer *callbacks.Chain, cfg llmagent.Config) (agent.Agent, []*plugin.Plugin) {
	t.Helper()
	if form == "plugin" {
		p, err := outer.Plugin("outer")
		require.NoError(t, err)
		return build(t, inner, cfg), []*plugin.Plugin{p}
	}
	cfg.Name = "guarded"
	cfg, err := inner.Attach(cfg)
	require.NoError(t, err)
	return build(t, outer, cfg), nil
}

// A refusal belongs to the chain that raised it: it is that chain which answers, its
// observers are told once, and a chain around it tells its own observers who refused.
func TestARefusalBelongsToTheChainThatRaisedIt(t *testing.T) {
	scopes := map[string]struct {
		how     func() error
		outcome callbacks.Outcome
		status  callbacks.Status
	}{
		"deny": {func() error { return callbacks.Deny("broke", "no money").WithDetail("0 left").By("gate") }, callbacks.OutcomeRefused, ""},
		"stop": {func() error { return callbacks.Stop("budget_exhausted", "no money").WithDetail("0 left").By("gate") }, callbacks.OutcomeRefused, callbacks.StatusBudgetExhausted},
		"fail": {func() error { return callbacks.Fail("broke", "no money").WithDetail("0 left").By("gate") }, callbacks.OutcomeFailed, callbacks.StatusFailed},
	}
	for _, form := range []string{"plugin", "stacked"} {
		for _, hook := range []inspect.Hook{inspect.WrapModel, inspect.BeforeModel, inspect.AfterModel} {
			for name, tc := range scopes {
				if form == "plugin" && hook == inspect.AfterModel {
					continue // what a plugin's hooks are through with, they don't see again
				}
				t.Run(form+"/"+string(hook)+"/"+name, func(t *testing.T) {
					in, out := &callbackstest.Recorder{}, &callbackstest.Recorder{}
					meddled := 0
					meddles := callbacks.Guard{
						Name: "meddles",
						AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
							if callbacks.IsRefusal(resp) {
								meddled++
							}
							return nil, nil
						},
						OnModelError: func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
							meddled++
							return say("meddled"), nil
						},
					}
					gate := refusing(hook, tc.how)
					gate.Name = "gate"
					a, plugins := twoChains(t, form, callbacks.New(gate, in.Guard()), callbacks.New(meddles, out.Guard()),
						llmagent.Config{Model: callbackstest.Script(callbackstest.Say("answer")), OutputKey: "out"})
					got := play(t, a, agent.StreamingModeNone, plugins...)

					recs := map[string]*callbackstest.Recorder{"inner": in, "outer": out}
					if form == "plugin" && hook == inspect.BeforeModel {
						delete(recs, "outer") // ADK tells a plugin nothing more of such a step
					}
					for which, rec := range recs {
						told := rec.Events(callbacks.StepModel)
						require.Len(t, told, 1, which)
						require.Equal(t, tc.outcome, told[0].Outcome, which)
						require.Equal(t, "gate", told[0].Guard, which)
						require.Equal(t, "0 left", told[0].Reason, which)
					}
					require.Zero(t, meddled)
					if tc.status == callbacks.StatusFailed {
						require.ErrorIs(t, got.err, callbacks.ErrFailed)
						return
					}
					require.NoError(t, got.err)
					require.Equal(t, []string{"[guard] no money"}, texts(got.events))
					require.True(t, callbacks.IsRefusal(&got.events[0].LLMResponse))
					require.Empty(t, got.events[0].Actions.StateDelta)
					if tc.status != "" {
						require.Equal(t, tc.status, got.run.Outcome().Status)
						require.Equal(t, "gate", got.run.Outcome().Guard)
					}
				})
			}
		}
	}
}

// A call of a tool that does not exist is told by the agent's own chain too, and its guards
// have their say, where a plugin is asked first.
func TestAnUnknownToolReachesTheAgentsOwnChain(t *testing.T) {
	for _, form := range []string{"plugin", "stacked"} {
		for _, refuse := range []bool{false, true} {
			in, out := &callbackstest.Recorder{}, &callbackstest.Recorder{}
			inner := callbacks.New(in.Guard())
			want, outcome := "unknown tool: nope", callbacks.OutcomeUnknownTool
			if refuse {
				inner = callbacks.New(callbacks.Guard{Name: "only", OnToolError: func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) {
					return nil, callbacks.Deny("not_allowed", "tool not allowed: nope")
				}}, in.Guard())
				want, outcome = "tool not allowed: nope", callbacks.OutcomeRefused
			}
			m := callbackstest.Script(callbackstest.Call("nope", nil), callbackstest.Say("answer"))
			a, plugins := twoChains(t, form, inner, callbacks.New(out.Guard()), llmagent.Config{Model: m})
			got := play(t, a, agent.StreamingModeNone, plugins...)
			require.NoError(t, got.err)
			require.Equal(t, []map[string]any{{"error": want}}, responses(got.events), form)
			require.Len(t, in.Events(callbacks.StepTool), 1, form)
			require.Equal(t, outcome, in.Events(callbacks.StepTool)[0].Outcome, form)
			require.Len(t, out.Events(callbacks.StepTool), 1, form)
		}
	}
}

// The same chain attached twice would run each hook twice.
func TestAChainIsAttachedOnce(t *testing.T) {
	chain, other := callbacks.New(allow("a")), callbacks.New(allow("b"))
	for name, cfg := range map[string]llmagent.Config{
		"model":   {Model: callbackstest.Script()},
		"tool":    {Tools: []tool.Tool{callbackstest.Tool("lookup")}},
		"toolset": {Toolsets: []tool.Toolset{toolset{callbackstest.Tool("lookup")}}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Name = "a"
			once, err := chain.Attach(cfg)
			require.NoError(t, err)
			_, err = chain.NewAgent(once)
			require.ErrorContains(t, err, "this chain is on the agent already")
			require.ErrorContains(t, err, `agent "a"`)

			stacked, err := other.Attach(once)
			require.NoError(t, err, "another chain may stand around it")
			_, err = chain.Attach(stacked)
			require.ErrorContains(t, err, "this chain is on the agent already")
			_, err = chain.Attach(cfg)
			require.NoError(t, err, "cfg itself has no chain")
		})
	}
}
