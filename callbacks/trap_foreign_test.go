// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/plugin/retryandreflect"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// masking replaces every result, as a redactor would.
func masking() callbacks.Guard {
	return callbacks.Guard{Name: "masking", AfterTool: func(_ agent.Context, _ tool.Tool, _, result map[string]any, _ error) (map[string]any, error) {
		if result != nil {
			clear(result)
			result["masked"] = true
		}
		return nil, nil
	}}
}

// Fact 13: somebody else's plugin that answers in a tool's place stops ADK's hooks
// before it reaches ours, wherever ours stand.
func TestTrap13AForeignAnswerPassesTheToolHooks(t *testing.T) {
	deny := callbacks.Guard{Name: "deny", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no", "no")
	}}
	dsn := errors.New("redis://:secret@cache is down")
	for name, tc := range map[string]struct {
		guard   callbacks.Guard
		answer  map[string]any
		err     error
		want    map[string]any
		outcome callbacks.Outcome
	}{
		"masked":         {masking(), map[string]any{"mail": "jean@example.org"}, nil, map[string]any{"masked": true}, callbacks.OutcomeReplaced},
		"left alone":     {allow("a"), map[string]any{"cached": 1}, nil, map[string]any{"cached": 1}, callbacks.OutcomeReplaced},
		"refused":        {deny, map[string]any{"cached": 1}, nil, map[string]any{"error": "no"}, callbacks.OutcomeRefused},
		"a plugin fails": {allow("a"), nil, dsn, map[string]any{"error": "tool failed: lookup"}, callbacks.OutcomeFailed},
	} {
		for _, form := range allForms {
			for _, first := range []bool{true, false} {
				t.Run(name+"/"+form+map[bool]string{true: "/ours first", false: "/ours last"}[first], func(t *testing.T) {
					rec := &callbackstest.Recorder{}
					cache := plainPlugin(t, plugin.Config{Name: "cache", BeforeToolCallback: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
						return tc.answer, tc.err
					}})
					tl := callbackstest.Tool("lookup")
					root, plugins := attached(t, callbacks.New(tc.guard, rec.Guard()), form, llmagent.Config{
						Tools: []tool.Tool{tl},
						Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done")),
					})
					if first {
						plugins = append(plugins, cache)
					} else {
						plugins = append([]*plugin.Plugin{cache}, plugins...)
					}
					l := launch(t, root, agent.StreamingModeNone, plugins...)
					require.Empty(t, l.errs)
					require.Empty(t, tl.Calls())
					require.Equal(t, []map[string]any{tc.want}, responses(l.stored(t)))
					told := rec.Events(callbacks.StepTool)
					require.Len(t, told, 1, "told once")
					require.Equal(t, tc.outcome, told[0].Outcome)
				})
			}
		}
	}
}

// What is left of fact 13: an answer in the model's place meets no hook of ours.
func TestTrap13AForeignModelAnswerIsDocumented(t *testing.T) {
	rec := &callbackstest.Recorder{}
	cache := plainPlugin(t, plugin.Config{Name: "cache", BeforeModelCallback: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		return say("from the cache"), nil
	}})
	root, _ := attached(t, callbacks.New(allow("a"), rec.Guard()), "agent", llmagent.Config{Model: callbackstest.Script()})
	l := launch(t, root, agent.StreamingModeNone, cache)
	require.Equal(t, []string{"from the cache"}, texts(l.events))
	require.Empty(t, rec.Events(callbacks.StepModel))
	documented(t, "doc.go", "A plugin of somebody else's that answers in the model's place leaves the model hooks unrun")
}

// P7: ADK takes an error of before_tool for a failure of the tool, and its retry
// plugin prints the arguments into the history and asks for another try.
func TestP07ADenialIsNotRetried(t *testing.T) {
	deny := callbacks.Guard{Name: "deny", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no", "not allowed")
	}}
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"password": "hunter2"}), callbackstest.Say("done"))
			root, plugins := attached(t, callbacks.New(deny), form, llmagent.Config{Tools: []tool.Tool{callbackstest.Tool("lookup")}, Model: m})
			l := launch(t, root, agent.StreamingModeNone, append(plugins, retryandreflect.MustNew())...)
			require.Equal(t, []map[string]any{{"error": "not allowed"}}, responses(l.stored(t)))
			require.Equal(t, 2, m.Calls())
		})
	}
}
