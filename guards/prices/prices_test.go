// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/prices"
)

var november = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func quote(t *testing.T, table *prices.Table, backend, model string, at time.Time) prices.Quote {
	t.Helper()
	q, err := table.Quote(prices.Query{Backend: backend, Model: model}, at, at)
	require.NoError(t, err)
	return q
}

func TestEmbeddedTable(t *testing.T) {
	table := prices.Default()
	require.Len(t, table.SHA256(), 64)
	require.NotEmpty(t, table.ID())
	rows := table.List(prices.Filter{})
	require.NotEmpty(t, rows)
	for _, row := range rows {
		require.NotEmpty(t, row.Source, row.Name())
		require.NotEmpty(t, row.AsOf, row.Name())
		require.Positive(t, row.MaxInput, row.Name())
	}
	require.Empty(t, table.Refused())
}

func TestQuoteFindsByName(t *testing.T) {
	table := prices.Default()
	for name, model := range map[string]string{
		"gemini-2.5-flash":        "gemini-2.5-flash",
		"models/gemini-2.5-flash": "gemini-2.5-flash",
		"gemini-2.5-flash-001":    "gemini-2.5-flash",
	} {
		q := quote(t, table, "gemini", name, november)
		require.Equal(t, model, q.Rows[0].Model, name)
		require.Equal(t, table.ID(), q.Table)
		require.Equal(t, table.SHA256(), q.SHA256)
	}
	require.Equal(t, "gpt-5-mini", quote(t, table, "openai", "gpt-5-mini-2025-08-07", november).Rows[0].Model)
	require.Equal(t, "claude-sonnet-4-5", quote(t, table, "anthropic", "claude-sonnet-4-5-20250929", november).Rows[0].Model)
}

func TestUnknownIsRefusedNeverFree(t *testing.T) {
	for _, q := range []prices.Query{
		{Backend: "gemini", Model: "gemini-9-ultra"},
		{Backend: "vertex_ai", Model: "gemini-2.5-flash"}, // sold elsewhere at another price
		{Backend: "gemini", Model: "gemini-2.5"},
		{Backend: "openai", Model: "gpt-5-mini-turbo"},
		{Backend: "gemini", Model: "gemini-2.5-flash", Service: "priority"},
		{Backend: "", Model: "gemini-2.5-flash"},
		{},
	} {
		_, err := prices.Default().Quote(q, november, november)
		require.ErrorIs(t, err, prices.ErrUnpriced, q.String())
		var unpriced *prices.UnpricedError
		require.ErrorAs(t, err, &unpriced)
		require.Equal(t, q, unpriced.Query)
	}
	_, err := new(prices.Table).Quote(prices.Query{Backend: "gemini", Model: "gemini-2.5-flash"}, november, november)
	require.ErrorIs(t, err, prices.ErrUnpriced)
	_, err = prices.Quote{}.WorstCase(prices.Bound{Input: 1})
	require.ErrorIs(t, err, prices.ErrUnpriced)
}

