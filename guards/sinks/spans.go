// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gardefou/gardefou/redact"
)

// SpanExporter masks names, attributes, events, links and statuses of spans before
// exporter gets them. ADK sets them after a span began, so that only the exporter sees
// them all, and it writes the arguments and results of tools there whatever the
// settings for capturing content say. A nil redactor finds e-mail addresses and IBANs.
//
// It is safe for concurrent use. It fails closed: an attribute that can't be looked
// into is withheld.
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

// Attributes implements sdktrace.ReadOnlySpan.
func (s *maskedSpan) Attributes() []attribute.KeyValue { return s.mask(s.ReadOnlySpan.Attributes()) }

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
		l.Attributes = s.mask(l.Attributes)
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

func (s *maskedSpan) mask(attrs []attribute.KeyValue) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(attrs))
	for i, kv := range attrs {
		switch kv.Value.Type() {
		case attribute.STRING:
			kv.Value = attribute.StringValue(s.text(kv.Value.AsString()))
		case attribute.STRINGSLICE:
			list := kv.Value.AsStringSlice()
			clean := make([]string, len(list))
			for j, v := range list {
				clean[j] = s.text(v)
			}
			kv.Value = attribute.StringSliceValue(clean)
		}
		out[i] = kv
	}
	return out
}

// text masks a string that may itself be JSON, as ADK's attributes are.
func (s *maskedSpan) text(v string) string {
	masked, _, err := s.r.Value(v)
	clean, ok := masked.(string)
	if err != nil || !ok {
		return "[withheld]"
	}
	return clean
}
