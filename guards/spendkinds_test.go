// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// The tests below are bugs that users of other systems reported, at the level of a model
// call; the kinds that concern the books alone are cases of ledgertest, those that concern
// the table alone tests of prices. Each case names the system and the number of the
// report. What is tested elsewhere in this package:
//
//	parallel calls all see the same balance (litellm 34732, pydantic-ai 2978)  TestSpendLimitUnderParallelAgents
//	siblings drain the parent's money (hermes-agent 2873)                      TestSpendSlices, TestSpendWaitsForWhatOthersHold
//	cut, reset, cancelled and abandoned streams (litellm 33736, Aether 654,
//	AgentBudget 15, bitrouter 537, tokenjam 628)                               TestSpendStreams, TestSpendAbandonedStreams
//	a nested agent escapes the limit (adk-go 669, adk-python 2809)             TestSpendReachesAgentsUsedAsTools
//	nested retries multiply one reservation (AssemblyZero 2427)                TestSpendRetries
//	a price changes during a call (hermes 93678, decant 0.13.1)                TestSpendPriceChangesDuringACall
//	the store is down (hiero 5684, ironclaw 3841)                              TestSpendRedisGoes
//	the process dies (litellm 30330, steward 240)                              TestSpendKilledDuringACall
//
// What does not apply: budgets that start over at midnight or on Mondays (litellm 42241,
// langwatch 458), since an account is one task's; floats and rounding (otari 691,
// langwatch 6440), since there are none; live sessions (adk-java 847), which Spend
// refuses; hedged calls (sub2api 4408), which are attempts like any other and each have a
// reservation, as in ledgertest; server-side fallbacks (earendil-works/pi 8285), which no
// backend of ADK asks for.

// answering gives one answer with one usage and bills it at nothing: what is charged for
// it is the question.
type answering struct {
	name  string
	usage *genai.GenerateContentResponseUsageMetadata
	seen  []*model.LLMRequest
	err   error
}

func (a *answering) Name() string { return a.name }

func (a *answering) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		a.seen = append(a.seen, req)
		if a.err != nil {
			yield(nil, a.err)
			return
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromText("answer", genai.RoleModel), UsageMetadata: a.usage, TurnComplete: true}, nil)
	}
}

// pay makes one call under a gate of 1000 dollars and returns the books.
func pay(t *testing.T, m model.LLM, o guards.SpendOptions, req *model.LLMRequest) (ledger.Balance, guards.SpendLine, error) {
	t.Helper()
	l := memory(t)
	o.Ledger = l
	if o.Limits.Hard == 0 {
		o.Limits.Hard = usd(t, "1000")
	}
	o.Account = func(*callbacks.Run) ledger.AccountID { return "task" }
	g := guards.Spend(o)
	require.NoError(t, g.Err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	var failure error
	for _, err := range g.WrapModel(m, nil).GenerateContent(ctx, req, false) {
		failure = errors.Join(failure, err)
	}
	lines := guards.Records(ctx).Spent()
	require.Len(t, lines, 1)
	b, err := l.Balance(t.Context(), "task")
	if err != nil {
		require.ErrorIs(t, err, ledger.ErrNoAccount, "a call without a price opens none")
	}
	require.Zero(t, b.Reserved)
	return b, lines[0], failure
}

func prompt(text string) *model.LLMRequest {
	return &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)}}
}

// tokens is a table whose model costs a dollar per million tokens read, 0.1 for cached
// ones, and ten per million written; above 1000 tokens read, double for all.
func tokens(t *testing.T, backend string) *prices.Table {
	t.Helper()
	table, err := prices.New("test", "2026-11-01", prices.Row{
		Backend: backend, Model: "m", Rates: prices.Rates{Input: 1_000_000, CacheRead: 100_000, Output: 10_000_000},
		Tiers:    []prices.Tier{{Above: 1000, Rates: prices.Rates{Input: 2_000_000, CacheRead: 200_000, Output: 20_000_000}}},
		MaxInput: 1_000_000, MaxOutput: 8000, Source: []string{"test"}, AsOf: "2026-11-01",
	})
	require.NoError(t, err)
	return table
}

