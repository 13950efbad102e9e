// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/model/gemini"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/redisledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/redistest"
)

// What can go wrong in the middle of a call that bills. In every case the bill of a
// provider that bills the most it was allowed is within the limit, and within what the
// account says.

var errCut = errors.New("cut off")

type usageData = genai.GenerateContentResponseUsageMetadata

func cumulative(chunk, chunks int, whole usageData) *usageData {
	u := whole
	u.CandidatesTokenCount = whole.CandidatesTokenCount * int32(chunk+1) / int32(chunks+1)
	u.TotalTokenCount = u.PromptTokenCount + u.CandidatesTokenCount
	return &u
}

func onlyFirst(chunk, _ int, whole usageData) *usageData {
	if chunk > 0 {
		return nil
	}
	return &whole
}

func trafficOnly(int, int, usageData) *usageData {
	return &usageData{TrafficType: genai.TrafficTypeOnDemand}
}

// settled checks an account against a bill and returns it.
func settled(t *testing.T, l ledger.Ledger, billed ledger.Nano) ledger.Balance {
	t.Helper()
	b, err := l.Balance(context.WithoutCancel(t.Context()), "task")
	require.NoError(t, err)
	require.Zero(t, b.Reserved, "every call is settled")
	require.Zero(t, b.Overrun)
	require.LessOrEqual(t, billed, b.Spent+b.Held, "billed, but on no account")
	require.LessOrEqual(t, b.Spent+b.Held, b.Limits.Hard)
	return b
}

// A stream as it can end, and what is charged for it: what the provider reported, where
// that is whole, else all that was reserved.
func TestSpendStreams(t *testing.T) {
	overloaded := fmt.Errorf("call failed: %w", genai.APIError{Code: http.StatusServiceUnavailable})
	for name, tc := range map[string]struct {
		stream  streamed
		charged string // "reserved", or an amount
	}{
		"usage grows with each chunk":          {streamed{chunks: 5, usage: cumulative}, "0.29901"},
		"usage in the first chunk alone":       {streamed{chunks: 5, usage: onlyFirst}, "reserved"},
		"no usage":                             {streamed{chunks: 5}, "reserved"},
		"a kind of traffic and no counts":      {streamed{chunks: 5, usage: trafficOnly}, "reserved"},
		"cut off after three chunks":           {streamed{chunks: 3, usage: cumulative, end: errCut}, "reserved"},
		"reset after three chunks":             {streamed{chunks: 3, usage: cumulative, end: syscall.ECONNRESET}, "reserved"},
		"an error status after three chunks":   {streamed{chunks: 3, end: overloaded}, "reserved"},
		"an error status in place of the rest": {streamed{end: errors.New("unreadable")}, "reserved"},
		"an error status from somewhere":       {streamed{refuse: overloaded}, "reserved"},
		"a refused connection from somewhere":  {streamed{refuse: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, "reserved"},
		"a time-out after the request left":    {streamed{refuse: &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}}, "reserved"},
	} {
		t.Run(name, func(t *testing.T) {
			l := memory(t)
			m := &billing{stream: []streamed{tc.stream}}
			a, err := callbacks.New(guards.Spend(sliced(t, l, "1"))).NewAgent(llmagent.Config{Name: "a", Model: m})
			require.NoError(t, err)
			out := playWith(t, a, nil, true)
			b := settled(t, l, m.billed)
			if tc.charged == "reserved" {
				require.Greater(t, b.Spent, usd(t, "0.29901"))
				return
			}
			require.Equal(t, usd(t, tc.charged), b.Spent, "%v", out.err)
		})
	}
}

