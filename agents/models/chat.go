// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// A StatusError is the answer of a chat-completions server with an HTTP status that is an
// error: guards.Transient knows it by StatusCode.
type StatusError struct {
	StatusCode int
	// Message is what the server says about it, without the key, cut to 300 bytes. It may
	// quote the request.
	Message string
}

// Error implements error.
func (e *StatusError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("models: the server answered %d %s: %s", e.StatusCode, http.StatusText(e.StatusCode), e.Message), ": ")
}

// chatModel asks a server over /chat/completions.
type chatModel struct {
	completions openai.ChatCompletionService
	name, key   string
	// openAI says that the server is OpenAI's own, or Azure's.
	openAI bool
}

func newChat(o Options, bare string, client *http.Client) (model.LLM, error) {
	if o.BaseURL == "" {
		return nil, fmt.Errorf("%w: %s needs the address of its server", ErrOptions, o.Name)
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%w: the base URL can't be read", ErrOptions)
	}
	// The service, unlike the whole client, reads nothing from the environment.
	opts := []option.RequestOption{option.WithBaseURL(o.BaseURL), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	key := firstOf(o.Key, os.Getenv(OpenAIKeyVariable))
	if key != "" {
		if err := o.mayCarryKey(); err != nil {
			return nil, err
		}
		opts = append(opts, option.WithAPIKey(key))
	}
	m := &chatModel{openai.NewChatCompletionService(opts...), bare, key, ofOpenAI(u.Hostname())}
	return keyed(m, key), nil
}

func ofOpenAI(host string) bool {
	host = "." + strings.ToLower(host)
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}

// Name implements model.LLM.
func (m *chatModel) Name() string { return m.name }

// GenerateContent implements model.LLM.
func (m *chatModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		params, err := m.params(req)
		if err != nil {
			yield(nil, err)
			return
		}
		if stream {
			m.stream(ctx, params, yield)
			return
		}
		yield(m.whole(ctx, params))
	}
}

func (m *chatModel) whole(ctx context.Context, params openai.ChatCompletionNewParams) (*model.LLMResponse, error) {
	var res *http.Response
	whole, err := m.completions.New(ctx, params, option.WithResponseInto(&res))
	if err != nil {
		return nil, m.failed(res, err)
	}
	if whole == nil { // the body "null"
		whole = &openai.ChatCompletion{}
	}
	if len(whole.Choices) == 0 {
		return nil, fmt.Errorf("models: an answer without a choice: %s", m.quote(whole.RawJSON()))
	}
	first := whole.Choices[0]
	a := chatAnswer{id: whole.ID, model: whole.Model, tier: string(whole.ServiceTier), finish: first.FinishReason}
	a.text.WriteString(first.Message.Content + first.Message.Refusal)
	for _, c := range first.Message.ToolCalls {
		a.calls = append(a.calls, chatCall{id: c.ID, kind: c.Type, name: c.Function.Name, arguments: c.Function.Arguments})
	}
	if whole.JSON.Usage.Valid() {
		a.usage = chatUsage(whole.Usage)
	}
	return a.response()
}

// stream hands out the text as it comes and, once the server says that the answer is
// finished, the whole of it.
func (m *chatModel) stream(ctx context.Context, params openai.ChatCompletionNewParams, yield func(*model.LLMResponse, error) bool) {
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	var res *http.Response
	chunks := m.completions.NewStreaming(ctx, params, option.WithResponseInto(&res))
	defer func() { _ = chunks.Close() }()
	var a chatAnswer
	came := false
	for chunks.Next() {
		came = true
		text := a.add(chunks.Current())
		if text == "" {
			continue
		}
		partial := &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), ModelVersion: a.model, Partial: true}
		if !yield(partial, nil) {
			return
		}
	}
	switch err := chunks.Err(); {
	case err != nil:
		yield(nil, m.failed(res, err))
	case a.finish == "" && !came:
		// The client reads anything as a stream, a login page too, and finds no event in it.
		yield(nil, fmt.Errorf("models: no event stream came but %q", res.Header.Get("Content-Type")))
	case a.finish == "":
		yield(nil, fmt.Errorf("models: the stream ended before the answer did: %w", io.ErrUnexpectedEOF))
	default:
		resp, err := a.response()
		if resp != nil {
			resp.TurnComplete = true
		}
		yield(resp, err)
	}
}

// failed is err, as a StatusError where a status says more. The client's own error would
// hold the request, and the key with it.
func (m *chatModel) failed(res *http.Response, err error) error {
	if res == nil || res.StatusCode < http.StatusBadRequest {
		return err
	}
	status := &StatusError{StatusCode: res.StatusCode}
	var api *openai.Error
	if errors.As(err, &api) {
		status.Message = m.quote(cmp.Or(api.Message, api.RawJSON()))
	}
	return status
}

// quote is what a server wrote as an error can repeat it.
func (m *chatModel) quote(s string) string {
	if len(m.key) >= minKey {
		s = strings.ReplaceAll(s, m.key, "[key]")
	}
	const most = 300
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "")
}
