// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/standin"
)

// chatWith is a chat model whose server is handler.
func chatWith(t *testing.T, handler http.HandlerFunc) model.LLM {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	m, err := models.New(t.Context(), models.Options{Name: "chat:small", BaseURL: srv.URL + "/v1", Key: standin.Key})
	require.NoError(t, err)
	return m
}

// answer is the last response, with the text of the partial ones before it.
func answer(ctx context.Context, m model.LLM, req *model.LLMRequest, stream bool) (last *model.LLMResponse, partial string, err error) {
	for resp, err := range m.GenerateContent(ctx, req, stream) {
		if err != nil {
			return nil, partial, err
		}
		if resp.Partial {
			partial += resp.Content.Parts[0].Text
		}
		last = resp
	}
	return last, partial, nil
}

func bodyOf(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	return body
}

func question() *model.LLMRequest {
	return &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("hello", genai.RoleUser)}}
}

func TestChatSendsARequest(t *testing.T) {
	var to, key, sent string
	m := chatWith(t, func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(r)
		to, key, sent = r.URL.Path, r.Header.Get("Authorization"), string(body)
		standin.ChatAnswer(w, body, "small", map[string]any{"content": "yes"}, nil)
	})
	require.Equal(t, "small", m.Name())
	two, half, seed, yes := float32(2), float32(0.5), int32(7), true
	req := &model.LLMRequest{
		Contents: []*genai.Content{
			{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "What"}, {Text: "now?"}}},
			{Role: genai.RoleModel, Parts: []*genai.Part{
				{Text: "a secret thought", Thought: true},
				{Text: "I look."},
				{FunctionCall: &genai.FunctionCall{Name: "look", Args: map[string]any{"n": 1.0}}, ThoughtSignature: []byte("s")},
				{FunctionCall: &genai.FunctionCall{ID: "id-b", Name: "look"}},
			}},
			{Role: genai.RoleUser, Parts: []*genai.Part{
				{Text: "Both are there."},
				{FunctionResponse: &genai.FunctionResponse{ID: "id-b", Name: "look", Response: map[string]any{"b": true}}},
				{FunctionResponse: &genai.FunctionResponse{Name: "look", Response: map[string]any{"a": true}}},
			}},
			{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "nothing but a thought", Thought: true}}},
			nil,
		},
		Config: &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("Be brief.", "system"),
			Temperature:       &two, TopP: &half, PresencePenalty: &half, FrequencyPenalty: &two, Seed: &seed,
			MaxOutputTokens: 99, StopSequences: []string{"END"}, CandidateCount: 1, ServiceTier: genai.ServiceTierFlex,
			ResponseModalities: []string{"TEXT"}, AutomaticContinuation: &yes, HTTPOptions: &genai.HTTPOptions{},
			ResponseSchema: &genai.Schema{Type: genai.TypeObject, PropertyOrdering: []string{"type"}, Properties: map[string]*genai.Schema{
				"type": {Type: genai.TypeString, Nullable: &yes},
				"list": {Type: genai.TypeArray, Items: &genai.Schema{AnyOf: []*genai.Schema{{Type: genai.TypeInteger}, {Type: genai.TypeNumber}}}},
			}},
			Tools: []*genai.Tool{nil, {FunctionDeclarations: []*genai.FunctionDeclaration{
				nil, {Name: "look", Description: "looks", ParametersJsonSchema: map[string]any{"type": "object"}}, {Name: "other"},
			}}},
			ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{"look"}}},
		},
	}
	resp, _, err := answer(t.Context(), m, req, false)
	require.NoError(t, err)
	require.Equal(t, "yes", resp.Content.Parts[0].Text)
	require.Equal(t, "/v1/chat/completions", to)
	require.Equal(t, "Bearer "+standin.Key, key)
	require.JSONEq(t, `{
		"model": "small",
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": "What\nnow?"},
			{"role": "assistant", "content": "I look.", "tool_calls": [
				{"id": "call_0", "type": "function", "function": {"name": "look", "arguments": "{\"n\":1}"}},
				{"id": "id-b", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "id-b", "content": "{\"b\":true}"},
			{"role": "tool", "tool_call_id": "call_0", "content": "{\"a\":true}"},
			{"role": "user", "content": "Both are there."}],
		"temperature": 2, "top_p": 0.5, "presence_penalty": 0.5, "frequency_penalty": 2, "seed": 7,
		"max_tokens": 99, "stop": ["END"], "service_tier": "flex",
		"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object", "properties": {
			"type": {"type": ["string", "null"]}, "list": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "number"}]}}}}}},
		"tools": [{"type": "function", "function": {"name": "look", "description": "looks", "parameters": {"type": "object"}}}],
		"tool_choice": "required"}`, sent)

	// A request may name another model; a stream asks for its usage; a tool needs no schema.
	req = question()
	req.Model = "large"
	req.Config = &genai.GenerateContentConfig{
		ResponseMIMEType: "application/json", ServiceTier: "STANDARD",
		Tools:      []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "look"}}}},
		ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}},
	}
	_, _, err = answer(t.Context(), m, req, true)
	require.NoError(t, err)
	require.JSONEq(t, `{"model": "large", "messages": [{"role": "user", "content": "hello"}], "stream": true, "stream_options": {"include_usage": true},
		"response_format": {"type": "json_object"}, "service_tier": "default", "tool_choice": "none",
		"tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]}`, sent)
}

