// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/internal/standin"
)

func ask(ctx context.Context, m model.LLM) error {
	for _, err := range m.GenerateContent(ctx, &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("a confidential file", genai.RoleUser)}}, false) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Neither the key nor the prompt goes to a host that a server redirects to.
func TestNoModelFollowsARedirectElsewhere(t *testing.T) {
	var arrived atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer other.Close()
	for _, name := range []string{"gemini-2.5-flash", "openai:x", "chat:x"} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			asked := 0
			first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, code)
			}))
			m, err := models.New(t.Context(), models.Options{Name: name, BaseURL: first.URL, Key: standin.Key})
			require.NoError(t, err)
			require.Error(t, ask(t.Context(), m))
			require.Equal(t, 1, asked, "%s %d", name, code)
			first.Close()
		}
	}
	require.Zero(t, arrived.Load())
}

// A key goes over plain HTTP to this machine, or to the one host that is allowed; a server
// without a key may be anywhere.
func TestNoKeyGoesOverPlainHTTP(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	for _, name := range []string{"gemini-2.5-flash", "openai:x", "chat:x"} {
		for address, want := range map[string]bool{
			"https://models.example.com/v1": true, "http://127.0.0.1:11434/v1": true, "http://localhost:1/v1": true, "http://[::1]:1": true,
			"http://models.example.com/v1": false, "http://10.0.0.7:11434/v1": false, "http://localhost.example.com": false,
			"http://allowed.example.com:8000/v1": true, "http://allowed.example.com.evil.example/v1": false,
		} {
			_, err := models.New(t.Context(), models.Options{Name: name, BaseURL: address, Key: standin.Key, AllowHTTP: "allowed.example.com"})
			if want {
				require.NoError(t, err, "%s %s", name, address)
				continue
			}
			require.ErrorIs(t, err, models.ErrOptions, "%s %s", name, address)
			var plain *models.PlainHTTPError
			require.ErrorAs(t, err, &plain)
			require.Contains(t, address, plain.Host)
		}
	}
	for _, name := range []string{"openai:x", "chat:x"} {
		t.Setenv("OPENAI_API_KEY", "")
		_, err := models.New(t.Context(), models.Options{Name: name, BaseURL: "http://10.0.0.7:11434/v1"})
		require.NoError(t, err)
		t.Setenv("OPENAI_API_KEY", standin.Key)
		_, err = models.New(t.Context(), models.Options{Name: name, BaseURL: "http://10.0.0.7:11434/v1"})
		require.ErrorIs(t, err, models.ErrOptions)
	}
}

// What the environment says to client libraries moves no key to another host.
func TestTheEnvironmentMovesNoKey(t *testing.T) {
	const admin = "admin-key-0123456789"
	var seen atomic.Value
	seen.Store("")
	trap := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen.Store(fmt.Sprint(r.Header)) }))
	defer trap.Close()
	t.Setenv("GOOGLE_GEMINI_BASE_URL", trap.URL)
	t.Setenv("OPENAI_BASE_URL", trap.URL)
	t.Setenv("OPENAI_ADMIN_KEY", admin)
	t.Setenv("OPENAI_API_KEY", "")
	var hosts []string
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.Host)
		require.NotContains(t, fmt.Sprint(r.Header), admin)
		return nil, http.ErrHandlerTimeout
	})
	for _, o := range []models.Options{{Name: "gemini-2.5-flash", Key: standin.Key}, {Name: "openai:x", BaseURL: "http://127.0.0.1:1/v1"}, {Name: "chat:x", BaseURL: "http://127.0.0.1:1/v1"}} {
		o.Transport = transport
		m, err := models.New(t.Context(), o)
		require.NoError(t, err)
		require.Error(t, ask(t.Context(), m))
	}
	require.Equal(t, []string{"generativelanguage.googleapis.com", "127.0.0.1:1", "127.0.0.1:1"}, hosts)
	require.Empty(t, seen.Load())
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A variable of the environment moves no request: neither where it goes nor what it carries.
func TestTheEnvironmentMovesNoRequest(t *testing.T) {
	for _, name := range []string{"gemini-2.5-flash", "openai:x"} {
		for _, stream := range []bool{false, true} {
			var got []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var header strings.Builder
				_ = r.Header.Write(&header)
				got = append(got, r.Method+" "+r.Host+r.URL.String()+"\n"+header.String()+string(body))
				w.WriteHeader(http.StatusTeapot)
			}))
			call := func() {
				m, err := models.New(t.Context(), models.Options{Name: name, BaseURL: srv.URL, Key: standin.Key})
				require.NoError(t, err)
				for _, err := range m.GenerateContent(t.Context(), &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("a file", genai.RoleUser)}}, stream) {
					require.Error(t, err)
				}
			}
			call()
			t.Run(name, func(t *testing.T) {
				for _, v := range []string{"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY", "OPENAI_WEBHOOK_SECRET", "GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"} {
					t.Setenv(v, "from-the-environment")
				}
				for _, v := range []string{"OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"} {
					t.Setenv(v, "http://127.0.0.1:1")
				}
				t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
				t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Tenant: other\nAuthorization: Bearer other\nUser-Agent: other\nContent-Type: text/plain\nHost: other.example")
				call()
			})
			srv.Close()
			require.Len(t, got, 2)
			require.Equal(t, got[0], got[1])
			require.Contains(t, got[0], standin.Key)
		}
	}
}
