// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/telemetry"
	"github.com/gardefou/gardefou/guards/telemetry/otlp"
	"github.com/gardefou/gardefou/redact"
)

func collect(t *testing.T, r *sdkmetric.ManualReader) map[string]metricdata.Aggregation {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, r.Collect(t.Context(), &rm))
	out := map[string]metricdata.Aggregation{}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			out[m.Name] = m.Data
		}
	}
	return out
}

// What a model made up, and why a guard refused, stay inside.
func TestNothingOfTheModelGoesOut(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	tel, err := telemetry.New(telemetry.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), Provider: "openai"})
	require.NoError(t, err)
	spans := tracetest.NewInMemoryExporter()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(otlp.Filter(spans)))
	ctx, span := tp.Tracer("x").Start(t.Context(), "execute_tool send Jean Dupont's file")
	span.SetAttributes(attribute.String("gcp.vertex.agent.tool_call_args", "Jean Dupont"), attribute.String("gen_ai.tool.name", "send Jean Dupont's file"), attribute.String("gen_ai.request.model", "gpt-5"))
	ctx, run := callbacks.Start(ctx)
	observe := tel.Guard().Observe
	observe(ctx, callbacks.Event{
		Step: callbacks.StepTool, Agent: "writer", Tool: "send Jean Dupont's file", Outcome: callbacks.OutcomeUnknownTool, Code: "unknown_tool",
		Reason: "Jean Dupont", Args: map[string]any{"to": "Jean Dupont"}, Duration: time.Second,
	})
	observe(ctx, callbacks.Event{
		Step: callbacks.StepModel, Agent: "writer", Model: "gpt-5", Outcome: callbacks.OutcomeAllowed, Attempt: 2, Duration: 3 * time.Second, Inner: time.Second,
		Usage: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 7, CandidatesTokenCount: 2, ThoughtsTokenCount: 1},
	})
	observe(ctx, callbacks.Event{Step: callbacks.StepModel, Agent: "writer", Outcome: callbacks.OutcomeWouldRefuse, Guard: "scope", Code: "outside", Reason: "Jean Dupont"})
	tel.Redacted(redact.Email)
	run.Close()
	run.Close()
	span.RecordError(context.Canceled)
	span.SetStatus(codes.Error, "Jean Dupont")
	span.End()

	stub := spans.GetSpans()[0]
	require.Equal(t, "execute_tool _other", stub.Name)
	require.Empty(t, stub.Status.Description)
	require.Equal(t, codes.Error, stub.Status.Code)
	require.Len(t, stub.Events, 2, "the chain's own, not the error's text")
	require.ElementsMatch(t, []attribute.KeyValue{attribute.String("gen_ai.tool.name", "_other"), attribute.String("gen_ai.request.model", "gpt-5")}, stub.Attributes)

	got := collect(t, reader)
	var sb strings.Builder
	for name, data := range got {
		sb.WriteString(name)
		switch d := data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				sb.WriteString(p.Attributes.Encoded(attribute.DefaultEncoder()))
			}
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				sb.WriteString(p.Attributes.Encoded(attribute.DefaultEncoder()))
			}
		}
	}
	for _, e := range stub.Events {
		sb.WriteString(e.Name)
		for _, kv := range e.Attributes {
			sb.WriteString(kv.Value.String())
		}
	}
	require.NotContains(t, sb.String(), "Dupont")
	require.Contains(t, sb.String(), "_unknown")

	sum := func(name string) int64 {
		n := int64(0)
		for _, p := range got[name].(metricdata.Sum[int64]).DataPoints {
			n += p.Value
		}
		return n
	}
	require.EqualValues(t, 3, sum("gardefou.calls"), "two attempts and a tool")
	require.EqualValues(t, 1, sum("gardefou.refusals"))
	require.EqualValues(t, 1, sum("gardefou.redactions"))
	require.EqualValues(t, 1, sum("gardefou.runs"))
	chain := got["gardefou.chain.duration"].(metricdata.Histogram[float64]).DataPoints
	require.Len(t, chain, 1, "only where the inner time is known")
	require.InDelta(t, 2, chain[0].Sum, 1e-9)
	tokens := got["gen_ai.client.token.usage"].(metricdata.Histogram[int64]).DataPoints
	require.Len(t, tokens, 2)
}

func TestNilMeasuresNothing(t *testing.T) {
	var tel *telemetry.Telemetry
	tel.Redacted(redact.Email)
	require.Empty(t, tel.Guard().Name)
}

func TestConfigured(t *testing.T) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"} {
		t.Setenv(name, "")
	}
	require.False(t, otlp.Configured())
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://127.0.0.1:4318/v1/metrics")
	require.True(t, otlp.Configured())
	t.Setenv("OTEL_SDK_DISABLED", "TRUE")
	require.False(t, otlp.Configured())
}