func TestSpendKindCheckedAfterTheCall(t *testing.T) {
	for _, name := range []string{"PraisonAI 2314", "opencompany 998", "opendot 125", "continue 11616"} {
		t.Run(name, func(t *testing.T) {
			m := &answering{name: "dear"}
			_, line, err := pay(t, m, guards.SpendOptions{Prices: dear(t), Limits: ledger.Limits{Hard: usd(t, "0.05")}}, prompt("x"))
			require.ErrorIs(t, err, ledger.ErrBudgetExceeded)
			require.Empty(t, m.seen, "the call that would exceed the limit is not made")
			require.Equal(t, 1, line.Refused)
		})
	}
}

func TestSpendKindUsageMisread(t *testing.T) {
	type u = genai.GenerateContentResponseUsageMetadata
	for name, tc := range map[string]struct {
		backend string
		usage   u
		nano    ledger.Nano
		out     int64
	}{
		"llm-gemini 75, litellm 33530: thoughts stand beside the answer":     {"gemini", u{PromptTokenCount: 100, CandidatesTokenCount: 50, ThoughtsTokenCount: 200, TotalTokenCount: 350}, 100_000 + 2_500_000, 250},
		"goai 122, agentscope-java 3033: thoughts are not subtracted":        {"gemini", u{PromptTokenCount: 100, CandidatesTokenCount: 50, ThoughtsTokenCount: 60, TotalTokenCount: 210}, 100_000 + 1_100_000, 110},
		"ADK's OpenAI adapter: reasoning is inside the answer":               {"openai", u{PromptTokenCount: 100, CandidatesTokenCount: 250, ThoughtsTokenCount: 200, TotalTokenCount: 350}, 100_000 + 2_500_000, 250},
		"any-llm 1367: tool use stands beside the prompt":                    {"gemini", u{PromptTokenCount: 80, ToolUsePromptTokenCount: 237, CandidatesTokenCount: 173, ThoughtsTokenCount: 60, TotalTokenCount: 550}, 317_000 + 2_330_000, 233},
		"any-llm 1290: a total that says more is right":                      {"gemini", u{PromptTokenCount: 100, CandidatesTokenCount: 50, TotalTokenCount: 400}, 100_000 + 3_000_000, 300},
		"litellm 11156, pi 2148: cached tokens are part of the prompt, once": {"gemini", u{PromptTokenCount: 1000, CachedContentTokenCount: 900, CandidatesTokenCount: 10, TotalTokenCount: 1010}, 100_000 + 90_000 + 100_000, 10},
		"aicost 10: tool use counts for the tier":                            {"gemini", u{PromptTokenCount: 990, ToolUsePromptTokenCount: 20, CandidatesTokenCount: 10, TotalTokenCount: 1020}, 2_020_000 + 200_000, 10},
		"hermes 93678, vibe-bar 29: the tier is of the whole request":        {"gemini", u{PromptTokenCount: 1001, CandidatesTokenCount: 100, TotalTokenCount: 1101}, 2_002_000 + 2_000_000, 100},
		"activepieces 8233: output does not reach a tier":                    {"gemini", u{PromptTokenCount: 1000, CandidatesTokenCount: 2000, TotalTokenCount: 3000}, 1_000_000 + 20_000_000, 2_000},
	} {
		t.Run(name, func(t *testing.T) {
			m := &answering{name: "m", usage: &tc.usage}
			b, line, err := pay(t, m, guards.SpendOptions{Prices: tokens(t, tc.backend), Backend: tc.backend}, prompt(strings.Repeat("x", 2000)))
			require.NoError(t, err)
			require.Equal(t, tc.nano.String(), b.Spent.String())
			require.Zero(t, b.Overrun)
			require.Equal(t, tc.out, line.TokensOut)
			require.InDelta(t, float64(tc.usage.CachedContentTokenCount)/float64(tc.usage.PromptTokenCount+tc.usage.ToolUsePromptTokenCount), line.CachedShare(), 1e-9)
		})
	}
}

