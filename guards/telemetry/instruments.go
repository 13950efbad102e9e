// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// instruments makes instruments and gathers the errors of all.
type instruments struct {
	metric.Meter
	errs []error
}

func (m *instruments) seconds(name, what string, bounds ...float64) metric.Float64Histogram {
	h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
	m.errs = append(m.errs, err)
	return h
}

func (m *instruments) tokens(name, what string) metric.Int64Histogram {
	h, err := m.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(what),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	m.errs = append(m.errs, err)
	return h
}

func (m *instruments) counter(name, what, unit string) metric.Int64Counter {
	c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
	m.errs = append(m.errs, err)
	return c
}

func (m *instruments) money(name, what string) metric.Float64Counter {
	c, err := m.Float64Counter(name, metric.WithUnit("USD"), metric.WithDescription(what))
	m.errs = append(m.errs, err)
	return c
}

// onceARun makes sure that the end of a Run is told once.
type onceARun struct{ sync.Once }

// watchRun sees to it that, when the Run is closed, its status and what it cost are told.
func (t *Telemetry) watchRun(ctx context.Context) {
	run := callbacks.RunOf(ctx)
	if run == nil {
		return
	}
	t.counted.In(run).Do(func() {
		run.OnClose(func() {
			ctx := run.Context(context.Background())
			t.runs.Add(ctx, 1, metric.WithAttributes(keyStatus.String(string(run.Outcome().Status))))
			for _, l := range guards.Records(ctx).Spent() {
				who := metric.WithAttributes(keyAgent.String(l.Agent), keyWhat.String(l.What))
				t.charged.Add(ctx, usd(l.Charged), who)
				t.reserved.Add(ctx, usd(l.Reserved), who)
			}
		})
	})
}

// usd rounds: a metric is no account.
func usd(n ledger.Nano) float64 { return float64(n) / 1e9 }
