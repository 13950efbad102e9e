// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/standin"
)

// How a run ends whose one answer is odd, by protocol, plain and streamed: never "done"
// where the answer is none, or is not known to be whole.
func TestOddAnswersOfBothProtocolsAreNamed(t *testing.T) {
	gemini := func(bodies ...string) standin.Fault {
		return func(_ int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.URL.Query().Get("alt") != "sse" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprint(w, bodies[0])
				return true
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for _, b := range bodies {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
			}
			return true
		}
	}
	usage := `{"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}`
	openai := func(status, reason string, last bool, text string) standin.Fault {
		return func(_ int, w http.ResponseWriter, _ *http.Request, body []byte) bool {
			item := map[string]any{"type": "message", "id": "m", "role": "assistant", "status": status, "content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}
			whole := map[string]any{"id": "r", "object": "response", "model": "test", "status": status, "output": []any{item}}
			if reason != "" {
				whole["incomplete_details"] = map[string]any{"reason": reason}
			}
			if !bytes.Contains(body, []byte(`"stream":true`)) {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(whole)
				return true
			}
			w.Header().Set("Content-Type", "text/event-stream")
			event := func(v map[string]any) {
				b, _ := json.Marshal(v)
				_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", v["type"], b)
			}
			event(map[string]any{"type": "response.created", "response": map[string]any{"id": "r", "model": "test"}})
			event(map[string]any{"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": text})
			if last {
				event(map[string]any{"type": "response." + status, "response": whole})
			}
			return true
		}
	}
	for name, tc := range map[string]struct {
		serve            func(testing.TB, standin.Fault) models.Options
		fault            standin.Fault
		plain, streaming callbacks.Status
	}{
		"gemini, an answer":                {onGemini, gemini(`{"candidates":[{"content":{"role":"model","parts":[{"text":"whole"}]},"finishReason":"STOP"}]}`), callbacks.StatusDone, callbacks.StatusDone},
		"gemini, MAX_TOKENS":               {onGemini, gemini(`{"candidates":[{"content":{"role":"model","parts":[{"text":"hal"}]},"finishReason":"MAX_TOKENS"}]}`), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, MAX_TOKENS, then usage":   {onGemini, gemini(`{"candidates":[{"content":{"role":"model","parts":[{"text":"hal"}]},"finishReason":"MAX_TOKENS"}]}`, usage), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, SAFETY":                   {onGemini, gemini(`{"candidates":[{"finishReason":"SAFETY","finishMessage":"no"}]}`), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, SAFETY, then usage":       {onGemini, gemini(`{"candidates":[{"finishReason":"SAFETY","finishMessage":"no"}]}`, usage), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, blocked prompt":           {onGemini, gemini(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, blocked prompt and usage": {onGemini, gemini(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, usage), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, empty parts":              {onGemini, gemini(`{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}]}`), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, no parts, OTHER":          {onGemini, gemini(`{"candidates":[{"content":{"role":"model"},"finishReason":"OTHER"}]}`), callbacks.StatusFailed, callbacks.StatusFailed},
		"gemini, no reason":                {onGemini, gemini(`{"candidates":[{"content":{"role":"model","parts":[{"text":"hal"}]}}]}`), callbacks.StatusUnknown, callbacks.StatusUnknown},
		"gemini, nothing at all":           {onGemini, gemini(`{"candidates":[{}]}`), callbacks.StatusUnknown, callbacks.StatusUnknown},
		"openai, an answer":                {onOpenAI, openai("completed", "", true, "whole"), callbacks.StatusDone, callbacks.StatusDone},
		"openai, cut":                      {onOpenAI, openai("incomplete", "max_output_tokens", true, "hal"), callbacks.StatusFailed, callbacks.StatusFailed},
		"openai, filtered":                 {onOpenAI, openai("incomplete", "content_filter", true, "hal"), callbacks.StatusFailed, callbacks.StatusFailed},
		"openai, no last event":            {onOpenAI, openai("completed", "", false, `hal {"type":"response.completed"}`), callbacks.StatusDone, callbacks.StatusUnknown},
	} {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " streaming=", streaming), func(t *testing.T) {
				m, err := models.New(t.Context(), tc.serve(t, tc.fault))
				require.NoError(t, err)
				a, err := callbacks.New().NewAgent(llmagent.Config{Name: "a", Model: m})
				require.NoError(t, err)
				r, err := runner.NewInMemory("test", a)
				require.NoError(t, err)
				ctx, run := callbacks.Start(t.Context())
				defer run.Close()
				mode, want := agent.StreamingModeNone, tc.plain
				if streaming {
					mode, want = agent.StreamingModeSSE, tc.streaming
				}
				for _, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{StreamingMode: mode})) {
					_ = err // the outcome has it
				}
				require.Equal(t, want, run.Outcome().Status, "%+v", run.Outcome())
			})
		}
	}
}

func onGemini(t testing.TB, f standin.Fault) models.Options {
	return models.Options{Name: "gemini-test", BaseURL: standin.Gemini(t, offline.Model{}, f).URL, Key: standin.Key}
}

func onOpenAI(t testing.TB, f standin.Fault) models.Options {
	return models.Options{Name: "openai:test", BaseURL: standin.OpenAI(t, offline.Model{}, f).URL + "/v1", Key: standin.Key}
}
