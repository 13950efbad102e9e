// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

var findingSchema = map[string]any{
	"type": "object", "required": []string{"summary", "confidence"}, "additionalProperties": false,
	"properties": map[string]any{
		"summary":    map[string]any{"type": "string", "minLength": 5},
		"confidence": map[string]any{"enum": []string{"high", "low"}},
		"pages":      map[string]any{"type": "array", "items": map[string]any{"type": "integer"}},
	},
}

func finishTools() []tool.Tool {
	return []tool.Tool{callbackstest.Tool("lookup"), callbackstest.Tool("report")}
}

func TestFinishMatrix(t *testing.T) {
	good := callbackstest.Call("report", map[string]any{"summary": "all is well", "confidence": "high"})
	bad := callbackstest.Call("report", map[string]any{"summary": "ok", "confidence": "maybe", "extra": 1, "pages": []any{"one"}})
	look := callbackstest.Call("lookup", nil)
	landing := func() []callbacks.Guard { return []callbacks.Guard{guards.CallBudget(2), guards.Landing()} }
	type want struct {
		calls, reported int
		fails           error
	}
	for name, tc := range map[string]struct {
		turns  []callbackstest.Turn
		limits []callbacks.Guard
		want   want
	}{
		"at once":                         {[]callbackstest.Turn{good}, nil, want{1, 1, nil}},
		"after a look":                    {[]callbackstest.Turn{look, good}, nil, want{2, 1, nil}},
		"prose, then the call":            {[]callbackstest.Turn{look, callbackstest.Say("all is well"), good}, nil, want{3, 1, nil}},
		"streamed prose, then the call":   {[]callbackstest.Turn{callbackstest.Stream("all", " is well"), good}, nil, want{2, 1, nil}},
		"prose, a look, prose":            {[]callbackstest.Turn{callbackstest.Say("a"), look, callbackstest.Say("b")}, nil, want{3, 0, guards.ErrNotFinished}},
		"prose twice":                     {[]callbackstest.Turn{callbackstest.Say("a"), callbackstest.Say("b")}, nil, want{2, 0, guards.ErrNotFinished}},
		"nothing twice":                   {[]callbackstest.Turn{{Parts: []*genai.Part{}}, {Parts: []*genai.Part{}}}, nil, want{2, 0, guards.ErrNotFinished}},
		"only thoughts, then the call":    {[]callbackstest.Turn{{Parts: []*genai.Part{{Text: "hmm", Thought: true}}}, good}, nil, want{2, 1, nil}},
		"invalid, then valid":             {[]callbackstest.Turn{bad, good}, nil, want{2, 1, nil}},
		"invalid twice":                   {[]callbackstest.Turn{bad, bad, good}, nil, want{2, 0, guards.ErrNotFinished}},
		"no correction on the last call":  {[]callbackstest.Turn{look, bad}, landing(), want{2, 0, guards.ErrNotFinished}},
		"another call on the last call":   {[]callbackstest.Turn{look, look}, landing(), want{2, 0, guards.ErrNotFinished}},
		"no tool's call on the last call": {[]callbackstest.Turn{look, callbackstest.Call("no_such_tool", nil)}, landing(), want{2, 0, guards.ErrNotFinished}},
		"text beside another call":        {[]callbackstest.Turn{look, callbackstest.Calls(callbackstest.Say("all is well"), look)}, landing(), want{2, 0, guards.ErrNotFinished}},
		"no reminder on the last call":    {[]callbackstest.Turn{look, callbackstest.Say("a")}, landing(), want{2, 0, guards.ErrNotFinished}},
		"landing through it":              {[]callbackstest.Turn{look, good}, landing(), want{2, 1, nil}},
		"a valid finish beside a look":    {[]callbackstest.Turn{callbackstest.Calls(look, good)}, nil, want{1, 1, nil}},
		"the reminder is a call like any": {[]callbackstest.Turn{callbackstest.Say("a"), good}, []callbacks.Guard{guards.CallBudget(1)}, want{1, 0, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					out := []callbacks.Guard{callbacks.ForAgents(guards.Finish("report", findingSchema), "guarded")}
					for _, g := range tc.limits {
						out = append(out, callbacks.ForAgents(g, "guarded"))
					}
					return out
				},
				Tools:   finishTools,
				Model:   func() *callbackstest.Model { return callbackstest.Script(tc.turns...) },
				Refused: func(c callbackstest.Cell) bool { return c.Form == callbackstest.FormPlugin },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					if tc.want.fails == nil || tr.Topology == callbackstest.TopologyAgentTool {
						require.NoError(t, tr.Err)
					} else {
						require.ErrorIs(t, tr.Err, tc.want.fails)
					}
					require.Equal(t, tc.want.calls, tr.Model.Calls())
					require.Len(t, tr.Tools[1].(*callbackstest.FakeTool).Calls(), tc.want.reported)
					for _, req := range tr.Model.Requests() {
						require.Equal(t, genai.FunctionCallingConfigModeAny, req.Config.ToolConfig.FunctionCallingConfig.Mode)
					}
				},
			}.Run(t)
		})
	}
}

