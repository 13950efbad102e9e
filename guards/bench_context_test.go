// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
)

// BenchmarkContextPerStep measures what each guard of context, models and people adds to
// the run of BenchmarkLimitsPerStep, over the same agent in plain ADK.
func BenchmarkContextPerStep(b *testing.B) {
	for _, bc := range []struct {
		name string
		gs   []callbacks.Guard
	}{
		{"empty chain", nil},
		{"Window, turns", []callbacks.Guard{guards.Window(6)}},
		{"Window, tokens", []callbacks.Guard{guards.WindowOptions{Tokens: 2000}.Guard()}},
		{"Retry", []callbacks.Guard{guards.Retry()}},
		{"Route", []callbacks.Guard{guards.RouteOptions{Fallback: []model.LLM{steadyModel{}}}.Guard()}},
		{"Route, to the first chunk", []callbacks.Guard{guards.RouteOptions{Fallback: []model.LLM{steadyModel{}}, FirstChunk: time.Minute}.Guard()}},
		{"RateLimit", []callbacks.Guard{guards.RateLimit(1_000_000, time.Second)}},
		{"RateLimit, models", []callbacks.Guard{guards.RateLimitOptions{Calls: 1_000_000, Every: time.Second, Models: true}.Guard()}},
		{"StablePrefix", []callbacks.Guard{guards.StablePrefix()}},
		{"Checkpoint", []callbacks.Guard{guards.Checkpoint(func(context.Context, callbacks.Step) error { return nil }, "lookup")}},
		{"Confirm", []callbacks.Guard{guards.Confirm(yes{}, "lookup")}},
	} {
		b.Run(bc.name, func(b *testing.B) { benchRun(b, bc.gs) })
	}
}

// yes approves at once.
type yes struct{}

func (yes) Ask(_ context.Context, q guards.Question) (guards.Answer, error) {
	return q.Answer(true, "bench"), nil
}
