// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"encoding/json"
	"maps"
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
	overrides []string

	mu        sync.Mutex
	contacted map[string]bool
}

// Mode returns where the answers come from.
func (c *Client) Mode() Mode { return c.options.Mode }

// AsOf returns the day the facts are judged at, midnight UTC.
func (c *Client) AsOf() time.Time { return c.options.AsOf }

// Hosts returns the hosts contacted so far, sorted; none in ModeSample.
func (c *Client) Hosts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.contacted))
}

// Overrides returns "source=address" for each source that is not read at its
// official address; a report has to print them.
func (c *Client) Overrides() []string { return slices.Clone(c.overrides) }

func (c *Client) contacting(host string) {
	if c.options.Mode == ModeSample {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.contacted[host] = true
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
