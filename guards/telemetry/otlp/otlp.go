// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package otlp sends what package telemetry and ADK tell OpenTelemetry to a collector,
// over HTTP, as the standard environment variables say (OTEL_EXPORTER_OTLP_ENDPOINT,
// _HEADERS, _TRACES_ENDPOINT, OTEL_SERVICE_NAME, …).
package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gardefou/gardefou/internal/httpclient"
)

// Configured says whether the environment names a collector.
func Configured() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"} {
		if strings.TrimSpace(os.Getenv(name)) != "" {
			return true
		}
	}
	return false
}

// Options are the options of [Start].
type Options struct {
	// Service and Version name the program; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
	// override them. Required.
	Service, Version string
	// OnError is told what could not be sent. Nil drops it.
	OnError func(error)
}

// Start sends spans and metrics from now on: it sets OpenTelemetry's global providers,
// from which ADK takes its own. Spans pass [Filter]. The function it returns sends what
// is left, as long as its context allows, and stops.
//
// It fails open: a collector that is down costs telemetry, never a run. No redirect to
// another host or scheme is followed, and a header that may hold a key is refused where it
// would leave this machine over plain HTTP.
func Start(ctx context.Context, o Options) (shutdown func(context.Context) error, err error) {
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", o.Service), attribute.String("service.version", o.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	if err := confidential(); err != nil {
		return nil, err
	}
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithProxy(httpclient.Proxy))
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithProxy(httpclient.Proxy))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("otlp: %w", err), spans.Shutdown(ctx))
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(Filter(spans)))
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)))
	otel.SetTracerProvider(tp)
	otel.SetMeterProvider(mp)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if o.OnError != nil {
			o.OnError(err)
		}
	}))
	return func(ctx context.Context) error { return errors.Join(tp.Shutdown(ctx), mp.Shutdown(ctx)) }, nil
}

// confidential refuses a header with a key that would leave this machine over plain HTTP.
func confidential() error {
	for _, signal := range []string{"TRACES_", "METRICS_"} {
		value := func(name string) string {
			if v := os.Getenv("OTEL_EXPORTER_OTLP_" + signal + name); v != "" {
				return v
			}
			return os.Getenv("OTEL_EXPORTER_OTLP_" + name)
		}
		u, err := url.Parse(strings.TrimSpace(value("ENDPOINT")))
		if err != nil || u.Scheme != "http" || httpclient.Confidential(u) {
			continue
		}
		for header := range strings.SplitSeq(value("HEADERS"), ",") {
			name, _, _ := strings.Cut(header, "=")
			for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password"} {
				if strings.Contains(strings.ToLower(name), word) {
					return fmt.Errorf("otlp: the header %s would go to %s over plain http, where others can read it on the way: use https", strings.TrimSpace(name), u.Host)
				}
			}
		}
	}
	return nil
}
