// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models

import "net/http"

// ownHeaders sends the headers of a model call and no others: the client library takes
// further ones, keys among them, from variables of the environment, and can't be kept from
// reading it.
type ownHeaders struct {
	next http.RoundTripper // nil means Go's default
	key  string
}

// RoundTrip implements http.RoundTripper.
func (h ownHeaders) RoundTrip(req *http.Request) (*http.Response, error) {
	own := req.Clone(req.Context())
	own.Header = http.Header{
		"Accept":        {"application/json, text/event-stream"},
		"Authorization": {"Bearer " + h.key},
		"Content-Type":  {"application/json"},
		"User-Agent":    {"gardefou"},
	}
	next := h.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(own)
}
