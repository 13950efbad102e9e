// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// BenchmarkToolCall measures what a chain adds to one tool call over the bare tool:
// eight guards with empty hooks, and the researchers' chain. The two calls of a pair
// alternate in one run; added is the median difference.
func BenchmarkToolCall(b *testing.B) {
	var empty []callbacks.Guard
	for range 8 {
		empty = append(empty, callbacks.Guard{
			Name:        "empty",
			BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { return nil, nil },
			BeforeTool:  func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return nil, nil },
			AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
				return nil, nil
			},
		})
	}
	b.Run("eight empty guards", func(b *testing.B) { benchTool(b, empty...) })
	b.Run("the researchers' chain", func(b *testing.B) {
		benchTool(b,
			guards.AllowTools("lookup"),
			guards.Args("lookup", guards.Arg{Name: "supplier", Required: true, NotBlank: true, MaxLen: 80}),
			guards.Isolate("question"), guards.CallBudget(6), guards.Redact(), guards.Stash("lookup"), guards.Journal(io.Discard))
	})
}

type runnable interface {
	Run(ctx agent.Context, args any) (map[string]any, error)
}

func benchTool(b *testing.B, gs ...callbacks.Guard) {
	b.Helper()
	result := map[string]any{
		"status": "ok", "summary": "Accounts closed on 2025-12-31: turnover 6,140,000 EUR, net result 214,000 EUR.",
		"items": []any{map[string]any{"year": "2025", "turnover": 6140000.0, "text": "Comptes annuels et rapports."}},
	}
	bare := plainTool{callbackstest.Tool("lookup"), result}
	cfg, err := callbacks.New(gs...).Attach(llmagent.Config{Name: "a", Tools: []tool.Tool{bare}})
	if err != nil {
		b.Fatal(err)
	}
	guarded := cfg.Tools[0].(runnable)
	ctx := callbackstest.Context(b)
	args := map[string]any{"supplier": "Transports Kervalec"}
	const batch = 200
	var added []float64
	var allocs float64
	for b.Loop() {
		w, wa := timeCalls(b, guarded, ctx, args, batch)
		wo, woa := timeCalls(b, bare, ctx, args, batch)
		added = append(added, float64((w-wo).Nanoseconds())/batch)
		allocs += float64(wa) - float64(woa)
	}
	slices.Sort(added)
	b.ReportMetric(added[len(added)/2]/1000, "µs-added/call")
	b.ReportMetric(allocs/batch/float64(len(added)), "allocs-added/call")
	b.ReportMetric(0, "ns/op")
}

// plainTool remembers nothing, so that nothing grows while the benchmark runs.
type plainTool struct {
	*callbackstest.FakeTool
	result map[string]any
}

func (p plainTool) Run(agent.Context, any) (map[string]any, error) { return p.result, nil }

func timeCalls(b *testing.B, t runnable, ctx agent.Context, args map[string]any, n int) (time.Duration, uint64) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range n {
		if _, err := t.Run(ctx, args); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.Mallocs - before.Mallocs
}
