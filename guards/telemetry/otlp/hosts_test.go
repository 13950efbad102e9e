// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/gardefou/gardefou/guards/telemetry/otlp"
)

// Neither spans nor the headers of the collector go where it redirects to.
func TestNoRedirectTakesTelemetryElsewhere(t *testing.T) {
	t.Cleanup(func() {
		otel.SetTracerProvider(tracenoop.NewTracerProvider())
		otel.SetMeterProvider(noop.NewMeterProvider())
	})
	var asked, arrived atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", first.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
	stop, err := otlp.Start(t.Context(), otlp.Options{Service: "x", Version: "1"})
	require.NoError(t, err)
	_, span := otel.Tracer("x").Start(t.Context(), "work")
	span.End()
	counter, err := otel.Meter("x").Int64Counter("n")
	require.NoError(t, err)
	counter.Add(t.Context(), 1)
	require.Error(t, stop(context.WithoutCancel(t.Context())))
	require.Positive(t, asked.Load())
	require.Zero(t, arrived.Load())
}

// A header that may hold a key is refused where it would cross a network in the clear.
func TestNoKeyOfACollectorGoesOverPlainHTTP(t *testing.T) {
	for _, tc := range []struct {
		endpoint, headers string
		refused           bool
	}{
		{"http://collector.example.com:4318", "Authorization=Bearer%20x", true},
		{"http://collector.example.com:4318", "x-team=buyers,x-api-key=abc", true},
		{"http://collector.example.com:4318", "x-team=buyers", false},
		{"https://collector.example.com:4318", "authorization=x", false},
		{"http://127.0.0.1:4318", "authorization=x", false},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", tc.endpoint)
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", tc.headers)
		stop, err := otlp.Start(t.Context(), otlp.Options{Service: "x", Version: "1"})
		if tc.refused {
			require.ErrorContains(t, err, "plain http", tc.headers)
			require.NotContains(t, err.Error(), "abc")
			continue
		}
		require.NoError(t, err, tc.headers)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		_ = stop(canceled) // nothing is there to be sent to
	}
}
