// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// A fault is what a faulty model does in one call.
type fault string

const (
	well          fault = "answers"
	beforeChunk   fault = "breaks before the first chunk"
	afterChunk    fault = "breaks after the first chunk"
	tooMany       fault = "429"
	toldToWait    fault = "429, and asks for a minute"
	toldForever   fault = "429, and asks for an hour"
	serverError   fault = "500"
	badRequest    fault = "400"
	hangs         fault = "hangs"
	hangsMidway   fault = "hangs after the first chunk"
	malformedCall fault = "a malformed call"
	nothing       fault = "yields nothing"
	panics        fault = "panics"
)

// faultyModel has a fault in each call, the last one for ever.
type faultyModel struct {
	name   string
	faults []fault

	mu    sync.Mutex
	calls int
}

func (m *faultyModel) Name() string { return m.name }

func (m *faultyModel) next() fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	return m.faults[min(m.calls, len(m.faults))-1]
}

func (m *faultyModel) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if req.Model != m.name {
			panic("asked for " + req.Model)
		}
		chunk := &model.LLMResponse{Content: genai.NewContentFromText(m.name+" an", genai.RoleModel), Partial: true}
		final := &model.LLMResponse{
			Content: genai.NewContentFromText(m.name+" answers", genai.RoleModel), TurnComplete: true,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: 10, TotalTokenCount: 20},
		}
		retryIn := func(delay string) error {
			return genai.APIError{Code: 429, Details: []map[string]any{{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}}}
		}
		switch f := m.next(); f {
		case well:
			if yield(chunk, nil) {
				yield(final, nil)
			}
		case beforeChunk:
			yield(nil, io.ErrUnexpectedEOF)
		case afterChunk:
			if yield(chunk, nil) {
				yield(nil, io.ErrUnexpectedEOF)
			}
		case tooMany:
			yield(nil, fmt.Errorf("failed to call model: %w", genai.APIError{Code: 429}))
		case toldToWait:
			yield(nil, retryIn("20s"))
		case toldForever:
			yield(nil, retryIn("3600s"))
		case serverError:
			yield(nil, genai.APIError{Code: 500})
		case badRequest:
			yield(nil, genai.APIError{Code: 400})
		case hangs:
			<-ctx.Done()
			yield(nil, ctx.Err())
		case hangsMidway:
			if yield(chunk, nil) {
				<-ctx.Done()
				yield(nil, ctx.Err())
			}
		case malformedCall:
			final.FinishReason = genai.FinishReasonMalformedFunctionCall
			yield(final, nil)
		case nothing:
		case panics:
			panic("a model that breaks")
		}
	}
}

// settlements counts how often each reservation was settled.
type settlements struct {
	ledger.Ledger
	mu       sync.Mutex
	reserved map[ledger.Key]int
	settled  map[ledger.Key]int
}

func (s *settlements) Reserve(ctx context.Context, r ledger.Request) (ledger.Reservation, error) {
	res, err := s.Ledger.Reserve(ctx, r)
	if err == nil {
		s.mu.Lock()
		s.reserved[r.Key]++
		s.mu.Unlock()
	}
	return res, err
}

func (s *settlements) Commit(ctx context.Context, k ledger.Key, c ledger.Charge) (ledger.Receipt, error) {
	s.note(k)
	return s.Ledger.Commit(ctx, k, c)
}

func (s *settlements) Release(ctx context.Context, k ledger.Key, p ledger.Proof) error {
	s.note(k)
	return s.Ledger.Release(ctx, k, p)
}

func (s *settlements) note(k ledger.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled[k]++
}

// routePrices quote three models at prices of their own.
func routePrices(t testing.TB) *prices.Table {
	t.Helper()
	row := func(name string, in prices.Pico) prices.Row {
		return prices.Row{
			Backend: "gemini", Model: name, Rates: prices.Rates{Input: in, Output: 2 * in}, MaxInput: 100_000, MaxOutput: 1000,
			Source: []string{"test"}, AsOf: "2026-11-01",
		}
	}
	table, err := prices.New("test", "2026-11-01", row("own", 10_000_000), row("cheap", 1_000_000), row("spare", 20_000_000))
	require.NoError(t, err)
	return table
}