// OpenAI's newer models refuse max_tokens; other servers ignore max_completion_tokens and
// write without a bound; both together are refused.
func TestChatBoundsTheOutput(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.openai.com/v1": "max_completion_tokens", "https://eu.api.openai.com/v1": "max_completion_tokens",
		"https://mine.openai.azure.com/openai/v1": "max_completion_tokens", "https://openai.com.example.com/v1": "max_tokens",
		"https://notopenai.com/v1": "max_tokens", "http://localhost:11434/v1": "max_tokens", "https://openrouter.ai/api/v1": "max_tokens",
	} {
		var sent map[string]any
		m, err := models.New(t.Context(), models.Options{Name: "chat:x", BaseURL: address, Key: standin.Key, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			require.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
			require.Equal(t, address+"/chat/completions", r.URL.String())
			return nil, io.ErrUnexpectedEOF
		})})
		require.NoError(t, err)
		req := question()
		req.Config = &genai.GenerateContentConfig{MaxOutputTokens: 5}
		_, _, err = answer(t.Context(), m, req, false)
		require.Error(t, err)
		require.EqualValues(t, 5, sent[want], address)
		require.Len(t, sent, 3, "%s %v", address, sent)
	}
}

func TestChatRefusesWhatItCannotSay(t *testing.T) {
	var asked atomic.Int32
	m := chatWith(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	f := float32(1)
	calling := func(mode genai.FunctionCallingConfigMode) *genai.GenerateContentConfig {
		return &genai.GenerateContentConfig{ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: mode}}}
	}
	part := func(role string, p *genai.Part) *model.LLMRequest {
		return &model.LLMRequest{Contents: []*genai.Content{{Role: role, Parts: []*genai.Part{p}}}}
	}
	with := func(cfg *genai.GenerateContentConfig) *model.LLMRequest {
		r := question()
		r.Config = cfg
		return r
	}
	for name, req := range map[string]*model.LLMRequest{
		"no request":           nil,
		"no content":           {},
		"only an instruction":  {Config: &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("x", "system")}},
		"an image":             part("user", genai.NewPartFromBytes([]byte{1}, "image/png")),
		"a file":               part("user", genai.NewPartFromURI("gs://x", "text/plain")),
		"another role":         part("function", &genai.Part{Text: "x"}),
		"the user's call":      part("user", genai.NewPartFromFunctionCall("f", nil)),
		"the model's result":   part("model", genai.NewPartFromFunctionResponse("f", nil)),
		"a result, no call":    part("user", genai.NewPartFromFunctionResponse("f", nil)),
		"arguments not JSON":   part("model", genai.NewPartFromFunctionCall("f", map[string]any{"x": func() {}})),
		"top k":                with(&genai.GenerateContentConfig{TopK: &f}),
		"several answers":      with(&genai.GenerateContentConfig{CandidateCount: 2}),
		"safety settings":      with(&genai.GenerateContentConfig{SafetySettings: []*genai.SafetySetting{{}}}),
		"thinking":             with(&genai.GenerateContentConfig{ThinkingConfig: &genai.ThinkingConfig{}}),
		"cached content":       with(&genai.GenerateContentConfig{CachedContent: "c"}),
		"sound":                with(&genai.GenerateContentConfig{ResponseModalities: []string{"AUDIO"}}),
		"another format":       with(&genai.GenerateContentConfig{ResponseMIMEType: "text/x.enum"}),
		"a search":             with(&genai.GenerateContentConfig{Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}}),
		"a schema of no form":  with(&genai.GenerateContentConfig{ResponseJsonSchema: "x"}),
		"a schema not JSON":    with(&genai.GenerateContentConfig{ResponseJsonSchema: func() {}}),
		"a tool's schema":      with(&genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f", ParametersJsonSchema: 1}}}}}),
		"a call of no tool":    with(calling(genai.FunctionCallingConfigModeAny)),
		"another calling mode": with(calling(genai.FunctionCallingConfigModeValidated)),
		"a retrieval":          with(&genai.GenerateContentConfig{ToolConfig: &genai.ToolConfig{RetrievalConfig: &genai.RetrievalConfig{}}}),
	} {
		for _, streaming := range []bool{false, true} {
			_, _, err := answer(t.Context(), m, req, streaming)
			require.ErrorIs(t, err, models.ErrRequest, name)
		}
	}
	require.Zero(t, asked.Load())
}

