// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/tool/toolconfirmation"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
)

// A paused call is one of the tool "pay", which waits for a person's approval.
type pausedCall struct {
	*launched
	paid []string
}

type payArgs struct {
	To string `json:"to"`
}

// pause runs an agent until it waits. byHook says that a hook of the chain asks and
// not the tool.
func pause(t *testing.T, chain *callbacks.Chain, form callbackstest.Form, byHook bool) *pausedCall {
	t.Helper()
	c := &pausedCall{}
	pay, err := functiontool.New(functiontool.Config{Name: "pay", Description: "d", RequireConfirmation: !byHook},
		func(_ agent.Context, a payArgs) (map[string]any, error) {
			c.paid = append(c.paid, a.To)
			return map[string]any{"paid": true}, nil
		})
	require.NoError(t, err)
	cfg := llmagent.Config{
		Name: "a", Tools: []tool.Tool{pay},
		Model: callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "Acme"}), callbackstest.Say("done")),
	}
	var plugins []*plugin.Plugin
	var root agent.Agent
	if form == callbackstest.FormPlugin {
		p, err := chain.Plugin("p")
		require.NoError(t, err)
		root, plugins = plainAgent(t, cfg), []*plugin.Plugin{p}
	} else {
		root = build(t, chain, cfg)
	}
	c.launched = launch(t, root, agent.StreamingModeNone, plugins...)
	require.Empty(t, c.errs)
	require.Empty(t, c.paid)
	return c
}

// question is the id of the call by which ADK asks for an approval, or empty.
func (c *pausedCall) question(t *testing.T) string {
	t.Helper()
	for _, fc := range calls(c.stored(t)) {
		if fc.Name == toolconfirmation.FunctionCallName {
			return fc.ID
		}
	}
	return ""
}

// answer resumes the run with a person's answer.
func (c *pausedCall) answer(t *testing.T, confirmed bool) {
	t.Helper()
	c.tryAnswer(t, confirmed)
	require.Empty(t, c.errs)
}

// tryAnswer is answer where ADK may lose the call.
func (c *pausedCall) tryAnswer(t *testing.T, confirmed bool) {
	t.Helper()
	id := c.question(t)
	require.NotEmpty(t, id, "the run waits for an approval")
	part := genai.NewPartFromFunctionResponse(toolconfirmation.FunctionCallName, map[string]any{"confirmed": confirmed})
	part.FunctionResponse.ID = id
	c.send(t, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{part}}, agent.StreamingModeNone)
}

func forms(t *testing.T, f func(t *testing.T, form callbackstest.Form)) {
	t.Helper()
	for _, form := range []callbackstest.Form{callbackstest.FormAgent, callbackstest.FormPlugin} {
		t.Run(string(form), func(t *testing.T) { f(t, form) })
	}
}

// asking is a guard whose hook asks for an approval.
func asking() callbacks.Guard {
	return callbacks.Guard{Name: "asking", BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
		switch c := ctx.ToolConfirmation(); {
		case c == nil:
			return map[string]any{"status": "waiting"}, ctx.RequestConfirmation("pay?", nil)
		case !c.Confirmed:
			return nil, callbacks.Deny("rejected", "a person said no")
		default:
			return nil, nil
		}
	}}
}

