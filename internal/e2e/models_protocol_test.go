// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// protocol is one of the three ways to a model, with its ways of failing.
type protocol struct {
	name  string
	serve func(testing.TB, model.LLM, standin.Fault) *standin.Server
	model func(t *testing.T, s *standin.Server, o models.Options) model.LLM
	fail  func(w http.ResponseWriter, code int, message string)
	// malformed answers with a call whose arguments are not JSON, empty with nothing,
	// cut with half a stream or body.
	malformed, empty, cut func(w http.ResponseWriter, r *http.Request, body []byte)
}

var protocols = []protocol{
	{
		name: "gemini", serve: standin.Gemini, fail: standin.GeminiError,
		model: func(t *testing.T, s *standin.Server, o models.Options) model.LLM {
			o.Name, o.BaseURL, o.Key = "gemini-test", s.URL, standin.Key
			return mustNew(t, o)
		},
		malformed: func(w http.ResponseWriter, r *http.Request, _ []byte) {
			standin.GeminiAnswer(w, r, map[string]any{"finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}, nil)
		},
		empty: func(w http.ResponseWriter, r *http.Request, _ []byte) { standin.GeminiAnswer(w, r, nil, nil) },
		cut: func(w http.ResponseWriter, r *http.Request, _ []byte) {
			cutOff(w, `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"half"}]},"index":0}]}`+"\n\n"+`data: {"candid`)
		},
	},
	{
		name: "openai", serve: standin.OpenAI, fail: standin.OpenAIError,
		model: func(t *testing.T, s *standin.Server, o models.Options) model.LLM {
			o.Name, o.BaseURL, o.Key = "openai:test", s.URL+"/v1", standin.Key
			return mustNew(t, o)
		},
		malformed: func(w http.ResponseWriter, _ *http.Request, body []byte) {
			standin.OpenAIAnswer(w, bytes.Contains(body, []byte(`"stream":true`)), "test", []map[string]any{{"type": "function_call", "id": "fc_0", "call_id": "call_0", "name": "lookup_registry", "arguments": `{"supplier": "half`}}, nil)
		},
		empty: func(w http.ResponseWriter, _ *http.Request, body []byte) {
			standin.OpenAIAnswer(w, bytes.Contains(body, []byte(`"stream":true`)), "test", []map[string]any{}, nil)
		},
		cut: func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			cutOff(w, `data: {"type":"response.created","response":{"id":"r","model":"m"}}`+"\n\n"+`data: {"type":"resp`)
		},
	},
	{
		name: "chat", serve: standin.Chat, fail: standin.OpenAIError,
		model: func(t *testing.T, s *standin.Server, o models.Options) model.LLM {
			o.Name, o.BaseURL, o.Key = "chat:test", s.URL+"/v1", standin.Key
			return mustNew(t, o)
		},
		malformed: func(w http.ResponseWriter, _ *http.Request, body []byte) {
			standin.ChatAnswer(w, body, "test", map[string]any{"tool_calls": []any{standin.ChatCall("call_0", "lookup_registry", `{"supplier": "half`)}}, nil)
		},
		empty: func(w http.ResponseWriter, _ *http.Request, body []byte) {
			standin.ChatAnswer(w, body, "test", map[string]any{}, nil)
		},
		cut: func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			cutOff(w, `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"half"},"finish_reason":null}]}`+"\n\n"+`data: {"id":"c`)
		},
	},
}

// cutOff breaks the connection in the middle of the body.
func cutOff(w http.ResponseWriter, half string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Length", "100000")
	_, _ = io.WriteString(w, half)
	panic(http.ErrAbortHandler)
}

func mustNew(t *testing.T, o models.Options) model.LLM {
	t.Helper()
	m, err := models.New(t.Context(), o)
	require.NoError(t, err)
	return m
}

func eachProtocol(t *testing.T, test func(t *testing.T, p protocol, streaming bool)) {
	t.Helper()
	for _, p := range protocols {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,streaming=%v", p.name, streaming), func(t *testing.T) { test(t, p, streaming) })
		}
	}
}

type modelOutcome struct {
	*pipeline.Outcome
	journal string
}

func researchWith(t *testing.T, m model.LLM, streaming bool) modelOutcome {
	t.Helper()
	c, err := sources.New(sources.Options{})
	require.NoError(t, err)
	var journal bytes.Buffer
	svc := session.InMemoryService()
	p, err := pipeline.New(pipeline.Options{Setup: agents.Setup{Model: m}, DraftModel: m.Name(), Sources: c, Streaming: streaming, Journal: &journal, Sessions: svc})
	require.NoError(t, err)
	r := c.Resolve(t.Context(), "Transports Kervalec")
	out, err := p.Run(t.Context(), r.Subject, "Transports Kervalec")
	require.NoError(t, err)
	// The key is nowhere.
	var all bytes.Buffer
	all.WriteString(journal.String())
	got, err := svc.Get(t.Context(), &session.GetRequest{AppName: "duediligence", UserID: "buyer", SessionID: out.Session})
	require.NoError(t, err)
	enc := json.NewEncoder(&all)
	for ev := range got.Session.Events().All() {
		require.NoError(t, enc.Encode(ev))
	}
	for k, v := range got.Session.State().All() {
		require.NoError(t, enc.Encode(map[string]any{k: v}))
	}
	all.Write(out.Report.JSON())
	require.NotContains(t, all.String(), standin.Key)
	return modelOutcome{out, journal.String()}
}

