// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pipelinetest holds what tests of the whole pipeline share: the sample
// supplier, a run of it, and sources that fail as a test says.
package pipelinetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Kervalec is the sample supplier whose record holds personal data.
const Kervalec = "Transports Kervalec"

// Main runs a package's tests and fails where one of them leaves a goroutine behind.
func Main(m *testing.M) { goleak.VerifyTestMain(stopsClock{m}) }

// stopsClock ends the goroutine that times regexp2 matches.
type stopsClock struct{ *testing.M }

func (s stopsClock) Run() int {
	code := s.M.Run()
	regexp2.StopTimeoutClock()
	return code
}

// EachForm runs a test with the guards on the agents and on the runner, streaming
// and not.
func EachForm(t *testing.T, test func(t *testing.T, o pipeline.Options)) {
	t.Helper()
	for _, asPlugin := range []bool{false, true} {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("plugin=%v,streaming=%v", asPlugin, streaming), func(t *testing.T) {
				test(t, pipeline.Options{Setup: agents.Setup{Model: offline.Model{}, AsPlugin: asPlugin}, Streaming: streaming})
			})
		}
	}
}

// Sample returns a client of the sample data.
func Sample(t *testing.T) *sources.Client {
	t.Helper()
	c, err := sources.New(sources.Options{})
	require.NoError(t, err)
	return c
}

// Subject resolves a name that the sources know.
func Subject(t *testing.T, c *sources.Client, name string) supplier.Subject {
	t.Helper()
	r := c.Resolve(t.Context(), name)
	require.Equal(t, supplier.StatusResolved, r.Status, r.Detail)
	return r.Subject
}

// Research runs the pipeline on a name, on the sample data unless o names sources.
func Research(t *testing.T, o pipeline.Options, name string) *pipeline.Outcome {
	t.Helper()
	if o.Sources == nil {
		o.Sources = Sample(t)
	}
	p, err := pipeline.New(o)
	require.NoError(t, err)
	out, err := p.Run(t.Context(), Subject(t, o.Sources, name), name)
	require.NoError(t, err)
	return out
}

// Only gives one agent a model of its own.
func Only(name string, m model.LLM) func(string) model.LLM {
	return func(agent string) model.LLM {
		if agent == name {
			return m
		}
		return nil
	}
}

// Sources serves the sample set over HTTP; fault answers in its place where it returns true.
func Sources(t *testing.T, fault func(w http.ResponseWriter, r *http.Request) bool) *sources.Client {
	t.Helper()
	h := sources.SampleHandler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault == nil || !fault(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	c, err := sources.New(sources.Options{
		Mode: sources.ModeLive, AllowPrivateHosts: true, RetryWait: time.Microsecond,
		BaseURLs: sources.BaseURLs{RechercheEntreprises: srv.URL, BODACC: srv.URL, Ratios: srv.URL, AssetFreezes: srv.URL, GDELT: srv.URL, GLEIF: srv.URL, VIES: srv.URL},
		Clock:    func() time.Time { return sources.SampleDate },
	})
	require.NoError(t, err)
	t.Cleanup(srv.CloseClientConnections)
	return c
}
