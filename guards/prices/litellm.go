// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// LiteLLMOptions say how to read a LiteLLM price file.
type LiteLLMOptions struct {
	// AsOf is the day the file was fetched; required, since the file carries no date.
	AsOf Date
	// Free names the keys of the file that cost nothing. Any other zero price is refused.
	Free []string
}

// ParseLiteLLM reads LiteLLM's model_prices_and_context_window.json, the widest public table,
// to override [Default] with. The file mixes thousands of models, many priced by image, by
// second or at zero, with entries that are no models. None of them refuses the file: a row
// that can't be used is kept as a refusal of that model, an entry that names no model or no
// seller is left out, and [Table.Refused] lists both. A file without any model is an error.
func ParseLiteLLM(data []byte, opts LiteLLMOptions) (*Table, error) {
	day, err := opts.AsOf.midnight()
	if err != nil {
		return nil, fmt.Errorf("LiteLLM price file: AsOf: %w", err)
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("LiteLLM price file: %w", err)
	}
	t := &Table{id: "litellm-" + string(opts.AsOf), sha: digest(data), generated: day, models: map[Query][]Row{}, refused: map[Query]error{}}
	models := 0
	for _, key := range slices.Sorted(maps.Keys(file)) {
		if key == "sample_spec" || strings.HasPrefix(key, "_") {
			continue
		}
		l := liteLLMRow{key: key, asOf: opts.AsOf}
		model, err := l.read(file[key])
		if err != nil {
			t.refused[Query{Model: key}] = err // of no seller: nothing asks for it
			continue
		}
		models++
		if _, twice := t.models[model]; twice {
			delete(t.models, model)
			t.refused[model] = &RowError{Row: key, Reason: "the file lists this model twice at this backend"}
		}
		if t.refused[model] != nil {
			continue
		}
		rows, err := l.rows(slices.Contains(opts.Free, key))
		for _, row := range rows {
			err = errors.Join(err, row.validate())
		}
		if err != nil {
			t.refused[model] = err
			continue
		}
		for _, row := range rows {
			if err := t.add(row); err != nil {
				return nil, err
			}
		}
	}
	if models == 0 {
		return nil, errors.Join(append([]error{errors.New("LiteLLM price file: it lists no model")}, t.Refused()...)...)
	}
	return t, nil
}

// liteLLMPrice takes the name of a price field apart: class, cache lifetime, threshold, service.
// The suffix _above_1hr is the lifetime of a cache entry, not a size of the request.
var liteLLMPrice = regexp.MustCompile(`^(input_cost_per_token|output_cost_per_token|output_cost_per_reasoning_token|cache_read_input_token_cost|input_cost_per_token_cache_hit|cache_creation_input_token_cost|input_cost_per_audio_token|cache_read_input_audio_token_cost|output_cost_per_image_token)(_above_1hr)?(?:_above_(\d+)k_tokens)?(?:_(batches|flex|priority))?$`)

type liteLLMRow struct {
	key    string
	fields map[string]json.RawMessage
	asOf   Date
}

func (l *liteLLMRow) fail(field, reason string) error {
	return &RowError{Row: l.key, Field: field, Reason: reason}
}

func (l *liteLLMRow) text(field string) string {
	var s string
	_ = json.Unmarshal(l.fields[field], &s) // absent or of another kind: empty
	return s
}

// read takes the fields of an entry, which name the model.
func (l *liteLLMRow) read(entry json.RawMessage) (Query, error) {
	if err := json.Unmarshal(entry, &l.fields); err != nil {
		return Query{}, l.fail("", "is no object: not a model")
	}
	return l.identity()
}

func (l *liteLLMRow) identity() (Query, error) {
	provider := l.text("litellm_provider")
	if provider == "" {
		return Query{}, l.fail("litellm_provider", "is required: not a model")
	}
	backend, _, _ := strings.Cut(provider, "-") // vertex_ai-language-models
	if backend != "vertex_ai" {
		backend = provider
	}
	return Query{Backend: backend, Model: strings.TrimPrefix(l.key, backend+"/")}, nil
}

