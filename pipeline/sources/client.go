// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Client asks the sources. Make one with [New]; it is safe for concurrent use.
type Client struct {
	options   Options
	http      *retryablehttp.Client
	recherche source
	bodacc    source
	ratios    source
	freezes   source
	gdelt     source
	gleif     source
	vies      source
	overrides []string

	vault        *vault       // nil when the mode keeps nothing
	storeError   func() error // nil likewise
	freezeHolder freezeHolder

	mu        sync.Mutex
	contacted map[string]bool
}

// Mode returns where the answers come from.
func (c *Client) Mode() Mode { return c.options.Mode }

// AsOf returns the day the facts are judged at, midnight UTC.
func (c *Client) AsOf() time.Time { return c.options.AsOf }

// Hosts returns the hosts contacted so far, sorted; none in the
// modes without a network, and none whose answers all came from the cache.
func (c *Client) Hosts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.contacted))
}

// Overrides returns "source=address" for each source that is not read at its
// official address; a report has to print them.
func (c *Client) Overrides() []string { return slices.Clone(c.overrides) }

// closeIdle lets go of the idle connections of the transport under a wrapper,
// which http.Client finds by this method's name.
func closeIdle(t http.RoundTripper) {
	if c, ok := t.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// CloseIdleConnections passes on.
func (t hostLog) CloseIdleConnections() { closeIdle(t.next) }

// StoreError returns the first failure to keep an answer, for a recording that
// is not whole or a cache that does not work. The look-ups themselves are not
// affected.
func (c *Client) StoreError() error {
	if c.storeError == nil {
		return nil
	}
	return c.storeError()
}

// Close lets go of the folder that the mode works with and of idle connections.
func (c *Client) Close() error {
	c.http.HTTPClient.CloseIdleConnections()
	if c.vault == nil {
		return nil
	}
	return c.vault.root.Close()
}

// hostLog notes every host that is really asked.
type hostLog struct {
	next   http.RoundTripper
	client *Client
}

// RoundTrip notes the host and goes on.
func (t hostLog) RoundTrip(req *http.Request) (*http.Response, error) {
	t.client.mu.Lock()
	t.client.contacted[req.URL.Hostname()] = true
	t.client.mu.Unlock()
	return t.next.RoundTrip(req)
}

// toMap gives v the shape a tool returns to a model.
func toMap(v any) map[string]any {
	b, err := json.Marshal(v)
	if err != nil {
		panic("sources: facts are plain values: " + err.Error()) // no channel, no cycle, no NaN
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		panic("sources: facts are objects: " + err.Error())
	}
	return m
}
