// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"context"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gardefou/gardefou/guards/sinks"
)

// Filter lets through what is known to hold nothing personal and withholds the rest: ADK
// writes arguments, results and error texts into spans, and a model may call a tool by a
// name that it made up. Attributes are those listed; events are the chain's; a status
// keeps its code; names are words without blanks. What is left passes sinks.SpanExporter.
func Filter(to sdktrace.SpanExporter) sdktrace.SpanExporter {
	return &filter{sinks.SpanExporter(to, nil)}
}

type filter struct{ sdktrace.SpanExporter }

// allowed are the attributes that go out besides those that begin with "gardefou.".
var allowed = map[attribute.Key]bool{
	"gen_ai.operation.name": true, "gen_ai.agent.name": true, "gen_ai.tool.name": true, "gen_ai.tool.call.id": true, "gen_ai.tool.type": true,
	"gen_ai.request.model": true, "gen_ai.response.model": true, "gen_ai.response.id": true, "gen_ai.response.finish_reasons": true,
	"gen_ai.provider.name": true, "gen_ai.system": true, "gen_ai.conversation.id": true,
	"gen_ai.usage.input_tokens": true, "gen_ai.usage.output_tokens": true, "gen_ai.usage.cache_read.input_tokens": true,
	"gen_ai.usage.reasoning.output_tokens": true, "gcp.vertex.agent.invocation_id": true, "gcp.vertex.agent.event_id": true, "error.type": true,
	"http.request.method": true, "http.response.status_code": true, "server.address": true, "server.port": true, "network.protocol.version": true,
}

// word is what a name of an agent, tool, model or identifier looks like.
var word = regexp.MustCompile(`^[\p{L}\p{N}_.:/-]{0,128}$`)

// ExportSpans implements sdktrace.SpanExporter.
func (f *filter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	out := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		out[i] = filtered{s}
	}
	return f.SpanExporter.ExportSpans(ctx, out)
}

type filtered struct{ sdktrace.ReadOnlySpan }

// Name implements sdktrace.ReadOnlySpan: two words at most, "execute_tool lookup".
func (s filtered) Name() string {
	first, second, two := strings.Cut(s.ReadOnlySpan.Name(), " ")
	if !word.MatchString(first) {
		return "_other"
	}
	if two && !word.MatchString(second) {
		return first + " _other"
	}
	return s.ReadOnlySpan.Name()
}

// Attributes implements sdktrace.ReadOnlySpan.
func (s filtered) Attributes() []attribute.KeyValue { return keep(s.ReadOnlySpan.Attributes()) }

// Events implements sdktrace.ReadOnlySpan.
func (s filtered) Events() []sdktrace.Event {
	var out []sdktrace.Event
	for _, e := range s.ReadOnlySpan.Events() {
		if strings.HasPrefix(e.Name, "gardefou.") {
			e.Attributes = keep(e.Attributes)
			out = append(out, e)
		}
	}
	return out
}

// Status implements sdktrace.ReadOnlySpan.
func (s filtered) Status() sdktrace.Status {
	st := s.ReadOnlySpan.Status()
	st.Description = ""
	return st
}

// Links implements sdktrace.ReadOnlySpan.
func (s filtered) Links() []sdktrace.Link {
	links := s.ReadOnlySpan.Links()
	out := make([]sdktrace.Link, len(links))
	for i, l := range links {
		l.Attributes = keep(l.Attributes)
		out[i] = l
	}
	return out
}

func keep(attrs []attribute.KeyValue) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, kv := range attrs {
		if !allowed[kv.Key] && !strings.HasPrefix(string(kv.Key), "gardefou.") {
			continue
		}
		if kv.Value.Type() == attribute.STRING && !word.MatchString(kv.Value.AsString()) {
			kv.Value = attribute.StringValue("_other")
		}
		out = append(out, kv)
	}
	return out
}
