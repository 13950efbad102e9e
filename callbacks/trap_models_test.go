// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/answer"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// P1: ADK never hands after_model an error; a model's failure goes to on_model_error
// and, once, to the observers.
func TestP01AFailedModelIsToldOnce(t *testing.T) {
	down := errors.New("429")
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			after, onError := 0, 0
			counts := callbacks.Guard{
				Name: "counts",
				AfterModel: func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
					after++
					return nil, nil
				},
				OnModelError: func(_ agent.Context, _ *model.LLMRequest, err error) (*model.LLMResponse, error) {
					onError++
					require.ErrorIs(t, err, down)
					return nil, nil
				},
			}
			root, plugins := attached(t, callbacks.New(counts, rec.Guard()), form, llmagent.Config{Model: callbackstest.Script(callbackstest.Fail(down))})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Len(t, l.errs, 1)
			require.ErrorIs(t, l.errs[0], down)
			require.Equal(t, []int{0, 1}, []int{after, onError})
			told := rec.Events(callbacks.StepModel)
			require.Len(t, told, 1)
			require.Equal(t, callbacks.OutcomeFailed, told[0].Outcome)
			require.ErrorIs(t, told[0].Err, down)
		})
	}
}

// P9: in hooks, ADK's context has methods that return nil or do nothing. A hook that
// trips over one refuses its step and harms nothing else; what they were for is done by
// End and Stop.
func TestP09AHookThatTripsOverTheContextFailsClosed(t *testing.T) {
	trips := callbacks.Guard{Name: "trips", BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
		_, cancel := ctx.WithAgentTimeout(time.Second)
		defer cancel()
		return nil, nil
	}}
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			m := callbackstest.Script()
			root, plugins := attached(t, callbacks.New(trips, rec.Guard()), form, llmagent.Config{Model: m})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Equal(t, []string{"[guard] refused: a guard failed"}, texts(l.events))
			require.Zero(t, m.Calls())
			require.Equal(t, callbacks.OutcomePanicked, rec.Events(callbacks.StepModel)[0].Outcome)
		})
	}
	documented(t, "doc.go", "EndInvocation does nothing: use their strings, their State, and [End] or [Stop].")
}

// P13: ADK gives all chunks of a step one state delta, so that the first shows what
// the last wrote. An output key still gets the answer and never a chunk or a refusal.
func TestP13TheOutputKeyHoldsTheWholeAnswer(t *testing.T) {
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			root, plugins := attached(t, callbacks.New(allow("a")), form, llmagent.Config{OutputKey: "out", Model: callbackstest.Script(callbackstest.Stream("Hel", "lo"))})
			l := launch(t, root, agent.StreamingModeSSE, plugins...)
			require.Equal(t, "Hello", l.state(t)["out"])
		})
	}
}

// Fact 14: a model that hands one response to several agents, a cache say, must not
// be written into. Run with -race.
func TestTrap14ASharedResponseIsNotWrittenInto(t *testing.T) {
	shared := say("shared")
	m := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(shared, nil)
	})
	edits := callbacks.Guard{Name: "edits", AfterModel: func(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
		resp.Content.Parts[0].Text += " with " + ctx.AgentName()
		return nil, nil
	}}
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			chain := callbacks.New(edits)
			var subs []agent.Agent
			for i := range 8 {
				a, _ := attached(t, chain, form, llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: m})
				subs = append(subs, a)
			}
			_, plugins := attached(t, chain, form, llmagent.Config{Name: "unused", Model: m})
			par, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: subs}})
			require.NoError(t, err)
			l := launch(t, par, agent.StreamingModeNone, plugins...)
			require.Len(t, l.events, 8)
			for _, ev := range l.events {
				require.Equal(t, "shared with "+ev.Author, ev.Content.Parts[0].Text)
			}
			require.Equal(t, "shared", shared.Content.Parts[0].Text)
		})
	}
}