// What a server says beside the text arrives, streamed or not.
func TestChatReadsAnAnswer(t *testing.T) {
	usage := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 900, CachedContentTokenCount: 800, CandidatesTokenCount: 50, ThoughtsTokenCount: 20, TotalTokenCount: 950}
	for name, tc := range map[string]struct {
		message map[string]any
		finish  genai.FinishReason
		code    string
	}{
		"text":       {map[string]any{"content": "Ça va."}, "STOP", ""},
		"refusal":    {map[string]any{"content": "", "finish_reason": "stop"}, "STOP", ""},
		"calls":      {map[string]any{"content": "I look.", "tool_calls": []any{standin.ChatCall("a", "look", `{"n":1}`), standin.ChatCall("b", "look", ``)}}, "STOP", ""},
		"too long":   {map[string]any{"content": "Ça", "finish_reason": "length"}, "MAX_TOKENS", ""},
		"filtered":   {map[string]any{"content": "Ça", "finish_reason": "content_filter"}, "SAFETY", ""},
		"all of it":  {map[string]any{"finish_reason": "content_filter"}, "SAFETY", "SAFETY"},
		"no room":    {map[string]any{"finish_reason": "length"}, "MAX_TOKENS", "MAX_TOKENS"},
		"unknown":    {map[string]any{"content": "x", "finish_reason": "eos"}, "OTHER", ""},
		"not JSON":   {map[string]any{"tool_calls": []any{standin.ChatCall("a", "look", `{"n":`)}}, "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"},
		"a list":     {map[string]any{"tool_calls": []any{standin.ChatCall("a", "look", `[1]`)}}, "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"},
		"two values": {map[string]any{"tool_calls": []any{standin.ChatCall("a", "look", `{} {}`)}}, "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"},
		"no name":    {map[string]any{"tool_calls": []any{standin.ChatCall("a", "", `{}`)}}, "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"},
		"null":       {map[string]any{"tool_calls": []any{standin.ChatCall("a", "look", `null`)}}, "STOP", ""},
		"same id":    {map[string]any{"tool_calls": []any{standin.ChatCall("a", "look", `{}`), standin.ChatCall("a", "see", `{}`)}}, "STOP", ""},
	} {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,streaming=%v", name, streaming), func(t *testing.T) {
				m := chatWith(t, func(w http.ResponseWriter, r *http.Request) {
					message := maps.Clone(tc.message)
					standin.ChatAnswer(w, bodyOf(r), "small-2026", message, usage)
				})
				resp, partial, err := answer(t.Context(), m, question(), streaming)
				require.NoError(t, err)
				require.False(t, resp.Partial)
				require.Equal(t, streaming, resp.TurnComplete)
				require.Equal(t, tc.finish, resp.FinishReason)
				require.Equal(t, tc.code, resp.ErrorCode)
				require.Equal(t, "small-2026", resp.ModelVersion)
				require.Equal(t, "chatcmpl-1", resp.CustomMetadata["openai_response_id"])
				want := *usage
				want.TrafficType = genai.TrafficTypeOnDemand
				require.Equal(t, &want, resp.UsageMetadata)
				if text, _ := tc.message["content"].(string); text != "" {
					require.Equal(t, text, resp.Content.Parts[0].Text)
					if streaming {
						require.Equal(t, text, partial)
					}
				}
				switch name {
				case "calls":
					require.Equal(t, &genai.FunctionCall{ID: "a", Name: "look", Args: map[string]any{"n": 1.0}}, resp.Content.Parts[1].FunctionCall)
					require.Equal(t, &genai.FunctionCall{ID: "b", Name: "look", Args: map[string]any{}}, resp.Content.Parts[2].FunctionCall)
				case "same id":
					require.Equal(t, "a", resp.Content.Parts[0].FunctionCall.ID)
					require.Empty(t, resp.Content.Parts[1].FunctionCall.ID)
				case "not JSON", "a list", "two values":
					require.NotContains(t, resp.ErrorMessage, `"n"`, "arguments are in no error")
				}
			})
		}
	}
}

