// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks/answer"

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

// oddModel responds the same each time, in a stream after a chunk of the same content.
type oddModel struct {
	resp  model.LLMResponse
	calls int
}

func (*oddModel) Name() string { return "odd" }

func (m *oddModel) GenerateContent(_ context.Context, _ *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.calls++
		if stream {
			chunk := &model.LLMResponse{Content: m.resp.Content, Partial: true}
			if !yield(chunk, nil) {
				return
			}
		}
		resp := m.resp
		yield(&resp, nil)
	}
}

// The table of docs/guarantees.md, cell by cell.
func TestAResponseThatIsNoAnswerIsAFailureEverywhere(t *testing.T) {
	content := func(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleModel, Parts: parts} }
	said := content(genai.NewPartFromText("half an ans"))
	for name, tc := range map[string]struct {
		resp   model.LLMResponse
		fault  answer.Fault // empty: it is an answer
		status callbacks.Status
		retry  bool // another attempt, where no chunk was handed out
		shown  bool // a stream hands a chunk out first
	}{
		"an answer":                      {resp: model.LLMResponse{Content: said, FinishReason: genai.FinishReasonStop}, status: callbacks.StatusDone},
		"an answer, adapter of no words": {resp: model.LLMResponse{Content: said}, status: callbacks.StatusDone},
		"an answer, reason hidden":       {resp: model.LLMResponse{Content: said, FinishReason: genai.FinishReasonUnspecified}, status: callbacks.StatusUnknown},
		"error code SAFETY":              {resp: model.LLMResponse{ErrorCode: "SAFETY"}, fault: answer.Blocked, status: callbacks.StatusFailed},
		"error code RESOURCE_EXHAUSTED":  {resp: model.LLMResponse{ErrorCode: "RESOURCE_EXHAUSTED"}, fault: answer.Failed, status: callbacks.StatusFailed, retry: true},
		"error code made up":             {resp: model.LLMResponse{ErrorCode: "E42"}, fault: answer.Failed, status: callbacks.StatusFailed},
		"error code beside text":         {resp: model.LLMResponse{ErrorCode: "PROHIBITED_CONTENT", Content: said}, fault: answer.Blocked, status: callbacks.StatusFailed, shown: true},
		"no content":                     {resp: model.LLMResponse{}, fault: answer.Empty, status: callbacks.StatusUnknown, retry: true},
		"no content, STOP":               {resp: model.LLMResponse{FinishReason: genai.FinishReasonStop}, fault: answer.Empty, status: callbacks.StatusFailed, retry: true},
		"no parts":                       {resp: model.LLMResponse{Content: content(), FinishReason: genai.FinishReasonStop}, fault: answer.Empty, status: callbacks.StatusFailed, retry: true},
		"no parts, reason hidden":        {resp: model.LLMResponse{Content: content(), FinishReason: genai.FinishReasonUnspecified}, fault: answer.Empty, status: callbacks.StatusUnknown, retry: true},
		"an empty part":                  {resp: model.LLMResponse{Content: content(&genai.Part{}), FinishReason: genai.FinishReasonStop}, fault: answer.Empty, status: callbacks.StatusFailed, retry: true},
		"blank text":                     {resp: model.LLMResponse{Content: content(genai.NewPartFromText(" \n")), FinishReason: genai.FinishReasonStop}, fault: answer.Empty, status: callbacks.StatusFailed, retry: true, shown: true},
		"MAX_TOKENS":                     {resp: model.LLMResponse{Content: said, FinishReason: genai.FinishReasonMaxTokens}, fault: answer.Cut, status: callbacks.StatusFailed, shown: true},
		"MAX_TOKENS, no content":         {resp: model.LLMResponse{ErrorCode: "MAX_TOKENS", FinishReason: genai.FinishReasonMaxTokens}, fault: answer.Cut, status: callbacks.StatusFailed},
		"SAFETY":                         {resp: model.LLMResponse{Content: said, FinishReason: genai.FinishReasonSafety}, fault: answer.Blocked, status: callbacks.StatusFailed, shown: true},
		"OTHER":                          {resp: model.LLMResponse{Content: said, FinishReason: genai.FinishReasonOther}, fault: answer.Failed, status: callbacks.StatusFailed, retry: true, shown: true},
	} {
		for _, streaming := range []bool{false, true} {
			lost := streaming && tc.shown // a chunk is out: no other attempt, no other model
			t.Run(fmt.Sprint(name, " streaming=", streaming), func(t *testing.T) {
				var want *answer.Error
				require.Equal(t, tc.fault != "", errors.As(answer.Check(&tc.resp), &want))
				if want != nil {
					require.Equal(t, want.Fault, tc.fault)
					require.Equal(t, tc.fault == answer.Empty, errors.Is(want, answer.ErrNone))
				}
				for _, form := range forms {
					rec := &callbackstest.Recorder{}
					build, p := inForm(t, form, callbacks.New(rec.Guard()))
					follower := callbackstest.Script(callbackstest.Say("ok"))
					shapes := map[string]agent.Agent{
						"alone":           build(llmagent.Config{Name: "a", Model: &oddModel{resp: tc.resp}}),
						"with a follower": sequence(t, build(llmagent.Config{Name: "a", Model: &oddModel{resp: tc.resp}}), build(llmagent.Config{Name: "b", Model: follower})),
						"in parallel":     parallel(t, build(llmagent.Config{Name: "a", Model: &oddModel{resp: tc.resp}}), build(llmagent.Config{Name: "b", Model: callbackstest.Script(callbackstest.Say("ok"))})),
					}
					for shape, root := range shapes {
						out := playWith(t, root, p, streaming)
						require.NoError(t, out.err)
						require.Equal(t, tc.status, out.run.Outcome().Status, "%s as %s", shape, form)
						if tc.status != callbacks.StatusDone {
							require.Equal(t, "a", out.run.Outcome().Agent)
						}
						if tc.fault != "" {
							require.ErrorAs(t, out.run.Outcome().Err, &want)
						}
					}
					for _, ev := range rec.Events(callbacks.StepModel) {
						require.Equal(t, ev.Agent == "a" && tc.fault != "", ev.Outcome == callbacks.OutcomeFailed)
					}
				}
				t.Run("gaps", func(t *testing.T) {
					m := &oddModel{resp: tc.resp}
					ctx, run := callbacks.Start(t.Context())
					defer run.Close()
					out := playIn(ctx, t, run, sequence(t, newAgent(t, "a", m, nil, guards.ContainOptions{Attempts: 2}.Guard())), nil, streaming)
					require.NoError(t, out.err)
					gaps := guards.Records(ctx).Gaps()
					if tc.fault == "" {
						require.Empty(t, gaps)
						require.Equal(t, tc.status, run.Outcome().Status)
						return
					}
					require.Len(t, gaps, 1)
					require.Equal(t, 2, m.calls)
					require.Equal(t, 2, gaps[0].Attempts)
					require.ErrorAs(t, gaps[0].Err, &want)
					require.Equal(t, callbacks.StatusDone, run.Outcome().Status, "the gap says it")
				})
				t.Run("retry", func(t *testing.T) {
					m := &oddModel{resp: tc.resp}
					out := playWith(t, newAgent(t, "a", m, nil, guards.RetryOptions{Delay: time.Nanosecond}.Guard()), nil, streaming)
					require.NoError(t, out.err)
					attempts := 1
					if tc.retry && !lost {
						attempts = 3
					}
					require.Equal(t, attempts, m.calls)
					require.Equal(t, tc.status, out.run.Outcome().Status)
				})
				t.Run("route", func(t *testing.T) {
					spare := callbackstest.Script(callbackstest.Say("whole")).Repeat()
					out := playWith(t, newAgent(t, "a", &oddModel{resp: tc.resp}, nil, guards.RouteOptions{Fallback: []model.LLM{spare}}.Guard()), nil, streaming)
					require.NoError(t, out.err)
					if tc.fault != "" && !lost {
						require.Equal(t, 1, spare.Calls())
						require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
						require.Equal(t, []string{"whole"}, texts(out.events), "nothing of the first model is handed on")
					} else {
						require.Zero(t, spare.Calls())
						require.Equal(t, tc.status, out.run.Outcome().Status)
					}
				})
				t.Run("route, all models", func(t *testing.T) {
					out := playWith(t, newAgent(t, "a", &oddModel{resp: tc.resp}, nil, guards.RouteOptions{Fallback: []model.LLM{&oddModel{resp: tc.resp}}}.Guard()), nil, streaming)
					require.NoError(t, out.err)
					require.Equal(t, tc.status, out.run.Outcome().Status)
				})
			})
		}
	}
}

