// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package httpclient makes the HTTP clients of this module. A client of it stays with the
// host it was pointed at: what a request carries, a key, a prompt or a question to a
// person, is meant for that host only.
package httpclient

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// maxRedirects is how many redirects within its host a request follows.
const maxRedirects = 3

// ErrRedirect is the error of a request that was redirected to another host or scheme, or
// too often.
var ErrRedirect = errors.New("redirect to another host or scheme")

// New returns a client that follows no redirect to another host or scheme. Zero timeout
// means none, nil transport Go's default.
func New(timeout time.Duration, transport http.RoundTripper) *http.Client {
	return &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: sameHost}
}

// Stay returns a copy of c that follows no redirect to another host or scheme either; what
// c itself refuses stays refused.
func Stay(c *http.Client) *http.Client {
	own := c.CheckRedirect
	stays := *c
	stays.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if err := sameHost(req, via); err != nil {
			return err
		}
		if own != nil {
			return own(req, via)
		}
		return nil
	}
	return &stays
}

func sameHost(req *http.Request, via []*http.Request) error {
	if !same(req.URL, via[0].URL) || len(via) > maxRedirects {
		return ErrRedirect
	}
	return nil
}

func same(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// Proxy is http.ProxyFromEnvironment for a client that can't be made by [New], because a
// library makes it: it refuses the request that a redirect to another host or scheme asks
// for.
func Proxy(req *http.Request) (*url.URL, error) {
	if before := req.Response; before != nil && (before.Request == nil || !same(req.URL, before.Request.URL)) {
		return nil, ErrRedirect
	}
	return http.ProxyFromEnvironment(req)
}

// Confidential reports whether what is sent to u can't be read on the way: it goes over
// TLS, or to this machine.
func Confidential(u *url.URL) bool { return u.Scheme == "https" || Loopback(u.Host) }

// Loopback reports whether a host, with or without a port, is this machine by its name.
func Loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
