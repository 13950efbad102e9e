// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

func onAfterModel(f llmagent.AfterModelCallback) []llmagent.AfterModelCallback {
	return []llmagent.AfterModelCallback{f}
}

func onBeforeModel(f llmagent.BeforeModelCallback) []llmagent.BeforeModelCallback {
	return []llmagent.BeforeModelCallback{f}
}

// swapping is a plugin's before_model hook that puts a wrapper around every tool.
func swapping(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	for name, tl := range req.Tools {
		if f, ok := tl.(adkFunctionTool); ok {
			req.Tools[name] = swapped{f}
		}
	}
	return nil, nil
}

type adkFunctionTool interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	Run(ctx agent.Context, args any) (map[string]any, error)
}

type swapped struct{ adkFunctionTool }

func TestCanaryTrap06APluginCanSwapTools(t *testing.T) {
	var ran tool.Tool
	p := plainPlugin(t, plugin.Config{BeforeModelCallback: swapping, BeforeToolCallback: func(_ agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
		ran = tl
		return nil, nil
	}})
	plainLookup(t, llmagent.Config{Tools: []tool.Tool{callbackstest.Tool("lookup")}}, p)
	require.IsType(t, swapped{}, ran, revisit(t, "plugin.go"))
}

func TestCanaryP01AfterModelSeesNoError(t *testing.T) {
	after := 0
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(callbackstest.Fail(errors.New("429"))),
		AfterModelCallbacks: onAfterModel(func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			after++
			return nil, nil
		}),
	}), agent.StreamingModeNone)
	require.Len(t, l.errs, 1)
	require.Zero(t, after, revisit(t, "modelstep.go"))
}

func TestCanaryP09HookContextsAreHollow(t *testing.T) {
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(callbackstest.Say("answer")),
		BeforeModelCallbacks: onBeforeModel(func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			ctx.EndInvocation()
			c, cancel := ctx.WithAgentTimeout(1)
			require.Nil(t, c, revisit(t, "doc.go"))
			require.Nil(t, cancel, revisit(t, "doc.go"))
			require.Nil(t, ctx.Agent(), revisit(t, "doc.go"))
			require.Nil(t, ctx.Session(), revisit(t, "doc.go"))
			require.Nil(t, ctx.RunConfig(), revisit(t, "doc.go"))
			require.Equal(t, "plain", ctx.AgentName())
			require.NotEmpty(t, ctx.InvocationID())
			return nil, nil
		}),
	}), agent.StreamingModeNone)
	require.Equal(t, []string{"answer"}, texts(l.events), "EndInvocation does nothing; %s", revisit(t, "doc.go"))
}

func TestCanaryP10AnArtifactOfAModelHookLeavesNoRecord(t *testing.T) {
	svc := artifact.InMemoryService()
	a := plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(callbackstest.Say("answer")),
		AfterModelCallbacks: onAfterModel(func(ctx agent.Context, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			_, err := ctx.Artifacts().Save(ctx, "f.txt", genai.NewPartFromText("x"))
			return nil, err
		}),
	})
	r, err := runner.New(runner.Config{AppName: "test", Agent: a, SessionService: session.InMemoryService(), ArtifactService: svc, AutoCreateSession: true})
	require.NoError(t, err)
	for ev, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
		require.Empty(t, ev.Actions.ArtifactDelta, revisit(t, "doc.go"))
	}
	got, err := svc.List(t.Context(), &artifact.ListRequest{AppName: "test", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	require.Equal(t, []string{"f.txt"}, got.FileNames)
}

func TestCanaryP11AReplacementLosesPartialAndUsageIsRepeated(t *testing.T) {
	var in int32
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(callbackstest.Stream("Hel", "lo").WithUsage(10, 1)),
		AfterModelCallbacks: onAfterModel(func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			in += resp.UsageMetadata.PromptTokenCount
			return say("***"), nil
		}),
	}), agent.StreamingModeSSE)
	require.EqualValues(t, 30, in, revisit(t, "modelstep.go"))
	require.Equal(t, []string{"question", "***", "***", "***"}, texts(l.stored(t)), revisit(t, "modelstep.go"))
}

func TestCanaryP13ChunksShareOneStateDelta(t *testing.T) {
	n := 0
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(callbackstest.Stream("Hel", "lo")),
		AfterModelCallbacks: onAfterModel(func(ctx agent.Context, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			n++
			return nil, ctx.State().Set(fmt.Sprint("k", n), n)
		}),
	}), agent.StreamingModeSSE)
	require.Contains(t, l.events[0].Actions.StateDelta, "k3", revisit(t, "modelstep.go"))
}

func TestCanaryP15OneValueEndsTheChainForAll(t *testing.T) {
	var met []string
	mk := func(name string, last bool) *plugin.Plugin {
		return plainPlugin(t, plugin.Config{Name: name, AfterModelCallback: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			met = append(met, name)
			if last {
				return resp, nil
			}
			return nil, nil
		}})
	}
	launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(callbackstest.Say("answer")),
		AfterModelCallbacks: onAfterModel(func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			met = append(met, "agent")
			return nil, nil
		}),
	}), agent.StreamingModeNone, mk("first", true), mk("second", false))
	require.Equal(t, []string{"first"}, met, revisit(t, "plugin.go"))
}