// ADK itself calls a model again that only thought: the response is a failure for observers,
// Retry and Route, and the run is what comes of the further calls.
func TestAThoughtIsNoAnswer(t *testing.T) {
	thought := model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "hm", Thought: true}}}, FinishReason: genai.FinishReasonStop}
	require.ErrorIs(t, answer.Check(&thought), answer.ErrNone)

	m := &oddModel{resp: thought}
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	out := playIn(ctx, t, run, sequence(t, newAgent(t, "a", m, nil, guards.Contain(), guards.CallBudget(3))), nil, false)
	require.NoError(t, out.err)
	require.Equal(t, 3, m.calls)
	require.Equal(t, callbacks.StatusCallsExhausted, run.Outcome().Status)
	require.Len(t, guards.Records(ctx).Gaps(), 1)

	spare := callbackstest.Script(callbackstest.Say("whole"))
	out = play(t, newAgent(t, "a", &oddModel{resp: thought}, nil, guards.RouteOptions{Fallback: []model.LLM{spare}}.Guard()))
	require.Equal(t, []string{"whole"}, texts(out.events))
	require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)

	m = &oddModel{resp: thought}
	out = play(t, newAgent(t, "a", m, nil, guards.RetryOptions{Delay: time.Nanosecond}.Guard(), guards.CallBudget(3)))
	require.Equal(t, 3, m.calls)
	require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
}

