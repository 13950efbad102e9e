// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/standin"
)

// tiers is a table whose model costs, per million tokens written, 10 dollars in the
// standard tier, 5 in flex and 18 in priority.
func tiers(t *testing.T, backend string, services ...string) *prices.Table {
	t.Helper()
	var rows []prices.Row
	for _, service := range services {
		rate := map[string]prices.Pico{"": 10_000_000, "flex": 5_000_000, "priority": 18_000_000}[service]
		rows = append(rows, prices.Row{
			Backend: backend, Model: "m", Service: service, Rates: prices.Rates{Input: 1_000_000, Output: rate},
			MaxInput: 1_000_000, MaxOutput: 8000, Source: []string{"test"}, AsOf: "2026-11-01",
		})
	}
	table, err := prices.New("test", "2026-11-01", rows...)
	require.NoError(t, err)
	return table
}

// The tier that was asked for and the tier that was served decide over the price, in the
// reservation as well; what is not known is the dearest.
func TestSpendPricesTheServiceTier(t *testing.T) {
	const flex, standard, priority = 5, 10, 18
	all := []string{"", "flex", "priority"}
	header := &genai.HTTPOptions{Headers: http.Header{"X-Vertex-AI-LLM-Shared-Request-Type": {"flex"}}}
	for name, tc := range map[string]struct {
		backend           string
		services          []string
		cfg               genai.GenerateContentConfig
		served            genai.TrafficType
		reserved, charged int // dollars per million tokens written
	}{
		"none asked":                          {"gemini", all, genai.GenerateContentConfig{}, "", standard, standard},
		"standard":                            {"gemini", all, genai.GenerateContentConfig{ServiceTier: genai.ServiceTierStandard}, "", standard, standard},
		"unspecified":                         {"gemini", all, genai.GenerateContentConfig{ServiceTier: genai.ServiceTierUnspecified}, "", standard, standard},
		"priority":                            {"gemini", all, genai.GenerateContentConfig{ServiceTier: genai.ServiceTierPriority}, "", priority, priority},
		"priority in capitals":                {"gemini", all, genai.GenerateContentConfig{ServiceTier: "PRIORITY"}, "", priority, priority},
		"flex, which may not be free":         {"gemini", all, genai.GenerateContentConfig{ServiceTier: genai.ServiceTierFlex}, "", standard, flex},
		"flex, of an adapter without it":      {"openai", all, genai.GenerateContentConfig{ServiceTier: genai.ServiceTierFlex}, "", standard, standard},
		"priority served":                     {"vertex_ai", all, genai.GenerateContentConfig{}, genai.TrafficTypeOnDemandPriority, standard, priority},
		"priority asked, standard served":     {"vertex_ai", all, genai.GenerateContentConfig{ServiceTier: genai.ServiceTierPriority}, genai.TrafficTypeOnDemand, priority, standard},
		"flex served":                         {"vertex_ai", all, genai.GenerateContentConfig{}, genai.TrafficTypeOnDemandFlex, standard, flex},
		"flex served, which has no price":     {"vertex_ai", []string{"", "priority"}, genai.GenerateContentConfig{}, genai.TrafficTypeOnDemandFlex, standard, priority},
		"an unknown tier served":              {"vertex_ai", all, genai.GenerateContentConfig{}, "ON_DEMAND_LUNAR", standard, priority},
		"off-peak served, which has no price": {"vertex_ai", all, genai.GenerateContentConfig{}, genai.TrafficTypeOnDemandOffpeak, standard, priority},
		"asked in a header":                   {"vertex_ai", all, genai.GenerateContentConfig{HTTPOptions: header}, "", priority, priority},
		"asked in a header, standard served":  {"vertex_ai", all, genai.GenerateContentConfig{HTTPOptions: header}, genai.TrafficTypeOnDemand, priority, standard},
		"no other tier in the table":          {"gemini", []string{""}, genai.GenerateContentConfig{}, "", standard, standard},
	} {
		t.Run(name, func(t *testing.T) {
			usage := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: 1000, TotalTokenCount: 1010, TrafficType: tc.served}
			req := prompt("x")
			tc.cfg.MaxOutputTokens = 1000
			req.Config = &tc.cfg
			b, line, err := pay(t, &answering{name: "m", usage: usage}, guards.SpendOptions{Prices: tiers(t, tc.backend, tc.services...), Backend: tc.backend}, req)
			require.NoError(t, err)
			written := func(rate int) ledger.Nano { return ledger.Nano(1000 * rate * 1000) }
			require.Equal(t, written(tc.charged)+10_000, b.Spent)
			require.Greater(t, line.Reserved, written(tc.reserved))
			require.Less(t, line.Reserved, written(tc.reserved+1))
		})
	}
}

