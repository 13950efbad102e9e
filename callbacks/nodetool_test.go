// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
)

// toolGraph is a graph that hands arguments to a tool and the tool's result to a last node.
func toolGraph(t *testing.T, c *callbacks.Chain, tl tool.Tool, got *[]any) agent.Agent {
	t.Helper()
	args := function("args", func(agent.Context, any) (any, error) { return map[string]any{"id": "7"}, nil })
	guarded, err := c.Tool(tl)
	require.NoError(t, err)
	n, err := workflow.NewNamedToolNode("call", guarded, workflow.NodeConfig{})
	require.NoError(t, err)
	last := function("last", func(_ agent.Context, in any) (any, error) { *got = append(*got, in); return nil, nil })
	return guardedGraph(t, c, workflow.Chain(workflow.Start, args, n, last))
}

// A tool node passes the tool hooks, once, and its refusal ends it with an error.
func TestAToolNodePassesTheToolHooks(t *testing.T) {
	only := beforeTool(func(_ agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
		if tl.Name() != "lookup" {
			return nil, callbacks.Deny(codes.ToolNotAllowed, "not allowed")
		}
		return nil, nil
	})
	for _, form := range []string{"agent", "plugin"} {
		for name, allowed := range map[string]bool{"lookup": true, "delete_supplier": false} {
			t.Run(form+"/"+name, func(t *testing.T) {
				rec := &callbackstest.Recorder{}
				chain := callbacks.New(only, rec.Guard())
				_, plugins := attached(t, chain, form, llmagent.Config{Name: "unused", Model: callbackstest.Script()})
				var got []any
				tl := callbackstest.Tool(name)
				run := launch(t, toolGraph(t, chain, tl, &got), agent.StreamingModeNone, plugins...)
				steps := rec.Events(callbacks.StepTool)
				require.Len(t, steps, 1)
				require.Equal(t, "graph", steps[0].Agent)
				require.Equal(t, map[string]any{"id": "7"}, steps[0].Args)
				if allowed {
					require.Empty(t, run.errs)
					require.Equal(t, []map[string]any{{"id": "7"}}, tl.Calls())
					require.Equal(t, []any{map[string]any{"result": "ok"}}, got)
					return
				}
				require.Equal(t, callbacks.OutcomeRefused, steps[0].Outcome)
				require.Empty(t, tl.Calls())
				require.Empty(t, got)
				require.Len(t, run.errs, 1)
				require.ErrorIs(t, run.errs[0], callbacks.ErrDenied)
				require.Contains(t, run.errs[0].Error(), "not allowed")
			})
		}
	}
}

// What ends the run of a tool node, whichever hook decides, and what the next node gets.
func TestWhatAToolNodeEndsWith(t *testing.T) {
	secret := errors.New("dial postgres://admin:hunter2@db")
	after := func(f func(error) (map[string]any, error)) callbacks.Guard {
		return callbacks.Guard{Name: "after", AfterTool: func(_ agent.Context, _ tool.Tool, _, _ map[string]any, err error) (map[string]any, error) {
			return f(err)
		}}
	}
	onError := func(f func() (map[string]any, error)) callbacks.Guard {
		return callbacks.Guard{Name: "on error", OnToolError: func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) { return f() }}
	}
	ok := map[string]any{"result": "ok"}
	for name, tc := range map[string]struct {
		guard callbacks.Guard
		err   error
		want  any
		is    error
	}{
		"allowed":           {allow("a"), nil, ok, nil},
		"replaced":          {after(func(error) (map[string]any, error) { return map[string]any{"result": "masked"}, nil }), nil, map[string]any{"result": "masked"}, nil},
		"refused after":     {after(func(error) (map[string]any, error) { return nil, callbacks.End("no", "no") }), nil, nil, callbacks.ErrEnded},
		"stopped after":     {after(func(error) (map[string]any, error) { return nil, callbacks.Stop("no", "no") }), nil, nil, callbacks.ErrStopped},
		"failed by a guard": {after(func(error) (map[string]any, error) { return nil, callbacks.Fail("no", "no") }), nil, nil, callbacks.ErrFailed},
		"failed":            {allow("a"), secret, nil, secret},
		"canceled":          {allow("a"), fmt.Errorf("%w: %w", secret, context.Canceled), nil, secret},
		"recovered":         {onError(func() (map[string]any, error) { return ok, nil }), secret, ok, nil},
		"refused on error":  {onError(func() (map[string]any, error) { return nil, callbacks.Deny("no", "no") }), secret, nil, callbacks.ErrDenied},
		"asks": {beforeTool(func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			return map[string]any{"status": "waits"}, ctx.RequestConfirmation("sure?", nil)
		}), nil, nil, tool.ErrConfirmationRequired},
		"panics": {beforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { panic("boom") }), nil, nil, callbacks.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			var got []any
			run := launch(t, toolGraph(t, callbacks.New(tc.guard), callbackstest.ToolReturning("lookup", ok, tc.err), &got), agent.StreamingModeNone)
			if tc.is == nil {
				require.Empty(t, run.errs)
				require.Equal(t, []any{tc.want}, got)
				return
			}
			require.Empty(t, got)
			require.Len(t, run.errs, 1)
			require.ErrorIs(t, run.errs[0], tc.is)
			require.NotErrorIs(t, run.errs[0], context.Canceled)
			require.NotContains(t, run.errs[0].Error(), "hunter2")
		})
	}
}