func TestThePipelineThroughEachProtocol(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol, streaming bool) {
		s := p.serve(t, offline.Model{}, nil)
		s.Version = "served-later-001"
		out := researchWith(t, p.model(t, s, models.Options{}), streaming)
		require.Equal(t, callbacks.StatusDone, out.Result.Status)
		require.Len(t, out.Findings, 3)
		require.True(t, out.Report.Narrative.Drafted)
		require.Empty(t, out.Report.Gaps)
		require.Len(t, s.Bodies(), 8)
		require.Equal(t, 8, out.Stats.ModelCalls)
		require.Positive(t, out.Stats.TokensIn)
		require.Positive(t, out.Stats.TokensOut)
		if p.name != "openai" { // ADK's model for it does not say
			require.Contains(t, out.journal, `"served":"served-later-001"`)
		}
	})
}

// Whatever goes wrong with one researcher's model, the siblings' findings are there,
// the facts too, and the run ends as done with its gap named.
func TestFaultsOfOneCall(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol, streaming bool) {
		for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request, body []byte){
			"429": func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				w.Header().Set("Retry-After", "1")
				p.fail(w, http.StatusTooManyRequests, "Resource exhausted, key "+standin.Key)
			},
			"500": func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				p.fail(w, http.StatusInternalServerError, "boom")
			},
			"503": func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				p.fail(w, http.StatusServiceUnavailable, "overloaded")
			},
			"401": func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				p.fail(w, http.StatusUnauthorized, "bad key "+standin.Key)
			},
			"html":  func(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = io.WriteString(w, "<html>login</html>") },
			"empty": p.empty,
			"cut":   p.cut,
			"hang": func(_ http.ResponseWriter, r *http.Request, _ []byte) {
				select {
				case <-r.Context().Done():
				case <-time.After(10 * time.Second):
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				patience := time.Minute
				if name == "hang" {
					patience = 2 * time.Second
				}
				var hit atomic.Bool
				s := p.serve(t, offline.Model{}, func(_ int, w http.ResponseWriter, r *http.Request, body []byte) bool {
					// The registry researcher's first call is the one that fails.
					if !bytes.Contains(body, []byte("lookup_registry")) || hit.Swap(true) {
						return false
					}
					fault(w, r, body)
					return true
				})
				out := researchWith(t, p.model(t, s, models.Options{Timeout: patience}), streaming)
				require.True(t, hit.Load())
				require.Equal(t, callbacks.StatusFailed, out.Result.Status, out.Result.Err)
				require.Len(t, out.Findings, 2, "the siblings'")
				require.NotNil(t, out.Report.Facts.Registry, "the look-up was made by code")
				require.Contains(t, strings.Join(out.Report.Gaps, "\n"), "registry_researcher did not finish")
				require.Contains(t, out.journal, `"outcome":"failed"`)
			})
		}
	})
}

// Every call fails: the report is made by code.
func TestAModelThatIsDown(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol, streaming bool) {
		s := p.serve(t, offline.Model{}, func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			p.fail(w, http.StatusServiceUnavailable, "overloaded")
			return true
		})
		out := researchWith(t, p.model(t, s, models.Options{}), streaming)
		require.Equal(t, callbacks.StatusFailed, out.Result.Status)
		require.True(t, out.Report.Narrative.Template)
		require.Empty(t, out.Findings)
		md := out.Report.Markdown(report.English)
		require.Contains(t, md, "writer did not finish")
		require.Contains(t, md, "E-REG-001")
	})
}

// A call that can't be read is told to the model once, and then made well.
func TestMalformedCallIsFedBackOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol, streaming bool) {
		for _, times := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d times", times), func(t *testing.T) {
				var n atomic.Int32
				s := p.serve(t, offline.Model{}, func(_ int, w http.ResponseWriter, r *http.Request, body []byte) bool {
					if !bytes.Contains(body, []byte("lookup_registry")) || int(n.Add(1)) > times {
						return false
					}
					p.malformed(w, r, body)
					return true
				})
				out := researchWith(t, p.model(t, s, models.Options{}), streaming)
				if times == 1 {
					require.Equal(t, callbacks.StatusDone, out.Result.Status)
					require.Len(t, out.Findings, 3)
					require.Equal(t, 9, out.Stats.ModelCalls, "the second attempt is counted")
					told := false
					for _, b := range s.Bodies() {
						told = told || bytes.Contains(b, []byte("could not be read"))
					}
					require.True(t, told)
				} else {
					require.Equal(t, callbacks.StatusFailed, out.Result.Status)
					require.Len(t, out.Findings, 2)
				}
			})
		}
	})
}