// The price of Gemini 4 Argon doubles on 2026-12-01.
func TestPriceChangeDuringACall(t *testing.T) {
	table, model := prices.Default(), prices.Query{Backend: "gemini", Model: "gemini-4-argon"}
	million := prices.Usage{Input: 1_000_000}
	for name, c := range map[string]struct {
		from, until string
		rows        int
		input       prices.Pico
	}{
		"well before":                       {"2026-11-15T00:00:00Z", "2026-11-15T00:10:00Z", 1, 2e12},
		"well after":                        {"2026-12-15T00:00:00Z", "2026-12-15T00:10:00Z", 1, 4e12},
		"a call across midnight in UTC":     {"2026-11-30T23:59:00Z", "2026-12-01T00:09:00Z", 2, 4e12},
		"December in Kiribati already":      {"2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z", 2, 4e12},
		"a lease that reaches that moment":  {"2026-11-30T09:59:00Z", "2026-11-30T10:09:00Z", 2, 4e12},
		"still November at Baker Island":    {"2026-12-01T11:59:59Z", "2026-12-01T11:59:59Z", 2, 4e12},
		"December everywhere":               {"2026-12-01T12:00:00Z", "2026-12-01T12:00:00Z", 1, 4e12},
		"ten minutes before the first zone": {"2026-11-30T09:40:00Z", "2026-11-30T09:50:00Z", 1, 2e12},
	} {
		t.Run(name, func(t *testing.T) {
			from, err := time.Parse(time.RFC3339, c.from)
			require.NoError(t, err)
			until, err := time.Parse(time.RFC3339, c.until)
			require.NoError(t, err)
			q, err := table.Quote(model, from, until)
			require.NoError(t, err)
			require.Len(t, q.Rows, c.rows)
			cost, err := q.Cost(million)
			require.NoError(t, err)
			require.Equal(t, c.input, cost)
		})
	}
	_, err := table.Quote(model, november, november.Add(-time.Second))
	require.ErrorIs(t, err, prices.ErrUnpriced)
	_, err = table.Quote(prices.Query{Backend: "openai", Model: "gpt-5.6-sol"}, november.AddDate(-1, 0, 0), november)
	require.ErrorIs(t, err, prices.ErrUnpriced, "no row covers the beginning")
}