// A tier without a price is refused, not taken for the standard one.
func TestSpendRefusesATierWithoutAPrice(t *testing.T) {
	for name, tier := range map[string]genai.ServiceTier{"priority": genai.ServiceTierPriority, "unheard of": "ultrafast", "a row's name that is no tier": "batch"} {
		t.Run(name, func(t *testing.T) {
			req := prompt("x")
			req.Config = &genai.GenerateContentConfig{ServiceTier: tier}
			m := &answering{name: "m"}
			_, _, err := pay(t, m, guards.SpendOptions{Prices: tiers(t, "gemini", "", "flex")}, req)
			requireUnbounded(t, err)
			require.Empty(t, m.seen)
		})
	}
}

func requireUnbounded(t *testing.T, err error) *callbacks.Refusal {
	t.Helper()
	var refusal *callbacks.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, codes.CostUnbounded, refusal.Code)
	return refusal
}

// What rewrites the request after the bound was put on it has no bound.
func TestSpendRefusesWhatRewritesTheRequest(t *testing.T) {
	body := map[string]any{"generationConfig": map[string]any{"maxOutputTokens": 65536}}
	for name, opts := range map[string]genai.HTTPOptions{
		"a larger output":    {ExtraBody: body},
		"another tier":       {ExtraBody: map[string]any{"serviceTier": "priority"}},
		"a field of nothing": {ExtraBody: map[string]any{"x": nil}},
		"a function":         {ExtrasRequestProvider: func(m map[string]any) map[string]any { return m }},
	} {
		t.Run(name, func(t *testing.T) {
			srv := standin.Gemini(t, says("hello"), nil)
			req := prompt("x")
			req.Config = &genai.GenerateContentConfig{HTTPOptions: &opts}
			_, _, err := pay(t, geminiAt(t, srv.URL, genai.HTTPOptions{}, nil), guards.SpendOptions{}, req)
			require.Contains(t, requireUnbounded(t, err).Detail, "ExtraBody")
			require.ErrorIs(t, err, prices.ErrUnbounded)

			_, _, err = pay(t, geminiAt(t, srv.URL, opts, nil), guards.SpendOptions{}, prompt("x"))
			requireUnbounded(t, err)
			require.Empty(t, srv.Bodies())
		})
	}
	t.Run("a client that is not seen", func(t *testing.T) {
		srv := standin.Gemini(t, says("hello"), nil)
		hidden := struct{ model.LLM }{geminiAt(t, srv.URL, genai.HTTPOptions{ExtraBody: body}, nil)}
		_, _, err := pay(t, hidden, guards.SpendOptions{MaxOutput: 500}, &model.LLMRequest{
			Contents: prompt("x").Contents, Config: &genai.GenerateContentConfig{MaxOutputTokens: 500},
		})
		require.NoError(t, err)
		require.Len(t, srv.Bodies(), 1)
		require.EqualValues(t, 500, allowed(srv.Bodies()[0]))
	})
	t.Run("an empty body", func(t *testing.T) {
		req := prompt("x")
		req.Config = &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{ExtraBody: map[string]any{}}}
		_, _, err := pay(t, &answering{name: "m"}, guards.SpendOptions{Prices: tokens(t, "gemini")}, req)
		require.NoError(t, err)
	})
}

// The tier that the model is asked for on the wire is the one that was priced.
func TestSpendAsksForTheTierThatItPriced(t *testing.T) {
	srv := standin.Gemini(t, says("hello"), nil)
	req := prompt("x")
	req.Config = &genai.GenerateContentConfig{ServiceTier: genai.ServiceTierPriority}
	m := struct{ model.LLM }{geminiAt(t, srv.URL, genai.HTTPOptions{}, nil)}
	table := prices.Default().Override(func() *prices.Table {
		table, err := prices.New("own", "2026-11-01",
			prices.Row{Backend: "gemini", Model: flash, Rates: prices.Rates{Input: 300_000, Output: 2_500_000}, MaxInput: 1 << 20, MaxOutput: 1000, Source: []string{"test"}, AsOf: "2026-11-01"},
			prices.Row{Backend: "gemini", Model: flash, Service: "priority", Rates: prices.Rates{Input: 540_000, Output: 4_500_000}, MaxInput: 1 << 20, MaxOutput: 1000, Source: []string{"test"}, AsOf: "2026-11-01"},
		)
		require.NoError(t, err)
		return table
	}())
	b, _, err := pay(t, m, guards.SpendOptions{Prices: table}, req)
	require.NoError(t, err)
	require.Equal(t, ledger.NanoOf(10*540_000+5*4_500_000), b.Spent)
	var sent map[string]any
	require.NoError(t, json.Unmarshal(srv.Bodies()[0], &sent))
	require.Equal(t, "priority", sent["serviceTier"])
}
