// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"
	"pgregory.net/rapid"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/internal/standin"
)

func TestOptions(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	t.Setenv("OPENAI_API_KEY", "")
	for name, o := range map[string]models.Options{
		"unknown":             {Name: "claude"},
		"openai without name": {Name: "openai:"},
		"openai without URL":  {Name: "openai:x"},
		"chat without name":   {Name: "chat:"},
		"chat without URL":    {Name: "chat:x"},
		"gemini without key":  {Name: "gemini-x"},
		"URL with a user":     {Name: "openai:x", BaseURL: "http://user:pass@host/v1"},
		"URL with a query":    {Name: "openai:x", BaseURL: "http://host/v1?key=pass@word"},
		"URL with a fragment": {Name: "openai:x", BaseURL: "http://host/v1#pass@word"},
		"URL without scheme":  {Name: "openai:x", BaseURL: "models.example.com/v1"},
		"URL of another kind": {Name: "chat:x", BaseURL: "ftp://localhost/v1"},
		"offline with URL":    {BaseURL: "http://localhost"},
		"negative time":       {Timeout: -1},
	} {
		_, err := models.New(t.Context(), o)
		require.ErrorIs(t, err, models.ErrOptions, name)
		require.NotContains(t, err.Error(), "pass@", name)
	}
	m, err := models.New(t.Context(), models.Options{})
	require.NoError(t, err)
	require.Equal(t, "offline", m.Name())
	// A key in the environment chooses nothing.
	t.Setenv("GEMINI_API_KEY", standin.Key)
	m, err = models.New(t.Context(), models.Options{})
	require.NoError(t, err)
	require.Equal(t, "offline", m.Name())
	require.Equal(t, standin.Key, os.Getenv("GEMINI_API_KEY"))
}

// The name that is priced before a call is the one that the call is made with, whatever
// stands in it.
func TestAModelIsBilledByTheNameItIsCalledBy(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	t.Setenv("OPENAI_API_KEY", "")
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{models.ChatPrefix, models.OpenAIPrefix, models.GeminiPrefix}).Draw(t, "prefix")
		name := prefix + rapid.StringMatching(`(chat:|openai:|gemini-|openai/)?[a-z0-9./:-]{1,8}`).Draw(t, "name")
		backend, bare := models.Billed(name)
		m, err := models.New(t.Context(), models.Options{Name: name, BaseURL: "http://localhost/v1"})
		require.NoError(t, err)
		require.Equal(t, m.Name(), bare)
		require.Equal(t, backend == "openai", models.SpeaksOpenAI(name))
		require.Equal(t, backend == "gemini", prefix == models.GeminiPrefix)
	})
	for _, name := range []string{"", models.Offline, "gpt-5-mini", "chat", "chat:", "openai:"} {
		backend, bare := models.Billed(name)
		require.Empty(t, backend, name)
		require.Equal(t, name, bare)
	}
}

// A call is one HTTP request, also where it fails and where the answer is to be continued.
func TestACallIsOneRequest(t *testing.T) {
	continued := func(w http.ResponseWriter, r *http.Request) {
		standin.GeminiAnswer(w, r, map[string]any{
			"content":      map[string]any{"role": "model", "parts": []any{map[string]any{"text": "a piece"}}},
			"finishReason": "CONTINUATION", "continuationToken": []byte("next"),
		}, nil)
	}
	down := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	for name, tc := range map[string]struct {
		model   string
		handler http.HandlerFunc
	}{
		"gemini down": {"gemini-2.5-flash", down}, "gemini goes on": {"gemini-2.5-flash", continued}, "openai down": {"openai:x", down}, "chat down": {"chat:x", down},
	} {
		for _, streaming := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				var requests atomic.Int32
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if requests.Add(1) > 3 {
						w.WriteHeader(http.StatusBadRequest)
						return
					}
					tc.handler(w, r)
				}))
				t.Cleanup(srv.Close)
				m, err := models.New(t.Context(), models.Options{Name: tc.model, BaseURL: srv.URL, Key: standin.Key})
				require.NoError(t, err)
				req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("x", genai.RoleUser)}}
				for _, err := range m.GenerateContent(t.Context(), req, streaming) {
					require.Equal(t, strings.HasSuffix(name, "down"), err != nil, "%v", err)
				}
				require.EqualValues(t, 1, requests.Load())
				require.Nil(t, req.Config, "the request is as it was")
			})
		}
	}
}