func (l *liteLLMRow) rows(free bool) ([]Row, error) {
	model, err := l.identity()
	if err != nil {
		return nil, err
	}
	base := Row{Backend: model.Backend, Model: model.Model, AsOf: l.asOf, Source: []string{"LiteLLM model_prices_and_context_window.json, key " + l.key}}
	if source := l.text("source"); source != "" {
		base.Source = append(base.Source, source)
	}
	if free {
		base.Free = true
		return []Row{base}, nil
	}
	switch mode := l.text("mode"); mode {
	case "chat", "completion", "responses", "image_generation":
	default:
		return nil, l.fail("mode", strconv.Quote(mode)+" isn't priced per token here")
	}
	services := map[string]map[int64]*Rates{}
	for _, field := range slices.Sorted(maps.Keys(l.fields)) {
		parts := liteLLMPrice.FindStringSubmatch(field)
		if parts == nil {
			if err := l.other(&base, field); err != nil {
				return nil, err
			}
			continue
		}
		price, ok, err := l.price(field)
		if err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		var above int64
		if parts[3] != "" {
			thousands, err := strconv.ParseInt(parts[3], 10, 32)
			if err != nil {
				return nil, l.fail(field, "threshold out of range")
			}
			above = thousands * 1000
		}
		service := map[string]string{"batches": "batch"}[parts[4]]
		if service == "" {
			service = parts[4]
		}
		tiers := services[service]
		if tiers == nil {
			tiers = map[int64]*Rates{}
			services[service] = tiers
		}
		if tiers[above] == nil {
			tiers[above] = &Rates{}
		}
		*tiers[above].class(parts[1], parts[2] != "") = price
	}
	if err := l.tiered(services); err != nil {
		return nil, err
	}
	var rows []Row
	for _, service := range slices.Sorted(maps.Keys(services)) {
		row, tiers := base, services[service]
		row.Service = service
		if tiers[0] != nil {
			row.Rates = *tiers[0]
		}
		if service != "" && (row.Rates.Input == 0 || row.Rates.Output == 0) {
			continue // lists a few classes only: the service isn't priced
		}
		for _, above := range slices.Sorted(maps.Keys(tiers)) {
			if above == 0 {
				continue
			}
			tier := Tier{Above: above, Rates: *tiers[above]}
			// A tier that leaves out a main class keeps the base price for it.
			if tier.Rates.Input == 0 {
				tier.Rates.Input = row.Rates.Input
			}
			if tier.Rates.Output == 0 {
				tier.Rates.Output = row.Rates.Output
			}
			row.Tiers = append(row.Tiers, tier)
		}
		rows = append(rows, row)
	}
	if services[""] == nil {
		return nil, l.fail("input_cost_per_token", "the row has no price per token")
	}
	return rows, nil
}

func (r *Rates) class(name string, hour bool) *Pico {
	switch name {
	case "input_cost_per_token":
		return &r.Input
	case "output_cost_per_token":
		return &r.Output
	case "output_cost_per_reasoning_token":
		return &r.Reasoning
	case "cache_creation_input_token_cost":
		if hour {
			return &r.CacheWrite1h
		}
		return &r.CacheWrite
	case "input_cost_per_audio_token":
		return &r.AudioInput
	case "cache_read_input_audio_token_cost":
		return &r.AudioCacheRead
	case "output_cost_per_image_token":
		return &r.ImageOutput
	default: // cache_read_input_token_cost, input_cost_per_token_cache_hit
		return &r.CacheRead
	}
}