// P35 and P36: the resumed run has the invocation id of the paused one, and ADK calls
// after_run for both. What a Run holds outlives the pause and not the run.
func TestP36ARunOutlivesThePauseWhoeverAsks(t *testing.T) {
	for name, byHook := range map[string]bool{"the tool asks": false, "a hook asks": true} {
		t.Run(name, func(t *testing.T) {
			for answer, confirmed := range map[string]bool{"approved": true, "rejected": false} {
				t.Run(answer, func(t *testing.T) {
					forms(t, func(t *testing.T, form callbackstest.Form) {
						key := callbacks.NewKey(func() *int { return new(int) })
						var seen []int
						closed := 0
						counting := callbacks.Guard{Name: "counting", BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
							n := key.Of(ctx)
							if *n++; *n == 1 {
								callbacks.RunOf(ctx).OnClose(func() { closed++ })
							}
							seen = append(seen, *n)
							return nil, nil
						}}
						rec := &callbackstest.Recorder{}
						chain := callbacks.New(counting, rec.Guard())
						if byHook {
							chain = callbacks.New(counting, asking(), rec.Guard())
						}
						c := pause(t, chain, form, byHook)
						require.Zero(t, closed)
						c.answer(t, confirmed)
						require.Equal(t, []int{1, 2}, seen, "one account before and after the pause")
						require.Len(t, c.paid, map[bool]int{true: 1, false: 0}[confirmed])
						if form == callbackstest.FormPlugin {
							require.Equal(t, 1, closed, "the Run ends with the resumed run, once")
						}
						told := rec.Events(callbacks.StepTool)
						require.Len(t, told, 2)
						require.Equal(t, callbacks.OutcomePending, told[0].Outcome)
						require.Equal(t, told[0].CallID, told[1].CallID, "count a call by its id")
						require.Equal(t, map[bool]callbacks.Outcome{true: callbacks.OutcomeAllowed, false: callbacks.OutcomeRefused}[confirmed], told[1].Outcome)
					})
				})
			}
		})
	}
}

// Fact 6, its exception: ADK looks a resumed call's tool up where a plugin can't wrap
// it. The chain then runs the tool itself, as it would have run.
func TestTrap06AResumedCallRunsGuarded(t *testing.T) {
	edits := callbacks.Guard{Name: "edits", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		args["to"] = "Kervalec"
		return nil, nil
	}}
	wraps := callbacks.Guard{Name: "wraps", WrapTool: func(tl tool.Tool) tool.Tool { return wrappedTool{tl.(adkFunctionTool)} }}
	denies := callbacks.Guard{Name: "denies", BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
		if ctx.ToolConfirmation() != nil {
			return nil, callbacks.Deny("no", "not even approved")
		}
		return nil, nil
	}}
	done := map[string]any{"paid": true}
	for name, tc := range map[string]struct {
		guard callbacks.Guard
		paid  []string
		read  map[string]any
	}{
		"edited arguments": {edits, []string{"Kervalec"}, done},
		"a wrapped tool":   {wraps, []string{"wrapped"}, done},
		"a refusal":        {denies, nil, map[string]any{"error": "not even approved"}},
		"a masked result":  {masking(), []string{"Acme"}, map[string]any{"masked": true}},
	} {
		t.Run(name, func(t *testing.T) {
			forms(t, func(t *testing.T, form callbackstest.Form) {
				rec := &callbackstest.Recorder{}
				c := pause(t, callbacks.New(tc.guard, rec.Guard()), form, false)
				c.answer(t, true)
				require.Equal(t, tc.paid, c.paid)
				require.Equal(t, tc.read, responses(c.events)[0])
				require.Len(t, rec.Events(callbacks.StepTool), 2, "the pause and the call")
				require.Equal(t, "Acme", calls(c.stored(t))[0].Args["to"])
			})
		})
	}
	t.Run("rejected", func(t *testing.T) {
		forms(t, func(t *testing.T, form callbackstest.Form) {
			rec := &callbackstest.Recorder{}
			c := pause(t, callbacks.New(wraps, rec.Guard()), form, false)
			c.answer(t, false)
			require.Empty(t, c.paid)
			told := rec.Events(callbacks.StepTool)
			require.Len(t, told, 2)
			require.Equal(t, codes.ConfirmationRejected, told[1].Code)
		})
	})
	documented(t, "doc.go", "a tool that answers later is refused there")
}

// wrappedTool pays somebody else.
type wrappedTool struct{ adkFunctionTool }

func (w wrappedTool) Run(ctx agent.Context, _ any) (map[string]any, error) {
	return w.adkFunctionTool.Run(ctx, map[string]any{"to": "wrapped"})
}