// A consumer that goes away after some chunks, by a break, a panic or a cancelled context,
// leaves a call that is charged.
func TestSpendAbandonedStreams(t *testing.T) {
	for name, leave := range map[string]func(cancel func()) bool{
		"break":  func(func()) bool { return false },
		"panic":  func(func()) bool { panic("a consumer that breaks") },
		"cancel": func(cancel func()) bool { cancel(); return true },
	} {
		for chunks := range 4 {
			t.Run(fmt.Sprintf("%s after %d", name, chunks), func(t *testing.T) {
				l := memory(t)
				m := &billing{stream: []streamed{{chunks: 6, usage: cumulative}}}
				paid := guards.Spend(sliced(t, l, "1")).WrapModel(m, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ctx, run := callbacks.Start(ctx)
				defer run.Close()
				func() {
					defer func() { _ = recover() }()
					seen := 0
					for range paid.GenerateContent(ctx, &model.LLMRequest{}, true) {
						if seen++; seen > chunks && !leave(cancel) {
							break
						}
					}
				}()
				b := settled(t, l, m.billed)
				require.GreaterOrEqual(t, b.Spent, m.billed)
				require.Positive(t, b.Spent)
			})
		}
	}
	t.Run("never begun", func(t *testing.T) {
		l := memory(t)
		o := sliced(t, l, "1")
		_ = guards.Spend(o).WrapModel(&billing{}, nil).GenerateContent(t.Context(), &model.LLMRequest{}, true)
		_, err := l.Balance(t.Context(), "task")
		require.ErrorIs(t, err, ledger.ErrNoAccount, "nothing was asked, so nothing is reserved")
	})
}

// Each attempt is a reservation of its own: refused ones are given back, one that timed
// out is charged, and the answer is.
func TestSpendRetries(t *testing.T) {
	overloaded := streamed{refuse: fmt.Errorf("call failed: %w", genai.APIError{Code: http.StatusServiceUnavailable})}
	lost := streamed{end: os.ErrDeadlineExceeded}
	for name, tc := range map[string]struct {
		stream []streamed
		calls  int32
		least  string
	}{
		"503, 503, 200":          {[]streamed{overloaded, overloaded}, 3, "0.29901"},
		"a time-out, 503, 200":   {[]streamed{lost, overloaded}, 3, "0.59801"},
		"time-outs to the limit": {[]streamed{lost, lost, lost, lost}, 3, "0.89701"},
	} {
		t.Run(name, func(t *testing.T) {
			l := memory(t)
			m := &billing{stream: tc.stream}
			a, err := callbacks.New(retrying(6), guards.Spend(sliced(t, l, "1"))).NewAgent(llmagent.Config{Name: "a", Model: m})
			require.NoError(t, err)
			_ = play(t, a)
			require.Equal(t, tc.calls, m.calls.Load())
			b := settled(t, l, m.billed)
			require.GreaterOrEqual(t, b.Spent, usd(t, tc.least))
		})
	}
}

// Sixty-four agents with slices, half of them with a fallback to a dearer model, and
// answers of every kind.
func TestSpendSwarm(t *testing.T) {
	l := memory(t)
	table, err := prices.New(
		"test", "2026-11-01",
		prices.Row{Backend: "gemini", Model: "dear", Rates: prices.Rates{Input: 1_000_000, Output: 299_000_000}, MaxInput: 1_000_000, MaxOutput: 1000, Source: []string{"test"}, AsOf: "2026-11-01"},
		prices.Row{Backend: "gemini", Model: "dearer", Rates: prices.Rates{Input: 1_000_000, Output: 999_000_000}, MaxInput: 1_000_000, MaxOutput: 1000, Source: []string{"test"}, AsOf: "2026-11-01"},
	)
	require.NoError(t, err)
	o := sliced(t, l, "40")
	o.Prices, o.MinOutput = table, 100
	var list []*billing
	var agents []agent.Agent
	for i := range 64 {
		name := fmt.Sprintf("a%d", i)
		o.Slices = append(o.Slices, guards.Slice{Name: name, Limits: ledger.Limits{Hard: usd(t, "0.60")}})
		list = append(list, &billing{stream: []streamed{
			{chunks: i % 4, end: [...]error{nil, errCut, syscall.ECONNRESET}[i%3]}, {refuse: fmt.Errorf("%w", genai.APIError{Code: 500})},
		}})
	}
	gate := guards.Spend(o)
	for i, m := range list {
		gs := []callbacks.Guard{retrying(4), gate}
		if i%2 == 0 {
			spare := &billing{name: "dearer", rate: 999_000_000}
			list = append(list, spare)
			gs = []callbacks.Guard{fallingBack(spare), gate}
		}
		a, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: m})
		require.NoError(t, err)
		agents = append(agents, a)
	}
	root, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "root", SubAgents: agents}})
	require.NoError(t, err)
	_ = playWith(t, root, nil, true)
	var billed ledger.Nano
	for _, m := range list {
		billed += m.billed
	}
	b := settled(t, l, billed)
	require.Positive(t, billed)
	require.LessOrEqual(t, billed, usd(t, "38.4"), "64 slices of 0.60")
	t.Logf("billed %s, spent %s of %s", billed, b.Spent, b.Limits.Hard)
}

// fallingBack answers from spare where the model failed; every model passes through inner.
func fallingBack(spare model.LLM) callbacks.Guard {
	return callbacks.Guard{Name: "falling_back", WrapModel: func(next model.LLM, inner func(model.LLM) model.LLM) model.LLM {
		return &fallbackModel{LLM: next, spare: inner(spare)}
	}}
}

type fallbackModel struct {
	model.LLM
	spare model.LLM
}

