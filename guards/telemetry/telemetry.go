// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package telemetry tells OpenTelemetry what a chain does: decisions of guards as events
// on ADK's own spans, and counters and histograms of calls, refusals, tokens, money,
// redactions and the time the chain adds. Names are those of the GenAI semantic
// conventions where they exist (v1.36.0); the others begin with "gardefou.".
//
// Nothing personal goes out: no argument, result, text or reason, only names of agents,
// declared tools, models and guards, codes and figures. What ADK itself writes into spans
// is the exporter's to filter: package otlp does, and any other exporter should stand
// behind sinks.SpanExporter.
//
// The package knows the OpenTelemetry API only; exporters are in package otlp.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/redact"
)

// Scope is the instrumentation scope of every metric.
const Scope = "github.com/gardefou/gardefou/guards/telemetry"

// DecisionEvent is the name of the span event that tells a decision of a guard. Its
// attributes are the keys below.
const DecisionEvent = "gardefou.decision"

// Attribute keys. The first five are of the GenAI semantic conventions.
const (
	keyOperation = attribute.Key("gen_ai.operation.name")
	keyAgent     = attribute.Key("gen_ai.agent.name")
	keyTool      = attribute.Key("gen_ai.tool.name")
	keyModel     = attribute.Key("gen_ai.request.model")
	keyServed    = attribute.Key("gen_ai.response.model")
	keyTokenType = attribute.Key("gen_ai.token.type")
	keyProvider  = attribute.Key("gen_ai.provider.name")
	keyErrorType = attribute.Key("error.type")

	keyStep    = attribute.Key("gardefou.step")
	keyOutcome = attribute.Key("gardefou.outcome")
	keyGuard   = attribute.Key("gardefou.guard")
	keyCode    = attribute.Key("gardefou.code")
	keyStop    = attribute.Key("gardefou.stop")
	keyWhat    = attribute.Key("gardefou.what")
	keyType    = attribute.Key("gardefou.data.type")
	keyStatus  = attribute.Key("gardefou.run.status")
)

// unknownTool stands for a name that a model made up: it is the model's text.
const unknownTool = "_unknown"

// Options are the options of [New].
type Options struct {
	// MeterProvider makes the instruments. Nil is OpenTelemetry's global one.
	MeterProvider metric.MeterProvider
	// Provider is who serves the models, as gen_ai.provider.name names it: "gcp.gemini",
	// "openai". Empty is "_other".
	Provider string
}

// Telemetry is a set of instruments. It is safe for concurrent use. The nil value
// measures nothing.
type Telemetry struct {
	provider string

	operation, chain  metric.Float64Histogram
	tokens            metric.Int64Histogram
	calls, refusals   metric.Int64Counter
	redactions, runs  metric.Int64Counter
	charged, reserved metric.Float64Counter
	counted           *callbacks.Key[*onceARun]
}

