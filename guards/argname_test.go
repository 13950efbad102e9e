// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// A tool that decodes its arguments with encoding/json takes a name in any case: so do the
// rules, and the call that a rule refuses under one name it refuses under each.
func TestRulesByArgumentNameFoldItsCase(t *testing.T) {
	most := func(v any) error {
		if n, ok := v.(float64); !ok || n > 100 {
			return errors.New("too much")
		}
		return nil
	}
	dear := func(s callbacks.Step) bool { n, ok := s.Arg("maxAmount").(float64); return !ok || n > 100 }
	schema := map[string]any{
		"type": "object", "properties": map[string]any{
			"maxAmount": map[string]any{"type": "number", "maximum": 100}, "url": map[string]any{"type": "string", "pattern": "^https:"},
			"lines": map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": map[string]any{"maxAmount": map[string]any{"maximum": 100}}}},
		},
	}
	denying := callbacks.Guard{Name: "denying", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no", "no")
	}}
	no := approver(func(_ context.Context, q guards.Question) (guards.Answer, error) {
		return guards.Answer{Question: q.ID, Call: q.Call, By: "ann"}, nil
	})
	rules := map[string]callbacks.Guard{
		"args":    guards.Args("pay", guards.Arg{Name: "maxAmount", Check: most}, guards.Arg{Name: "url", Pattern: "^https:"}),
		"when":    callbacks.When(dear, denying),
		"scope":   guards.ScopeOptions{Arg: "maxAmount", Values: []string{"80"}}.Guard(),
		"confirm": guards.ConfirmOptions{Approver: no, Tools: []string{"pay"}, When: dear}.Guard(),
		"finish":  guards.Finish("pay", schema),
		"checkpoint": guards.Checkpoint(func(_ context.Context, s callbacks.Step) error {
			return most(s.Arg("maxAmount"))
		}, "pay"),
	}
	for rule, g := range rules {
		for _, form := range forms {
			if form == callbackstest.FormPlugin && g.WrapModel != nil { // Finish is for agents
				continue
			}
			for _, name := range []string{"maxAmount", "maxamount", "MAXAMOUNT", "MaxAmount"} {
				t.Run(fmt.Sprint(rule, " ", form, " ", name), func(t *testing.T) {
					for amount, runs := range map[float64]int{80: 1, 90_000: 0} {
						pay := callbackstest.Tool("pay")
						build, p := inForm(t, form, callbacks.New(g))
						m := callbackstest.Script(callbackstest.Call("pay", map[string]any{name: amount}), callbackstest.Say("ok"))
						out := playWith(t, build(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{pay}}), p, false)
						require.Len(t, pay.Calls(), runs, "%v: %v", amount, responses(out.events))
					}
				})
			}
		}
	}
	t.Run("text", func(t *testing.T) {
		for _, rule := range []string{"args", "finish"} {
			pay := callbackstest.Tool("pay")
			m := callbackstest.Script(callbackstest.Call("pay", map[string]any{"URL": "http://169.254.169.254/latest"}), callbackstest.Say("ok"), callbackstest.Say("ok"))
			play(t, newAgent(t, "a", m, []tool.Tool{pay}, rules[rule]))
			require.Empty(t, pay.Calls(), rule)
		}
	})
	t.Run("nested", func(t *testing.T) {
		pay := callbackstest.Tool("pay")
		m := callbackstest.Script(
			callbackstest.Call("pay", map[string]any{"Lines": []any{map[string]any{"MAXAMOUNT": 900.0}}}),
			callbackstest.Call("pay", map[string]any{"Lines": []any{map[string]any{"MAXAMOUNT": 9.0}}}))
		play(t, newAgent(t, "a", m, []tool.Tool{pay}, rules["finish"]))
		require.Equal(t, []map[string]any{{"Lines": []any{map[string]any{"MAXAMOUNT": 9.0}}}}, pay.Calls(), "the tool gets what the model wrote")
	})
	t.Run("required", func(t *testing.T) {
		pay := callbackstest.Tool("pay")
		m := callbackstest.Script(callbackstest.Call("pay", map[string]any{"TO": "ann"}), callbackstest.Say("ok"))
		play(t, newAgent(t, "a", m, []tool.Tool{pay}, guards.Args("pay", guards.Arg{Name: "to", Required: true})))
		require.Len(t, pay.Calls(), 1)
	})
}

type approver func(context.Context, guards.Question) (guards.Answer, error)

func (a approver) Ask(ctx context.Context, q guards.Question) (guards.Answer, error) {
	return a(ctx, q)
}

// Which of two names that fold alike a tool takes is left to chance, so no tool gets both:
// neither from the model nor from a hook.
func TestTwoArgumentsThatDifferInCaseAloneAreRefused(t *testing.T) {
	adds := callbacks.Guard{Name: "adds", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		args["tenant"] = "ours"
		return nil, nil
	}}
	for name, tc := range map[string]struct {
		args   map[string]any
		guards []callbacks.Guard
		runs   int
	}{
		"from the model":          {map[string]any{"amount": 1.0, "AMOUNT": 90_000.0}, nil, 0},
		"the same value":          {map[string]any{"amount": 1.0, "Amount": 1.0}, nil, 0},
		"one of them null":        {map[string]any{"amount": nil, "Amount": 1.0}, nil, 0},
		"a letter that folds":     {map[string]any{"key": 1.0, "\u212aey": 2.0}, nil, 0},
		"from a hook":             {map[string]any{"TENANT": "theirs"}, []callbacks.Guard{adds}, 0},
		"a hook's alone":          {map[string]any{"amount": 1.0}, []callbacks.Guard{adds}, 1},
		"names that differ":       {map[string]any{"amount": 1.0, "amounts": 2.0, "max_amount": 3.0}, nil, 1},
		"beside a rule":           {map[string]any{"amount": 1.0, "AMOUNT": 90_000.0}, []callbacks.Guard{guards.Args("pay", guards.Arg{Name: "amount"})}, 0},
		"beside a monitored rule": {map[string]any{"amount": 1.0, "AMOUNT": 90_000.0}, []callbacks.Guard{callbacks.Monitor(guards.AllowTools("pay"))}, 0},
	} {
		for _, form := range forms {
			t.Run(fmt.Sprint(name, " ", form), func(t *testing.T) {
				for _, tl := range []tool.Tool{callbackstest.Tool("pay"), callbackstest.StreamingTool("pay", "paid")} {
					rec := &callbackstest.Recorder{}
					build, p := inForm(t, form, callbacks.New(append(tc.guards, rec.Guard())...))
					m := callbackstest.Script(callbackstest.Call("pay", tc.args), callbackstest.Say("ok"))
					out := playWith(t, build(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{tl}}), p, false)
					require.NoError(t, out.err)
					require.Len(t, tl.(interface{ Calls() []map[string]any }).Calls(), tc.runs)
					ev := rec.Events(callbacks.StepTool)[0]
					if tc.runs == 0 {
						require.Equal(t, codes.AmbiguousArgs, ev.Code)
						require.Equal(t, callbacks.OutcomeRefused, ev.Outcome)
						require.False(t, ev.Called)
					}
				}
			})
		}
	}
	t.Run("in plain ADK", func(t *testing.T) {
		hook := guards.Args("pay", guards.Arg{Name: "amount"}).BeforeTool
		_, err := hook(nil, callbackstest.Tool("pay"), map[string]any{"amount": 1.0, "AMOUNT": 2.0})
		require.ErrorIs(t, err, callbacks.ErrDenied)
	})
}