func (f *fallbackModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range f.LLM.GenerateContent(ctx, req, stream) {
			if err != nil {
				other := *req
				other.Model = f.spare.Name()
				f.spare.GenerateContent(ctx, &other, stream)(yield)
				return
			}
			if !yield(resp, nil) {
				return
			}
		}
	}
}

// A price doubles at midnight, in the middle of a call: the dearer one was reserved.
func TestSpendPriceChangesDuringACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
		start := time.Now()
		row := prices.Row{Backend: "gemini", Model: "dear", MaxInput: 1_000_000, MaxOutput: 1000, Source: []string{"test"}, AsOf: "2026-11-01"}
		today, tomorrow := row, row
		today.Rates, today.Until = prices.Rates{Input: 1_000_000, Output: 150_000_000}, "2026-11-30"
		tomorrow.Rates, tomorrow.From = prices.Rates{Input: 1_000_000, Output: 299_000_000}, "2026-12-01"
		table, err := prices.New("test", "2026-11-01", today, tomorrow)
		require.NoError(t, err)
		l := memory(t)
		o := sliced(t, l, "1")
		o.Prices, o.Now = table, func() time.Time { return now.Add(time.Since(start)) }
		m := &billing{takes: 2 * time.Minute}
		a, err := callbacks.New(guards.Spend(o)).NewAgent(llmagent.Config{Name: "a", Model: m})
		require.NoError(t, err)
		require.NoError(t, play(t, a).err)
		b := settled(t, l, m.billed)
		require.Equal(t, m.billed, b.Spent)
	})
}

// Redis is gone before a call: it is not made. Redis goes while a call is under way: the
// call stays charged.
func TestSpendRedisGoes(t *testing.T) {
	for name, during := range map[string]bool{"before": false, "during": true} {
		t.Run(name, func(t *testing.T) {
			srv := redistest.StartWith(t, "--appendonly", "yes", "--appendfsync", "always")
			client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{srv.Addr}, DisableCache: true, DisableRetry: true})
			require.NoError(t, err)
			l, err := redisledger.New(t.Context(), redisledger.Options{Client: client})
			require.NoError(t, err)
			o := sliced(t, l, "1")
			_, err = l.Open(t.Context(), ledger.Opening{Account: "task", Limits: o.Limits})
			require.NoError(t, err)
			m := &billing{stream: []streamed{{chunks: 1, usage: func(int, int, usageData) *usageData {
				srv.Stop()
				return nil
			}}}}
			if !during {
				srv.Stop()
			}
			a, err := callbacks.New(guards.Spend(o)).NewAgent(llmagent.Config{Name: "a", Model: m})
			require.NoError(t, err)
			out := playWith(t, a, nil, true)
			client.Close()
			if !during {
				require.Zero(t, m.calls.Load())
				require.Equal(t, callbacks.StatusFailed, out.run.Outcome().Status, "more money is no cure")
				require.Equal(t, codes.LedgerFailed, out.run.Outcome().Code)
				require.ErrorIs(t, out.run.Outcome().Err, ledger.ErrUnavailable)
				return
			}
			require.EqualValues(t, 1, m.calls.Load())
			srv.Restart()
			again, err := redisledger.New(t.Context(), redisledger.Options{URL: "redis://" + srv.Addr})
			require.NoError(t, err)
			defer again.Shutdown()
			b, err := again.Balance(t.Context(), "task")
			require.NoError(t, err)
			require.LessOrEqual(t, m.billed, b.Spent+b.Held)
		})
	}
}

const killedEnv = "GARDEFOU_TEST_KILLED"

// A process that is killed in the middle of a call leaves it charged: the next one that
// opens the file has only the rest.
func TestSpendKilledDuringACall(t *testing.T) {
	if spec := os.Getenv(killedEnv); spec != "" {
		spendUntilKilled(t, spec)
		return
	}
	path := filepath.Join(t.TempDir(), "ledger")
	var billed ledger.Nano
	killed := 0
	for range 6 {
		arrived := make(chan struct{}, 1)
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			_, rest, _ := strings.Cut(string(body), `"maxOutputTokens":`)
			var output int64
			_, _ = fmt.Sscan(rest, &output)
			read, _, _ := strings.Cut(string(body), `"generationConfig"`) // a token for every byte of it
			billed += ledger.NanoOf(prices.Pico(output*299_000_000 + int64(len(read))*1_000_000))
			arrived <- struct{}{}
			<-r.Context().Done() // never an answer
		}))
		child := exec.Command(os.Args[0], "-test.run=^TestSpendKilledDuringACall$")
		child.Env = append(os.Environ(), killedEnv+"="+path+" "+srv.URL)
		var out strings.Builder
		child.Stdout, child.Stderr = &out, &out
		require.NoError(t, child.Start())
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		select {
		case <-arrived:
			require.NoError(t, child.Process.Kill())
			<-ended
			killed++
		case err := <-ended:
			require.NoError(t, err, out.String())
			require.Contains(t, out.String(), "task_budget_exceeded")
		}
		srv.Close()
	}
	require.Equal(t, 3, killed, "a dollar is enough for three")
	f, err := ledger.OpenFile(path, ledger.FileOptions{})
	require.NoError(t, err)
	b, err := f.Balance(t.Context(), "task")
	require.NoError(t, err)
	require.NoError(t, f.CloseFile())
	require.LessOrEqual(t, billed, b.Spent+b.Held)
	require.LessOrEqual(t, b.Spent+b.Held, usd(t, "1"))
}

