// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"

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

// twice is a model that puts one call into a chunk and into the whole answer, as a
// provider's aggregator does, and then says done.
func twice(call *genai.Part) model.LLM {
	first := true
	return modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if !first {
			yield(say("done"), nil)
			return
		}
		first = false
		chunk := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{call}}, Partial: true}
		final := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{call}}}
		_ = yield(chunk, nil) && yield(final, nil)
	})
}

// P62: a hook that edits a part shared by chunk and final answer edits it once for each.
func TestP62APartSharedByChunkAndFinalIsCopied(t *testing.T) {
	part := genai.NewPartFromFunctionCall("lookup", map[string]any{"q": "x"})
	edits := callbacks.Guard{Name: "edits", AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
		for _, p := range resp.Content.Parts {
			if p.FunctionCall != nil {
				p.FunctionCall.Args["q"] = p.FunctionCall.Args["q"].(string) + "!"
			}
		}
		return nil, nil
	}}
	tl := callbackstest.Tool("lookup")
	l := launch(t, build(t, callbacks.New(edits), llmagent.Config{Model: twice(part), Tools: []tool.Tool{tl}}), agent.StreamingModeSSE)
	require.Empty(t, l.errs)
	require.Equal(t, []map[string]any{{"q": "x!"}}, tl.Calls())
	require.Equal(t, "x", part.FunctionCall.Args["q"], "the model's own part is left alone")
}

// P62: the copies are still one call to whoever shows the stream, also behind a wrapper
// that copies by itself.
func TestP62ACallHasOneIDInChunkFinalAndResponse(t *testing.T) {
	copies := callbacks.Guard{Name: "copies", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return copyingModel{next} }}
	for name, chain := range map[string]*callbacks.Chain{"bare": callbacks.New(), "under a copying guard": callbacks.New(copies)} {
		t.Run(name, func(t *testing.T) {
			part := genai.NewPartFromFunctionCall("lookup", nil)
			l := launch(t, build(t, chain, llmagent.Config{Model: twice(part), Tools: []tool.Tool{callbackstest.Tool("lookup")}}), agent.StreamingModeSSE)
			require.Empty(t, l.errs)
			got := calls(l.events)
			require.Len(t, got, 2)
			require.NotEmpty(t, got[0].ID)
			require.Equal(t, got[0].ID, got[1].ID)
			require.Equal(t, got[0].ID, l.events[2].Content.Parts[0].FunctionResponse.ID)
			require.Empty(t, part.FunctionCall.ID, "the model's own part is left alone")
		})
	}
}

type copyingModel struct{ model.LLM }

func (c copyingModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range c.LLM.GenerateContent(ctx, req, stream) {
			if resp != nil {
				resp = callbacks.CopyResponse(resp)
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// P11: the flag is in law_test.go; here that a count by the observers
// is right under parallel agents that stream.
func TestP11UsageIsCountedOncePerAnswer(t *testing.T) {
	var mu sync.Mutex
	var in int32
	counts := callbacks.Guard{Name: "counts", Observe: func(_ context.Context, ev callbacks.Event) {
		if ev.Usage != nil {
			mu.Lock()
			in += ev.Usage.PromptTokenCount
			mu.Unlock()
		}
	}}
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			in = 0
			chain := callbacks.New(counts)
			var subs []agent.Agent
			for i := range 4 {
				a, _ := attached(t, chain, form, llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: callbackstest.Script(callbackstest.Stream("a", "b", "c").WithUsage(10, 1))})
				subs = append(subs, a)
			}
			_, plugins := attached(t, chain, form, llmagent.Config{Name: "unused", Model: callbackstest.Script()})
			par, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: subs}})
			require.NoError(t, err)
			launch(t, par, agent.StreamingModeSSE, plugins...)
			require.EqualValues(t, 40, in)
		})
	}
}
