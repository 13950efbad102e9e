// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gardefou/gardefou/guards/sinks"
	"github.com/gardefou/gardefou/redact"
)

const address = "jean.dupont@example.com"

// exported passes a span through a SpanExporter.
func exported(t *testing.T, stub tracetest.SpanStub, r *redact.Redactor) sdktrace.ReadOnlySpan {
	t.Helper()
	var got []sdktrace.ReadOnlySpan
	keep := exporterFunc(func(spans []sdktrace.ReadOnlySpan) { got = spans })
	require.NoError(t, sinks.SpanExporter(keep, r).ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{stub.Snapshot()}))
	require.Len(t, got, 1)
	return got[0]
}

type exporterFunc func([]sdktrace.ReadOnlySpan)

func (f exporterFunc) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	f(spans)
	return nil
}

func (exporterFunc) Shutdown(context.Context) error { return nil }

// everyAttribute has an address in every type of attribute that can hold one, and in a type
// that a later version of OpenTelemetry may have.
func everyAttribute(name string) []attribute.KeyValue {
	unknown := attribute.StringValue(address)
	*(*attribute.Type)(unsafe.Pointer(&unknown)) = 99 //nolint:gosec // the first field, and nothing else makes one
	return append(everyKnownAttribute(name), attribute.KeyValue{Key: attribute.Key(name + "unknown"), Value: unknown})
}

func everyKnownAttribute(name string) []attribute.KeyValue {
	text := attribute.StringValue("to " + address)
	return []attribute.KeyValue{
		attribute.String(name, "to "+address),
		attribute.StringSlice(name+"s", []string{"a", address}),
		{Key: attribute.Key(name + "bytes"), Value: attribute.ByteSliceValue([]byte(address))},
		{Key: attribute.Key(name + "binary"), Value: attribute.ByteSliceValue(append([]byte{0xff}, address...))},
		{Key: attribute.Key(name + "slice"), Value: attribute.SliceValue(text, attribute.SliceValue(text, attribute.ByteSliceValue([]byte(address))))},
		attribute.Int("key of "+address, 1), attribute.Int("key of "+address+" too", 2),
	}
}

func TestSpansSayNothingAnywhere(t *testing.T) {
	state, err := trace.ParseTraceState("vendor=" + address)
	require.NoError(t, err)
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceState: state})
	scope := instrumentation.Scope{Name: address, Version: address, SchemaURL: "https://x.example/" + address, Attributes: attribute.NewSet(everyKnownAttribute("scope")...)}
	got := exported(t, tracetest.SpanStub{
		Name: "to " + address, SpanContext: sc, Parent: sc, Attributes: everyAttribute("span"),
		Events:                 []sdktrace.Event{{Name: address, Attributes: everyAttribute("event")}},
		Links:                  []sdktrace.Link{{SpanContext: sc, Attributes: everyAttribute("link")}},
		Status:                 sdktrace.Status{Description: "no " + address},
		Resource:               resource.NewWithAttributes("https://x.example/"+address, everyKnownAttribute("resource")...),
		InstrumentationScope:   scope,
		InstrumentationLibrary: scope, //nolint:staticcheck // spans have it
	}, nil)
	methods := reflect.TypeFor[sdktrace.ReadOnlySpan]()
	v := reflect.ValueOf(got)
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		if !m.IsExported() {
			continue
		}
		for _, out := range v.MethodByName(m.Name).Call(nil) {
			for _, s := range []string{fmt.Sprintf("%+v", out.Interface()), dump(out.Interface())} {
				require.NotContains(t, s, address, m.Name)
				require.NotContains(t, s, base64.StdEncoding.EncodeToString([]byte(address)), m.Name)
			}
		}
	}
	require.Equal(t, sc.TraceID(), got.SpanContext().TraceID())
	var keys []string
	values := map[string]string{}
	for _, kv := range got.Attributes() {
		keys = append(keys, string(kv.Key))
		values[string(kv.Key)] = kv.Value.String()
	}
	require.Equal(t, []string{"span", "spans", "spanbytes", "spanbinary", "spanslice", "key of [email redacted]", "key of [email redacted] too 2", "spanunknown"}, keys)
	require.Equal(t, "[withheld]", values["spanunknown"])
	require.Equal(t, "to [email redacted]", values["span"])
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte("[email redacted]")), values["spanbytes"])
}