// What the model reads of a bad finish: three errors at most, by place.
func TestFinishSaysWhatIsWrong(t *testing.T) {
	m := callbackstest.Script(
		callbackstest.Call("report", map[string]any{"summary": "ok", "confidence": "maybe", "extra": 1, "pages": []any{"one", 2.0}}),
		callbackstest.Call("report", map[string]any{"summary": "all is well", "confidence": "low"}))
	rec := &callbackstest.Recorder{}
	a, err := callbacks.New(guards.Finish("report", findingSchema), rec.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: finishTools()})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Equal(t, "report refused, correct it and call it again: /: unexpected additional properties [\"extra\"]; /confidence: enum: maybe does not equal any of: [high low]; /pages/0: type: one has type \"string\", want \"integer\"", responses(out.events)[0]["error"])
	ev := rec.Events(callbacks.StepTool)[0]
	require.Equal(t, codes.InvalidFinish, ev.Code)
	require.Equal(t, "4 errors, at /, /confidence, /pages/0", ev.Reason, "no value of an argument")
}

// The reminder carries what the model said, so that its thoughts' signatures survive.
func TestFinishReminds(t *testing.T) {
	prose := &genai.Part{Text: "all is well", ThoughtSignature: []byte{1, 2}}
	m := callbackstest.Script(callbackstest.Turn{Parts: []*genai.Part{prose}}, callbackstest.Call("report", map[string]any{"summary": "all is well", "confidence": "low"}))
	a, err := callbacks.New(guards.Finish("report", nil)).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: finishTools()})
	require.NoError(t, err)
	require.NoError(t, play(t, a).err)
	again := m.Requests()[1].Contents
	require.Equal(t, []byte{1, 2}, again[len(again)-2].Parts[0].ThoughtSignature)
	require.Equal(t, "Text is no answer here. Call report, or another tool if you still need one.", again[len(again)-1].Parts[0].Text)
}

// Without a schema the tool's own refusals count the same.
func TestFinishLeavesTheCheckToTheTool(t *testing.T) {
	for name, tc := range map[string]struct {
		refusals int
		fails    bool
	}{"once": {1, false}, "twice": {2, true}} {
		t.Run(name, func(t *testing.T) {
			n := 0
			report := callbackstest.ToolFunc("report", func(agent.Context, map[string]any) (map[string]any, error) {
				if n++; n <= tc.refusals {
					return nil, guards.Business(errors.New("unknown evidence"))
				}
				return map[string]any{"result": "ok"}, nil
			})
			m := callbackstest.Script(callbackstest.Call("report", nil)).Repeat()
			a, err := callbacks.New(guards.Finish("report", nil), guards.CallBudget(6)).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{report}})
			require.NoError(t, err)
			out := play(t, a)
			require.Equal(t, 2, m.Calls())
			if tc.fails {
				require.ErrorIs(t, out.err, callbacks.ErrFailed)
				return
			}
			require.NoError(t, out.err)
			require.Equal(t, []map[string]any{{"error": "unknown evidence"}, {"result": "ok"}}, responses(out.events))
		})
	}
}

// A tool made of a Go struct says "" where it has no error: that is an accepted finish.
func TestFinishTakesAnEmptyErrorForNone(t *testing.T) {
	type verdict struct {
		Error string `json:"error"`
	}
	for _, limits := range [][]callbacks.Guard{nil, {guards.CallBudget(1), guards.Landing()}} {
		report, err := functiontool.New(functiontool.Config{Name: "report", Description: "Ends the work."}, func(agent.Context, struct{}) (verdict, error) { return verdict{}, nil })
		require.NoError(t, err)
		m := callbackstest.Script(callbackstest.Call("report", map[string]any{})).Repeat()
		a, err := callbacks.New(append([]callbacks.Guard{guards.Finish("report", nil)}, limits...)...).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{report}})
		require.NoError(t, err)
		out := play(t, a)
		require.NoError(t, out.err)
		require.Equal(t, 1, m.Calls())
		require.Equal(t, []map[string]any{{"error": ""}}, responses(out.events))
	}
}

