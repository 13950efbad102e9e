// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

type openaiRequest struct {
	Model  string       `json:"model"`
	Stream bool         `json:"stream"`
	Input  []openaiItem `json:"input"`
	// MaxOutput is the most tokens of output.
	MaxOutput int32 `json:"max_output_tokens"`
	Tools     []struct {
		Type       string         `json:"type"`
		Name       string         `json:"name"`
		Parameters map[string]any `json:"parameters"`
	} `json:"tools"`
}

type openaiItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

func (s *Server) openai(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/responses") {
		http.NotFound(w, r)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+Key && r.Header.Get("Authorization") != "Bearer none" {
		OpenAIError(w, http.StatusUnauthorized, "Incorrect API key provided")
		return
	}
	body, ok := s.begin(w, r)
	if !ok {
		return
	}
	var req openaiRequest
	if err := json.Unmarshal(body, &req); err != nil {
		OpenAIError(w, http.StatusBadRequest, err.Error())
		return
	}
	llmReq, err := req.convert()
	if err != nil {
		OpenAIError(w, http.StatusBadRequest, err.Error())
		return
	}
	resp, err := s.ask(r.Context(), llmReq)
	if err != nil {
		OpenAIError(w, http.StatusBadRequest, err.Error())
		return
	}
	version := s.Version
	if version == "" {
		version = req.Model
	}
	OpenAIAnswer(w, req.Stream, version, output(resp.Content, len(req.Input)), resp.UsageMetadata)
}

// convert turns the items into contents and answers for the service's own checks: an
// output without its call is an error there.
func (q openaiRequest) convert() (*model.LLMRequest, error) {
	names := map[string]string{}
	out := &model.LLMRequest{Model: q.Model}
	add := func(role string, p *genai.Part) {
		if n := len(out.Contents); n > 0 && out.Contents[n-1].Role == role {
			out.Contents[n-1].Parts = append(out.Contents[n-1].Parts, p)
			return
		}
		out.Contents = append(out.Contents, &genai.Content{Role: role, Parts: []*genai.Part{p}})
	}
	for _, it := range q.Input {
		switch it.Type {
		case "function_call":
			names[it.CallID] = it.Name
			args := map[string]any{}
			if err := json.Unmarshal([]byte(it.Arguments), &args); err != nil {
				return nil, fmt.Errorf("arguments of %s are not JSON", it.Name)
			}
			add(genai.RoleModel, &genai.Part{FunctionCall: &genai.FunctionCall{ID: it.CallID, Name: it.Name, Args: args}})
		case "function_call_output":
			name, ok := names[it.CallID]
			if !ok {
				return nil, fmt.Errorf("no tool call found for function call output with call_id %s", it.CallID)
			}
			add(genai.RoleUser, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: it.CallID, Name: name, Response: result(it.Output)}})
		default:
			role := genai.RoleUser
			if it.Role == "assistant" {
				role = genai.RoleModel
			}
			add(role, &genai.Part{Text: plain(it.Content)})
		}
	}
	var decls []*genai.FunctionDeclaration
	for _, t := range q.Tools {
		decls = append(decls, &genai.FunctionDeclaration{Name: t.Name, ParametersJsonSchema: t.Parameters})
	}
	out.Config = &genai.GenerateContentConfig{MaxOutputTokens: q.MaxOutput}
	if decls != nil {
		out.Config.Tools = []*genai.Tool{{FunctionDeclarations: decls}}
	}
	return out, nil
}

func result(raw json.RawMessage) map[string]any {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw = []byte(s)
	}
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return map[string]any{"result": string(raw)}
	}
	return m
}

func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var sb strings.Builder
	for _, p := range parts {
		sb.WriteString(p.Text)
	}
	return sb.String()
}

// output names each call once in a conversation, in which seen items came before.
func output(c *genai.Content, seen int) []map[string]any {
	var items []map[string]any
	for i, p := range c.Parts {
		if fc := p.FunctionCall; fc != nil {
			args, err := json.Marshal(fc.Args)
			if err != nil || fc.Args == nil {
				args = []byte("{}")
			}
			items = append(items, map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": fmt.Sprintf("call_%d_%s", seen+i, fc.Name), "name": fc.Name, "arguments": string(args), "status": "completed"})
			continue
		}
		items = append(items, map[string]any{
			"type": "message", "id": fmt.Sprintf("msg_%d", i), "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": p.Text, "annotations": []any{}}},
		})
	}
	return items
}

// OpenAIAnswer writes output items as one answer, streamed or whole.
func OpenAIAnswer(w http.ResponseWriter, stream bool, version string, items []map[string]any, usage *genai.GenerateContentResponseUsageMetadata) {
	whole := map[string]any{"id": "resp_1", "object": "response", "model": version, "status": "completed", "output": items}
	if usage != nil {
		whole["usage"] = map[string]any{
			"input_tokens": usage.PromptTokenCount, "output_tokens": usage.CandidatesTokenCount, "total_tokens": usage.TotalTokenCount,
			"input_tokens_details": map[string]any{"cached_tokens": usage.CachedContentTokenCount}, "output_tokens_details": map[string]any{"reasoning_tokens": usage.ThoughtsTokenCount},
		}
	}
	if !stream {
		writeJSON(w, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, map[string]any{"type": "response.created", "response": map[string]any{"id": "resp_1", "model": version}})
	for i, it := range items {
		event(w, map[string]any{"type": "response.output_item.added", "output_index": i, "item": it})
		if it["type"] == "function_call" {
			event(w, map[string]any{"type": "response.function_call_arguments.done", "item_id": it["id"], "output_index": i, "arguments": it["arguments"]})
			continue
		}
		for _, piece := range halves(plainItem(it)) {
			event(w, map[string]any{"type": "response.output_text.delta", "item_id": it["id"], "output_index": i, "content_index": 0, "delta": piece})
		}
	}
	event(w, map[string]any{"type": "response.completed", "response": whole})
}

func plainItem(it map[string]any) string {
	parts, _ := it["content"].([]any)
	if len(parts) == 0 {
		return ""
	}
	m, _ := parts[0].(map[string]any)
	s, _ := m["text"].(string)
	return s
}

// OpenAIError writes an error as the service does.
func OpenAIError(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	writeBody(w, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": nil, "param": nil}})
}
