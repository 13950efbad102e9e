// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/gardefou/gardefou/guards/telemetry"
	"github.com/gardefou/gardefou/guards/telemetry/otlp"
	"github.com/gardefou/gardefou/internal/text"
)

// telemetryGrace is how long the end of a run waits for a collector.
const telemetryGrace = 5 * time.Second

// startTelemetry sends spans and metrics where the environment names a collector, and
// returns nil where it names none. close ends it.
func (j *job) startTelemetry(ctx context.Context) (*telemetry.Telemetry, error) {
	if !otlp.Configured() {
		return nil, nil
	}
	report := func(error) {}
	if j.p != nil {
		report = j.p.notSent
	}
	stop, err := otlp.Start(ctx, otlp.Options{Service: "duediligence", Version: version(), OnError: report})
	if err != nil {
		return nil, refuse("OTEL_EXPORTER_OTLP_*: %v", err)
	}
	j.closes(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telemetryGrace)
		defer cancel()
		if err := stop(ctx); err != nil {
			report(err)
		}
		return nil
	})
	return telemetry.New(telemetry.Options{Provider: j.provider()})
}

// notSent tells once that the collector did not take everything; the run is not affected.
func (p *printer) notSent(err error) {
	p.mu.Lock()
	told := p.telemetryTold
	p.telemetryTold = true
	p.mu.Unlock()
	if !told {
		p.line("%s", text.Get(p.lang, text.CmdNotSent, err))
	}
}