// With Contain, a branch that does not finish is a gap; each attempt starts afresh but
// on the same budget.
func TestFinishFailsIntoAGap(t *testing.T) {
	m := callbackstest.Script(callbackstest.Say("prose")).Repeat()
	a, err := callbacks.New(guards.ContainOptions{Attempts: 2}.Guard(), guards.Finish("report", nil), guards.CallBudget(3)).
		NewAgent(llmagent.Config{Name: "a", Model: m, Tools: finishTools()})
	require.NoError(t, err)
	sibling, err := llmagent.New(llmagent.Config{Name: "b", Model: callbackstest.Script(callbackstest.Say("mine"))})
	require.NoError(t, err)
	out := play(t, parallel(t, a, sibling))
	require.NoError(t, out.err)
	require.Contains(t, texts(out.events), "mine")
	require.Equal(t, 3, m.Calls(), "two in the first attempt, one in the second")

	m = callbackstest.Script(callbackstest.Say("prose")).Repeat()
	a, err = callbacks.New(guards.ContainOptions{Attempts: 2}.Guard(), guards.Finish("report", nil)).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: finishTools()})
	require.NoError(t, err)
	out = play(t, sequence(t, a))
	require.NoError(t, out.err)
	require.Equal(t, 4, m.Calls())
	gaps := guards.Records(out.run.Context(t.Context())).Gaps()
	require.Len(t, gaps, 1)
	require.Equal(t, 2, gaps[0].Attempts)
	var missing *guards.NotFinishedError
	require.ErrorAs(t, gaps[0].Err, &missing)
	require.Equal(t, guards.NotFinishedError{Agent: "a", Tool: "report"}, *missing)
}

func TestFinishNonsense(t *testing.T) {
	for name, g := range map[string]callbacks.Guard{
		"no tool":            guards.Finish(" ", nil),
		"not a schema":       guards.Finish("report", map[string]any{"type": "thing"}),
		"not JSON":           guards.Finish("report", math.NaN()),
		"a reference to out": guards.Finish("report", map[string]any{"$ref": "file:///etc/passwd"}),
	} {
		require.Error(t, callbacks.New(g).Err(), name)
	}
	require.ErrorIs(t, callbacks.New(guards.CallBudget(2), guards.Finish("report", nil)).Err(), callbacks.ErrOrder)
	_, err := callbacks.New(guards.Finish("reprot", nil)).NewAgent(llmagent.Config{Name: "a", Tools: finishTools()})
	require.ErrorIs(t, err, callbacks.ErrNoSuchTool)

	res := callbackstest.BeforeTool(t, guards.Finish("report", findingSchema), callbackstest.Tool("report"), map[string]any{"summary": math.NaN()})
	require.Equal(t, map[string]any{"error": "report refused, correct it and call it again: /: not JSON"}, res)
	res = callbackstest.BeforeTool(t, guards.Finish("report", findingSchema), callbackstest.Tool("report"), nil)
	require.Contains(t, res["error"], `missing properties: ["summary" "confidence"]`)
}

// What the agent allows the model to call stays so.
func TestFinishKeepsTheAllowedNames(t *testing.T) {
	for name, tc := range map[string]struct {
		before *genai.ToolConfig
		want   []string
	}{
		"none":           {nil, nil},
		"no calling set": {&genai.ToolConfig{}, nil},
		"names":          {&genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{AllowedFunctionNames: []string{"report"}}}, []string{"report"}},
	} {
		t.Run(name, func(t *testing.T) {
			req := &model.LLMRequest{Config: &genai.GenerateContentConfig{ToolConfig: tc.before}, Tools: map[string]any{"report": nil}}
			require.Nil(t, callbackstest.BeforeModel(t, guards.Finish("report", nil), req))
			calling := req.Config.ToolConfig.FunctionCallingConfig
			require.Equal(t, genai.FunctionCallingConfigModeAny, calling.Mode)
			require.Equal(t, tc.want, calling.AllowedFunctionNames)
		})
	}
}