func TestSpendKindUnknownTakenForFree(t *testing.T) {
	type u = genai.GenerateContentResponseUsageMetadata
	for name, usage := range map[string]*u{
		"ironclaw 3841: no usage":               nil,
		"litellm 37924: usage of zeros":         {},
		"llm-gemini: a kind of traffic alone":   {TrafficType: genai.TrafficTypeOnDemand},
		"counts that contradict each other":     {PromptTokenCount: -5, CandidatesTokenCount: 10, TotalTokenCount: 5},
		"a count that can't be, of cached ones": {PromptTokenCount: 10, CachedContentTokenCount: -4, CandidatesTokenCount: 1, TotalTokenCount: 11},
	} {
		t.Run(name, func(t *testing.T) {
			b, line, err := pay(t, &answering{name: "m", usage: usage}, guards.SpendOptions{Prices: tokens(t, "gemini")}, prompt("x"))
			require.NoError(t, err)
			require.Equal(t, line.Reserved, b.Spent, "what nobody knows is charged in full")
			require.Positive(t, b.Spent)
		})
	}
}

func TestSpendKindReservedTooLittle(t *testing.T) {
	for name, text := range map[string]string{
		"litellm 40002: a long prompt at the price of a short one": strings.Repeat("x", 1001),
		"headroom: a token for every four characters":              strings.Repeat("日本語", 200),
		"invalid UTF-8":                   strings.Repeat("\xff", 1001),
		"python-genai 1129: base64 lines": strings.Repeat("QUJD/+==", 130),
	} {
		t.Run(name, func(t *testing.T) {
			worst := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(len(text)), CandidatesTokenCount: 8000}
			b, line, err := pay(t, &answering{name: "m", usage: worst}, guards.SpendOptions{Prices: tokens(t, "gemini")}, prompt(text))
			require.NoError(t, err)
			require.Zero(t, b.Overrun, "a token for every byte, in the tier that they reach")
			require.GreaterOrEqual(t, line.Reserved, b.Spent)
		})
	}
	t.Run("a provider that bills more than it was allowed", func(t *testing.T) {
		worse := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: 9000}
		b, line, err := pay(t, &answering{name: "m", usage: worse}, guards.SpendOptions{Prices: tokens(t, "gemini")}, prompt("x"))
		require.NoError(t, err)
		require.Positive(t, b.Overrun, "recorded, not clamped")
		require.Equal(t, b.Overrun, line.Overrun)
	})
}