// P18 and P19: an answer of before_model skips the model and after_model, and the
// calls in it are run: they pass the tool hooks.
func TestP18CallsInAGuardsAnswerPassTheToolHooks(t *testing.T) {
	for _, form := range allForms {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/streaming tool %v", form, streaming), func(t *testing.T) {
				var tl tool.Tool = callbackstest.Tool("lookup")
				if streaming {
					tl = callbackstest.StreamingTool("lookup", "chunk")
				}
				n := 0
				injects := callbacks.Guard{
					Name: "injects",
					BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
						if n++; n == 1 {
							return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromFunctionCall("lookup", nil)}}}, nil
						}
						return nil, nil
					},
					BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
						return nil, callbacks.Deny("no", "no")
					},
				}
				rec := &callbackstest.Recorder{}
				root, plugins := attached(t, callbacks.New(injects, rec.Guard()), form, llmagent.Config{Tools: []tool.Tool{tl}, Model: callbackstest.Script(callbackstest.Say("done"))})
				l := launch(t, root, agent.StreamingModeNone, plugins...)
				require.Empty(t, tl.(interface{ Calls() []map[string]any }).Calls())
				require.Equal(t, []map[string]any{{"error": "no"}}, responses(l.stored(t)))
				told := rec.Events(callbacks.StepModel)
				require.Len(t, told, 2)
				require.Equal(t, callbacks.OutcomeReplaced, told[0].Outcome)
				require.Zero(t, told[0].Attempt, "the model was not called")
			})
		}
	}
}

// P24: an error of before_model ends the run and on_model_error is not asked. In a
// chain it is a refusal, and a guard's bug does not look like a failing model.
func TestP24AnErrorOfBeforeModelIsARefusal(t *testing.T) {
	asked := 0
	fails := refusing(inspect.BeforeModel, func() error { return errors.New("bug") })
	fails.OnModelError = func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
		asked++
		return say("fallback"), nil
	}
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			root, plugins := attached(t, callbacks.New(fails), form, llmagent.Config{Model: callbackstest.Script()})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			require.Equal(t, []string{"[guard] refused: a guard failed"}, texts(l.events))
			require.Zero(t, asked)
		})
	}
}

// P26: a fallback after chunks can't take the chunks back. ADK would also go on
// ranging over the model that failed.
func TestP26AFallbackAfterChunksIsDocumented(t *testing.T) {
	wentOn := false
	cut := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		chunk := say("Hel")
		chunk.Partial = true
		if !yield(chunk, nil) {
			return
		}
		wentOn = yield(nil, errors.New("stream cut"))
	})
	fallback := callbacks.Guard{Name: "fallback", OnModelError: func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
		return say("fallback"), nil
	}}
	rec := &callbackstest.Recorder{}
	l := launch(t, build(t, callbacks.New(fallback, rec.Guard()), llmagent.Config{Model: cut}), agent.StreamingModeSSE)
	require.Empty(t, l.errs)
	require.Equal(t, []string{"Hel", "fallback"}, texts(l.events))
	require.Equal(t, []string{"question", "fallback"}, texts(l.stored(t)))
	require.False(t, wentOn)
	told := rec.Events(callbacks.StepModel)
	require.Len(t, told, 1)
	require.Equal(t, callbacks.OutcomeReplaced, told[0].Outcome)
	require.Equal(t, "fallback", told[0].Guard)
	documented(t, "doc.go", "chunks that were handed out before a refusal or a fallback can't be taken back")
}

// P56: a provider's refusal comes as a response with an error code. ADK calls
// after_model and takes it for an answer without content.
func TestP56AnErrorCodeIsToldAsAFailure(t *testing.T) {
	malformed := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{ErrorCode: "MALFORMED_FUNCTION_CALL", ErrorMessage: "bad"}, nil)
	})
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			root, plugins := attached(t, callbacks.New(rec.Guard()), form, llmagent.Config{Model: malformed})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			require.Equal(t, "MALFORMED_FUNCTION_CALL", l.events[0].ErrorCode)
			told := rec.Events(callbacks.StepModel)
			require.Len(t, told, 1)
			require.Equal(t, callbacks.OutcomeFailed, told[0].Outcome)
			require.Equal(t, codes.ModelFailed, told[0].Code)
			require.Equal(t, "MALFORMED_FUNCTION_CALL", told[0].Reason)
			require.ErrorContains(t, told[0].Err, "bad")
		})
	}
}

// P57: a model that yields nothing at all is a nil dereference in ADK.
func TestP57AModelThatYieldsNilIsAnError(t *testing.T) {
	silent := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(nil, nil)
	})
	l := launch(t, build(t, callbacks.New(allow("a")), llmagent.Config{Model: silent}), agent.StreamingModeNone)
	require.Len(t, l.errs, 1)
	require.ErrorIs(t, l.errs[0], answer.ErrNone)
	documented(t, "doc.go", "a model that panics or yields nothing")
}
