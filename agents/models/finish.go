// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// ADK's adapter to OpenAI's Responses API drops the finish reason of a stream: an answer
// that was cut looks whole. finishTap reads it from the stream's last event.
type finishTap struct{ next http.RoundTripper }

type finishKey struct{}

// finish is where the tap leaves the finish reason for the call that made the request.
type finish struct{ reason atomic.Value }

// RoundTrip implements http.RoundTripper.
func (t finishTap) RoundTrip(req *http.Request) (*http.Response, error) {
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(req)
	if f, ok := req.Context().Value(finishKey{}).(*finish); ok && err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &finishBody{ReadCloser: resp.Body, finish: f}
	}
	return resp, err
}

// mostOfLine bounds one event of a stream; of a longer last one the reason stays unknown.
const mostOfLine = 16 << 20

type finishBody struct {
	io.ReadCloser
	finish *finish
	line   []byte
}

// Read implements io.Reader.
func (b *finishBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		if len(b.line)+len(line) <= mostOfLine {
			b.line = append(b.line, line...)
		}
		if ended {
			b.finish.read(b.line)
			b.line = b.line[:0]
		}
	}
	return n, err
}

// read notes the reason in a line of the stream, if it is that of a last event.
func (f *finish) read(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok || !bytes.Contains(data, []byte("response.completed")) && !bytes.Contains(data, []byte("response.incomplete")) {
		return
	}
	var event struct {
		Type     string `json:"type"`
		Response struct {
			Incomplete struct {
				Reason string `json:"reason"`
			} `json:"incomplete_details"`
		} `json:"response"`
	}
	if json.Unmarshal(data, &event) != nil {
		return
	}
	switch {
	case event.Type == "response.completed":
		f.reason.Store(genai.FinishReasonStop)
	case event.Type != "response.incomplete":
	case event.Response.Incomplete.Reason == "max_output_tokens":
		f.reason.Store(genai.FinishReasonMaxTokens)
	case event.Response.Incomplete.Reason == "content_filter":
		f.reason.Store(genai.FinishReasonSafety)
	default:
		f.reason.Store(genai.FinishReasonOther)
	}
}

// withFinish returns a context for one call, and a function that gives its whole answer the
// finish reason that the stream said, or says that there was none.
func withFinish(ctx context.Context) (context.Context, func(*model.LLMResponse) *model.LLMResponse) {
	f := &finish{}
	return context.WithValue(ctx, finishKey{}, f), func(resp *model.LLMResponse) *model.LLMResponse {
		if resp == nil || resp.Partial || resp.ErrorCode != "" || resp.FinishReason != "" && resp.FinishReason != genai.FinishReasonUnspecified {
			return resp
		}
		c := *resp
		c.FinishReason = genai.FinishReasonUnspecified
		if reason, ok := f.reason.Load().(genai.FinishReason); ok {
			c.FinishReason = reason
		}
		return &c
	}
}