func TestCost(t *testing.T) {
	table := prices.Default()
	pro, flash := quote(t, table, "gemini", "gemini-2.5-pro", november), quote(t, table, "gemini", "gemini-2.5-flash", november)
	haiku := quote(t, table, "anthropic", "claude-haiku-5-5", november)
	for name, c := range map[string]struct {
		quote prices.Quote
		usage prices.Usage
		want  prices.Pico
	}{
		"nothing":                            {pro, prices.Usage{}, 0},
		"input and output":                   {pro, prices.Usage{Input: 1000, Output: 100}, 1000*1_250_000 + 100*10_000_000},
		"cached is a part of input":          {pro, prices.Usage{Input: 1000, CacheRead: 600}, 400*1_250_000 + 600*125_000},
		"reasoning is a part of output":      {flash, prices.Usage{Output: 100, Reasoning: 80}, 100 * 2_500_000},
		"at the threshold":                   {pro, prices.Usage{Input: 200_000, Output: 1}, 200_000*1_250_000 + 10_000_000},
		"above it the whole request":         {pro, prices.Usage{Input: 200_001, CacheRead: 1, Output: 1}, 200_000*2_500_000 + 250_000 + 15_000_000},
		"output never selects a tier":        {pro, prices.Usage{Input: 1, Output: 60_000}, 1_250_000 + 60_000*10_000_000},
		"another threshold, from data":       {haiku, prices.Usage{Input: 100_001}, 100_001 * 500_000},
		"sound":                              {flash, prices.Usage{Input: 10, AudioInput: 4, CacheRead: 3, AudioCacheRead: 1}, 4*300_000 + 3*1_000_000 + 2*30_000 + 100_000},
		"a class the tier leaves out":        {haiku, prices.Usage{Input: 100_001, CacheWrite1h: 100_001}, 100_001 * 500_000},
		"a search fee, per grounded prompt":  {pro, prices.Usage{Fees: prices.Fees{prices.FeeSearch: 1}}, 35e9},
		"no unit of a fee nobody lists is 0": {pro, prices.Usage{Fees: prices.Fees{"teleport": 0}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.quote.Cost(c.usage)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestCostRefusesContradictions(t *testing.T) {
	flash := quote(t, prices.Default(), "gemini", "gemini-2.5-flash", november)
	for name, u := range map[string]prices.Usage{
		"negative":                   {Input: -1},
		"more cached than input":     {Input: 10, CacheRead: 11},
		"parts add up to too much":   {Input: 10, CacheRead: 6, CacheWrite: 5},
		"cached sound, but no sound": {Input: 10, CacheRead: 5, AudioCacheRead: 5},
		"more reasoning than output": {Output: 10, Reasoning: 11},
		"absurd":                     {Input: 1 << 60},
		"negative units":             {Fees: prices.Fees{prices.FeeSearch: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := flash.Cost(u)
			require.ErrorIs(t, err, prices.ErrUsage)
		})
	}
	_, err := flash.Cost(prices.Usage{Fees: prices.Fees{"teleport": 1}})
	require.ErrorIs(t, err, prices.ErrUnbounded)
	_, err = flash.Cost(prices.Usage{Input: 1 << 50})
	require.ErrorIs(t, err, prices.ErrOverflow)
}

func TestWorstCase(t *testing.T) {
	table := prices.Default()
	flash := quote(t, table, "gemini", "gemini-2.5-flash", november)
	text := prices.Bound{Input: 8192, Output: 4096, TextInput: true, TextOutput: true}
	worst, err := flash.WorstCase(text)
	require.NoError(t, err)
	require.Equal(t, prices.Pico(8192*300_000+4096*2_500_000), worst)

	text.TextInput = false
	worst, err = flash.WorstCase(text)
	require.NoError(t, err)
	require.Equal(t, prices.Pico(8192*1_000_000+4096*2_500_000), worst, "it may be sound")

	argon := quote(t, table, "gemini", "gemini-4-argon", time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC))
	worst, err = argon.WorstCase(prices.Bound{Input: 1_048_576, Output: 65_536, TextInput: true, TextOutput: true})
	require.NoError(t, err)
	require.Equal(t, "5505024", worst.PerMillion(), "5.505024 USD for one call")

	_, err = flash.WorstCase(prices.Bound{Input: -1})
	require.ErrorIs(t, err, prices.ErrUsage)
	_, err = flash.WorstCase(prices.Bound{Fees: prices.Fees{"teleport": 1}})
	require.ErrorIs(t, err, prices.ErrUnbounded)
}

func TestAffordableOutput(t *testing.T) {
	flash := quote(t, prices.Default(), "gemini", "gemini-2.5-flash", november)
	b := prices.Bound{Input: 1000, Output: 4096, TextInput: true, TextOutput: true}
	input := prices.Pico(1000 * 300_000)
	for budget, want := range map[prices.Pico]int64{
		input - 1:             -1,
		input:                 0,
		input + 2_500_000 - 1: 0,
		input + 2_500_000:     1,
		input + 10*2_500_000:  10,
		1e18:                  4096,
	} {
		got, err := flash.AffordableOutput(b, budget)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	b.Output = 1 << 62
	got, err := flash.AffordableOutput(b, input+2_500_000)
	require.NoError(t, err, "a product beyond int64 doesn't fit, and is no failure")
	require.Equal(t, int64(1), got)
}

func TestFreeModel(t *testing.T) {
	table, err := prices.New("mine", "2026-11-01", prices.Row{Backend: "ollama", Model: "llama3", Free: true, Source: []string{"own machine"}, AsOf: "2026-11-01"})
	require.NoError(t, err)
	q := quote(t, prices.Default().Override(table), "ollama", "llama3", november)
	require.True(t, q.Free())
	worst, err := q.WorstCase(prices.Bound{Input: 1e6, Output: 1e6})
	require.NoError(t, err)
	require.Zero(t, worst)
	require.False(t, quote(t, prices.Default(), "gemini", "gemini-2.5-pro", november).Free())
}

func TestBadRowsAreRefusedByName(t *testing.T) {
	good := prices.Row{Backend: "acme", Model: "anvil", Rates: prices.Rates{Input: 1000, Output: 2000}, Source: []string{"price page"}, AsOf: "2026-11-01"}
	_, err := prices.New("t", "2026-11-01", good)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*prices.Row)
		want   string
	}{
		"negative":           {func(r *prices.Row) { r.Rates.Input = -1 }, "acme/anvil: input: negative"},
		"negative cache":     {func(r *prices.Row) { r.Rates.CacheRead = -1 }, "cache_read: negative"},
		"zero":               {func(r *prices.Row) { r.Rates.Output = 0 }, "output: zero"},
		"per million":        {func(r *prices.Row) { r.Rates.Input = 3e12 }, "above 0.01 USD per token"},
		"too small":          {func(r *prices.Row) { r.Rates.Input = 3 }, "mistaken unit"},
		"free with a price":  {func(r *prices.Row) { r.Free = true }, "a free row lists no price"},
		"no source":          {func(r *prices.Row) { r.Source = nil }, "source"},
		"no date":            {func(r *prices.Row) { r.AsOf = "yesterday" }, "as_of"},
		"dates reversed":     {func(r *prices.Row) { r.From, r.Until = "2026-02-01", "2026-01-01" }, "before from"},
		"bad first day":      {func(r *prices.Row) { r.From = "2026-13-01" }, "from"},
		"thresholds fall":    {func(r *prices.Row) { r.Tiers = []prices.Tier{{Above: 2, Rates: r.Rates}, {Above: 1, Rates: r.Rates}} }, "rising"},
		"tier at no price":   {func(r *prices.Row) { r.Tiers = []prices.Tier{{Above: 2}} }, "tier above 2 input: zero"},
		"bad pattern":        {func(r *prices.Row) { r.Match = []string{"[a"} }, "no pattern"},
		"fee in other units": {func(r *prices.Row) { r.Fees = map[string]prices.Fee{"search": {Per: "month", Price: 1}} }, "fee search"},
		"negative fee":       {func(r *prices.Row) { r.Fees = map[string]prices.Fee{"search": {Per: "query", Price: -1}} }, "positive"},
		"negative limits":    {func(r *prices.Row) { r.MaxInput = -1 }, "max_input"},
		"nameless":           {func(r *prices.Row) { r.Model = "" }, "required"},
	} {
		t.Run(name, func(t *testing.T) {
			row := good
			c.change(&row)
			_, err := prices.New("t", "2026-11-01", row)
			require.ErrorIs(t, err, prices.ErrBadRow)
			require.ErrorContains(t, err, c.want)
		})
	}
	later := good
	later.From = "2026-12-01"
	_, err = prices.New("t", "2026-11-01", good, later)
	require.ErrorContains(t, err, "overlaps")
	_, err = prices.New("", "2026-11-01", good)
	require.Error(t, err)
	_, err = prices.New("t", "", good)
	require.Error(t, err)
}

func TestNameOfTwoModelsIsRefused(t *testing.T) {
	row := prices.Row{Backend: "acme", Model: "a", Match: []string{"x*"}, Rates: prices.Rates{Input: 1000, Output: 2000}, Source: []string{"p"}, AsOf: "2026-11-01"}
	other := row
	other.Model = "b"
	table, err := prices.New("t", "2026-11-01", row, other)
	require.NoError(t, err)
	_, err = table.Quote(prices.Query{Backend: "acme", Model: "x1"}, november, november)
	require.ErrorContains(t, err, "both a and b")
}

func TestListAndAge(t *testing.T) {
	table := prices.Default()
	argon := table.List(prices.Filter{Backend: "gemini", Model: "ARGON"})
	require.Len(t, argon, 2)
	require.Equal(t, prices.Date("2026-12-01"), argon[1].From)
	require.Len(t, table.List(prices.Filter{Model: "argon", At: november}), 1)
	require.Empty(t, table.List(prices.Filter{Backend: "nobody"}))

	made := table.Generated()
	require.Equal(t, 48*time.Hour, table.Age(made.Add(48*time.Hour)))
	require.NoError(t, table.CheckAge(made.AddDate(0, 0, 30), 31*24*time.Hour))
	require.ErrorIs(t, table.CheckAge(made.AddDate(0, 0, 32), 31*24*time.Hour), prices.ErrStale)
}

func TestPerMillion(t *testing.T) {
	for p, want := range map[prices.Pico]string{1_250_000: "1.25", 300_000: "0.3", 10_000_000: "10", 1: "0.000001", 0: "0"} {
		require.Equal(t, want, p.PerMillion())
	}
}

func TestParseRefuses(t *testing.T) {
	for _, bad := range []string{``, `{}`, `{"id":"x","generated_at":"2026-01-01","surprise":1}`, `[]`} {
		_, err := prices.Parse([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestQuoteSurvivesJSON(t *testing.T) {
	q := quote(t, prices.Default(), "gemini", "gemini-2.5-pro", november)
	data, err := json.Marshal(q)
	require.NoError(t, err)
	var back prices.Quote
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, q, back)
}

func liteLLM(t *testing.T) *prices.Table {
	t.Helper()
	data, err := os.ReadFile("testdata/litellm.json")
	require.NoError(t, err)
	table, err := prices.ParseLiteLLM(data, prices.LiteLLMOptions{AsOf: "2026-11-20", Free: []string{"ollama/llama3"}})
	require.NoError(t, err)
	return table
}

func TestLiteLLM(t *testing.T) {
	table := liteLLM(t)
	pro := quote(t, table, "gemini", "gemini-2.5-pro", november).Rows[0]
	require.Equal(t, prices.Rates{Input: 1_250_000, Output: 10_000_000, CacheRead: 125_000}, pro.Rates)
	require.Equal(t, []prices.Tier{{Above: 200_000, Rates: prices.Rates{Input: 2_500_000, Output: 15_000_000}}}, pro.Tiers)
	require.Equal(t, prices.Fee{Per: "prompt", Price: 35e9}, pro.Fees[prices.FeeSearch])
	require.Equal(t, int64(65535), pro.MaxOutput)
	require.Equal(t, prices.Date("2026-11-20"), pro.AsOf)

	priority, err := table.Quote(prices.Query{Backend: "gemini", Model: "gemini-2.5-pro", Service: "priority"}, november, november)
	require.NoError(t, err)
	require.Equal(t, prices.Pico(2_250_000), priority.Rows[0].Rates.Input)

	vertex := quote(t, table, "vertex_ai", "gemini-2.5-pro", november)
	require.Equal(t, prices.Pico(1_300_000), vertex.Rows[0].Rates.Input, "the same model costs another price at another seller")
	_, err = vertex.WorstCase(prices.Bound{Input: 1, TextOutput: true})
	require.ErrorIs(t, err, prices.ErrUnbounded, "images are priced by the piece")
	_, err = vertex.WorstCase(prices.Bound{Input: 1, TextInput: true, TextOutput: true})
	require.NoError(t, err)

	qwen := quote(t, table, "dashscope", "qwen-plus", november)
	cost, err := qwen.Cost(prices.Usage{Input: 256_001})
	require.NoError(t, err)
	require.Equal(t, prices.Pico(256_001*1_200_000), cost)

	claude := quote(t, table, "anthropic", "claude-sonnet-4-5", november).Rows[0]
	require.Equal(t, prices.Pico(6_000_000), claude.Rates.CacheWrite1h, "a lifetime, not a threshold")
	require.Equal(t, prices.Pico(12_000_000), claude.Tiers[0].Rates.CacheWrite1h)
	require.Equal(t, prices.Pico(15_000_000), claude.Tiers[0].Rates.Output, "kept from the base")

	require.Equal(t, prices.Pico(75_000_031), quote(t, table, "databricks", "dbrx", november).Rows[0].Rates.Input, "finer than a pico: rounded up")
	require.True(t, quote(t, table, "ollama", "llama3", november).Free())
}

func TestLiteLLMRefusals(t *testing.T) {
	table := liteLLM(t)
	for model, want := range map[prices.Query]string{
		{Backend: "openrouter", Model: "auto"}:               "openrouter/auto: input_cost_per_token: negative",
		{Backend: "ollama", Model: "mistral"}:                "zero",
		{Backend: "wrong", Model: "unit"}:                    "mistaken unit",
		{Backend: "openai", Model: "dall-e-3"}:               "no price per token",
		{Backend: "openai", Model: "text-embedding-3-small"}: "embedding",
	} {
		_, err := table.Quote(model, november, november)
		require.ErrorIs(t, err, prices.ErrUnpriced)
		require.ErrorIs(t, err, prices.ErrBadRow)
		require.ErrorContains(t, err, want)
	}
	require.Len(t, table.Refused(), 5)

	for _, bad := range []string{``, `[]`, `{}`, `{"m": 1}`, `{"m": {"mode": "chat"}}`, `{"m": {"litellm_provider": "x"}`} {
		_, err := prices.ParseLiteLLM([]byte(bad), prices.LiteLLMOptions{AsOf: "2026-11-20"})
		require.Error(t, err, bad)
	}
	_, err := prices.ParseLiteLLM([]byte(`{}`), prices.LiteLLMOptions{})
	require.ErrorContains(t, err, "AsOf")
}

func TestOverride(t *testing.T) {
	base := prices.Default()
	merged := base.Override(liteLLM(t))
	require.Equal(t, base.ID()+"+litellm-2026-11-20", merged.ID())
	require.NotEqual(t, base.SHA256(), merged.SHA256())
	require.Equal(t, base.Generated(), merged.Generated(), "as old as its oldest part")
	require.Empty(t, quote(t, merged, "gemini", "gemini-2.5-pro", november).Rows[0].Rates.AudioInput)
	_, err := merged.Quote(prices.Query{Backend: "gemini", Model: "gemini-2.5-pro", Service: "batch"}, november, november)
	require.ErrorIs(t, err, prices.ErrUnpriced, "the override replaces the model, its other service tiers too")
	require.NotEmpty(t, quote(t, merged, "gemini", "gemini-2.5-flash", november).Rows, "other models stay")

	refused, err := prices.ParseLiteLLM([]byte(`{"gemini/gemini-2.5-flash": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": -1, "output_cost_per_token": 1e-6}}`), prices.LiteLLMOptions{AsOf: "2026-11-20"})
	require.NoError(t, err)
	for _, name := range []string{"gemini-2.5-flash", "gemini-2.5-flash-001"} {
		_, err = base.Override(refused).Quote(prices.Query{Backend: "gemini", Model: name}, november, november)
		require.ErrorIs(t, err, prices.ErrUnpriced, "never back to the old price")
	}
}

// Nothing at the top of the file refuses the models beside it; it is counted and named.
func TestLiteLLMEntriesThatAreNoModels(t *testing.T) {
	const model = `"gemini/m": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}`
	for name, tc := range map[string]struct {
		entry   string
		refused int
	}{
		"rules":                    {`"fallback_generalizations": {"rules": [{"name": "claude", "pattern": "^claude-", "supports_vision": true}]}`, 1},
		"a date":                   {`"last_updated": "2026-07-24"`, 1},
		"a number":                 {`"version": 3`, 1},
		"a list":                   {`"providers": ["gemini"]`, 1},
		"null":                     {`"nothing": null`, 1},
		"no provider":              {`"x": {"mode": "chat"}`, 1},
		"a provider of numbers":    {`"x": {"litellm_provider": 5, "mode": "chat"}`, 1},
		"an empty name":            {`"": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}`, 1},
		"no name but the provider": {`"gemini/": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}`, 1},
		"a price of another kind":  {`"x": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": {}, "output_cost_per_token": 1e-6}`, 1},
		"a price that is too high": {`"x": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 5, "output_cost_per_token": 1e-6}`, 1},
		"tiers out of order":       {`"x": {"litellm_provider": "gemini", "mode": "chat", "tiered_pricing": [{"range": [5, 9]}]}`, 1},
		"two bad ones":             {`"a": 1, "b": 2`, 2},
		"documentation":            {`"sample_spec": {"litellm_provider": "one of"}, "__note": "x"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := prices.ParseLiteLLM([]byte("{"+tc.entry+", "+model+"}"), prices.LiteLLMOptions{AsOf: "2026-11-20"})
			require.NoError(t, err)
			require.Equal(t, prices.Pico(2_000_000), quote(t, table, "gemini", "m", november).Rows[0].Rates.Output)
			require.Len(t, table.List(prices.Filter{}), 1)
			require.Len(t, table.Refused(), tc.refused)
			for _, err := range table.Refused() {
				require.ErrorIs(t, err, prices.ErrBadRow)
			}
			require.Len(t, prices.Default().Override(table).Refused(), tc.refused)
		})
	}
}

// An override that lists a model keeps the names that the table has for it, and the prices
// that the table says are to come; it ends neither.
func TestOverrideKeepsPatternsAndRowsToCome(t *testing.T) {
	parse := func(file string, asOf prices.Date) *prices.Table {
		table, err := prices.ParseLiteLLM([]byte(file), prices.LiteLLMOptions{AsOf: asOf})
		require.NoError(t, err)
		return table
	}
	const own = `{"gemini/gemini-2.5-flash": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 7e-7, "output_cost_per_token": 2.5e-6}}`
	merged := prices.Default().Override(parse(own, "2026-11-20"))
	for _, name := range []string{"gemini-2.5-flash", "gemini-2.5-flash-001", "models/gemini-2.5-flash-001"} {
		require.Equal(t, prices.Pico(700_000), quote(t, merged, "gemini", name, november).Rows[0].Rates.Input, name)
	}

	row := func(from, until prices.Date, input prices.Pico, service string) prices.Row {
		return prices.Row{
			Backend: "gemini", Model: "m", Service: service, Match: []string{"m-[0-9]"}, From: from, Until: until,
			Rates: prices.Rates{Input: input, Output: 1_000_000}, Source: []string{"test"}, AsOf: "2026-10-01",
		}
	}
	base, err := prices.New("base", "2026-10-01",
		row("", "2026-10-31", 100_000, ""), row("2026-11-01", "2026-12-31", 200_000, ""), row("2027-01-01", "", 400_000, ""), row("2027-01-01", "", 50_000, "flex"),
	)
	require.NoError(t, err)
	const newer = `{"m": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 3e-7, "output_cost_per_token": 1e-6}}`
	merged = base.Override(parse(newer, "2026-11-20"))
	input := func(day string) []prices.Pico {
		at, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		var all []prices.Pico
		for _, r := range quote(t, merged, "gemini", "m-1", at.Add(12*time.Hour)).Rows {
			all = append(all, r.Rates.Input)
		}
		return all
	}
	require.Equal(t, []prices.Pico{300_000}, input("2026-11-20"))
	require.Equal(t, []prices.Pico{300_000}, input("2026-12-30"), "what the file says is true until the table's next price")
	require.Equal(t, []prices.Pico{400_000}, input("2027-01-03"))
	_, err = merged.Quote(prices.Query{Backend: "gemini", Model: "m", Service: "flex"}, november, november)
	require.ErrorIs(t, err, prices.ErrUnpriced, "the file lists no such tier")
	for _, r := range base.List(prices.Filter{}) {
		require.NotEqual(t, prices.Pico(300_000), r.Rates.Input, "the table itself is as it was")
	}

	merged = base.Override(parse(newer, "2027-02-01"))
	require.Equal(t, []prices.Pico{300_000}, input("2027-01-03"), "the file is newer than all the table knows")
}

// The dearest of all service tiers, for a call of which the tier is not known.
func TestQuoteAnyService(t *testing.T) {
	q, err := prices.Default().Quote(prices.Query{Backend: "gemini", Model: "gemini-3-flash-preview", Service: prices.AnyService}, november, november)
	require.NoError(t, err)
	require.Greater(t, len(q.Rows), 1)
	cost, err := q.Cost(prices.Usage{Input: 1000, Output: 1000})
	require.NoError(t, err)
	require.Equal(t, prices.Pico(1000*900_000+1000*5_400_000), cost)
	_, err = prices.Default().Quote(prices.Query{Backend: "gemini", Model: "unknown", Service: prices.AnyService}, november, november)
	require.ErrorIs(t, err, prices.ErrUnpriced)
	_, err = prices.New("x", "2026-11-01", prices.Row{Backend: "b", Model: "m", Service: prices.AnyService, Rates: prices.Rates{Input: 1000, Output: 1000}, Source: []string{"x"}, AsOf: "2026-11-01"})
	require.ErrorIs(t, err, prices.ErrBadRow)
}

func FuzzParseLiteLLM(f *testing.F) {
	data, err := os.ReadFile("testdata/litellm.json")
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"a": {"litellm_provider": "b", "mode": "chat", "input_cost_per_token": 1e999999999}}`))
	f.Add([]byte(`{"a": {"litellm_provider": "b", "mode": "chat", "input_cost_per_token": "0x1p-30", "output_cost_per_token": 1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := prices.ParseLiteLLM(data, prices.LiteLLMOptions{AsOf: "2026-11-20"})
		if err != nil {
			return
		}
		for _, row := range table.List(prices.Filter{}) {
			require.Positive(t, row.Rates.Input, row.Name())
			require.Positive(t, row.Rates.Output, row.Name())
			require.NotEmpty(t, row.Model)
		}
	})
}

func TestImagesCostMore(t *testing.T) {
	base := prices.Rates{Input: 1_000_000, Output: 10_000_000}
	with := func(image prices.Pico) prices.Rates {
		r := base
		r.ImageOutput = image
		return r
	}
	for name, c := range map[string]struct {
		row  prices.Row
		want bool
	}{
		"not listed":               {prices.Row{Rates: base}, false},
		"the same":                 {prices.Row{Rates: with(10_000_000)}, false},
		"less":                     {prices.Row{Rates: with(9_000_000)}, false},
		"more":                     {prices.Row{Rates: with(10_000_001)}, true},
		"more in a tier":           {prices.Row{Rates: base, Tiers: []prices.Tier{{Above: 1000, Rates: with(10_000_001)}}}, true},
		"more than a tier's text":  {prices.Row{Rates: with(10_000_000), Tiers: []prices.Tier{{Above: 1000, Rates: prices.Rates{Input: 1, Output: 9_000_000}}}}, true},
		"in a unit of its own":     {prices.Row{Rates: base, Unapplied: []string{"output_cost_per_image"}}, true},
		"another unit of its own":  {prices.Row{Rates: base, Unapplied: []string{"input_cost_per_image"}}, false},
		"free, whatever the image": {prices.Row{Free: true, Unapplied: []string{"output_cost_per_image"}}, false},
	} {
		require.Equal(t, c.want, prices.Quote{Rows: []prices.Row{{Rates: base}, c.row}}.ImagesCostMore(), name)
	}
}

func TestParsePerMillion(t *testing.T) {
	for text, want := range map[string]prices.Pico{"2.55": 2_550_000, "0.85": 850_000, "0": 0, "12": 12_000_000, "0.000001": 1, "10.50": 10_500_000} {
		got, err := prices.ParsePerMillion(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		again, err := prices.ParsePerMillion(got.PerMillion())
		require.NoError(t, err)
		require.Equal(t, want, again)
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000001", "1.2.3", " 1", "٣", "$1"} {
		_, err := prices.ParsePerMillion(text)
		require.Error(t, err, text)
	}
	_, err := prices.ParsePerMillion("9223372036855")
	require.ErrorIs(t, err, prices.ErrOverflow)
}
