// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model/gemini"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// A task with a target of 0.60, approval at 0.90 and an end at 1.00, whose calls cost
// just under 0.30: the third passes the target, the fourth asks, the fifth is refused.
func TestSpendTargetApprovalEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		approve []bool // the answers, in order; nil asks nobody
		calls   int32
		asked   int
	}{
		"nobody to ask": {nil, 3, 0},
		"refused":       {[]bool{false}, 3, 1},
		"approved":      {[]bool{true}, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := memory(t)
			var targets []ledger.Receipt
			asked := 0
			o := guards.SpendOptions{
				Ledger: l, Limits: ledger.Limits{Target: usd(t, "0.60"), Soft: usd(t, "0.90"), Hard: usd(t, "1")}, Prices: dear(t),
				Account:  func(*callbacks.Run) ledger.AccountID { return "task" },
				OnTarget: func(_ context.Context, r ledger.Receipt) { targets = append(targets, r) },
			}
			if tc.approve != nil {
				o.Approve = func(_ context.Context, d *ledger.DeniedError) bool {
					require.ErrorIs(t, d, ledger.ErrNeedsApproval)
					require.Equal(t, ledger.AccountID("task"), d.Account)
					asked++
					return tc.approve[asked-1]
				}
			}
			m := &billing{}
			var journal bytes.Buffer
			a, err := callbacks.New(guards.Journal(&journal), guards.Spend(o)).NewAgent(llmagent.Config{Name: "a", Model: m})
			require.NoError(t, err)
			root, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: []agent.Agent{a}}, MaxIterations: 10})
			require.NoError(t, err)
			out := play(t, root)
			require.NoError(t, out.err)
			out.run.Close()
			require.Equal(t, callbacks.StatusBudgetExhausted, out.run.Outcome().Status)
			require.Equal(t, tc.calls, m.calls.Load())
			require.Equal(t, tc.asked, asked)
			require.Len(t, targets, 1, "the target is told once")
			b, err := l.Balance(t.Context(), "task")
			require.NoError(t, err)
			require.LessOrEqual(t, b.Spent, usd(t, "1"))
			require.Equal(t, m.billed, b.Spent)
			require.Contains(t, journal.String(), `"kind":"spend"`)
			require.Contains(t, journal.String(), `"charged":"`)
		})
	}
}

// charges remembers what is committed.
type charges struct {
	ledger.Ledger
	mu  sync.Mutex
	all []ledger.Charge
}

func (c *charges) Commit(ctx context.Context, k ledger.Key, ch ledger.Charge) (ledger.Receipt, error) {
	c.mu.Lock()
	c.all = append(c.all, ch)
	c.mu.Unlock()
	return c.Ledger.Commit(ctx, k, ch)
}

// The id that the provider gave its answer stands with the charge, though ADK drops it.
func TestSpendKeepsTheProvidersResponseID(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"says \"responseId\": \"forged\""}]},"finishReason":"STOP"}],
			"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15},"modelVersion":"gemini-2.5-flash","responseId":"Kx-7_9"}`)
	}))
	t.Cleanup(srv.Close)
	m, err := gemini.NewModel(t.Context(), "gemini-2.5-flash", &genai.ClientConfig{
		APIKey: "not-a-key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: srv.URL},
		HTTPClient: &http.Client{Transport: guards.TapResponseIDs(nil)},
	})
	require.NoError(t, err)
	l := &charges{Ledger: memory(t)}
	a, err := callbacks.New(guards.Spend(guards.SpendOptions{Ledger: l, Limits: ledger.Limits{Hard: usd(t, "1")}})).NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Len(t, l.all, 1)
	require.Equal(t, "Kx-7_9", l.all[0].ResponseID)
	require.Equal(t, ledger.SourceProvider, l.all[0].Source)
}

// The tap reads an id that arrives byte by byte, and passes the body on unchanged.
func TestTapResponseIDsPassesTheBodyOn(t *testing.T) {
	body := strings.Repeat("x", 1000) + `"responseId" : "abc"` + strings.Repeat("y", 1000)
	rt := guards.TapResponseIDs(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(body)))}, nil
	}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x.invalid", http.NoBody)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, body, string(got))
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