// other reads limits and fees, and notes prices in units that aren't applied.
func (l *liteLLMRow) other(row *Row, field string) error {
	fee := func(name, per string, units int64, raw json.RawMessage) error {
		price, ok, err := pico(raw)
		if err != nil {
			return l.fail(field, err.Error())
		}
		if ok && price != 0 {
			if row.Fees == nil {
				row.Fees = map[string]Fee{}
			}
			price = (price + Pico(units) - 1) / Pico(units)
			row.Fees[name] = Fee{Per: per, Price: max(price, row.Fees[name].Price)}
		}
		return nil
	}
	switch field {
	case "max_input_tokens", "max_output_tokens":
		var n json.Number
		if err := json.Unmarshal(l.fields[field], &n); err != nil {
			return nil //nolint:nilerr // some rows hold text here; the limit is unknown then
		}
		limit, err := strconv.ParseInt(n.String(), 10, 64)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		if field == "max_input_tokens" {
			row.MaxInput = limit
		} else {
			row.MaxOutput = limit
		}
	case "search_context_cost_per_query":
		var sizes map[string]json.RawMessage
		if err := json.Unmarshal(l.fields[field], &sizes); err != nil {
			return l.fail(field, "is no object")
		}
		per := "query"
		if l.text("web_search_billing_unit") == "per_prompt" {
			per = "prompt"
		}
		for _, raw := range sizes {
			if err := fee(FeeSearch, per, 1, raw); err != nil {
				return err
			}
		}
	case "google_maps_grounding_cost_per_query":
		return fee(FeeMaps, "prompt", 1, l.fields[field])
	case "file_search_cost_per_1k_calls":
		return fee(FeeFileSearch, "query", 1000, l.fields[field])
	case "web_search_cost_per_1k_calls":
		return fee(FeeSearch, "query", 1000, l.fields[field])
	default:
		if strings.Contains(field, "cost") && string(l.fields[field]) != "null" {
			row.Unapplied = append(row.Unapplied, field)
		}
	}
	return nil
}

// tiered reads tiered_pricing: [{"range": [low, high], "input_cost_per_token": …}, …].
func (l *liteLLMRow) tiered(services map[string]map[int64]*Rates) error {
	raw, ok := l.fields["tiered_pricing"]
	if !ok {
		return nil
	}
	const field = "tiered_pricing"
	var bands []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &bands); err != nil {
		return l.fail(field, "is no list of objects")
	}
	tiers := map[int64]*Rates{}
	for _, band := range bands {
		var limits []float64 // written 2.56e5 as well as 256000
		if err := json.Unmarshal(band["range"], &limits); err != nil || len(limits) != 2 || limits[0] < 0 || limits[0] > 1e12 {
			return l.fail(field, "range must be two numbers")
		}
		rates := &Rates{}
		sub := liteLLMRow{key: l.key, fields: band}
		for name := range band {
			parts := liteLLMPrice.FindStringSubmatch(name)
			if parts == nil || parts[3] != "" || parts[4] != "" {
				continue
			}
			price, ok, err := sub.price(name)
			if err != nil {
				return err
			}
			if ok {
				*rates.class(parts[1], parts[2] != "") = price
			}
		}
		tiers[int64(limits[0])] = rates
	}
	if tiers[0] == nil {
		return l.fail(field, "no range begins at 0")
	}
	services[""] = tiers
	return nil
}

func (l *liteLLMRow) price(field string) (price Pico, ok bool, err error) {
	price, ok, err = pico(l.fields[field])
	if err != nil {
		return 0, false, l.fail(field, err.Error())
	}
	if price < 0 {
		return 0, false, l.fail(field, "negative")
	}
	return price, ok, nil
}

// pico reads USD as a JSON number or a string, exactly, and rounds what is finer than 1e-12
// up. Null is no price.
func pico(raw json.RawMessage) (Pico, bool, error) {
	s := strings.Trim(string(raw), `"`)
	if s == "null" || s == "" {
		return 0, false, nil
	}
	if len(s) > 64 || strings.ContainsAny(s, "/xXpP_") {
		return 0, false, errors.New("is no decimal number")
	}
	// The exponent is limited before the number is expanded.
	if f, err := strconv.ParseFloat(s, 64); err != nil || f > 1e6 || f < -1e6 || f != 0 && f < 1e-30 && f > -1e-30 {
		return 0, false, errors.New("is no plausible number of USD")
	}
	usd, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, false, errors.New("is no decimal number")
	}
	usd.Mul(usd, big.NewRat(1_000_000_000_000, 1))
	whole, rest := new(big.Int).QuoRem(usd.Num(), usd.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if rest.Sign() < 0 {
		whole.Sub(whole, big.NewInt(1)) // stays negative, and is refused for it
	}
	return Pico(whole.Int64()), true, nil
}
