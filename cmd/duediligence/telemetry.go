// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/guards/telemetry"
	"github.com/gardefou/gardefou/guards/telemetry/otlp"
	"github.com/gardefou/gardefou/internal/text"
)

// telemetryGrace is how long the end of a run waits for a collector.
const telemetryGrace = 5 * time.Second

// startTelemetry sends spans and metrics where the environment names a collector, and
// returns nil where it names none. shut ends it.
func (f *flags) startTelemetry(ctx context.Context) (*telemetry.Telemetry, error) {
	if !otlp.Configured() {
		return nil, nil
	}
	stop, err := otlp.Start(ctx, otlp.Options{Service: "duediligence", Version: version(), OnError: f.onTelemetry})
	if err != nil {
		return nil, refuse("OTEL_EXPORTER_OTLP_*: %v", err)
	}
	f.stopTelemetry = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telemetryGrace)
		defer cancel()
		if err := stop(ctx); err != nil && f.onTelemetry != nil {
			f.onTelemetry(err)
		}
	}
	return telemetry.New(telemetry.Options{Provider: f.provider()})
}

// provider is who serves the model, as the GenAI semantic conventions name it.
func (f *flags) provider() string {
	switch {
	case f.model == models.Offline:
		return "gardefou.offline"
	case models.SpeaksOpenAI(f.model):
		return "openai"
	default:
		return "gcp.gemini"
	}
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
