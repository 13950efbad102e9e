// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"io"
	"iter"
	"runtime"
	"sync"
	"testing"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/pipelinetest"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/sources"
)

const concurrentRuns = 20

// holding lets everybody wait at the writer's call, when a run holds the most: all
// findings, and the whole history.
type holding struct {
	offline.Model
	arrived *sync.WaitGroup
	goOn    <-chan struct{}
	once    sync.Once
}

func (h *holding) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	h.once.Do(func() {
		h.arrived.Done()
		<-h.goOn
	})
	return h.Model.GenerateContent(ctx, req, stream)
}

// BenchmarkConcurrentRuns prints what one of twenty runs at once holds in memory, with
// all guards and a chained journal, and in plain ADK.
func BenchmarkConcurrentRuns(b *testing.B) {
	c, err := sources.New(sources.Options{})
	if err != nil {
		b.Fatal(err)
	}
	subject := c.Resolve(b.Context(), pipelinetest.Kervalec).Subject
	held := func(bare bool) float64 {
		var arrived, done sync.WaitGroup
		goOn := make(chan struct{})
		arrived.Add(concurrentRuns)
		before := liveHeap()
		for range concurrentRuns {
			h := &holding{arrived: &arrived, goOn: goOn}
			p := mustPipeline(b, pipeline.Options{
				Setup: agents.Setup{Model: offline.Model{}, ModelFor: pipelinetest.Only(agents.Writer, h), Bare: bare}, Sources: c, Journal: journal.NewWriter(io.Discard),
			})
			done.Go(func() {
				if _, err := p.Run(b.Context(), subject, pipelinetest.Kervalec); err != nil {
					b.Error(err)
				}
			})
		}
		arrived.Wait()
		size := float64(liveHeap()) - float64(before)
		close(goOn)
		done.Wait()
		return size / concurrentRuns / 1024
	}
	var guarded, bare float64
	n := 0.0
	for b.Loop() {
		guarded += held(false)
		bare += held(true)
		n++
	}
	b.ReportMetric(guarded/n, "KiB/run-guarded")
	b.ReportMetric(bare/n, "KiB/run-bare")
	b.ReportMetric(0, "ns/op")
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
