// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"code.dny.dev/ssrf"
	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"

	"github.com/gardefou/gardefou/internal/httpclient"
)

const (
	maxRetries    = 2                // of a 5xx or a network failure
	maxRetryAfter = 10 * time.Second // the longest wait a source may ask for
)

type limiter = rate.Limiter

func newLimiter(perSecond float64) *limiter { return rate.NewLimiter(rate.Limit(perSecond), 1) }

func newHTTP(transport http.RoundTripper, retryWait time.Duration) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   httpclient.New(0, transport),
		RetryMax:     maxRetries,
		RetryWaitMin: retryWait,
		CheckRetry:   checkRetry,
		Backoff:      backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

func newTransport(o Options) http.RoundTripper {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !o.AllowPrivateHosts {
		dialer.Control = ssrf.New().Safe
	}
	return &http.Transport{
		DialContext:           dialer.DialContext, // Proxy stays nil: an environment variable must not reroute look-ups
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: o.Timeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
	}
}

// limited is the context key under which one look-up remembers that it already
// waited for a 429.
type limitedKey struct{}

func checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.As(err, new(replayedError)), errors.Is(err, httpclient.ErrRedirect), errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return false, err
	case err != nil:
		return true, nil
	case resp.StatusCode == http.StatusTooManyRequests:
		waited, ok := ctx.Value(limitedKey{}).(*bool)
		again := ok && !*waited
		if again {
			*waited = true
		}
		return again, nil
	}
	return resp.StatusCode >= 500, nil
}

// backoff waits what a 429 asks for, ten seconds at most, and otherwise doubles
// from the configured wait.
func backoff(minWait, _ time.Duration, attempt int, resp *http.Response) time.Duration {
	if resp != nil && resp.StatusCode == http.StatusTooManyRequests {
		return min(retryAfter(resp.Header.Get("Retry-After"), minWait), maxRetryAfter)
	}
	return minWait << attempt
}

func retryAfter(header string, otherwise time.Duration) time.Duration {
	if s, err := strconv.Atoi(header); err == nil && s >= 0 {
		return time.Duration(min(s, 3600)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return otherwise
}

// notFoundAs says what a 404 means to a look-up.
type notFoundAs bool

const (
	gone    notFoundAs = false // the address itself: the source is not there
	nothing notFoundAs = true  // the thing asked for by its id
)

// get asks src once and fills the envelope up to, and without, the meaning of
// the body. A nil body means that the envelope already tells the outcome.
func (c *Client) get(ctx context.Context, src source, path string, params url.Values, on404 notFoundAs) (Envelope, []byte) {
	env := Envelope{
		Source: src.name, Licence: src.licence, Status: StatusOK, Evidence: []Evidence{},
		Query: Query{URL: src.base + path, Params: params},
	}
	if src.limit != nil {
		if err := src.limit.Wait(ctx); err != nil {
			env.RetrievedAt = c.now()
			env.fail(StatusUnavailable, FailCancelled, "the run ended before this source could be asked")
			return env, nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, limitedKey{}, new(bool)), c.options.Timeout)
	defer cancel()
	env.RetrievedAt = c.now()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, env.Query.link(), nil)
	if err != nil {
		env.fail(StatusUnavailable, FailNetwork, "the address could not be built")
		return env, nil
	}
	req.Header.Set("User-Agent", c.options.UserAgent)
	req.Header.Set("Accept", "application/json, text/plain;q=0.5")
	resp, err := c.http.Do(req)
	if err != nil {
		if resp != nil {
			_ = resp.Body.Close() // the failure is told below
		}
		env.failNetwork(ctx, err)
		return env, nil
	}
	defer func() { _ = resp.Body.Close() }() // read to its end or given up
	if at, err := time.Parse(time.RFC3339, resp.Header.Get(retrievedHeader)); err == nil && c.vault != nil {
		env.RetrievedAt = at
	}
	if resp.StatusCode != http.StatusOK {
		env.failHTTP(resp.StatusCode, on404)
		return env, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, src.maxBody+1))
	switch {
	case err != nil:
		env.failNetwork(ctx, err)
		return env, nil
	case int64(len(body)) > src.maxBody:
		env.fail(StatusInvalid, FailTooLarge, fmt.Sprintf("the answer is larger than %d bytes", src.maxBody))
		return env, nil
	}
	sum := sha256.Sum256(body)
	env.SHA256 = hex.EncodeToString(sum[:])
	// Some sources call their plain text a page and some portals call their
	// page JSON: the first character tells.
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		env.fail(StatusInvalid, FailNotJSON, "the source sent a web page instead of data")
		return env, nil
	}
	return env, body
}

func (c *Client) now() time.Time { return c.options.Clock().UTC().Truncate(time.Second) }

func (e *Envelope) failNetwork(ctx context.Context, err error) {
	var timeout net.Error
	var replayed replayedError
	if errors.As(err, &replayed) {
		e.failCode(replayed.code)
		return
	}
	switch {
	case errors.Is(err, httpclient.ErrRedirect):
		e.fail(StatusInvalid, FailRedirect, "the source redirects to another host or scheme")
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork):
		e.failCode(FailBlocked)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.failCode(FailTimeout)
	case ctx.Err() != nil:
		e.fail(StatusUnavailable, FailCancelled, "the run ended while this source was asked")
	case errors.As(err, &timeout) && timeout.Timeout():
		e.failCode(FailTimeout)
	default:
		e.failCode(FailNetwork)
	}
}

// failCode tells a failure of the transport the same way whether it happens or
// is replayed.
func (e *Envelope) failCode(code string) {
	switch code {
	case FailBlocked:
		e.fail(StatusInvalid, code, "the source's host name leads to a private or reserved address")
	case FailTimeout:
		e.fail(StatusUnavailable, code, "no whole answer in time")
	case FailNotRecorded:
		e.fail(StatusUnavailable, code, "the recording does not hold this answer")
	default:
		e.fail(StatusUnavailable, FailNetwork, "the connection failed")
	}
}

func (e *Envelope) failHTTP(code int, on404 notFoundAs) {
	text := "the source answered HTTP " + strconv.Itoa(code)
	switch {
	case code == http.StatusNotFound && on404 == nothing:
		e.Status = StatusNotFound
	case code == http.StatusTooManyRequests:
		e.fail(StatusRateLimited, FailRateLimit, text)
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity, code < 400:
		e.fail(StatusInvalid, FailHTTPStatus, text)
	default:
		e.fail(StatusUnavailable, FailHTTPStatus, text)
	}
}
