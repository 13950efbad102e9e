// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"code.dny.dev/ssrf"
)

// keeper remembers the first failure to store an answer.
type keeper struct {
	mu  sync.Mutex
	err error
}

func (k *keeper) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

func (k *keeper) first() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// readAnswer reads a whole answer, as far as the largest cap, and puts it back.
func readAnswer(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList+1))
	closeErr := resp.Body.Close()
	if err = errors.Join(err, closeErr); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// recordTransport asks the network and keeps every answer, failures included;
// of several attempts at one request the last stays.
type recordTransport struct {
	next  http.RoundTripper
	vault *vault
	clock func() time.Time
	keeper
}

// RoundTrip asks and stores.
func (t *recordTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s := stored{RetrievedAt: t.clock()}
	var body []byte
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		body, err = readAnswer(resp)
	}
	if err != nil {
		if s.Failure = failureCode(req, err); s.Failure != "" {
			t.store(req, s, nil)
		}
		return nil, err
	}
	s.Status, s.ContentType, s.Location = resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("Location")
	t.store(req, s, body)
	return resp, nil
}

// CloseIdleConnections passes on.
func (t *recordTransport) CloseIdleConnections() { closeIdle(t.next) }

func (t *recordTransport) store(req *http.Request, s stored, body []byte) {
	if err := t.vault.save(req, s, body); err != nil {
		t.note(err)
	}
}

// failureCode names what a replay has to repeat; "" for a run that was
// cancelled, which says nothing about the source.
func failureCode(req *http.Request, err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return FailBlocked
	case errors.As(err, &timeout) && timeout.Timeout():
		return FailTimeout
	case req.Context().Err() != nil:
		return ""
	}
	return FailNetwork
}

// replayTransport answers from a recording and asks nobody.
type replayTransport struct{ vault *vault }

// RoundTrip repeats what was recorded.
func (t replayTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s, body, ok := t.vault.load(req)
	switch {
	case !ok:
		return nil, replayedError{FailNotRecorded}
	case s.Failure != "":
		return nil, replayedError{s.Failure}
	}
	return s.response(req, body), nil
}

// replayedError is a failure that a recording repeats, or the lack of one.
type replayedError struct{ code string }

// Error names the code.
func (e replayedError) Error() string { return "recorded: " + e.code }

// cacheTransport answers from disk what was asked not long ago. It keeps only
// whole JSON answers with status 200, so that a login page or a torn answer is
// not believed for a day.
type cacheTransport struct {
	next  http.RoundTripper
	vault *vault
	ttl   time.Duration
	clock func() time.Time
	keeper
}

// RoundTrip looks on disk, then asks.
func (t *cacheTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s, body, ok := t.vault.load(req)
	if age := t.clock().Sub(s.RetrievedAt); ok && s.Status == http.StatusOK && age >= 0 && age < t.ttl {
		return s.response(req, body), nil
	}
	asked := t.clock()
	resp, err := t.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	if body, err = readAnswer(resp); err != nil {
		return nil, err
	}
	if len(body) <= maxList && json.Valid(body) {
		s := stored{RetrievedAt: asked.UTC().Truncate(time.Second), Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type")}
		if err := t.vault.save(req, s, body); err != nil {
			t.note(err)
		}
	}
	return resp, nil
}

// CloseIdleConnections passes on.
func (t *cacheTransport) CloseIdleConnections() { closeIdle(t.next) }
