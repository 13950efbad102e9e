// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"io"
	"net/http"
	"regexp"
	"sync"
)

// TapResponseIDs is a transport for the HTTP client of a Gemini model under [Spend]: it
// reads the response's id as it passes, which ADK drops, so that Spend can keep it with
// the charge and a bill can be compared line by line. It also notes the HTTP status,
// without which Spend cannot tell an error status, which is free, from an error inside a
// streamed answer, which is not: it charges both. The answer itself is not changed or held
// up. Nil is http.DefaultTransport. It is safe for concurrent use; calls that Spend did
// not make pass untouched.
func TapResponseIDs(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return responseIDTap{next}
}

type responseIDTap struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t responseIDTap) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if id, ok := req.Context().Value(responseIDKey{}).(*responseID); ok && err == nil {
		id.answered(resp.StatusCode)
		resp.Body = &tappedBody{ReadCloser: resp.Body, id: id}
	}
	return resp, err
}

type responseIDKey struct{}

// responseID is where the tap leaves what it read for the call that made the request.
type responseID struct {
	mu     sync.Mutex
	value  string
	status int // 0 where no answer passed the tap
}

func (r *responseID) answered(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *responseID) httpStatus() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

func (r *responseID) set(v string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.value = v
}

func (r *responseID) get() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

// A quote inside a JSON string is escaped, so text that the model wrote can't match.
var responseIDField = regexp.MustCompile(`"responseId"\s*:\s*"([\w.-]{1,100})"`)

// mostOfResponseID bounds what is kept of the body: a field that a read cut in two.
const mostOfResponseID = 160

type tappedBody struct {
	io.ReadCloser
	id   *responseID
	tail []byte
	done bool
}

// Read implements io.Reader.
func (b *tappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.done || n == 0 {
		return n, err
	}
	b.tail = append(b.tail, p[:n]...)
	if m := responseIDField.FindSubmatch(b.tail); m != nil {
		b.id.set(string(m[1]))
		b.done, b.tail = true, nil
		return n, err
	}
	if over := len(b.tail) - mostOfResponseID; over > 0 {
		b.tail = append(b.tail[:0], b.tail[over:]...)
	}
	return n, err
}
