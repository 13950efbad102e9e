// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"path"
	"strconv"
	"strings"
)

// Row is the price of one model at one seller, in one service tier, during one period.
type Row struct {
	// Backend is who bills: "gemini" (Gemini Developer API), "vertex_ai", "openai", "anthropic" …
	Backend string `json:"backend"`
	Model   string `json:"model"`
	// Service is the service tier: "" standard, "batch", "flex", "priority".
	Service string `json:"service,omitempty"`
	// Match lists further names of the model as [path.Match] patterns, dated snapshots above all.
	Match []string `json:"match,omitempty"`
	// From is the row's first day; "" has always been.
	From Date `json:"from,omitempty"`
	// Until is the row's last day; "" is open.
	Until Date `json:"until,omitempty"`
	// Free declares that the model costs nothing: the only way to a price of zero.
	Free  bool  `json:"free,omitempty"`
	Rates Rates `json:"rates"`
	// Tiers re-price the whole request, every class of token, when its input is strictly
	// longer than a threshold. They are in rising order.
	Tiers []Tier `json:"tiers,omitempty"`
	// Fees are charges per unit beside tokens, by name: [FeeSearch], [FeeMaps], [FeeFileSearch].
	Fees map[string]Fee `json:"fees,omitempty"`
	// MaxInput and MaxOutput are the model's limits in tokens; 0 is unknown.
	MaxInput  int64 `json:"max_input,omitempty"`
	MaxOutput int64 `json:"max_output,omitempty"`
	// Unapplied names prices the source lists in units this package doesn't apply.
	Unapplied []string `json:"unapplied,omitempty"`
	Note      string   `json:"note,omitempty"`
	// Source says where the price was read, AsOf when it was last true there.
	Source []string `json:"source"`
	AsOf   Date     `json:"as_of"`
}

// Rates are prices per token. Input and Output are required unless the row is free; a zero
// elsewhere means the class costs what its parent class costs.
type Rates struct {
	Input  Pico `json:"input,omitempty"`
	Output Pico `json:"output,omitempty"`
	// Reasoning is billed as Output by default.
	Reasoning Pico `json:"reasoning,omitempty"`
	// CacheRead, CacheWrite (kept minutes) and CacheWrite1h (kept an hour) are billed as Input by default.
	CacheRead    Pico `json:"cache_read,omitempty"`
	CacheWrite   Pico `json:"cache_write,omitempty"`
	CacheWrite1h Pico `json:"cache_write_1h,omitempty"`
	// AudioInput is billed as Input by default, AudioCacheRead as AudioInput.
	AudioInput     Pico `json:"audio_input,omitempty"`
	AudioCacheRead Pico `json:"audio_cache_read,omitempty"`
	// ImageOutput is billed as Output by default.
	ImageOutput Pico `json:"image_output,omitempty"`
}

// Tier is a whole-request price switch. A class it doesn't list costs the dearer of its base
// rate and the tier's own Input or Output rate.
type Tier struct {
	// Above is the number of input tokens that must be exceeded.
	Above int64 `json:"above"`
	Rates Rates `json:"rates"`
}

// Names of fees.
const (
	FeeSearch     = "search"
	FeeMaps       = "maps"
	FeeFileSearch = "file_search"
)

// Fee is the price of one unit.
type Fee struct {
	// Per is the unit: "query" or "prompt" (once per grounded request).
	Per   string `json:"per"`
	Price Pico   `json:"price"`
}

// Name is how errors and lists call the row.
func (r *Row) Name() string {
	name := Query{Backend: r.Backend, Model: r.Model, Service: r.Service}.String()
	if r.From != "" {
		name += " from " + string(r.From)
	}
	return name
}

const (
	// maxRate is $0.01 per token: a price per million entered as a price per token exceeds it.
	maxRate Pico = 1e10
	// minRate is $0.0001 per million tokens: below it the unit was mistaken the other way.
	minRate Pico = 100
	// maxFee is $10 per unit.
	maxFee Pico = 1e13
)