// The request is bounded by what the provider enforces: output, candidates, one attempt.
func TestSpendKindUnboundedRequest(t *testing.T) {
	retries := int32(5)
	req := prompt("x")
	req.Config = &genai.GenerateContentConfig{
		CandidateCount: 8, HTTPOptions: &genai.HTTPOptions{RetryOptions: &genai.HTTPRetryOptions{Attempts: &retries}, BaseURL: "http://x.invalid"},
	}
	m := &answering{name: "m"}
	_, _, err := pay(t, m, guards.SpendOptions{Prices: tokens(t, "gemini")}, req)
	require.NoError(t, err)
	sent := m.seen[0].Config
	require.EqualValues(t, 8000, sent.MaxOutputTokens)
	require.EqualValues(t, 1, sent.CandidateCount)
	require.EqualValues(t, 1, *sent.HTTPOptions.RetryOptions.Attempts, "nil would leave the client's own")
	require.Equal(t, "http://x.invalid", sent.HTTPOptions.BaseURL)
	require.EqualValues(t, 8, req.Config.CandidateCount, "ADK's own request is as it was")
	require.NotNil(t, req.Config.HTTPOptions.RetryOptions)

	for name, parts := range map[string][]*genai.Part{
		"a file":               {{FileData: &genai.FileData{FileURI: "gs://x/y", MIMEType: "video/mp4"}}},
		"an image":             {{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("x")}}},
		"an image of a tool's": {{FunctionResponse: &genai.FunctionResponse{Name: "t", Parts: []*genai.FunctionResponsePart{{InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", Data: []byte("x")}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &answering{name: "m"}
			media := &model.LLMRequest{Contents: []*genai.Content{{Role: genai.RoleUser, Parts: parts}}}
			_, _, err := pay(t, m, guards.SpendOptions{Prices: tokens(t, "gemini")}, media)
			require.ErrorIs(t, err, prices.ErrUnbounded)
			require.Empty(t, m.seen)
			_, line, err := pay(t, m, guards.SpendOptions{Prices: tokens(t, "gemini"), AllowUnbounded: true}, media)
			require.NoError(t, err)
			require.Greater(t, line.Reserved, usd(t, "2"), "the whole context window is reserved")
		})
	}
	for name, server := range map[string]*genai.Tool{
		"litellm 24369: search": {GoogleSearch: &genai.GoogleSearch{}}, "litellm 35965: maps": {GoogleMaps: &genai.GoogleMaps{}},
		"a tool that is new": {MCPServers: []*genai.MCPServer{{Name: "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			req := prompt("x")
			req.Config = &genai.GenerateContentConfig{Tools: []*genai.Tool{server}}
			_, _, err := pay(t, &answering{name: "m"}, guards.SpendOptions{Prices: tokens(t, "gemini")}, req)
			require.ErrorIs(t, err, prices.ErrUnbounded)
		})
	}
}

// A token of an image costs twelve times one of text: it is reserved where an image may
// come, and charged where one came.
func TestSpendKindImageAtThePriceOfText(t *testing.T) {
	type (
		u       = genai.GenerateContentResponseUsageMetadata
		details = []*genai.ModalityTokenCount
	)
	const text, image = 2_500, 30_000 // in nano, per token of gemini-2.5-flash-image
	for name, tc := range map[string]struct {
		modalities []string
		usage      u
		reserved   ledger.Nano // for output
		charged    ledger.Nano
	}{
		"it doesn't say":             {nil, u{PromptTokenCount: 10, CandidatesTokenCount: 1310, TotalTokenCount: 1320, CandidatesTokensDetails: details{{Modality: "IMAGE", TokenCount: 1290}}}, 32768 * image, 3_000 + 1290*image + 20*text},
		"text and images":            {[]string{"TEXT", "IMAGE"}, u{PromptTokenCount: 10, CandidatesTokenCount: 1310, CandidatesTokensDetails: details{{Modality: "TEXT", TokenCount: 20}, nil, {Modality: "IMAGE", TokenCount: 1000}, {Modality: "IMAGE", TokenCount: 290}}}, 32768 * image, 3_000 + 1290*image + 20*text},
		"as much as it may":          {nil, u{PromptTokenCount: 10, CandidatesTokenCount: 32768, CandidatesTokensDetails: details{{Modality: "IMAGE", TokenCount: 32768}}}, 32768 * image, 3_000 + 32768*image},
		"text alone":                 {[]string{"TEXT"}, u{PromptTokenCount: 10, CandidatesTokenCount: 20}, 32768 * text, 3_000 + 20*text},
		"thoughts are no image":      {nil, u{PromptTokenCount: 10, CandidatesTokenCount: 100, ThoughtsTokenCount: 50, CandidatesTokensDetails: details{{Modality: "IMAGE", TokenCount: 1000}}}, 32768 * image, 3_000 + 100*image + 50*text},
		"more than was written":      {nil, u{PromptTokenCount: 10, CandidatesTokenCount: 100, CandidatesTokensDetails: details{{Modality: "IMAGE", TokenCount: 1000}}}, 32768 * image, 3_000 + 100*image},
		"one that nobody knows":      {[]string{"text"}, u{PromptTokenCount: 10, CandidatesTokenCount: 20}, 32768 * image, 3_000 + 20*text},
		"one that was not asked for": {[]string{"TEXT", "TEXT"}, u{PromptTokenCount: 10, CandidatesTokenCount: 20, CandidatesTokensDetails: details{{Modality: "IMAGE", TokenCount: 20}}}, 32768 * text, 3_000 + 20*image},
	} {
		t.Run(name, func(t *testing.T) {
			req := prompt("x")
			req.Config = &genai.GenerateContentConfig{ResponseModalities: tc.modalities}
			b, line, err := pay(t, &answering{name: "gemini-2.5-flash-image", usage: &tc.usage}, guards.SpendOptions{Now: func() time.Time { return time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC) }}, req)
			require.NoError(t, err)
			require.GreaterOrEqual(t, line.Reserved, tc.reserved)
			require.Less(t, line.Reserved, tc.reserved+usd(t, "0.001"), "the prompt is short")
			require.Equal(t, tc.charged.String(), b.Spent.String())
			require.Zero(t, b.Overrun)
		})
	}
}

// Prices in units that are not applied stop what they are for, and not a model that
// writes text.
func TestSpendKindUnappliedPriceOfAnImage(t *testing.T) {
	table := func(field string) *prices.Table {
		t.Helper()
		table, err := prices.New("test", "2026-11-01", prices.Row{
			Backend: "gemini", Model: "m", Rates: prices.Rates{Input: 1_000_000, Output: 10_000_000}, Unapplied: []string{field},
			MaxInput: 1_000_000, MaxOutput: 8000, Source: []string{"test"}, AsOf: "2026-11-01",
		})
		require.NoError(t, err)
		return table
	}
	for name, tc := range map[string]struct {
		field      string
		modalities []string
		refused    bool
	}{
		"of characters":            {"input_cost_per_character", nil, false},
		"of an image read":         {"input_cost_per_image", nil, false},
		"of an image written":      {"output_cost_per_image", nil, true},
		"where text is asked for":  {"output_cost_per_image", []string{"TEXT"}, false},
		"where sound is asked for": {"output_cost_per_audio_token", []string{"AUDIO"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &answering{name: "m", usage: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: 20}}
			req := prompt("x")
			req.Config = &genai.GenerateContentConfig{ResponseModalities: tc.modalities}
			b, _, err := pay(t, m, guards.SpendOptions{Prices: table(tc.field)}, req)
			if tc.refused {
				require.ErrorIs(t, err, prices.ErrUnbounded)
				require.Empty(t, m.seen)
				return
			}
			require.NoError(t, err)
			require.Equal(t, ledger.Nano(10_000+200_000), b.Spent)
		})
	}
}

func TestSpendKindUnknownModelIsFree(t *testing.T) {
	for name, tc := range map[string]struct{ backend, model string }{
		"nika 1368: 4-1 for 4.1":              {"gemini", "gemini-2-5-flash"},
		"iterion 473: not in the table":       {"gemini", "gemini-99-ultra"},
		"headroom 3732: a guess at the price": {"openai", "gpt-unknown"},
		"floe-guard 43: another backend":      {"anthropic", "gemini-2.5-flash"},
		"a backend that nobody knows":         {"elsewhere", "gpt-5"},
		"no name at all":                      {"gemini", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &answering{name: tc.model}
			_, line, err := pay(t, m, guards.SpendOptions{Backend: tc.backend}, prompt("x"))
			require.ErrorIs(t, err, prices.ErrUnpriced)
			require.ErrorIs(t, err, callbacks.ErrStopped)
			require.Empty(t, m.seen)
			require.Equal(t, 1, line.Refused)
		})
	}
}

