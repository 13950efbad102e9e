// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	Stream              bool          `json:"stream"`
	MaxTokens           *int32        `json:"max_tokens"`
	MaxCompletionTokens *int32        `json:"max_completion_tokens"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Tools      []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  map[string]any `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	if auth := r.Header.Get("Authorization"); auth != "" && auth != "Bearer "+Key {
		OpenAIError(w, http.StatusUnauthorized, "Incorrect API key provided")
		return
	}
	body, ok := s.begin(w, r)
	if !ok {
		return
	}
	var req chatRequest
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
	s.mu.Lock()
	n := len(s.bodies)
	s.mu.Unlock()
	ChatAnswer(w, body, version, chatOutput(resp.Content, n), resp.UsageMetadata)
}

// convert turns messages into contents and answers for the service's own checks: every call
// is followed by its result, and no result comes without its call.
func (q *chatRequest) convert() (*model.LLMRequest, error) {
	if q.Model == "" || len(q.Messages) == 0 {
		return nil, errors.New("you must provide a model and messages")
	}
	cfg := &genai.GenerateContentConfig{}
	switch {
	case q.MaxTokens != nil && q.MaxCompletionTokens != nil:
		return nil, errors.New("setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported")
	case q.ToolChoice != nil && len(q.Tools) == 0:
		return nil, errors.New("'tool_choice' is only allowed when 'tools' are specified")
	case q.StreamOptions != nil && !q.Stream:
		return nil, errors.New("'stream_options' is only allowed when 'stream' is enabled")
	case q.MaxTokens != nil:
		cfg.MaxOutputTokens = *q.MaxTokens
	case q.MaxCompletionTokens != nil:
		cfg.MaxOutputTokens = *q.MaxCompletionTokens
	}
	out := &model.LLMRequest{Model: q.Model, Config: cfg}
	add := func(role string, parts ...*genai.Part) {
		if n := len(out.Contents); n > 0 && out.Contents[n-1].Role == role {
			out.Contents[n-1].Parts = append(out.Contents[n-1].Parts, parts...)
			return
		}
		out.Contents = append(out.Contents, &genai.Content{Role: role, Parts: parts})
	}
	open := map[string]string{} // names of calls without a result, by id
	for _, m := range q.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return nil, errors.New("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'")
		}
		switch m.Role {
		case "system", "developer":
			cfg.SystemInstruction = genai.NewContentFromText(plain(m.Content), "system")
		case "user":
			add(genai.RoleUser, genai.NewPartFromText(plain(m.Content)))
		case "assistant":
			var parts []*genai.Part
			if text := plain(m.Content); text != "" {
				parts = append(parts, genai.NewPartFromText(text))
			}
			for _, c := range m.ToolCalls {
				args := map[string]any{}
				if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil || c.ID == "" || c.Type != "function" {
					return nil, fmt.Errorf("the tool call of %s is not valid", c.Function.Name)
				}
				open[c.ID] = c.Function.Name
				parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.ID, Name: c.Function.Name, Args: args}})
			}
			if len(parts) == 0 {
				return nil, errors.New("an assistant message needs content or tool_calls")
			}
			add(genai.RoleModel, parts...)
		case "tool":
			name, ok := open[m.ToolCallID]
			if !ok {
				return nil, errors.New("messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
			}
			delete(open, m.ToolCallID)
			add(genai.RoleUser, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: m.ToolCallID, Name: name, Response: result(m.Content)}})
		default:
			return nil, fmt.Errorf("invalid role %q", m.Role)
		}
	}
	if len(open) > 0 {
		return nil, errors.New("the last tool calls have no results")
	}
	var decls []*genai.FunctionDeclaration
	for _, t := range q.Tools {
		if t.Type != "function" || t.Function.Name == "" {
			return nil, errors.New("a tool must be a function with a name")
		}
		decls = append(decls, &genai.FunctionDeclaration{Name: t.Function.Name, Description: t.Function.Description, ParametersJsonSchema: t.Function.Parameters})
	}
	if decls != nil {
		cfg.Tools = []*genai.Tool{{FunctionDeclarations: decls}}
	}
	return out, nil
}

func chatOutput(c *genai.Content, n int) map[string]any {
	message := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	var text strings.Builder
	var calls []any
	for _, p := range c.Parts {
		fc := p.FunctionCall
		if fc == nil {
			text.WriteString(p.Text)
			continue
		}
		args, err := json.Marshal(fc.Args)
		if err != nil || fc.Args == nil {
			args = []byte("{}")
		}
		calls = append(calls, ChatCall(fmt.Sprintf("call_%d_%d", n, len(calls)), fc.Name, string(args)))
	}
	if text.Len() > 0 {
		message["content"] = text.String()
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return message
}

// ChatCall is a tool call of a message, with arguments that need not be JSON.
func ChatCall(id, name, arguments string) map[string]any {
	return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}
}

// ChatAnswer writes a message as the answer to the request in body: whole, or streamed with
// its usage in a chunk of its own where the request asks for it. The message ends with what
// it has, unless its own "finish_reason" says otherwise.
func ChatAnswer(w http.ResponseWriter, body []byte, version string, message map[string]any, usage *genai.GenerateContentResponseUsageMetadata) {
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		panic(err)
	}
	calls, _ := message["tool_calls"].([]any)
	finish, ok := message["finish_reason"]
	delete(message, "finish_reason")
	if !ok {
		finish = "stop"
		if calls != nil {
			finish = "tool_calls"
		}
	}
	var counted any
	if usage != nil {
		counted = map[string]any{
			"prompt_tokens": usage.PromptTokenCount, "completion_tokens": usage.CandidatesTokenCount, "total_tokens": usage.TotalTokenCount,
			"prompt_tokens_details":     map[string]any{"cached_tokens": usage.CachedContentTokenCount, "audio_tokens": 0},
			"completion_tokens_details": map[string]any{"reasoning_tokens": usage.ThoughtsTokenCount, "audio_tokens": 0},
		}
	}
	head := func(object string, more map[string]any) map[string]any {
		m := map[string]any{"id": "chatcmpl-1", "object": object, "created": 1, "model": version, "service_tier": "default"}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	if !req.Stream {
		whole := head("chat.completion", map[string]any{"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish}}})
		if counted != nil {
			whole["usage"] = counted
		}
		writeJSON(w, whole)
		return
	}
	include := req.StreamOptions != nil && req.StreamOptions.IncludeUsage
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish any) {
		c := head("chat.completion.chunk", map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}})
		if include {
			c["usage"] = nil
		}
		event(w, c)
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	if text, _ := message["content"].(string); text != "" {
		for _, piece := range halves(text) {
			chunk(map[string]any{"content": piece}, nil)
		}
	}
	for i, c := range calls {
		call, _ := c.(map[string]any)
		f, _ := call["function"].(map[string]any)
		args, _ := f["arguments"].(string)
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": call["id"], "type": "function", "function": map[string]any{"name": f["name"], "arguments": ""}}}}, nil)
		for _, piece := range halves(args) {
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": piece}}}}, nil)
		}
	}
	chunk(map[string]any{}, finish)
	if include && counted != nil {
		event(w, head("chat.completion.chunk", map[string]any{"choices": []any{}, "usage": counted}))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