func spendUntilKilled(t *testing.T, spec string) {
	path, url, _ := strings.Cut(spec, " ")
	f, err := ledger.OpenFile(path, ledger.FileOptions{})
	require.NoError(t, err)
	m, err := gemini.NewModel(t.Context(), "dear", &genai.ClientConfig{
		APIKey: "not-a-key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	require.NoError(t, err)
	a, err := callbacks.New(guards.Spend(sliced(t, f, "1"))).NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	out := play(t, a)
	fmt.Println(out.run.Outcome().Reason)
}

// What a usage doesn't know of is never free: one without output beside an answer, or
// from before a part of the answer, is not the whole, and the whole reservation stays.
func TestSpendKeepsTheReservationWhereTheUsageIsNotWhole(t *testing.T) {
	promptOnly := &usageData{PromptTokenCount: 50, TotalTokenCount: 50}
	whole := &usageData{PromptTokenCount: 50, CandidatesTokenCount: 100, TotalTokenCount: 150}
	piece := func(u *usageData) *model.LLMResponse {
		return &model.LLMResponse{Content: genai.NewContentFromText("piece ", genai.RoleModel), Partial: true, UsageMetadata: u}
	}
	empty := func(u *usageData) *model.LLMResponse {
		return &model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{{}}, genai.RoleModel), Partial: true, UsageMetadata: u}
	}
	last := func(u *usageData) *model.LLMResponse {
		return &model.LLMResponse{Content: genai.NewContentFromText("piece piece ", genai.RoleModel), UsageMetadata: u}
	}
	call := &model.LLMResponse{Content: genai.NewContentFromFunctionCall("lookup", nil, genai.RoleModel), UsageMetadata: promptOnly}
	copied := *whole
	for name, tc := range map[string]struct {
		answer []*model.LLMResponse
		known  bool
	}{
		"prompt counted, then text":                    {[]*model.LLMResponse{piece(promptOnly), piece(nil), last(promptOnly)}, false},
		"prompt counted, one answer":                   {[]*model.LLMResponse{last(promptOnly)}, false},
		"prompt counted, a call":                       {[]*model.LLMResponse{call}, false},
		"prompt counted, nothing said":                 {[]*model.LLMResponse{{UsageMetadata: promptOnly, FinishReason: genai.FinishReasonSafety}}, true},
		"some output counted, then text":               {[]*model.LLMResponse{piece(whole), piece(nil), last(whole)}, false},
		"the same, and the last repeats it":            {[]*model.LLMResponse{piece(whole), piece(nil), last(&copied)}, false},
		"counted with the last chunk":                  {[]*model.LLMResponse{piece(nil), piece(whole), last(whole)}, true},
		"counted after the last chunk":                 {[]*model.LLMResponse{piece(promptOnly), piece(nil), empty(whole), last(whole)}, true},
		"counted with the whole answer":                {[]*model.LLMResponse{piece(promptOnly), piece(nil), last(whole)}, true},
		"counted, then an empty chunk":                 {[]*model.LLMResponse{piece(whole), empty(nil), last(whole)}, true},
		"counted, then a chunk with a kind of traffic": {[]*model.LLMResponse{piece(whole), empty(&usageData{TrafficType: genai.TrafficTypeOnDemand}), last(whole)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, line, err := pay(t, &replying{name: "m", answer: tc.answer}, guards.SpendOptions{Prices: tokens(t, "gemini")}, prompt("x"))
			require.NoError(t, err)
			if !tc.known {
				require.Equal(t, line.Reserved, b.Spent)
				return
			}
			require.Less(t, b.Spent, line.Reserved)
			require.Positive(t, b.Spent)
		})
	}
}

// replying gives the same answer to each call.
type replying struct {
	name   string
	answer []*model.LLMResponse
}

func (r *replying) Name() string { return r.name }

func (r *replying) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for _, resp := range r.answer {
			if !yield(resp, nil) {
				return
			}
		}
	}
}
