// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"iter"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// Arguments that are no object are an error for both kinds of tool, which then don't run.
func TestArgumentsThatAreNoObject(t *testing.T) {
	function, streaming := callbackstest.Tool("lookup"), callbackstest.StreamingTool("watch", "a")
	cfg, err := callbacks.New(allow("a")).Attach(llmagent.Config{Name: "a", Tools: []tool.Tool{function, streaming}})
	require.NoError(t, err)
	ctx := callbackstest.Context(t)
	_, err = cfg.Tools[0].(interface {
		Run(ctx agent.Context, args any) (map[string]any, error)
	}).Run(ctx, "x")
	require.ErrorContains(t, err, "arguments are string, not an object")
	n := 0
	for _, err := range cfg.Tools[1].(interface {
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	}).RunStream(ctx, []any{1}) {
		n++
		require.ErrorContains(t, err, "arguments are []interface {}, not an object")
	}
	require.Equal(t, 1, n)
	require.Empty(t, function.Calls())
	require.Empty(t, streaming.Calls())
}

// A stream that never ends is cut off, and the model reads that the tool failed.
func TestAStreamWithoutEnd(t *testing.T) {
	endless := endlessTool{callbackstest.StreamingTool("watch"), new(int)}
	rec := &callbackstest.Recorder{}
	cfg, err := callbacks.New(rec.Guard()).Attach(llmagent.Config{Name: "a", Tools: []tool.Tool{endless}})
	require.NoError(t, err)
	var errs []string
	for chunk, err := range cfg.Tools[0].(interface {
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	}).RunStream(callbackstest.Context(t), map[string]any{}) {
		require.Empty(t, chunk)
		errs = append(errs, err.Error())
	}
	require.Equal(t, []string{"tool failed: watch"}, errs)
	require.Equal(t, 17, *endless.chunks)
	require.ErrorContains(t, rec.Events(callbacks.StepTool)[0].Err, "watch streams more than")
}

// endlessTool streams a mebibyte at a time, for as long as somebody listens.
type endlessTool struct {
	*callbackstest.FakeStreamingTool
	chunks *int
}

func (e endlessTool) RunStream(agent.Context, any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for more := true; more; more = yield(strings.Repeat("x", 1<<20), nil) {
			*e.chunks++
		}
	}
}

// A refusal inside an agent used as a tool is told outside under the name of its guard.
func TestARefusedAgentToolNamesTheGuard(t *testing.T) {
	for _, hook := range []inspect.Hook{inspect.BeforeAgent, inspect.BeforeModel, inspect.AfterModel} {
		g := refusing(hook, func() error { return callbacks.End("enough", "enough") })
		g.Name = "limit"
		inner := build(t, callbacks.New(g), llmagent.Config{Name: "inner", Description: "x", Model: callbackstest.Script(callbackstest.Say("answer"))})
		rec := &callbackstest.Recorder{}
		m := callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "x"}), callbackstest.Say("answer"))
		require.NoError(t, play(t, build(t, callbacks.New(rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{agenttool.New(inner, nil)}}), agent.StreamingModeNone).err)
		told := rec.Events(callbacks.StepTool)
		require.Len(t, told, 1)
		require.Equal(t, callbacks.OutcomeRefused, told[0].Outcome)
		require.Equal(t, "limit", told[0].Guard, hook)
	}
}