// New makes the instruments.
func New(o Options) (*Telemetry, error) {
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.Provider == "" {
		o.Provider = "_other"
	}
	m := instruments{Meter: o.MeterProvider.Meter(Scope)}
	t := &Telemetry{
		provider:   o.Provider,
		operation:  m.seconds("gen_ai.client.operation.duration", "Duration of a model step or tool call.", 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
		chain:      m.seconds("gardefou.chain.duration", "What the chain of guards adds to a step.", 0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1),
		tokens:     m.tokens("gen_ai.client.token.usage", "Tokens of a model step."),
		calls:      m.counter("gardefou.calls", "Model calls and tool calls.", "{call}"),
		refusals:   m.counter("gardefou.refusals", "Steps that a guard refused.", "{refusal}"),
		redactions: m.counter("gardefou.redactions", "Personal values that were replaced.", "{value}"),
		runs:       m.counter("gardefou.runs", "Runs that ended.", "{run}"),
		charged:    m.money("gardefou.cost.charged", "What calls cost."),
		reserved:   m.money("gardefou.cost.reserved", "The most that calls could have cost."),
		counted:    callbacks.NewKey(func() *onceARun { return &onceARun{} }),
	}
	if err := errors.Join(m.errs...); err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return t, nil
}

// Guard returns the observer. It decides nothing and may stand anywhere in a chain; a nil
// Telemetry gives the zero Guard.
func (t *Telemetry) Guard() callbacks.Guard {
	if t == nil {
		return callbacks.Guard{}
	}
	return callbacks.Guard{
		Name: "telemetry", Observe: t.observe, ObserveMonitored: t.observe,
		Info: func() callbacks.Info { return callbacks.Info{Fails: "open"} },
	}
}

// Redacted counts a replaced value; it is made for redact.Options.OnReplace.
func (t *Telemetry) Redacted(kind redact.Type) {
	if t != nil {
		t.redactions.Add(context.Background(), 1, metric.WithAttributes(keyType.String(string(kind))))
	}
}

func (t *Telemetry) observe(ctx context.Context, ev callbacks.Event) {
	decide(ctx, ev)
	t.watchRun(ctx)
	who := []attribute.KeyValue{keyStep.String(string(ev.Step)), keyAgent.String(ev.Agent)}
	refused := ev.Outcome == callbacks.OutcomeRefused || ev.Outcome == callbacks.OutcomePanicked || ev.Outcome == callbacks.OutcomeWouldRefuse
	if refused {
		t.refusals.Add(ctx, 1, metric.WithAttributes(append(who, keyGuard.String(ev.Guard), keyCode.String(string(ev.Code)), keyOutcome.String(string(ev.Outcome)))...))
	}
	if ev.Outcome == callbacks.OutcomeWouldRefuse {
		return // the step itself comes as an event of its own
	}
	switch ev.Step {
	case callbacks.StepModel:
		t.model(ctx, ev, who)
	case callbacks.StepTool:
		t.tool(ctx, ev, who)
	}
	if ev.Inner > 0 {
		t.chain.Record(ctx, max(0, ev.Duration-ev.Inner).Seconds(), metric.WithAttributes(who...))
	}
}

func (t *Telemetry) model(ctx context.Context, ev callbacks.Event, who []attribute.KeyValue) {
	if ev.Attempt == 0 {
		return
	}
	t.calls.Add(ctx, int64(ev.Attempt), metric.WithAttributes(append(who, keyModel.String(ev.Model), keyOutcome.String(string(ev.Outcome)))...))
	semantic := []attribute.KeyValue{keyOperation.String("generate_content"), keyProvider.String(t.provider), keyModel.String(ev.Model)}
	if ev.ServedModel != "" {
		semantic = append(semantic, keyServed.String(ev.ServedModel))
	}
	t.operation.Record(ctx, ev.Duration.Seconds(), metric.WithAttributes(withError(semantic, ev)...))
	if u := ev.Usage; u != nil {
		t.tokens.Record(ctx, int64(u.PromptTokenCount), metric.WithAttributes(append(semantic, keyTokenType.String("input"))...))
		t.tokens.Record(ctx, int64(u.CandidatesTokenCount+u.ThoughtsTokenCount), metric.WithAttributes(append(semantic, keyTokenType.String("output"))...))
	}
}

func (t *Telemetry) tool(ctx context.Context, ev callbacks.Event, who []attribute.KeyValue) {
	t.calls.Add(ctx, 1, metric.WithAttributes(append(who, keyTool.String(toolName(ev)), keyOutcome.String(string(ev.Outcome)))...))
	semantic := []attribute.KeyValue{keyOperation.String("execute_tool"), keyProvider.String(t.provider), keyTool.String(toolName(ev))}
	t.operation.Record(ctx, ev.Duration.Seconds(), metric.WithAttributes(withError(semantic, ev)...))
}

// withError adds error.type where the step did not simply go well.
func withError(attrs []attribute.KeyValue, ev callbacks.Event) []attribute.KeyValue {
	if ev.Outcome == callbacks.OutcomeAllowed || ev.Outcome == callbacks.OutcomeReplaced {
		return attrs
	}
	kind := string(ev.Code)
	if kind == "" {
		kind = string(ev.Outcome)
	}
	return append(attrs[:len(attrs):len(attrs)], keyErrorType.String(kind))
}

func toolName(ev callbacks.Event) string {
	if ev.Outcome == callbacks.OutcomeUnknownTool {
		return unknownTool
	}
	return ev.Tool
}

// decide puts what a guard decided on the span that is open, ADK's.
func decide(ctx context.Context, ev callbacks.Event) {
	if ev.Guard == "" && ev.Outcome == callbacks.OutcomeAllowed {
		return
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attrs := []attribute.KeyValue{
		keyStep.String(string(ev.Step)), keyOutcome.String(string(ev.Outcome)), keyAgent.String(ev.Agent),
		keyGuard.String(ev.Guard), keyCode.String(string(ev.Code)), keyStop.Bool(ev.Stop),
	}
	if ev.Tool != "" {
		attrs = append(attrs, keyTool.String(toolName(ev)))
	}
	span.AddEvent(DecisionEvent, trace.WithAttributes(attrs...), trace.WithTimestamp(time.Now()))
}
