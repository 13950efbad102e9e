// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

var errDSN = errors.New("dial postgres://admin:hunter2@db: connection refused")

func TestBusinessErrorsMatrix(t *testing.T) {
	needsID := &genai.FunctionDeclaration{Name: "lookup", ParametersJsonSchema: &jsonschema.Schema{Type: "object", Required: []string{"id"}}}
	for name, tc := range map[string]struct {
		tool  func() tool.Tool
		reads string
		fails bool
	}{
		"business": {func() tool.Tool {
			return callbackstest.ToolReturning("lookup", nil, guards.Business(errors.New("no such document")))
		}, "no such document", false},
		"business, wrapped": {func() tool.Tool {
			return callbackstest.ToolReturning("lookup", nil, fmt.Errorf("x: %w", guards.Business(errors.New("no such document"))))
		}, "no such document", false},
		"missing argument":   {func() tool.Tool { return callbackstest.ToolReturning("lookup", nil, errDSN).Declared(needsID) }, "missing argument: id", false},
		"any other":          {func() tool.Tool { return callbackstest.ToolReturning("lookup", nil, errDSN) }, "tool failed: lookup", true},
		"any other, streams": {func() tool.Tool { return callbackstest.StreamingTool("lookup", "x").Failing(errDSN) }, "tool failed: lookup", true},
		"a panic": {func() tool.Tool {
			return callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) { panic(errDSN) })
		}, "tool failed: lookup", true},
		"unknown tool": {func() tool.Tool { return callbackstest.Tool("other") }, "unknown tool: lookup", false},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					return []callbacks.Guard{callbacks.ForAgents(guards.BusinessErrors(), "guarded")}
				},
				Tools: func() []tool.Tool { return []tool.Tool{tc.tool()} },
				Model: func() *callbackstest.Model {
					return callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
				},
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					inner := tr.Topology != callbackstest.TopologyAgentTool
					if tc.fails {
						require.Equal(t, 1, tr.Model.Calls(), "no further turn")
						if inner {
							require.ErrorIs(t, tr.Err, callbacks.ErrFailed)
							require.ErrorIs(t, tr.Err, errDSN)
							require.NotContains(t, tr.Err.Error(), "hunter2")
						}
						var cause error
						for _, ev := range tr.Told {
							if ev.Step == callbacks.StepTool && ev.Guard == "business_errors" {
								cause = ev.Err
								require.Equal(t, callbacks.OutcomeFailed, ev.Outcome)
							}
						}
						require.ErrorIs(t, cause, errDSN)
					} else {
						require.NoError(t, tr.Err)
						require.Equal(t, 2, tr.Model.Calls())
					}
					if inner {
						require.Equal(t, []map[string]any{{"error": tc.reads}}, responses(tr.Stored), "the call is answered")
					}
				},
			}.Run(t)
		})
	}
}

func TestBusinessNil(t *testing.T) {
	require.NoError(t, guards.Business(nil))
	require.ErrorIs(t, guards.Business(io.EOF), io.EOF)
}

// Every attempt draws on the same budget, and the last failure is the gap's.
func TestContainAttempts(t *testing.T) {
	for name, tc := range map[string]struct {
		failures, attempts, budget int
		gaps, calls                int
		says                       string
	}{
		"the second works":        {1, 2, 6, 0, 2, "answer"},
		"the third works":         {2, 3, 6, 0, 3, "answer"},
		"none works":              {9, 2, 6, 1, 2, ""},
		"one attempt":             {1, 0, 6, 1, 1, ""},
		"the budget is used up":   {9, 5, 3, 0, 3, "[guard] Model call budget exceeded: agent ended."},
		"the budget just reaches": {2, 5, 3, 0, 3, "answer"},
	} {
		t.Run(name, func(t *testing.T) {
			turns := make([]callbackstest.Turn, tc.failures, tc.failures+1)
			for i := range turns {
				turns[i] = callbackstest.Fail(fmt.Errorf("failure %d", i+1))
			}
			m := callbackstest.Script(append(turns, callbackstest.Say("answer"))...)
			a, err := callbacks.New(guards.ContainOptions{Attempts: tc.attempts}.Guard(), guards.CallBudget(tc.budget)).NewAgent(llmagent.Config{Name: "a", Model: m})
			require.NoError(t, err)
			out := play(t, sequence(t, a))
			require.NoError(t, out.err)
			require.Equal(t, tc.calls, m.Calls())
			gaps := guards.Records(out.run.Context(t.Context())).Gaps()
			require.Len(t, gaps, tc.gaps)
			if tc.gaps > 0 {
				require.Equal(t, fmt.Sprintf("failure %d", max(1, tc.attempts)), gaps[0].Err.Error())
				require.Equal(t, max(1, tc.attempts), gaps[0].Attempts)
			}
			if tc.says != "" {
				require.Contains(t, texts(out.events), tc.says)
			}
		})
	}
	require.Error(t, callbacks.New(guards.ContainOptions{Attempts: -1}.Guard()).Err())
}

// An attempt after a failed tool starts clean; a stopped Run gets none.
func TestContainAttemptsAfterAToolFailure(t *testing.T) {
	n := 0
	lookup := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
		if n++; n == 1 {
			return nil, errDSN
		}
		return map[string]any{"result": "ok"}, nil
	})
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
	a, err := callbacks.New(guards.ContainOptions{Attempts: 2}.Guard(), guards.BusinessErrors()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{lookup}})
	require.NoError(t, err)
	out := play(t, sequence(t, a))
	require.NoError(t, out.err)
	require.Empty(t, m.Faults())
	require.Equal(t, []map[string]any{{"error": "tool failed: lookup"}, {"result": "ok"}}, responses(out.events))
	require.Empty(t, guards.Records(out.run.Context(t.Context())).Gaps())

	failing := callbackstest.Script(callbackstest.Turn{Do: func(ctx context.Context, _ *model.LLMRequest) callbackstest.Turn {
		callbacks.RunOf(ctx).Stop(callbacks.Stop("enough", "enough"))
		return callbackstest.Fail(errDSN)
	}}).Repeat()
	a, err = callbacks.New(guards.ContainOptions{Attempts: 5}.Guard()).NewAgent(llmagent.Config{Name: "a", Model: failing})
	require.NoError(t, err)
	require.NoError(t, play(t, sequence(t, a)).err)
	require.Equal(t, 1, failing.Calls())
}
