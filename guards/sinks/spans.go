// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"reflect"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gardefou/gardefou/redact"
)

// SpanExporter masks what spans say before exporter gets them: names, events, links,
// statuses, trace states, the scope and the resource, and attributes of all of these with
// their keys. ADK sets attributes after a span began, so that only the exporter sees
// them all, and it writes the arguments and results of tools there whatever the
// settings for capturing content say. A nil redactor finds e-mail addresses and IBANs.
//
// It is safe for concurrent use. It fails closed: an attribute that can't be looked
// into, or is of a type that this package doesn't know, becomes "[withheld]"; a trace
// state with a value in it is left out.
func SpanExporter(exporter sdktrace.SpanExporter, r *redact.Redactor) sdktrace.SpanExporter {
	if r == nil {
		r = redact.Must(redact.New(redact.Options{}))
	}
	return &spanExporter{exporter, r}
}

type spanExporter struct {
	sdktrace.SpanExporter
	r *redact.Redactor
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	masked := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		masked[i] = &maskedSpan{s, e.r}
	}
	return e.SpanExporter.ExportSpans(ctx, masked)
}

type maskedSpan struct {
	sdktrace.ReadOnlySpan
	r *redact.Redactor
}

// Name implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Name() string { return s.r.String(s.ReadOnlySpan.Name()) }

// SpanContext implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) SpanContext() trace.SpanContext { return s.context(s.ReadOnlySpan.SpanContext()) }

// Parent implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Parent() trace.SpanContext { return s.context(s.ReadOnlySpan.Parent()) }

// Attributes implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Attributes() []attribute.KeyValue { return s.mask(s.ReadOnlySpan.Attributes()) }

// Resource implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Resource() *resource.Resource {
	res := s.ReadOnlySpan.Resource()
	if res == nil {
		return nil
	}
	masked := resource.NewWithAttributes(s.r.String(res.SchemaURL()), s.mask(res.Attributes())...)
	if masked.Equal(res) && masked.SchemaURL() == res.SchemaURL() {
		return res
	}
	return masked
}

// InstrumentationScope implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) InstrumentationScope() instrumentation.Scope {
	return s.scope(s.ReadOnlySpan.InstrumentationScope())
}

// InstrumentationLibrary implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) InstrumentationLibrary() instrumentation.Library { //nolint:staticcheck // the interface has it
	return s.scope(s.ReadOnlySpan.InstrumentationLibrary()) //nolint:staticcheck // see above
}

// Events implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Events() []sdktrace.Event {
	events := s.ReadOnlySpan.Events()
	out := make([]sdktrace.Event, len(events))
	for i, e := range events {
		e.Name, e.Attributes = s.r.String(e.Name), s.mask(e.Attributes)
		out[i] = e
	}
	return out
}

// Links implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Links() []sdktrace.Link {
	links := s.ReadOnlySpan.Links()
	out := make([]sdktrace.Link, len(links))
	for i, l := range links {
		l.SpanContext, l.Attributes = s.context(l.SpanContext), s.mask(l.Attributes)
		out[i] = l
	}
	return out
}

// Status implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Status() sdktrace.Status {
	st := s.ReadOnlySpan.Status()
	st.Description = s.r.String(st.Description)
	return st
}

// context leaves out a trace state with a value in it: its grammar has no room for a label.
func (s *maskedSpan) context(c trace.SpanContext) trace.SpanContext {
	if state := c.TraceState().String(); s.r.String(state) != state {
		return c.WithTraceState(trace.TraceState{})
	}
	return c
}

func (s *maskedSpan) scope(sc instrumentation.Scope) instrumentation.Scope {
	sc.Name, sc.Version, sc.SchemaURL = s.r.String(sc.Name), s.r.String(sc.Version), s.r.String(sc.SchemaURL)
	sc.Attributes = attribute.NewSet(s.mask(sc.Attributes.ToSlice())...)
	return sc
}

// mask keeps attributes apart whose keys become one label.
func (s *maskedSpan) mask(attrs []attribute.KeyValue) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(attrs))
	labels := 0
	for i, kv := range attrs {
		key := s.r.String(string(kv.Key))
		if key != string(kv.Key) {
			if labels++; labels > 1 {
				key += " " + strconv.Itoa(labels)
			}
		}
		out[i] = attribute.KeyValue{Key: attribute.Key(key), Value: s.value(kv.Value)}
	}
	return out
}

const withheld = "[withheld]"

func (s *maskedSpan) value(v attribute.Value) attribute.Value {
	switch v.Type() {
	case attribute.EMPTY, attribute.BOOL, attribute.BOOLSLICE:
		return v
	case attribute.STRING:
		return attribute.StringValue(s.text(v.AsString()))
	case attribute.STRINGSLICE:
		list := v.AsStringSlice()
		clean := make([]string, len(list))
		for i, e := range list {
			clean[i] = s.text(e)
		}
		return attribute.StringSliceValue(clean)
	case attribute.SLICE:
		list := v.AsSlice()
		clean := make([]attribute.Value, len(list))
		for i, e := range list {
			clean[i] = s.value(e)
		}
		return attribute.SliceValue(clean...)
	case attribute.BYTESLICE:
		masked, _, err := s.r.Value(v.AsByteSlice())
		if clean, ok := masked.([]byte); ok && err == nil {
			return attribute.ByteSliceValue(clean)
		}
	case attribute.INT64, attribute.FLOAT64:
		masked, _, err := s.r.Value(v.AsInterface()) // a pattern may match numbers
		if err == nil && masked == v.AsInterface() {
			return v
		}
		if label, ok := masked.(string); ok {
			return attribute.StringValue(label)
		}
	case attribute.INT64SLICE, attribute.FLOAT64SLICE:
		if masked, _, err := s.r.Value(v.AsInterface()); err == nil && reflect.DeepEqual(masked, v.AsInterface()) {
			return v
		}
	}
	return attribute.StringValue(withheld)
}

// text masks a string that may itself be JSON, as ADK's attributes are.
func (s *maskedSpan) text(v string) string {
	masked, _, err := s.r.Value(v)
	clean, ok := masked.(string)
	if err != nil || !ok {
		return withheld
	}
	return clean
}