// dump spells attributes out, bytes too.
func dump(v any) string {
	var all string
	add := func(kvs []attribute.KeyValue) {
		for _, kv := range kvs {
			all += string(kv.Key) + "=" + kv.Value.String() + fmt.Sprint(kv.Value.AsInterface()) + "\n"
			if kv.Value.Type() == attribute.BYTESLICE {
				all += string(kv.Value.AsByteSlice()) + "\n"
			}
		}
	}
	switch v := v.(type) {
	case []attribute.KeyValue:
		add(v)
	case []sdktrace.Event:
		for _, e := range v {
			add(e.Attributes)
		}
	case []sdktrace.Link:
		for _, l := range v {
			all += l.SpanContext.TraceState().String()
			add(l.Attributes)
		}
	case *resource.Resource:
		all += v.SchemaURL()
		add(v.Attributes())
	case instrumentation.Scope:
		add(v.Attributes.ToSlice())
	case trace.SpanContext:
		all += v.TraceState().String()
	}
	return all
}

// A span with nothing to hide is exported as it is, whatever its attributes are.
func TestSpansWithoutValuesAreExportedAsTheyAre(t *testing.T) {
	attrs := []attribute.KeyValue{
		attribute.Bool("a", true), attribute.Int("b", 1), attribute.Float64("c", math.Inf(1)), attribute.String("d", "x"), attribute.BoolSlice("e", []bool{true}),
		attribute.Int64Slice("f", []int64{1}), attribute.Float64Slice("g", []float64{1.5}), attribute.StringSlice("h", []string{"x"}),
		{Key: "i", Value: attribute.ByteSliceValue([]byte("x"))},
		{Key: "j", Value: attribute.SliceValue(attribute.IntValue(1), attribute.StringValue("x"))},
		{Key: "k"},
	}
	res := resource.NewWithAttributes("https://schema.example", attrs...)
	state, err := trace.ParseTraceState("vendor=value")
	require.NoError(t, err)
	stub := tracetest.SpanStub{
		Name: "n", SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceState: state}), Attributes: attrs,
		Resource: res, InstrumentationScope: instrumentation.Scope{Name: "s", Attributes: attribute.NewSet(attribute.Int("a", 1))},
	}
	got := exported(t, stub, redact.Must(redact.New(redact.Options{Patterns: []redact.Pattern{{Name: "CARD", Expr: `\b4\d{15}\b`}}})))
	require.Equal(t, attrs, got.Attributes())
	require.Same(t, res, got.Resource())
	require.Equal(t, stub.SpanContext, got.SpanContext())
	require.True(t, stub.InstrumentationScope.Attributes.Equals(ptr(got.InstrumentationScope().Attributes)))
}

func ptr[T any](v T) *T { return &v }

// Numbers that a pattern matches are masked like text.
func TestSpansMaskNumbersThatAPatternMatches(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{Patterns: []redact.Pattern{{Name: "CARD", Expr: `\b4\d{15}\b`}}}))
	got := exported(t, tracetest.SpanStub{Attributes: []attribute.KeyValue{attribute.Int("a", 4111111111111111), attribute.Int64Slice("b", []int64{1, 4111111111111111})}}, r)
	require.Equal(t, []attribute.KeyValue{attribute.String("a", "[CARD redacted]"), attribute.String("b", "[withheld]")}, got.Attributes())
}

// The methods of a span are known: one that a later version adds has to be masked or be
// named here.
func TestSpanMethodsAreKnown(t *testing.T) {
	var names []string
	for m := range reflect.TypeFor[sdktrace.ReadOnlySpan]().Methods() {
		if m.IsExported() {
			names = append(names, m.Name)
		}
	}
	require.ElementsMatch(t, []string{
		"Name", "SpanContext", "Parent", "Attributes", "Links", "Events", "Status", "InstrumentationScope", "InstrumentationLibrary", "Resource", // masked
		"SpanKind", "StartTime", "EndTime", "DroppedAttributes", "DroppedLinks", "DroppedEvents", "ChildSpanCount", // numbers
	}, names)
}
