// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/model/openaimodel"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/standin"
)

// The tests below hold what is booked against what a provider bills that is asked over
// HTTP by the client libraries themselves.

const (
	flash     = "gemini-2.5-flash"
	mini      = "gpt-5-mini"
	geminiKey = standin.Key
)

// geminiAt is a model of ADK's as its documentation has it made, with the client's options.
func geminiAt(t *testing.T, url string, opts genai.HTTPOptions, client *http.Client) model.LLM {
	t.Helper()
	opts.BaseURL = url
	m, err := gemini.NewModel(t.Context(), flash, &genai.ClientConfig{APIKey: geminiKey, Backend: genai.BackendGeminiAPI, HTTPOptions: opts, HTTPClient: client})
	require.NoError(t, err)
	return m
}

func openaiAt(t *testing.T, url string, client *http.Client, opts ...option.RequestOption) model.LLM {
	t.Helper()
	m, err := openaimodel.NewModel(t.Context(), mini, &openaimodel.ClientConfig{APIKey: standin.Key, BaseURL: url, HTTPClient: client, Options: opts})
	require.NoError(t, err)
	return m
}

func says(text string) model.LLM {
	return callbackstest.Script(callbackstest.Say(text).WithUsage(10, 5), callbackstest.Say(text).WithUsage(10, 5), callbackstest.Say(text).WithUsage(10, 5), callbackstest.Say(text).WithUsage(10, 5))
}