func (r *Row) validate() error {
	fail := func(field, reason string) error {
		return &RowError{Row: r.Name(), Field: field, Reason: reason}
	}
	if r.Backend == "" || r.Model == "" {
		return fail("", "backend and model are required")
	}
	if r.Service == AnyService {
		return fail("service", "must be one")
	}
	if len(r.Source) == 0 {
		return fail("source", "is required")
	}
	if _, err := r.AsOf.midnight(); err != nil {
		return fail("as_of", err.Error())
	}
	for _, day := range []struct {
		field string
		date  Date
	}{{"from", r.From}, {"until", r.Until}} {
		if day.date == "" {
			continue
		}
		if _, err := day.date.midnight(); err != nil {
			return fail(day.field, err.Error())
		}
	}
	if r.From != "" && r.Until != "" && r.Until < r.From {
		return fail("until", "is before from")
	}
	if r.MaxInput < 0 || r.MaxOutput < 0 {
		return fail("max_input, max_output", "are negative")
	}
	for _, pattern := range r.Match {
		if _, err := path.Match(pattern, ""); err != nil {
			return fail("match", strconv.Quote(pattern)+" is no pattern")
		}
	}
	if r.Free {
		if r.Rates != (Rates{}) || len(r.Tiers) > 0 || len(r.Fees) > 0 {
			return fail("free", "a free row lists no price")
		}
		return nil
	}
	if field, reason := r.Rates.check(); reason != "" {
		return fail(field, reason)
	}
	var last int64
	for _, tier := range r.Tiers {
		field := "tier above " + strconv.FormatInt(tier.Above, 10)
		if tier.Above <= last {
			return fail(field, "thresholds must be positive and rising")
		}
		last = tier.Above
		if sub, reason := tier.Rates.check(); reason != "" {
			return fail(field+" "+sub, reason)
		}
	}
	for name, fee := range r.Fees {
		switch {
		case fee.Per != "query" && fee.Per != "prompt":
			return fail("fee "+name, "unit must be query or prompt")
		case fee.Price <= 0:
			return fail("fee "+name, "must be positive")
		case fee.Price > maxFee:
			return fail("fee "+name, "more than 10 USD a unit is taken for a mistake")
		}
	}
	return nil
}

func (r *Rates) check() (field, reason string) {
	for _, c := range r.classes() {
		switch {
		case c.price < 0:
			return c.name, "negative"
		case c.required && c.price == 0:
			return c.name, "zero, and the row isn't declared free"
		case c.required && c.price < minRate:
			return c.name, "below 0.0001 USD per million tokens: taken for a mistaken unit"
		case c.price > maxRate:
			return c.name, "above 0.01 USD per token: taken for a mistaken unit"
		}
	}
	return "", ""
}

type class struct {
	name     string
	price    Pico
	required bool
}

func (r *Rates) classes() []class {
	return []class{
		{"input", r.Input, true},
		{"output", r.Output, true},
		{"reasoning", r.Reasoning, false},
		{"cache_read", r.CacheRead, false},
		{"cache_write", r.CacheWrite, false},
		{"cache_write_1h", r.CacheWrite1h, false},
		{"audio_input", r.AudioInput, false},
		{"audio_cache_read", r.AudioCacheRead, false},
		{"image_output", r.ImageOutput, false},
	}
}

// filled gives every class its price.
func (r Rates) filled() Rates {
	for _, inherit := range []struct {
		class  *Pico
		parent Pico
	}{{&r.Reasoning, r.Output}, {&r.CacheRead, r.Input}, {&r.CacheWrite, r.Input}, {&r.CacheWrite1h, max(r.Input, r.CacheWrite)}, {&r.AudioInput, r.Input}, {&r.ImageOutput, r.Output}} {
		if *inherit.class == 0 {
			*inherit.class = inherit.parent
		}
	}
	if r.AudioCacheRead == 0 {
		r.AudioCacheRead = r.AudioInput
	}
	return r
}

// over gives the tier's rates, with what it doesn't list taken from the dearer of the base
// rate and the tier's own.
func (t *Tier) over(base Rates) Rates {
	r, base := t.Rates, base.filled()
	for _, inherit := range []struct {
		class        *Pico
		base, parent Pico
	}{
		{&r.Reasoning, base.Reasoning, r.Output},
		{&r.CacheRead, base.CacheRead, r.Input},
		{&r.CacheWrite, base.CacheWrite, r.Input},
		{&r.CacheWrite1h, base.CacheWrite1h, r.Input},
		{&r.AudioInput, base.AudioInput, r.Input},
		{&r.AudioCacheRead, base.AudioCacheRead, r.Input},
		{&r.ImageOutput, base.ImageOutput, r.Output},
	} {
		if *inherit.class == 0 {
			*inherit.class = max(inherit.base, inherit.parent)
		}
	}
	return r
}

// Query names a price.
type Query struct {
	Backend string `json:"backend"`
	// Model is the name the request carries; a leading "models/" is dropped.
	Model string `json:"model"`
	// Service is the service tier; "" is standard, [AnyService] every one that has a row.
	Service string `json:"service,omitempty"`
}

// AnyService asks for the rows of all service tiers of a model, the dearest of which
// counts: for a call of which the tier is not known.
const AnyService = "*"

// String implements fmt.Stringer.
func (q Query) String() string {
	var b strings.Builder
	b.WriteString(q.Backend)
	b.WriteByte('/')
	b.WriteString(q.Model)
	if q.Service != "" {
		b.WriteString(" (" + q.Service + ")")
	}
	return b.String()
}
