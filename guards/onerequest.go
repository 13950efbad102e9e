// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"mime"
	"net/http/httptrace"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// ErrClientRetry is wrapped by the error of a model call under [Spend] or [CallBudget] in
// which a second request was made by the model's client library, or by net/http after a
// connection broke. That request was not sent: it would have been billed and counted by
// nothing. Turn the client's retries off, with option.WithMaxRetries(0) for openai-go, and
// put [Retry] before the limits: each of its attempts is counted and paid for. The error
// is [Transient].
var ErrClientRetry = errors.New("a second request for one model call")

// wire is the network's side of one model call. It sees the requests through the hooks
// that net/http looks for in a context, so it works below any client library and without
// its help, and lets one request with a body pass. Requests for an access token, which
// are forms or have no body, are not counted. A client that does not use net/http is not
// seen. The zero value is ready for one call.
type wire struct {
	mu    sync.Mutex
	stop  context.CancelFunc
	to    string          // where the connection asked for last leads
	sent  map[string]bool // where a request with a body went
	asked int             // connections that were asked for
	got   int             // connections that were had
	again bool
}

// generate makes a call in which one request passes.
func (w *wire) generate(ctx context.Context, m model.LLM, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		w.stop = stop
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GetConn: w.getConn, GotConn: w.gotConn, WroteHeaderField: w.wroteHeader,
		})
		for resp, err := range m.GenerateContent(ctx, req, stream) {
			if err != nil && w.askedAgain() {
				// What the client made of its second request is of no interest.
				err = fmt.Errorf("guards: %w: it was not sent; turn off the retries of the client of %s and use Retry, which counts them", ErrClientRetry, m.Name())
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

func (w *wire) getConn(address string) {
	w.mu.Lock()
	w.asked++
	w.to = address
	again := w.sent[address]
	w.again = w.again || again
	w.mu.Unlock()
	if again {
		w.stop()
	}
}

// gotConn is called when the request is about to be written. HTTP/2 looks at the context
// once more before it does; HTTP/1 does not, but has the connection to itself.
func (w *wire) gotConn(info httptrace.GotConnInfo) {
	w.mu.Lock()
	w.got++
	again := w.again && w.sent[w.to]
	w.mu.Unlock()
	if t, ok := info.Conn.(*tls.Conn); again && info.Conn != nil && (!ok || t.ConnectionState().NegotiatedProtocol != "h2") {
		_ = info.Conn.Close() // the request fails for it
	}
}

// wroteHeader is called before the header leaves.
func (w *wire) wroteHeader(key string, values []string) {
	if !strings.EqualFold(key, "Content-Type") || len(values) == 0 {
		return
	}
	if kind, _, err := mime.ParseMediaType(values[0]); err == nil && kind == "application/x-www-form-urlencoded" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent == nil {
		w.sent = make(map[string]bool)
	}
	w.sent[w.to] = true
}

func (w *wire) askedAgain() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.again
}

// neverLeft reports that a connection was asked for and none was had. It is false where
// nothing was seen: that proves nothing.
func (w *wire) neverLeft() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked > 0 && w.got == 0
}

// once is a request that genai's client sends once, whatever the client was set up with.
// The request itself is not changed.
func once(req *model.LLMRequest) *model.LLMRequest {
	if req == nil {
		return nil
	}
	c := struct {
		req  model.LLMRequest
		cfg  genai.GenerateContentConfig
		opts genai.HTTPOptions
	}{req: *req} // in one piece
	if req.Config != nil {
		c.cfg = *req.Config
	}
	if c.cfg.HTTPOptions != nil {
		c.opts = *c.cfg.HTTPOptions
	}
	// Nil would leave the client's own retries on, and its automatic continuation.
	c.opts.RetryOptions = &genai.HTTPRetryOptions{Attempts: genai.Ptr[int32](1)}
	c.cfg.AutomaticContinuation = new(bool)
	c.cfg.HTTPOptions = &c.opts
	c.req.Config = &c.cfg
	return &c.req
}