// An error status gives a reservation back only where the backend says that it is free.
func TestSpendKindRefundedThoughBilled(t *testing.T) {
	status := func(code int) error { return fmt.Errorf("call failed: %w", genai.APIError{Code: code}) }
	for name, tc := range map[string]struct {
		backend string
		err     error
		free    bool
	}{
		"gemini 429":                        {"gemini", status(http.StatusTooManyRequests), true},
		"gemini 503":                        {"gemini", status(http.StatusServiceUnavailable), true},
		"gemini 499 by a number alone":      {"gemini", errors.New("HTTP 499"), false},
		"vertex 400":                        {"vertex_ai", status(http.StatusBadRequest), true},
		"vertex 200 and an error after all": {"vertex_ai", status(http.StatusOK), false},
		"openai 429":                        {"openai", status(http.StatusTooManyRequests), false},
		"anthropic 529":                     {"anthropic", status(529), false},
		"azure 400 by a content filter":     {"azure", status(http.StatusBadRequest), false},
		"a cancelled call (Aether 654)":     {"gemini", context.Canceled, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, line, err := pay(t, &answering{name: "m", err: tc.err}, guards.SpendOptions{Prices: tokens(t, tc.backend), Backend: tc.backend}, prompt("x"))
			require.Error(t, err)
			require.Equal(t, tc.free, b.Spent == 0)
			require.Equal(t, tc.free, line.Charged == 0)
			require.Equal(t, 1, line.Calls)
		})
	}
}