// Ends without a model's answer that are none of its failures stay as they are.
func TestEndsWithoutAnAnswerThatAreNoFailure(t *testing.T) {
	skipping := callbackstest.ToolFunc("skip", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
		ctx.Actions().SkipSummarization = true
		return map[string]any{"result": "ok"}, nil
	})
	for name, tl := range map[string]tool.Tool{
		"a long-running tool":    callbackstest.ToolReturning("later", nil, nil).LongRunning(),
		"a result that is final": skipping,
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range forms {
				build, p := inForm(t, form, callbacks.New())
				out := playWith(t, build(llmagent.Config{Name: "a", Model: callbackstest.Script(callbackstest.Call(tl.Name(), nil)), Tools: []tool.Tool{tl}}), p, false)
				require.NoError(t, out.err)
				require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
			}
		})
	}
	t.Run("a guard's answer to an empty response", func(t *testing.T) {
		answers := callbacks.Guard{Name: "answers", AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			return &model.LLMResponse{Content: genai.NewContentFromText("mine", genai.RoleModel)}, nil
		}}
		out := play(t, newAgent(t, "a", &oddModel{}, nil, answers))
		require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
	})
	t.Run("a later answer of the same agent", func(t *testing.T) {
		rounds := 0
		again := callbacks.Guard{Name: "again", AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			if rounds++; rounds == 2 {
				resp.Content = genai.NewContentFromText("whole", genai.RoleModel)
			}
			return nil, nil
		}}
		a := newAgent(t, "a", &oddModel{resp: model.LLMResponse{Content: genai.NewContentFromText("", genai.RoleModel)}}, nil, again)
		loop := loopOf(t, 2, a)
		out := play(t, loop)
		require.Equal(t, callbacks.StatusDone, out.run.Outcome().Status)
	})
}
