// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// wrapModel puts the summary of what was cut off into each request. The summariser
// is called once for each cut.
func (w *window) wrapModel(next, summariser model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			cs, _ := callbacks.CurrentStep(ctx)
			at := w.key.At(ctx, cs.Place())
			st := at.get()
			if len(st.cutOff) > 0 && !lastCall(ctx, cs.Place()) {
				summary := w.summarise(ctx, summariser, st)
				at.update(func(now *windowState) {
					now.cutOff = nil
					if summary != "" {
						now.summary = summary
					}
					st = *now
				})
			}
			if st.summary != "" && st.summaryAt <= len(req.Contents) {
				said := genai.NewContentFromText(text.Get(langOf(ctx), text.WindowSummary, st.summary), genai.RoleUser)
				with := *req
				with.Contents = slices.Insert(slices.Clone(req.Contents), st.summaryAt, said)
				req = &with
			}
			next.GenerateContent(ctx, req, stream)(yield)
		}
	})
}

// summarise returns what the summariser makes of the turns that were cut off, on top of
// what it made of those before; empty where it fails.
func (w *window) summarise(ctx context.Context, summariser model.LLM, st windowState) string {
	lang := langOf(ctx)
	var sb strings.Builder
	sb.WriteString(text.Get(lang, text.WindowSummarise))
	if st.summary != "" {
		fmt.Fprintf(&sb, "\n\n%s", text.Get(lang, text.WindowSummary, st.summary))
	}
	sb.WriteString("\n\n")
	for _, c := range st.cutOff {
		transcribe(&sb, c)
	}
	req := &model.LLMRequest{
		Model: summariser.Name(), Contents: []*genai.Content{genai.NewContentFromText(sb.String(), genai.RoleUser)},
		Config: &genai.GenerateContentConfig{MaxOutputTokens: int32(min(w.o.SummaryTokens, 1<<31-1))}, //nolint:gosec // bounded
	}
	var answer string
	for resp, err := range summariser.GenerateContent(ctx, req, false) {
		if err != nil || resp == nil || resp.ErrorCode != "" {
			return ""
		}
		if !resp.Partial {
			answer = wordsOf(resp.Content)
		}
	}
	return strings.TrimSpace(answer)
}

// transcribe writes a content as lines that no provider takes for calls.
func transcribe(sb *strings.Builder, c *genai.Content) {
	for _, p := range c.Parts {
		switch {
		case p == nil || p.Thought:
		case p.FunctionCall != nil:
			fmt.Fprintf(sb, "%s calls %s %s\n", c.Role, p.FunctionCall.Name, jsonOf(p.FunctionCall.Args))
		case p.FunctionResponse != nil:
			fmt.Fprintf(sb, "%s returns %s\n", p.FunctionResponse.Name, jsonOf(p.FunctionResponse.Response))
		case p.Text != "":
			fmt.Fprintf(sb, "%s: %s\n", c.Role, p.Text)
		}
	}
}

func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(raw)
}