// A fallback is priced as what it is, and refused where it is not affordable
// (litellm 41344, hermes 97942).
func TestSpendKindFallbackToADearerModel(t *testing.T) {
	table, err := prices.New(
		"test", "2026-11-01",
		prices.Row{Backend: "gemini", Model: "cheap", Rates: prices.Rates{Input: 1_000_000, Output: 1_000_000}, MaxInput: 100_000, MaxOutput: 1000, Source: []string{"test"}, AsOf: "2026-11-01"},
		prices.Row{Backend: "gemini", Model: "dear", Rates: prices.Rates{Input: 1_000_000, Output: 299_000_000}, MaxInput: 100_000, MaxOutput: 1000, Source: []string{"test"}, AsOf: "2026-11-01"},
	)
	require.NoError(t, err)
	for hard, calls := range map[string]int32{"0.05": 0, "0.50": 1} {
		o := sliced(t, memory(t), hard)
		o.Prices = table
		cheap := &answering{name: "cheap", err: errors.New("overloaded")}
		spare := &billing{}
		a, err := callbacks.New(fallingBack(spare), guards.Spend(o)).NewAgent(llmagent.Config{Name: "a", Model: cheap})
		require.NoError(t, err)
		out := play(t, a)
		require.Equal(t, calls, spare.calls.Load(), hard)
		require.LessOrEqual(t, spare.billed, usd(t, hard))
		if calls == 0 {
			require.Equal(t, callbacks.StatusBudgetExhausted, out.run.Outcome().Status)
		}
	}
}

// A refusal is typed, complete and final, so that nobody retries it as a 429
// (LightRAG 3736, aisix 433), also out of an agent used as a tool
// (claude-agent-sdk 1273).
func TestSpendKindRefusalIsRetried(t *testing.T) {
	o := sliced(t, memory(t), "0.05")
	inner := &billing{}
	innerAgent, err := callbacks.New(retrying(3), guards.Spend(o)).NewAgent(llmagent.Config{Name: "inner", Model: inner})
	require.NoError(t, err)
	outer := callbackstest.Script(callbackstest.Call("inner", map[string]any{"request": "x"}), callbackstest.Say("done"))
	a, err := callbacks.New().NewAgent(llmagent.Config{Name: "outer", Model: outer, Tools: []tool.Tool{agenttool.New(innerAgent, nil)}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	ctx := callbackstest.InRun(t, out.run)
	refusal, denied := guards.Records(ctx).SpendRefused()
	require.Equal(t, codes.BudgetExhausted, refusal.Code)
	require.Equal(t, "task_budget_exceeded", denied.Code)
	require.False(t, denied.Retryable())
	require.Positive(t, denied.Missing())
	require.Equal(t, 1, guards.Records(ctx).Spent()[0].Refused, "one refusal, no retries")
	require.Zero(t, inner.calls.Load())
	require.NotContains(t, fmt.Sprint(responses(out.events)), "account", "a model reads no figures")
}

// The gate counts every agent it is put on, and only those (litellm 27381: a limiter that
// was built and never registered).
func TestSpendKindNeverRegistered(t *testing.T) {
	g := guards.Spend(sliced(t, memory(t), "0.05"))
	m := &billing{}
	a, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	out := play(t, a)
	require.Zero(t, m.calls.Load(), "a refusal can be seen")
	require.Equal(t, callbacks.StatusBudgetExhausted, out.run.Outcome().Status)
	require.NotEmpty(t, g.Info().Limits)
}

// Amounts at the edges of the numbers are refused or hold; nothing wraps round.
func TestSpendKindOverflow(t *testing.T) {
	table, err := prices.New("test", "2026-11-01", prices.Row{
		Backend: "gemini", Model: "m", Rates: prices.Rates{Input: 10_000_000_000, Output: 10_000_000_000}, MaxInput: math.MaxInt32, MaxOutput: math.MaxInt32, Source: []string{"test"}, AsOf: "2026-11-01",
	})
	require.NoError(t, err)
	m := &answering{name: "m"}
	_, line, err := pay(t, m, guards.SpendOptions{Prices: table}, prompt("x"))
	require.NoError(t, err, "shrunk to what is affordable")
	require.LessOrEqual(t, line.Reserved, usd(t, "1000"))
	require.Less(t, m.seen[0].Config.MaxOutputTokens, int32(100_001))
}
