// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package standin serves model protocols on a loopback address for tests: Gemini's
// generateContent and streamGenerateContent, and OpenAI's responses and chat completions.
// What it answers is made by any model.LLM; faults are put in per request.
package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// Key is the API key the servers ask for.
const Key = "test-key-0123456789abcdef"

// A Fault answers request n (from 0) in place of the model and reports whether it
// did.
type Fault func(n int, w http.ResponseWriter, r *http.Request, body []byte) bool

// A Server is a stand-in. It remembers the bodies it was sent.
type Server struct {
	*httptest.Server
	llm   model.LLM
	fault Fault
	// Version is the model version it says it served.
	Version string
	// Dear makes Gemini's answers use every token of output they were allowed.
	Dear bool

	mu     sync.Mutex
	bodies [][]byte
	usage  []genai.GenerateContentResponseUsageMetadata
}

// Gemini serves llm as the Gemini API would.
func Gemini(t testing.TB, llm model.LLM, fault Fault) *Server {
	t.Helper()
	s := &Server{llm: llm, fault: fault}
	s.Server = httptest.NewServer(http.HandlerFunc(s.gemini))
	t.Cleanup(s.Close)
	return s
}

// OpenAI serves llm as OpenAI's responses endpoint would.
func OpenAI(t testing.TB, llm model.LLM, fault Fault) *Server {
	t.Helper()
	s := &Server{llm: llm, fault: fault}
	s.Server = httptest.NewServer(http.HandlerFunc(s.openai))
	t.Cleanup(s.Close)
	return s
}

// Chat serves llm as OpenAI's chat-completions endpoint would.
func Chat(t testing.TB, llm model.LLM, fault Fault) *Server {
	t.Helper()
	s := &Server{llm: llm, fault: fault}
	s.Server = httptest.NewServer(http.HandlerFunc(s.chat))
	t.Cleanup(s.Close)
	return s
}

// Bodies returns the request bodies so far.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.bodies...)
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return nil, false
	}
	s.mu.Lock()
	n := len(s.bodies)
	s.bodies = append(s.bodies, body)
	s.mu.Unlock()
	if s.fault != nil && s.fault(n, w, r, body) {
		return nil, false
	}
	return body, true
}

type geminiRequest struct {
	Contents []*genai.Content `json:"contents"`
	Tools    []*genai.Tool    `json:"tools"`
	Config   struct {
		MaxOutputTokens int32 `json:"maxOutputTokens"`
	} `json:"generationConfig"`
}

func (s *Server) gemini(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("x-goog-api-key") != Key {
		GeminiError(w, http.StatusUnauthorized, "API key not valid")
		return
	}
	body, ok := s.begin(w, r)
	if !ok {
		return
	}
	var req geminiRequest
	if err := json.Unmarshal(body, &req); err != nil {
		GeminiError(w, http.StatusBadRequest, err.Error())
		return
	}
	_, rest, _ := strings.Cut(r.URL.Path, "/models/")
	name, method, _ := strings.Cut(rest, ":")
	resp, err := s.ask(r.Context(), &model.LLMRequest{Model: name, Contents: req.Contents, Config: &genai.GenerateContentConfig{Tools: req.Tools, MaxOutputTokens: req.Config.MaxOutputTokens}})
	if err != nil {
		GeminiError(w, http.StatusBadRequest, err.Error())
		return
	}
	version := s.Version
	if version == "" {
		version = name
	}
	whole := map[string]any{
		"candidates":    []any{map[string]any{"content": resp.Content, "finishReason": "STOP", "index": 0}},
		"usageMetadata": usageOf(resp), "modelVersion": version, "responseId": "r-1",
	}
	if method == "generateContent" {
		writeJSON(w, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range chunked(resp.Content) {
		event(w, map[string]any{"candidates": []any{map[string]any{"content": chunk, "index": 0}}, "modelVersion": version})
	}
	event(w, map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": ""}}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": usageOf(resp), "modelVersion": version,
	})
}

// chunked cuts text into two chunks and sends calls whole, as the service does.
func chunked(c *genai.Content) []*genai.Content {
	var out []*genai.Content
	for _, p := range c.Parts {
		if p.Text == "" || len(p.Text) < 2 {
			out = append(out, &genai.Content{Role: c.Role, Parts: []*genai.Part{p}})
			continue
		}
		for _, piece := range halves(p.Text) {
			cp := *p
			cp.Text = piece
			out = append(out, &genai.Content{Role: c.Role, Parts: []*genai.Part{&cp}})
		}
	}
	return out
}

// halves cuts text in two, between characters.
func halves(text string) [2]string {
	half := len(text) / 2
	for half > 0 && !utf8.RuneStart(text[half]) {
		half--
	}
	return [2]string{text[:half], text[half:]}
}

func usageOf(resp *model.LLMResponse) any {
	if resp.UsageMetadata == nil {
		return nil
	}
	return resp.UsageMetadata
}

func (s *Server) ask(ctx context.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	var last *model.LLMResponse
	for resp, err := range s.llm.GenerateContent(ctx, req, false) {
		if err != nil {
			return nil, err
		}
		last = resp
	}
	if last == nil || last.Content == nil {
		return nil, fmt.Errorf("standin: the model said nothing")
	}
	if u := last.UsageMetadata; s.Dear && u != nil {
		u.CandidatesTokenCount, u.TotalTokenCount = req.Config.MaxOutputTokens, u.PromptTokenCount+req.Config.MaxOutputTokens
	}
	s.bill(last.UsageMetadata)
	return last, nil
}

// GeminiError writes an error as the Gemini API does.
func GeminiError(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	writeBody(w, map[string]any{"error": map[string]any{"code": code, "message": message, "status": http.StatusText(code)}})
}

// GeminiAnswer writes one whole answer with a finish reason and no content.
func GeminiAnswer(w http.ResponseWriter, r *http.Request, candidate, more map[string]any) {
	body := map[string]any{"modelVersion": "gemini-test"}
	if candidate != nil {
		body["candidates"] = []any{candidate}
	}
	for k, v := range more {
		body[k] = v
	}
	if strings.Contains(r.URL.Path, "streamGenerateContent") {
		w.Header().Set("Content-Type", "text/event-stream")
		event(w, body)
		return
	}
	writeJSON(w, body)
}

func event(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "data: %s\n\n", b)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	writeBody(w, v)
}

func writeBody(w io.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "%s", b)
}