// What real servers make of the protocol, and what breaks off.
func TestChatReadsStreamsAsTheyAre(t *testing.T) {
	const (
		say    = `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}],"usage":null}` + "\n\n"
		finish = `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		done   = "data: [DONE]\n\n"
	)
	call := func(index int, id, name, args string) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"function":{"name":%q,"arguments":%q}}]}}]}`+"\n\n", index, id, name, args)
	}
	counts := func(choices string, in, out int) string {
		return fmt.Sprintf(`data: {"choices":%s,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", choices, in, out, in+out)
	}
	used := func(in, out int32) *genai.GenerateContentResponseUsageMetadata {
		return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: in, CandidatesTokenCount: out, TotalTokenCount: in + out}
	}
	fc := func(id, name string, args map[string]any) *genai.Part {
		return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: args}}
	}
	hi := []*genai.Part{{Text: "hi"}}
	for name, tc := range map[string]struct {
		stream string
		parts  []*genai.Part
		usage  *genai.GenerateContentResponseUsageMetadata
		err    string
	}{
		"usage in its own chunk":       {say + finish + counts("[]", 7, 3) + done, hi, used(7, 3), ""},
		"no choices at all":            {say + finish + counts("null", 7, 3) + done, hi, used(7, 3), ""},
		"usage counted up":             {counts("[]", 7, 0) + say + finish + counts("[]", 7, 3) + done, hi, used(7, 3), ""},
		"usage beside an empty choice": {say + finish + counts(`[{"index":0,"delta":{},"finish_reason":null}]`, 7, 3) + done, hi, used(7, 3), ""},
		"no usage":                     {say + finish + done, hi, nil, ""},
		"an empty usage":               {say + finish + `data: {"choices":[],"usage":{}}` + "\n\n" + done, hi, &genai.GenerateContentResponseUsageMetadata{}, ""},
		"usage below zero":             {say + finish + counts("[]", -7, 3) + done, hi, nil, ""},
		"usage without end":            {say + finish + counts("[]", 1<<40, 3) + done, hi, nil, ""},
		"no DONE":                      {say + finish, hi, nil, ""},
		"comments and CRLF":            {": waiting\r\n\r\n" + strings.ReplaceAll(say+finish+done, "\n", "\r\n"), hi, nil, ""},
		"another choice":               {say + strings.ReplaceAll(say, `"index":0`, `"index":1`) + finish, hi, nil, ""},
		"calls all numbered 0": {
			call(0, "a", "look", `{"n":1}`) + call(0, "b", "look", `{"n":`) + call(0, "", "", `2}`) + finish,
			[]*genai.Part{fc("a", "look", map[string]any{"n": 1.0}), fc("b", "look", map[string]any{"n": 2.0})},
			nil, "",
		},
		"calls interleaved": {
			call(0, "a", "look", `{"n"`) + call(1, "b", "look", `{"n"`) + call(0, "", "", `:1}`) + call(1, "", "", `:2}`) + finish,
			[]*genai.Part{fc("a", "look", map[string]any{"n": 1.0}), fc("b", "look", map[string]any{"n": 2.0})},
			nil, "",
		},
		"a name repeated":        {call(0, "a", "look", `{`) + call(0, "a", "look", `}`) + finish, []*genai.Part{fc("a", "look", map[string]any{})}, nil, ""},
		"no ids":                 {call(0, "", "look", `{}`) + call(1, "", "see", ``) + finish, []*genai.Part{fc("", "look", map[string]any{}), fc("", "see", map[string]any{})}, nil, ""},
		"cut before the finish":  {say, nil, nil, "unexpected EOF"},
		"DONE before the finish": {say + done, nil, nil, "unexpected EOF"},
		"half a chunk":           {say + `data: {"id"` + "\n\n", nil, nil, "unexpected end of JSON"},
		"an error in between":    {say + `data: {"error":{"message":"overloaded, ` + standin.Key + `","code":502}}` + "\n\n", nil, nil, "overloaded"},
		"ended by an error":      {say + strings.ReplaceAll(finish, "stop", "error"), nil, nil, "with an error"},
		"a login page":           {"<html>login</html>", nil, nil, "no event stream"},
		"an error in place":      {`{"error":{"message":"no"}}`, nil, nil, "no event stream"},
		"nothing":                {"", nil, nil, "no event stream"},
	} {
		t.Run(name, func(t *testing.T) {
			m := chatWith(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.stream) })
			resp, _, err := answer(t.Context(), m, question(), true)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				require.NotContains(t, err.Error(), standin.Key)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.parts, resp.Content.Parts)
			require.Equal(t, tc.usage, resp.UsageMetadata)
		})
	}
}

// An error keeps its status, for retries to know it, and loses the key, also where the
// body is no JSON.
func TestChatErrorsHaveAStatusAndNoKey(t *testing.T) {
	for code, transient := range map[int]bool{400: false, 401: false, 402: false, 404: false, 408: true, 429: true, 500: true, 503: true, 529: false} {
		for _, body := range []string{`{"error":{"message":"no: ` + standin.Key + strings.Repeat("x", 500) + `"}}`, `{"error":"no: ` + standin.Key + `"}`, "<html>" + standin.Key, "", `{"detail":"no"}`} {
			for _, streaming := range []bool{false, true} {
				m := chatWith(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(code)
					_, _ = io.WriteString(w, body)
				})
				_, _, err := answer(t.Context(), m, question(), streaming)
				var status *models.StatusError
				require.ErrorAs(t, err, &status, "%d %s", code, body)
				require.Equal(t, code, status.StatusCode)
				require.Less(t, len(err.Error()), 400)
				require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, status), standin.Key)
				require.Equal(t, transient, guards.Transient(err), "%d", code)
				if strings.Contains(body, "no: ") {
					require.Contains(t, status.Message, "no: [key]")
				}
			}
		}
	}
}

// An error under the status 200, and an answer without a choice, are no answers.
func TestChatTakesNoErrorForAnAnswer(t *testing.T) {
	for _, body := range []string{`{"error":{"message":"no key ` + standin.Key + `"}}`, `{"choices":[]}`, `null`, `{"choices":`} {
		m := chatWith(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		})
		_, _, err := answer(t.Context(), m, question(), false)
		require.Error(t, err, body)
		require.NotContains(t, err.Error(), standin.Key)
	}
}

// The tier that served a call decides over its price.
func TestChatReportsTheTier(t *testing.T) {
	for tier, want := range map[string]genai.TrafficType{
		`"default"`: genai.TrafficTypeOnDemand, `"flex"`: genai.TrafficTypeOnDemandFlex, `"priority"`: genai.TrafficTypeOnDemandPriority, `"fast"`: "FAST", `null`: "",
	} {
		m := chatWith(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}],"service_tier":%s,"usage":{"prompt_tokens":1}}`, tier)
		})
		resp, _, err := answer(t.Context(), m, question(), false)
		require.NoError(t, err)
		require.Equal(t, want, resp.UsageMetadata.TrafficType)
	}
}