// On an agent the same tool tells the model what any tool of a chain does, and its hooks run
// once where that chain is attached too.
func TestAToolOfAChainOnAnAgent(t *testing.T) {
	for name, wrap := range map[string]func(*callbacks.Chain, llmagent.Config) (llmagent.Config, error){
		"bare": func(_ *callbacks.Chain, cfg llmagent.Config) (llmagent.Config, error) { return cfg, nil },
		"attached": func(_ *callbacks.Chain, cfg llmagent.Config) (llmagent.Config, error) {
			return callbacks.New(allow("other")).Attach(cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			chain := callbacks.New(beforeTool(func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
				if args["id"] == "13" {
					return nil, callbacks.Deny("unlucky", "not thirteen").WithCause(errors.New("hunter2"))
				}
				return nil, nil
			}), rec.Guard())
			guarded, err := chain.Tool(callbackstest.ToolReturning("lookup", nil, errors.New("hunter2")))
			require.NoError(t, err)
			again, err := chain.Tool(guarded)
			require.NoError(t, err)
			m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"id": "13"}), callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
			cfg, err := wrap(chain, llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{again}})
			require.NoError(t, err)
			run := launch(t, plainAgent(t, cfg), agent.StreamingModeNone)
			require.Empty(t, run.errs)
			require.Equal(t, []map[string]any{{"error": "not thirteen"}, {"error": "tool failed: lookup"}}, responsesOf(run))
			require.Len(t, rec.Events(callbacks.StepTool), 2)
		})
	}
}

func responsesOf(l *launched) []map[string]any {
	var out []map[string]any
	for _, r := range responses(l.events) {
		if err, ok := r["error"].(error); ok {
			r = map[string]any{"error": err.Error()}
		}
		out = append(out, r)
	}
	return out
}

// What ADK does not run here can't be covered, nor can a chain with an error.
func TestAToolThatCantBeCoveredIsRefused(t *testing.T) {
	_, err := callbacks.New().Tool(named("search"))
	require.ErrorIs(t, err, callbacks.ErrUncovered)
	_, err = callbacks.New(callbacks.Guard{}).Tool(callbackstest.Tool("lookup"))
	require.ErrorContains(t, err, "no name")
	_, err = callbacks.New().Tool(nil)
	require.Error(t, err)
	inside, err := (*callbacks.Chain)(nil).Tool(callbackstest.Tool("lookup"))
	require.NoError(t, err)
	require.True(t, isFunction(inside))
}

// ADK's own gate fails a tool node: nothing pauses there.
func TestAToolThatNeedsAConfirmationFailsItsNode(t *testing.T) {
	var ran atomic.Int32
	gated, err := functiontool.New(functiontool.Config{Name: "pay", Description: "Pays.", RequireConfirmation: true},
		func(agent.Context, struct {
			ID string `json:"id"`
		},
		) (map[string]any, error) {
			ran.Add(1)
			return map[string]any{}, nil
		})
	require.NoError(t, err)
	var got []any
	run := launch(t, toolGraph(t, callbacks.New(allow("a")), gated, &got), agent.StreamingModeNone)
	require.Len(t, run.errs, 1)
	require.ErrorIs(t, run.errs[0], tool.ErrConfirmationRequired)
	require.Zero(t, ran.Load())
	require.Empty(t, got)
}