func TestABlockedPrompt(t *testing.T) {
	p := protocols[0]
	for _, streaming := range []bool{false, true} {
		var hit atomic.Bool
		s := p.serve(t, offline.Model{}, func(_ int, w http.ResponseWriter, r *http.Request, body []byte) bool {
			if !bytes.Contains(body, []byte("lookup_registry")) || hit.Swap(true) {
				return false
			}
			standin.GeminiAnswer(w, r, nil, map[string]any{"promptFeedback": map[string]any{"blockReason": "SAFETY", "blockReasonMessage": "no"}})
			return true
		})
		out := researchWith(t, p.model(t, s, models.Options{}), streaming)
		require.Equal(t, callbacks.StatusFailed, out.Result.Status)
		require.Len(t, out.Findings, 2)
		// ADK keeps the reason of a block in streams only.
		require.Contains(t, out.journal, `"outcome":"failed"`)
	}
}

// Several calls in one answer, thinking tokens and thought signatures: every call is
// answered under its own id, and the signatures come back byte for byte through every
// guard that touches parts.
func TestCallsIDsAndThoughtSignatures(t *testing.T) {
	signature := []byte{0, 1, 2, 253, 254, 255, 'x'}
	for _, streaming := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		turns := callbackstest.Script(turnsOf(signature)...)
		s := standin.Gemini(t, turns, nil)
		rec := &callbackstest.Recorder{}
		lookup := callbackstest.ToolFunc("lookup", func(_ agent.Context, args map[string]any) (map[string]any, error) {
			return map[string]any{"n": args["n"], "mail": "alice@example.com"}, nil
		})
		chain := callbacks.New(guards.Reask(), guards.Isolate("question"), guards.CallBudget(3), guards.Redact(), guards.Stash("lookup"), guards.Journal(io.Discard), rec.Guard())
		a, err := chain.NewAgent(llmagent.Config{Name: "a", Model: protocols[0].model(t, s, models.Options{}), Tools: []tool.Tool{lookup}})
		require.NoError(t, err)
		r, err := runner.NewInMemory("test", a)
		require.NoError(t, err)
		ctx, run := callbacks.Start(t.Context())
		for _, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("x", genai.RoleUser), agent.RunConfig{StreamingMode: streaming})) {
			require.NoError(t, err)
		}
		run.Close()
		require.Len(t, s.Bodies(), 2)
		second := string(s.Bodies()[1])
		require.Contains(t, second, base64.StdEncoding.EncodeToString(signature))
		require.NotContains(t, second, "alice@example.com")
		var req struct {
			Contents []*genai.Content `json:"contents"`
		}
		require.NoError(t, json.Unmarshal(s.Bodies()[1], &req))
		answered := map[string]any{}
		for _, c := range req.Contents {
			for _, part := range c.Parts {
				if part.FunctionResponse != nil {
					answered[part.FunctionResponse.ID] = part.FunctionResponse.Response["n"]
				}
			}
		}
		require.Equal(t, map[string]any{"id-a": 1.0, "id-b": 2.0}, answered)
		usage := rec.Events(callbacks.StepModel)[0].Usage
		require.EqualValues(t, 7, usage.ThoughtsTokenCount)
		require.EqualValues(t, 11, usage.PromptTokenCount)
	}
}

func turnsOf(signature []byte) []callbackstest.Turn {
	return []callbackstest.Turn{
		{Parts: []*genai.Part{
			{Text: "thinking of alice@example.com", Thought: true},
			{FunctionCall: &genai.FunctionCall{ID: "id-a", Name: "lookup", Args: map[string]any{"n": 1}}, ThoughtSignature: signature},
			{FunctionCall: &genai.FunctionCall{ID: "id-b", Name: "lookup", Args: map[string]any{"n": 2}}},
		}, Usage: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 11, CandidatesTokenCount: 5, ThoughtsTokenCount: 7}},
		callbackstest.Say("done"),
	}
}

// A key that a server repeats is in no error.
func TestTheKeyIsInNoError(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol, streaming bool) {
		s := p.serve(t, offline.Model{}, func(_ int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
			p.fail(w, http.StatusForbidden, "the key "+standin.Key+" and header "+r.Header.Get("Authorization")+" are wrong")
			return true
		})
		m := p.model(t, s, models.Options{})
		for _, err := range m.GenerateContent(t.Context(), &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("x", genai.RoleUser)}}, streaming) {
			require.Error(t, err)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err.Error()), standin.Key)
		}
	})
}