func TestCanaryP18AnAnswerOfBeforeModelSkipsAfterModelAndRunsItsCalls(t *testing.T) {
	n, after := 0, 0
	tl := callbackstest.Tool("lookup")
	launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(), Tools: []tool.Tool{tl},
		BeforeModelCallbacks: onBeforeModel(func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			if n++; n == 1 {
				return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromFunctionCall("lookup", nil)}}}, nil
			}
			return say("done"), nil
		}),
		AfterModelCallbacks: onAfterModel(func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			after++
			return nil, nil
		}),
	}), agent.StreamingModeNone)
	require.Len(t, tl.Calls(), 1, revisit(t, "modelstep.go"))
	require.Zero(t, after, revisit(t, "modelstep.go"))
}

func TestCanaryP24AnErrorOfBeforeModelIsNoModelError(t *testing.T) {
	asked := 0
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(),
		BeforeModelCallbacks: onBeforeModel(func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return nil, errors.New("budget")
		}),
		OnModelErrorCallbacks: []llmagent.OnModelErrorCallback{func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
			asked++
			return nil, nil
		}},
	}), agent.StreamingModeNone)
	require.ErrorContains(t, l.errs[0], "budget", revisit(t, "modelstep.go"))
	require.Zero(t, asked, revisit(t, "modelstep.go"))
}

func TestCanaryP26ARecoveredStreamIsRangedOn(t *testing.T) {
	wentOn := false
	cut := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		wentOn = yield(nil, errors.New("stream cut"))
	})
	launch(t, plainAgent(t, llmagent.Config{Model: cut, OnModelErrorCallbacks: []llmagent.OnModelErrorCallback{func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
		return say("fallback"), nil
	}}}), agent.StreamingModeSSE)
	require.True(t, wentOn, revisit(t, "modelwrap.go"))
}

func TestCanaryP28StateOfAFailedStepIsLost(t *testing.T) {
	var readBack any
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: callbackstest.Script(callbackstest.Fail(errors.New("down"))),
		BeforeModelCallbacks: onBeforeModel(func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			err := ctx.State().Set("count", 1)
			readBack, _ = ctx.ReadonlyState().Get("count")
			return nil, err
		}),
	}), agent.StreamingModeNone)
	require.Equal(t, 1, readBack)
	require.NotContains(t, l.state(t), "count", revisit(t, "run.go"))
}

func TestCanaryP49NestedMapsOfARequestAreTheHistory(t *testing.T) {
	tl := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
		return map[string]any{"deep": map[string]any{"k": "secret"}}, nil
	})
	l, _ := plainLookup(t, llmagent.Config{Tools: []tool.Tool{tl}, BeforeModelCallbacks: onBeforeModel(func(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
		for _, c := range req.Contents {
			for _, p := range c.Parts {
				if fr := p.FunctionResponse; fr != nil {
					fr.Response["deep"].(map[string]any)["k"] = "edited"
				}
			}
		}
		return nil, nil
	})})
	require.Equal(t, []map[string]any{{"deep": map[string]any{"k": "edited"}}}, responses(l.stored(t)), revisit(t, "doc.go"))
}

func TestCanaryP56AnErrorCodeIsNoModelError(t *testing.T) {
	after, onError := 0, 0
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			yield(&model.LLMResponse{ErrorCode: "SAFETY"}, nil)
		}),
		AfterModelCallbacks: onAfterModel(func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			after++
			return nil, nil
		}),
		OnModelErrorCallbacks: []llmagent.OnModelErrorCallback{func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
			onError++
			return nil, nil
		}},
	}), agent.StreamingModeNone)
	require.Empty(t, l.errs)
	require.Equal(t, []int{1, 0}, []int{after, onError}, revisit(t, "modelstep.go"))
}

func TestCanaryP57AModelThatYieldsNilPanics(t *testing.T) {
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			yield(nil, nil)
		}),
	}), agent.StreamingModeNone)
	require.Len(t, l.errs, 1)
	require.ErrorContains(t, l.errs[0], "panic", revisit(t, "modelwrap.go"))
}

func TestCanaryP58ToolLoopsHaveNoBound(t *testing.T) {
	m := callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()
	l := launch(t, plainAgent(t, llmagent.Config{Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}), agent.StreamingModeNone)
	require.Len(t, l.events, endless, revisit(t, "../guards/callbudget.go"))
}

func TestCanaryP59ThoughtLoopsHaveNoBound(t *testing.T) {
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			yield(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "hmm", Thought: true}}}}, nil)
		}),
	}), agent.StreamingModeNone)
	require.Len(t, l.events, endless, revisit(t, "../guards/callbudget.go"))
}

func TestCanaryP62APartIsSharedByChunkAndFinal(t *testing.T) {
	part := genai.NewPartFromFunctionCall("lookup", map[string]any{"q": "x"})
	tl := callbackstest.Tool("lookup")
	l := launch(t, plainAgent(t, llmagent.Config{
		Model: twice(part), Tools: []tool.Tool{tl},
		AfterModelCallbacks: onAfterModel(func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			for _, p := range resp.Content.Parts {
				if p.FunctionCall != nil {
					p.FunctionCall.Args["q"] = p.FunctionCall.Args["q"].(string) + "!"
				}
			}
			return nil, nil
		}),
	}), agent.StreamingModeSSE)
	require.Equal(t, []map[string]any{{"q": "x!!"}}, tl.Calls(), revisit(t, "modelwrap.go"))
	id := calls(l.events)[0].ID
	require.Equal(t, id, calls(l.events)[1].ID, revisit(t, "modelwrap.go"))
	require.Regexp(t, "^adk-", id, revisit(t, "modelwrap.go"))
}
