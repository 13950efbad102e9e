// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"io"
	"net/http"
)

// handlerTransport answers requests with a handler in this process, so that the
// clients read the sample set the way they read the network.
type handlerTransport struct{ handler http.Handler }

// RoundTrip runs the handler to its end and returns what it wrote.
func (t handlerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	w := &memoryWriter{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, req)
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: req,
	}, nil
}

type memoryWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *memoryWriter) Header() http.Header         { return w.header }
func (w *memoryWriter) WriteHeader(status int)      { w.status = status }
func (w *memoryWriter) Write(b []byte) (int, error) { return w.body.Write(b) }
