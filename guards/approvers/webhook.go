// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package approvers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/httpclient"
)

// WebhookOptions are the options of [NewWebhook].
type WebhookOptions struct {
	// URL is where questions are posted. Required: https, or http.
	URL string
	// Secret signs questions and answers, in the form "whsec_" and base64. Required, of
	// 24 bytes at least; who has it can approve.
	Secret string
	// Client posts the questions. Nil is one with a time-out of 30 seconds. No redirect to
	// another host or scheme is followed, whatever the client allows.
	Client *http.Client
}

// A Webhook asks over HTTP. It posts each question as JSON, a guards.Question, to a URL,
// and is itself the handler to which the answer is posted back, a guards.Answer as JSON.
// Both are signed as the Standard Webhooks specification 1.0 says, by the headers
// webhook-id, webhook-timestamp and webhook-signature. Answers older than five minutes
// are refused.
//
// The handler answers 204 to the first valid answer; 401 where the signature is not right;
// 404 where nobody waits for the answer, 409 where it was given before, 422 where it names
// another call than the question, which stays open. It is safe for concurrent use.
type Webhook struct {
	url    string
	sign   *standardwebhooks.Webhook
	client *http.Client

	mu   sync.Mutex
	open map[string]*openQuestion
	// answered are ids of questions that had their answer, until they would have timed out.
	answered map[string]time.Time
}

type openQuestion struct {
	call   string
	until  time.Time
	answer chan guards.Answer
}

const maxAnswer = 64 << 10

// NewWebhook returns an approver that is also the handler of its answers.
func NewWebhook(o WebhookOptions) (*Webhook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("approvers: NewWebhook: the URL must be absolute, http or https")
	}
	sign, err := standardwebhooks.NewWebhook(o.Secret)
	if err != nil {
		return nil, errors.New("approvers: NewWebhook: the secret is not whsec_ and base64")
	}
	// 32 characters of base64 are 24 bytes, the least the specification allows.
	if len(o.Secret) < len("whsec_")+32 {
		return nil, errors.New("approvers: NewWebhook: the secret has less than 24 bytes")
	}
	client := httpclient.New(30*time.Second, nil)
	if o.Client != nil {
		client = httpclient.Stay(o.Client)
	}
	return &Webhook{url: o.URL, sign: sign, client: client, open: make(map[string]*openQuestion), answered: make(map[string]time.Time)}, nil
}

// Ask implements guards.Approver.
func (w *Webhook) Ask(ctx context.Context, q guards.Question) (guards.Answer, error) {
	open := &openQuestion{call: q.Call, until: q.Until, answer: make(chan guards.Answer, 1)}
	w.mu.Lock()
	w.open[q.ID] = open
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.open, q.ID)
		w.mu.Unlock()
	}()
	if err := w.post(ctx, q); err != nil {
		return guards.Answer{}, err
	}
	select {
	case a := <-open.answer:
		return a, nil
	case <-ctx.Done():
		return guards.Answer{}, ctx.Err()
	}
}

func (w *Webhook) post(ctx context.Context, q guards.Question) error {
	body, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("approvers: writing a question: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("approvers: posting a question: %w", err)
	}
	if err := w.SignRequest(req, q.ID, body); err != nil {
		return err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return fmt.Errorf("approvers: posting a question: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("approvers: posting a question: %s", resp.Status)
	}
	return nil
}

// SignRequest puts the headers of a signed message on req, whose body is body. A front
// end written in Go signs its answers with it, id being of its own choice.
func (w *Webhook) SignRequest(req *http.Request, id string, body []byte) error {
	now := time.Now()
	signature, err := w.sign.Sign(id, now, body)
	if err != nil {
		return fmt.Errorf("approvers: signing: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(standardwebhooks.HeaderWebhookID, id)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}

// ServeHTTP takes an answer.
func (w *Webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		rw.Header().Set("Allow", http.MethodPost)
		http.Error(rw, "post the answer", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxAnswer))
	if err != nil {
		http.Error(rw, "the answer is too long, or broke off", http.StatusBadRequest)
		return
	}
	if err := w.sign.Verify(body, r.Header); err != nil {
		http.Error(rw, "the signature is missing, wrong or too old", http.StatusUnauthorized)
		return
	}
	var a guards.Answer
	if err := json.Unmarshal(body, &a); err != nil {
		http.Error(rw, "the answer is not JSON", http.StatusBadRequest)
		return
	}
	if status, why := w.take(a); status != http.StatusNoContent {
		http.Error(rw, why, status)
		return
	}
	rw.WriteHeader(http.StatusNoContent)
}

func (w *Webhook) take(a guards.Answer) (status int, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for id, until := range w.answered {
		if now.After(until) {
			delete(w.answered, id)
		}
	}
	if _, ok := w.answered[a.Question]; ok {
		return http.StatusConflict, "the question was answered before"
	}
	open, ok := w.open[a.Question]
	switch {
	case !ok:
		return http.StatusNotFound, "nobody waits for this answer"
	case open.call != a.Call:
		return http.StatusUnprocessableEntity, "the answer is to another call"
	}
	w.answered[a.Question] = open.until
	open.answer <- a
	return http.StatusNoContent, ""
}