// allowed is the most output that a request to Gemini asks for.
func allowed(body []byte) int32 {
	var req struct {
		Config struct {
			MaxOutputTokens int32 `json:"maxOutputTokens"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		panic(err)
	}
	return req.Config.MaxOutputTokens
}

func billOf(t *testing.T, s *standin.Server, backend, name string) ledger.Nano {
	t.Helper()
	b, err := s.Bill(backend, name)
	require.NoError(t, err)
	return ledger.NanoOf(prices.Pico(b))
}

func balance(t *testing.T, l ledger.Ledger) ledger.Balance {
	t.Helper()
	b, err := l.Balance(t.Context(), "task")
	require.NoError(t, err)
	return b
}

func reservedBy(lines []guards.SpendLine) (sum ledger.Nano) {
	for _, l := range lines {
		sum += l.Reserved
	}
	return sum
}

func taskSpend(l ledger.Ledger, o guards.SpendOptions) callbacks.Guard {
	o.Ledger = l
	o.Account = func(*callbacks.Run) ledger.AccountID { return "task" }
	return guards.Spend(o)
}

// Eight agents ask at once and one of them fails: the others are cut off, and their
// requests, which the provider has begun to work on, are billed. What one call failed
// with says nothing about the calls that its failure ends.
func TestSpendChargesSiblingsOfAFailedCall(t *testing.T) {
	const agents = 8
	for name, refused := range map[string]bool{"by a status": false, "by a refused connection": true} {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streaming %v", name, streaming), func(t *testing.T) {
				var others sync.WaitGroup
				others.Add(agents - 1)
				var failing atomic.Bool
				var srv *standin.Server
				srv = standin.Gemini(t, nil, func(_ int, w http.ResponseWriter, r *http.Request, body []byte) bool {
					if !refused && failing.CompareAndSwap(false, true) {
						others.Wait()
						standin.GeminiError(w, http.StatusServiceUnavailable, "overloaded")
						return true
					}
					srv.Charge(10, allowed(body))
					others.Done()
					<-r.Context().Done()
					return true
				})
				l := memory(t)
				spend := taskSpend(l, guards.SpendOptions{Limits: ledger.Limits{Hard: usd(t, "10")}})
				var children []agent.Agent
				for i := range agents {
					client := &http.Client{Transport: guards.TapResponseIDs(nil)}
					if refused && i == 0 {
						client.Transport = guards.TapResponseIDs(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
							others.Wait()
							return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
						}})
					}
					a, err := callbacks.New(spend).NewAgent(llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: geminiAt(t, srv.URL, genai.HTTPOptions{}, client)})
					require.NoError(t, err)
					children = append(children, a)
				}
				root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: children}})
				require.NoError(t, err)
				out := playWith(t, root, nil, streaming)
				b := balance(t, l)
				require.Zero(t, b.Reserved)
				lines := guards.Records(callbackstest.InRun(t, out.run)).Spent()
				require.Len(t, lines, agents)
				charged := 0
				for _, line := range lines {
					if line.Charged > 0 {
						charged++
						require.Equal(t, line.Reserved, line.Charged, "what came of it is unknown")
					}
				}
				require.Equal(t, agents-1, charged, "the failed call alone was not billed")
				billed := billOf(t, srv, "gemini", flash)
				require.Positive(t, billed)
				require.GreaterOrEqual(t, b.Spent, billed)
				require.Equal(t, reservedBy(lines), b.Spent)
			})
		}
	}
}

// A client that repeats by itself is cut off at its second request, whatever the library:
// one reservation, one count, one request.
func TestOneRequestPerCall(t *testing.T) {
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	down := func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "gemini") {
			standin.GeminiError(w, http.StatusInternalServerError, "down")
			return
		}
		standin.OpenAIError(w, http.StatusInternalServerError, "down")
	}
	five := int32(5)
	retrying := genai.HTTPOptions{RetryOptions: &genai.HTTPRetryOptions{Attempts: &five, InitialDelay: new(float64), Jitter: new(float64)}}
	type client struct {
		backend string
		model   func(t *testing.T, srv *httptest.Server) model.LLM
		fault   func(http.ResponseWriter, *http.Request)
		refused bool // a second request was asked for
	}
	h1 := func(srv *httptest.Server) *http.Client { return srv.Client() }
	clients := map[string]client{
		"genai with retries, cut off":      {"gemini", func(t *testing.T, srv *httptest.Server) model.LLM { return geminiAt(t, srv.URL, retrying, h1(srv)) }, hangUp, false},
		"genai with retries, status 500":   {"gemini", func(t *testing.T, srv *httptest.Server) model.LLM { return geminiAt(t, srv.URL, retrying, h1(srv)) }, down, false},
		"openai as it is, status 500":      {"openai", func(t *testing.T, srv *httptest.Server) model.LLM { return openaiAt(t, srv.URL, h1(srv)) }, down, true},
		"openai as it is, cut off":         {"openai", func(t *testing.T, srv *httptest.Server) model.LLM { return openaiAt(t, srv.URL, h1(srv)) }, hangUp, true},
		"openai as it is, cut in the body": {"openai", func(t *testing.T, srv *httptest.Server) model.LLM { return openaiAt(t, srv.URL, h1(srv)) }, cut, false},
		"openai without retries": {"openai", func(t *testing.T, srv *httptest.Server) model.LLM {
			return openaiAt(t, srv.URL, h1(srv), option.WithMaxRetries(0))
		}, down, false},
	}
	for name, c := range clients {
		for _, http2 := range []bool{false, true} {
			for _, streaming := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, HTTP/2 %v, streaming %v", name, http2, streaming), func(t *testing.T) {
					t.Parallel() // openai's client waits before it asks again
					var requests atomic.Int32
					srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						requests.Add(1)
						c.fault(w, r)
					}))
					srv.EnableHTTP2 = http2
					srv.StartTLS()
					t.Cleanup(srv.Close)
					l := memory(t)
					ask := func(t *testing.T, g callbacks.Guard) error {
						t.Helper()
						ctx, run := callbacks.Start(t.Context())
						defer run.Close()
						var failure error
						for _, err := range g.WrapModel(c.model(t, srv), nil).GenerateContent(ctx, prompt("x"), streaming) {
							failure = errors.Join(failure, err)
						}
						return failure
					}
					err := ask(t, taskSpend(l, guards.SpendOptions{Limits: ledger.Limits{Hard: usd(t, "10")}, Backend: c.backend}))
					require.Error(t, err)
					require.EqualValues(t, 1, requests.Load())
					require.Equal(t, c.refused, errors.Is(err, guards.ErrClientRetry), "%v", err)
					require.True(t, !c.refused || guards.Transient(err), "%v", err)
					require.Zero(t, balance(t, l).Reserved)

					requests.Store(0)
					_ = ask(t, guards.CallBudget(3))
					require.EqualValues(t, 1, requests.Load())
				})
			}
		}
	}
}

// N calls allowed are N requests on the wire, of a client that would make three times as many.
func TestCallBudgetBoundsTheRequestsOfAClientThatRetries(t *testing.T) {
	five := int32(5)
	for name, m := range map[string]func(url string) model.LLM{
		"openai": func(url string) model.LLM { return openaiAt(t, url, nil) },
		"genai": func(url string) model.LLM {
			return geminiAt(t, url, genai.HTTPOptions{RetryOptions: &genai.HTTPRetryOptions{Attempts: &five}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = io.WriteString(w, `{"error":{"code":500,"message":"down"}}`)
			}))
			t.Cleanup(srv.Close)
			retry := guards.RetryOptions{Attempts: 10, Delay: 1}.Guard()
			a, err := callbacks.New(retry, guards.CallBudgetOptions{Calls: 3, Scope: guards.ScopeRun}.Guard()).NewAgent(llmagent.Config{Name: "a", Model: m(srv.URL)})
			require.NoError(t, err)
			root, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{a}}, MaxIterations: 10})
			require.NoError(t, err)
			out := play(t, root)
			require.Equal(t, callbacks.StatusCallsExhausted, out.run.Outcome().Status)
			require.EqualValues(t, 3, requests.Load())
		})
	}
}

// The first request was billed and the next can't even connect: what the client says of
// its last attempt says nothing about those before.
func TestSpendChargesWhatWasSentBeforeAFailedConnection(t *testing.T) {
	for name, tapped := range map[string]bool{"with the tap": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				requests.Add(1)
				panic(http.ErrAbortHandler)
			}))
			t.Cleanup(srv.Close)
			dials := 0
			var rt http.RoundTripper = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if dials++; dials > 1 {
					return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
				}
				return new(net.Dialer).DialContext(ctx, network, address)
			}}
			if tapped {
				rt = guards.TapResponseIDs(rt)
			}
			b, line, err := pay(t, openaiAt(t, srv.URL, &http.Client{Transport: rt}), guards.SpendOptions{Backend: "openai"}, prompt("x"))
			require.Error(t, err)
			require.EqualValues(t, 1, requests.Load())
			require.Positive(t, b.Spent)
			require.Equal(t, line.Reserved, b.Spent)
		})
	}
}

// A request that provably never left costs nothing.
func TestSpendReleasesWhatNeverLeft(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, m := range map[string]model.LLM{
		"gemini": geminiAt(t, closed.URL, genai.HTTPOptions{}, nil),
		"openai": openaiAt(t, closed.URL, nil, option.WithMaxRetries(0)),
	} {
		t.Run(name, func(t *testing.T) {
			b, line, err := pay(t, m, guards.SpendOptions{Backend: name}, prompt("x"))
			require.Error(t, err)
			require.Zero(t, b.Spent)
			require.Zero(t, line.Charged)
			require.Equal(t, 1, line.Calls)
		})
	}
	t.Run("an error that only says so", func(t *testing.T) {
		m := &answering{name: "m", err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
		b, line, err := pay(t, m, guards.SpendOptions{Prices: tokens(t, "gemini")}, prompt("x"))
		require.Error(t, err)
		require.Equal(t, line.Reserved, b.Spent)
		require.Positive(t, b.Spent)
	})
}

// A token that the client fetches in the same call, with several requests, is no retry.
func TestOneRequestLeavesTokenRequestsAlone(t *testing.T) {
	srv := standin.Gemini(t, says("hello"), nil)
	var asked atomic.Int32
	tokens := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(tokens.Close)
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		for _, ask := range []func(context.Context) (*http.Request, error){
			func(ctx context.Context) (*http.Request, error) {
				return http.NewRequestWithContext(ctx, http.MethodGet, tokens.URL+"/email", http.NoBody)
			},
			func(ctx context.Context) (*http.Request, error) {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, tokens.URL+"/token", http.NoBody)
				req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				return req, err
			},
			func(ctx context.Context) (*http.Request, error) {
				return http.NewRequestWithContext(ctx, http.MethodGet, tokens.URL+"/token", http.NoBody)
			},
		} {
			req, err := ask(r.Context())
			if err != nil {
				return nil, err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return nil, err
			}
			if err := resp.Body.Close(); err != nil {
				return nil, err
			}
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	b, _, err := pay(t, geminiAt(t, srv.URL, genai.HTTPOptions{}, client), guards.SpendOptions{}, prompt("x"))
	require.NoError(t, err)
	require.EqualValues(t, 3, asked.Load())
	require.Equal(t, ledger.NanoOf(10*300_000+5*2_500_000), b.Spent)
}

// An answer that the provider means to go on with in another request is not continued
// behind the limits.
func TestOneRequestTurnsAutomaticContinuationOff(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("streaming %v", streaming), func(t *testing.T) {
			var requests atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := requests.Add(1)
				candidate := map[string]any{
					"content":      map[string]any{"role": "model", "parts": []any{map[string]any{"text": "a piece "}}},
					"finishReason": "CONTINUATION", "continuationToken": []byte{byte(n)},
				}
				if n == 5 {
					candidate["finishReason"] = "STOP"
				}
				standin.GeminiAnswer(w, r, candidate, map[string]any{"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}})
			}))
			t.Cleanup(srv.Close)
			for _, g := range []callbacks.Guard{guards.CallBudget(3), taskSpend(memory(t), guards.SpendOptions{Limits: ledger.Limits{Hard: usd(t, "10")}})} {
				requests.Store(0)
				ctx, run := callbacks.Start(t.Context())
				for _, err := range g.WrapModel(geminiAt(t, srv.URL, genai.HTTPOptions{}, nil), nil).GenerateContent(ctx, prompt("x"), streaming) {
					require.NoError(t, err)
				}
				run.Close()
				require.EqualValues(t, 1, requests.Load())
			}
		})
	}
}

// An error event inside an answer with the status 200 is no error status: the provider
// worked on the request. Where the status is not known, in a stream without the tap, an
// error status is not believed.
func TestSpendReleasesByTheStatusOfThisRequest(t *testing.T) {
	const unavailable = `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	jsonError := func(code int) http.HandlerFunc {
		return status(code, fmt.Sprintf(`{"error":{"code":%d,"message":"no","status":"X"}}`, code))
	}
	for name, tc := range map[string]struct {
		handler                    http.HandlerFunc
		unary, streamed, streamTap bool // released
	}{
		"200 and an error event":        {status(http.StatusOK, "data: "+unavailable+"\n\n"), false, false, false},
		"200 and a bare error":          {status(http.StatusOK, unavailable), false, false, false},
		"503 by the provider":           {status(http.StatusServiceUnavailable, unavailable), true, false, true},
		"503 by something in between":   {status(http.StatusServiceUnavailable, "<html>"), false, false, false},
		"500 by the provider":           {jsonError(http.StatusInternalServerError), true, false, true},
		"502":                           {jsonError(http.StatusBadGateway), false, false, false},
		"504":                           {jsonError(http.StatusGatewayTimeout), false, false, false},
		"408":                           {jsonError(http.StatusRequestTimeout), false, false, false},
		"499":                           {jsonError(499), false, false, false},
		"429":                           {jsonError(http.StatusTooManyRequests), true, false, true},
		"400":                           {jsonError(http.StatusBadRequest), true, false, true},
		"404 as a page":                 {status(http.StatusNotFound, "<html>"), true, false, true},
		"a page of 200 that is no JSON": {status(http.StatusOK, "<html>"), false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(tc.handler)
			t.Cleanup(srv.Close)
			for _, way := range []struct{ streaming, tap, released bool }{
				{false, false, tc.unary}, {false, true, tc.unary}, {true, false, tc.streamed}, {true, true, tc.streamTap},
			} {
				client := &http.Client{}
				if way.tap {
					client.Transport = guards.TapResponseIDs(nil)
				}
				l := memory(t)
				ctx, run := callbacks.Start(t.Context())
				var failure error
				m := taskSpend(l, guards.SpendOptions{Limits: ledger.Limits{Hard: usd(t, "10")}}).WrapModel(geminiAt(t, srv.URL, genai.HTTPOptions{}, client), nil)
				for _, err := range m.GenerateContent(ctx, prompt("x"), way.streaming) {
					failure = errors.Join(failure, err)
				}
				lines := guards.Records(ctx).Spent()
				run.Close()
				require.Error(t, failure)
				b := balance(t, l)
				require.Zero(t, b.Reserved)
				if way.released {
					require.Zero(t, b.Spent, "%+v", way)
					continue
				}
				require.Equal(t, lines[0].Reserved, b.Spent, "%+v", way)
				require.Positive(t, b.Spent)
			}
		})
	}
}
