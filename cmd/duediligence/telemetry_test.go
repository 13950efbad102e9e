// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/standin"
)

// collector is an OTLP receiver: it decodes what it is sent.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	raw     []byte
	bad     []string
	traces  []*tracepb.ExportTraceServiceRequest
	metrics []*metricpb.ExportMetricsServiceRequest
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	data, err := io.ReadAll(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, data...)
	var answer proto.Message
	switch {
	case err != nil:
	case r.URL.Path == "/v1/traces":
		req := &tracepb.ExportTraceServiceRequest{}
		err = proto.Unmarshal(data, req)
		c.traces, answer = append(c.traces, req), &tracepb.ExportTraceServiceResponse{}
	case r.URL.Path == "/v1/metrics":
		req := &metricpb.ExportMetricsServiceRequest{}
		err = proto.Unmarshal(data, req)
		c.metrics, answer = append(c.metrics, req), &metricpb.ExportMetricsServiceResponse{}
	default:
		c.bad = append(c.bad, r.URL.Path)
	}
	if err != nil || answer == nil || r.Header.Get("x-team") != "buyers" {
		c.bad = append(c.bad, r.URL.Path)
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	out, _ := proto.Marshal(answer)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
}

func attr(list []*commonpb.KeyValue, key string) string {
	for _, kv := range list {
		if kv.Key == key {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

// One run that is refused its last calls, watched by a collector: the spans carry the
// decision, the counters say what the journal says, and nothing of the supplier leaves.
func TestTelemetryReachesACollector(t *testing.T) {
	c := newCollector(t)
	s := standin.Gemini(t, offline.Model{}, nil)
	t.Setenv("GEMINI_API_KEY", standin.Key)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=buyers")
	t.Setenv("OTEL_SERVICE_NAME", "buying")
	file := filepath.Join(t.TempDir(), "j.jsonl")
	r := finish(t, process(t, "--journal", file, "--model", "gemini-2.5-flash", "--base-url", s.URL, "--budget", "1", "--max-calls", "7", "Transports Kervalec"))
	require.Equal(t, exitExhausted, r.code, r.stderr)
	require.NotContains(t, r.stderr, "elemetry")
	want, err := journal.Count(journal.FileEntries(file))
	require.NoError(t, err)

	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(t, c.bad)
	operations, decisions := map[string]int{}, map[string]int{}
	for _, req := range c.traces {
		for _, rs := range req.ResourceSpans {
			require.Equal(t, "buying", attr(rs.Resource.Attributes, "service.name"))
			for _, ss := range rs.ScopeSpans {
				for _, span := range ss.Spans {
					operations[attr(span.Attributes, "gen_ai.operation.name")]++
					for _, ev := range span.Events {
						require.Equal(t, "gardefou.decision", ev.Name)
						decisions[attr(ev.Attributes, "gardefou.guard")]++
					}
				}
			}
		}
	}
	calls, tools, refusals := 0, 0, 0
	for _, a := range want.Agents {
		calls += a.Calls
		refusals += a.Refusals
	}
	for _, x := range want.Tools {
		tools += x.Calls
	}
	require.Positive(t, decisions["run_call_budget"], decisions)
	require.GreaterOrEqual(t, operations["generate_content"], calls)
	require.Equal(t, tools, operations["execute_tool"])

	got := map[string]float64{}
	for _, req := range c.metrics {
		for _, rm := range req.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					for _, p := range m.GetSum().GetDataPoints() {
						got[m.Name+" "+attr(p.Attributes, "gardefou.step")] += float64(p.GetAsInt()) + p.GetAsDouble()
					}
					for _, p := range m.GetHistogram().GetDataPoints() {
						got[m.Name+" "+attr(p.Attributes, "gen_ai.token.type")] += p.GetSum()
						got[m.Name+" count"] += float64(p.GetCount())
					}
				}
			}
		}
	}
	var in, out int64
	for _, a := range want.Agents {
		in, out = in+a.In, out+a.Out+a.Thinking
	}
	charged := float64(want.Charged) / 1e9
	require.InDelta(t, calls, got["gardefou.calls model"], 0)
	require.InDelta(t, tools, got["gardefou.calls tool"], 0)
	require.InDelta(t, refusals, got["gardefou.refusals model"]+got["gardefou.refusals agent"]+got["gardefou.refusals tool"], 0)
	require.InDelta(t, in, got["gen_ai.client.token.usage input"], 0)
	require.InDelta(t, out, got["gen_ai.client.token.usage output"], 0)
	require.InDelta(t, charged, got["gardefou.cost.charged "], 1e-9)
	require.Positive(t, charged)
	require.InDelta(t, 1, got["gardefou.runs "], 0)
	require.InDelta(t, calls+tools, got["gen_ai.client.operation.duration count"], 0)
	require.InDelta(t, calls+tools, got["gardefou.chain.duration count"], 0)

	for _, secret := range []string{"KERVALEC", "Kervalec", "999991011", standin.Key, "Le Goff", "lookup of"} {
		require.NotContains(t, string(c.raw), secret)
	}
}

// A collector that is not there costs telemetry, not the run.
func TestNoCollectorNoHarm(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
	r := finish(t, process(t, "--format", "json", "Transports Kervalec"))
	require.Equal(t, exitOK, r.code, r.stderr)
	require.True(t, json.Valid([]byte(r.stdout)))
	t.Setenv("OTEL_SDK_DISABLED", "true")
	require.NotContains(t, finish(t, process(t, "Transports Kervalec")).stderr, "elemetry")
}
