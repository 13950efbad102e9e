// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// BenchmarkLimitsPerStep measures what each guard of the loop adds to a run of nine
// model calls and eight tool calls, by itself and all together, over the same agent in
// plain ADK. Guarded and plain runs alternate; added is the median difference, spread
// over the 17 steps, and ratio that of the medians.
func BenchmarkLimitsPerStep(b *testing.B) {
	budget := func() callbacks.Guard {
		return guards.CallBudgetOptions{Calls: 20, ToolCalls: 50, Tokens: guards.Unlimited - 1}.Guard()
	}
	all := []callbacks.Guard{
		guards.Scope("supplier", "Transports Kervalec"), guards.BusinessErrors(), guards.Loop(), budget(), guards.Landing(), guards.Truncate(),
		guards.DeadlineOptions{Agent: time.Minute, ModelCall: 30 * time.Second, ToolCall: 10 * time.Second}.Guard(),
	}
	for _, bc := range []struct {
		name string
		gs   []callbacks.Guard
	}{
		{"empty chain", nil},
		{"CallBudget", []callbacks.Guard{budget()}},
		{"CallBudget and Landing", []callbacks.Guard{budget(), guards.Landing()}},
		{"Loop", []callbacks.Guard{guards.Loop()}},
		{"Scope", []callbacks.Guard{guards.Scope("supplier", "Transports Kervalec")}},
		{"Truncate", []callbacks.Guard{guards.Truncate()}},
		{"Deadline", []callbacks.Guard{guards.DeadlineOptions{Agent: time.Minute, ModelCall: 30 * time.Second, ToolCall: 10 * time.Second}.Guard()}},
		{"BusinessErrors", []callbacks.Guard{guards.BusinessErrors()}},
		{"all", all},
	} {
		b.Run(bc.name, func(b *testing.B) { benchRun(b, bc.gs) })
	}
}

const stepsPerRun = 17

func benchRun(b *testing.B, gs []callbacks.Guard) {
	b.Helper()
	cfg := llmagent.Config{Name: "a", Model: steadyModel{}, Tools: []tool.Tool{plainTool{callbackstest.Tool("lookup"), map[string]any{
		"status": "ok", "summary": "Accounts closed on 2025-12-31: turnover 6,140,000 EUR, net result 214,000 EUR.",
		"items": []any{map[string]any{"year": "2025", "turnover": 6140000.0}},
	}}}}
	plain, err := llmagent.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	guarded, err := callbacks.New(gs...).NewAgent(cfg)
	if err != nil {
		b.Fatal(err)
	}
	var with, without, allocs []float64
	for b.Loop() {
		w, wa := timeRun(b, guarded)
		wo, woa := timeRun(b, plain)
		with, without, allocs = append(with, w), append(without, wo), append(allocs, wa-woa)
	}
	b.ReportMetric((median(with)-median(without))/stepsPerRun, "µs-added/step")
	b.ReportMetric(median(allocs)/stepsPerRun, "allocs-added/step")
	b.ReportMetric(median(with)/median(without), "ratio")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func timeRun(b *testing.B, a agent.Agent) (micros, allocs float64) {
	b.Helper()
	r, err := runner.New(runnerConfig(a, nil))
	if err != nil {
		b.Fatal(err)
	}
	ctx, run := callbacks.Start(b.Context())
	defer run.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for _, err := range r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return float64(took.Nanoseconds()) / 1000, float64(after.Mallocs - before.Mallocs)
}

// steadyModel makes eight calls with different arguments, then answers.
type steadyModel struct{}

func (steadyModel) Name() string { return "steady" }

func (steadyModel) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		calls := 0 // the newest page says how many, also where older ones were cut off
		for _, c := range req.Contents {
			for _, p := range c.Parts {
				if p.FunctionCall != nil {
					calls = int(p.FunctionCall.Args["page"].(float64)) + 1
				}
			}
		}
		part := genai.NewPartFromFunctionCall("lookup", map[string]any{"supplier": "Transports Kervalec", "page": float64(calls)})
		if calls == 8 {
			part = genai.NewPartFromText("answer")
		}
		yield(&model.LLMResponse{
			Content:       genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel),
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1000, CandidatesTokenCount: 50},
		}, nil)
	}
}