// A caller that stops listening ends the request.
func TestChatStopsWithItsCaller(t *testing.T) {
	gone := make(chan struct{})
	m := chatWith(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"on"}}]}`+"\n\n")
			w.(http.Flusher).Flush()
		}
		close(gone)
	})
	for resp, err := range m.GenerateContent(t.Context(), question(), true) {
		require.NoError(t, err)
		require.True(t, resp.Partial)
		break
	}
	<-gone
}

func TestChatNeedsNoKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	var keys []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	m, err := models.New(t.Context(), models.Options{Name: "chat:x", BaseURL: strings.TrimPrefix(srv.URL, "http://") + "/v1"})
	require.NoError(t, err)
	require.Error(t, ask(t.Context(), m))
	require.Equal(t, []string{""}, keys)
}

func TestServerURL(t *testing.T) {
	for address, want := range map[string]string{
		"localhost:11434/v1": "http://localhost:11434/v1", "127.0.0.1:8080": "http://127.0.0.1:8080", "[::1]:8080/v1": "http://[::1]:8080/v1", "localhost": "http://localhost",
		"http://localhost:11434/v1": "http://localhost:11434/v1", "https://models.example.com/v1/": "https://models.example.com/v1/",
		"models.example.com/v1": "", "localhost.example.com/v1": "", "localhost:x@models.example.com/v1": "", "localhost:11434/v1?key=x": "", "ftp://localhost/v1": "", "": "",
	} {
		got, err := models.ServerURL(address)
		require.Equal(t, want, got)
		if want == "" {
			require.ErrorIs(t, err, models.ErrOptions, address)
		}
	}
	require.True(t, models.SpeaksOpenAI("chat:x") && models.SpeaksOpenAI("openai:x"))
	require.False(t, models.SpeaksOpenAI("gemini-x") || models.SpeaksOpenAI(models.Offline))
}

// capture keeps the request and says what it is to say.
type capture struct {
	got *model.LLMRequest
	say *genai.Content
}

func (*capture) Name() string { return "capture" }

func (c *capture) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		c.got = req
		yield(&model.LLMResponse{Content: c.say}, nil)
	}
}

// Whatever is said and called in a history, a server reads it as it was, and what it
// answers arrives as it said it, in a stream as in one piece.
func TestChatCarriesEveryConversation(t *testing.T) {
	served := &capture{}
	s := standin.Chat(t, served, nil)
	m, err := models.New(t.Context(), models.Options{Name: "chat:x", BaseURL: s.URL, Key: standin.Key})
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	for range 300 {
		history := conversation(random)
		served.say = modelTurn(random, "out", random.IntN(3))
		for _, streaming := range []bool{false, true} {
			resp, partial, err := answer(t.Context(), m, &model.LLMRequest{Contents: history}, streaming)
			require.NoError(t, err)
			require.Equal(t, history, served.got.Contents)
			require.Len(t, resp.Content.Parts, len(served.say.Parts))
			for i, p := range resp.Content.Parts {
				if p.FunctionCall != nil {
					require.NotEmpty(t, p.FunctionCall.ID)
					p.FunctionCall.ID = served.say.Parts[i].FunctionCall.ID
				}
				require.Equal(t, served.say.Parts[i], p)
			}
			if streaming {
				require.Equal(t, served.say.Parts[0].Text, partial)
			}
		}
	}
}

// conversation is a history as guards keep it: a question, turns of the model, and the
// result of each call in the turn after it.
func conversation(r *rand.Rand) []*genai.Content {
	history := []*genai.Content{genai.NewContentFromText(words(r), genai.RoleUser)}
	for turn := range r.IntN(5) {
		said := modelTurn(r, fmt.Sprint(turn), r.IntN(4))
		answered := &genai.Content{Role: genai.RoleUser}
		for _, p := range said.Parts {
			if f := p.FunctionCall; f != nil {
				answered.Parts = append(answered.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: f.ID, Name: f.Name, Response: map[string]any{"text": words(r)}}})
			}
		}
		r.Shuffle(len(answered.Parts), func(i, j int) { answered.Parts[i], answered.Parts[j] = answered.Parts[j], answered.Parts[i] })
		if len(answered.Parts) == 0 || r.IntN(3) == 0 {
			answered.Parts = append(answered.Parts, genai.NewPartFromText(words(r)))
		}
		history = append(history, said, answered)
	}
	return history
}

func modelTurn(r *rand.Rand, id string, calls int) *genai.Content {
	said := &genai.Content{Role: genai.RoleModel}
	if calls == 0 || r.IntN(2) == 0 {
		said.Parts = append(said.Parts, genai.NewPartFromText(words(r)))
	}
	for i := range calls {
		said.Parts = append(said.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: fmt.Sprintf("%s-%d", id, i), Name: "look", Args: map[string]any{"q": words(r)}}})
	}
	return said
}

func words(r *rand.Rand) string {
	all := []string{"a", "é", "\"", "\n", "data: ", "[DONE]", "\u2028", "😀", " ", "{}"}
	var sb strings.Builder
	for range 1 + r.IntN(8) {
		sb.WriteString(all[r.IntN(len(all))])
	}
	return sb.String()
}
