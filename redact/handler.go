// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler is a [slog.Handler] that redacts messages, keys, values and group
// names before it hands them to another. It is safe for concurrent use if the
// other is.
//
// A record can't be refused, so [Block] leaves a label of it.
type Handler struct {
	next slog.Handler
	r    *Redactor
}

// NewHandler returns a handler in front of next.
func NewHandler(next slog.Handler, r *Redactor) *Handler { return &Handler{next: next, r: r} }

// Enabled asks the handler behind.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle redacts a copy of the record.
func (h *Handler) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, h.r.String(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

// WithAttrs redacts attrs once.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{next: h.next.WithAttrs(h.attrs(attrs)), r: h.r}
}

// WithGroup redacts the name.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{next: h.next.WithGroup(h.r.String(name)), r: h.r}
}

func (h *Handler) attrs(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return clean
}

func (h *Handler) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: h.r.String(a.Key), Value: h.value(a.Value.Resolve())}
}

func (h *Handler) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(h.r.String(v.String()))
	case slog.KindGroup:
		return slog.GroupValue(h.attrs(v.Group())...)
	case slog.KindBool, slog.KindDuration, slog.KindTime:
		return v
	}
	out, _, err := h.r.Value(v.Any())
	switch {
	case err != nil:
		return slog.StringValue(h.r.words.blocked)
	case !identical(out, v.Any()):
		return slog.AnyValue(out)
	}
	// A text handler prints a value as %+v does, fields without a JSON shape too.
	was := fmt.Sprintf("%+v", v.Any())
	if text := h.r.String(was); text != was {
		return slog.StringValue(text)
	}
	return v
}