// Faults × policies: how often the agent's own model and the spare one are called, what
// the caller gets, and that each call is reserved once and settled once.
func TestFaultsUnderPolicies(t *testing.T) {
	type want struct {
		own, spare int
		answer     string // of which model; empty is an error
	}
	retry := guards.Retry
	route := func(spare model.LLM) callbacks.Guard {
		return guards.RouteOptions{Fallback: []model.LLM{spare}, FirstChunk: 10 * time.Second}.Guard()
	}
	deadline := func() callbacks.Guard { return guards.DeadlineOptions{ModelCall: time.Minute}.Guard() }
	policies := map[string]func(spare model.LLM) []callbacks.Guard{
		"none":              func(model.LLM) []callbacks.Guard { return []callbacks.Guard{deadline()} },
		"retry":             func(model.LLM) []callbacks.Guard { return []callbacks.Guard{retry(), deadline()} },
		"route":             func(s model.LLM) []callbacks.Guard { return []callbacks.Guard{route(s), deadline()} },
		"retry, then route": func(s model.LLM) []callbacks.Guard { return []callbacks.Guard{route(s), retry(), deadline()} },
		"retry the route":   func(s model.LLM) []callbacks.Guard { return []callbacks.Guard{retry(), route(s), deadline()} },
	}
	for f, byPolicy := range map[fault]map[string]want{
		well:          {"none": {1, 0, "own"}, "retry": {1, 0, "own"}, "route": {1, 0, "own"}, "retry, then route": {1, 0, "own"}, "retry the route": {1, 0, "own"}},
		beforeChunk:   {"none": {1, 0, ""}, "retry": {3, 0, ""}, "route": {1, 1, "spare"}, "retry, then route": {3, 1, "spare"}, "retry the route": {1, 1, "spare"}},
		afterChunk:    {"none": {1, 0, ""}, "retry": {1, 0, ""}, "route": {1, 0, ""}, "retry, then route": {1, 0, ""}, "retry the route": {1, 0, ""}},
		tooMany:       {"none": {1, 0, ""}, "retry": {3, 0, ""}, "route": {1, 1, "spare"}, "retry, then route": {3, 1, "spare"}, "retry the route": {1, 1, "spare"}},
		toldForever:   {"none": {1, 0, ""}, "retry": {1, 0, ""}, "route": {1, 1, "spare"}, "retry, then route": {1, 1, "spare"}, "retry the route": {1, 1, "spare"}},
		serverError:   {"none": {1, 0, ""}, "retry": {3, 0, ""}, "route": {1, 1, "spare"}, "retry, then route": {3, 1, "spare"}, "retry the route": {1, 1, "spare"}},
		badRequest:    {"none": {1, 0, ""}, "retry": {1, 0, ""}, "route": {1, 1, "spare"}, "retry, then route": {1, 1, "spare"}, "retry the route": {1, 1, "spare"}},
		hangs:         {"none": {1, 0, ""}, "retry": {3, 0, ""}, "route": {1, 1, "spare"}, "retry, then route": {1, 1, "spare"}, "retry the route": {1, 1, "spare"}},
		hangsMidway:   {"none": {1, 0, ""}, "retry": {1, 0, ""}, "route": {1, 0, ""}, "retry, then route": {1, 0, ""}, "retry the route": {1, 0, ""}},
		malformedCall: {"none": {1, 0, "own"}, "retry": {1, 0, "own"}, "route": {1, 0, "own"}, "retry, then route": {1, 0, "own"}, "retry the route": {1, 0, "own"}},
		nothing:       {"none": {1, 0, ""}, "retry": {3, 0, ""}, "route": {1, 1, "spare"}, "retry, then route": {3, 1, "spare"}, "retry the route": {1, 1, "spare"}},
		panics:        {"none": {1, 0, ""}, "retry": {1, 0, ""}, "route": {1, 0, ""}, "retry, then route": {1, 0, ""}, "retry the route": {1, 0, ""}},
	} {
		for policy, want := range byPolicy {
			t.Run(string(f)+"/"+policy, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					own, spare := &faultyModel{name: "own", faults: []fault{f}}, &faultyModel{name: "spare", faults: []fault{well}}
					out, l := faulty(t, own, policies[policy](spare)...)
					require.Equal(t, want.own, own.calls, "calls of the agent's own model")
					require.Equal(t, want.spare, spare.calls, "calls of the spare model")
					if want.answer == "" {
						require.Error(t, out.err)
					} else {
						require.NoError(t, out.err)
						require.Contains(t, texts(out.events), want.answer+" answers")
					}
					l.once(t, want.own+want.spare)
				})
			})
		}
	}
}

// faulty plays an agent on own, streamed, with guards and a budget of calls and money.
func faulty(t *testing.T, own model.LLM, gs ...callbacks.Guard) (played, *settlements) {
	t.Helper()
	l := &settlements{Ledger: memory(t), reserved: make(map[ledger.Key]int), settled: make(map[ledger.Key]int)}
	gs = append(gs, guards.CallBudgetOptions{Calls: 20, Time: time.Hour}.Guard(), guards.Spend(guards.SpendOptions{Ledger: l, Limits: ledger.Limits{Hard: usd(t, "10")}, Prices: routePrices(t)}))
	a, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: "a", Model: own})
	require.NoError(t, err)
	r, err := runner.New(runnerConfig(a, nil))
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	out := played{run: run}
	for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{StreamingMode: agent.StreamingModeSSE})) {
		if err != nil {
			out.err = err
			break
		}
		out.events = append(out.events, ev)
	}
	// What was abandoned settles by itself.
	time.Sleep(time.Hour)
	synctest.Wait()
	return out, l
}

// once asserts that there were so many calls, each reserved and settled once.
func (s *settlements) once(t *testing.T, calls int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.reserved, calls)
	require.Equal(t, s.reserved, s.settled)
	for k, n := range s.settled {
		require.Equal(t, 1, n, k)
	}
}

// A call whose context is over already reaches no model: nobody would count it.
func TestNoModelIsCalledUnderAContextThatIsOver(t *testing.T) {
	for name, g := range map[string]callbacks.Guard{
		"deadline": guards.DeadlineOptions{ModelCall: time.Second}.Guard(),
		"route":    guards.RouteOptions{Fallback: []model.LLM{endless()}, FirstChunk: time.Second}.Guard(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				m := endless()
				for range 50 {
					wrapped := g.WrapModel(m, func(other model.LLM) model.LLM { return other })
					for _, err := range wrapped.GenerateContent(ctx, request(genai.NewContentFromText("q", genai.RoleUser)), false) {
						require.ErrorIs(t, err, context.Canceled)
					}
				}
				synctest.Wait()
				require.Zero(t, m.Calls())
			})
		})
	}
}
