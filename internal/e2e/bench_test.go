// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/pipelinetest"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// stepsOfARun is what a normal run of the pipeline takes: eight model calls and
// seven tool calls.
const stepsOfARun = 15

// BenchmarkPipeline compares the pipeline with all its guards and a journal to the
// same agents in plain ADK with a bare stash callback, in alternating pairs. ratio is
// the median of the pairs' ratios.
func BenchmarkPipeline(b *testing.B) {
	c, err := sources.New(sources.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := c.Resolve(b.Context(), pipelinetest.Kervalec)
	var journal bytes.Buffer
	guarded := mustPipeline(b, pipeline.Options{Setup: agents.Setup{Model: offline.Model{}}, Sources: c, Journal: &journal})
	bare := mustPipeline(b, pipeline.Options{Setup: agents.Setup{Model: offline.Model{}, Bare: true}, Sources: c})
	var with, without cost
	var ratios []float64
	for b.Loop() {
		journal.Reset()
		w, wo := measure(b, guarded, r.Subject), measure(b, bare, r.Subject)
		ratios = append(ratios, float64(w.time)/float64(wo.time))
		with.add(w)
		without.add(wo)
	}
	slices.Sort(ratios)
	n := float64(len(ratios) * stepsOfARun)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(float64(with.time.Nanoseconds())/n/1000, "µs/step-guarded")
	b.ReportMetric(float64(without.time.Nanoseconds())/n/1000, "µs/step-bare")
	b.ReportMetric(float64((with.time-without.time).Nanoseconds())/n/1000, "µs/step-added")
	b.ReportMetric(float64(with.allocs)/n, "allocs/step-guarded")
	b.ReportMetric(float64(without.allocs)/n, "allocs/step-bare")
	b.ReportMetric(0, "ns/op")
}

type cost struct {
	time   time.Duration
	allocs uint64
}

func (c *cost) add(o cost) { c.time, c.allocs = c.time+o.time, c.allocs+o.allocs }

func measure(b *testing.B, p *pipeline.Pipeline, s supplier.Subject) cost {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	out, err := p.Run(b.Context(), s, pipelinetest.Kervalec)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if err != nil || out.Report.Narrative.Template {
		b.Fatalf("the run went wrong: %v, %v", err, out)
	}
	return cost{took, after.Mallocs - before.Mallocs}
}

func mustPipeline(b *testing.B, o pipeline.Options) *pipeline.Pipeline {
	b.Helper()
	p, err := pipeline.New(o)
	if err != nil {
		b.Fatal(err)
	}
	return p
}
