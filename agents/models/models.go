// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package models makes the model a run uses from its name: the offline one, Gemini, or
// any server that speaks one of OpenAI's two protocols, a local one for confidential
// files say. The key stays inside the model: it is in no request, error or state of ours.
//
//	chat:NAME     /chat/completions, which nearly every server and gateway speaks
//	openai:NAME   /responses, OpenAI's newer protocol, which few others do
//
// A chat model takes text and declared functions; a request with media, with tools that a
// provider runs, or with a setting it does not know is refused with [ErrRequest], unsent.
// Its answer reports the tokens the server counted, in a stream too, cached ones and the
// service tier included; counts that are missing are missing, not zero. A stream that ends
// before the server said that the answer is finished is an error, and so is an answer
// with an error status: a [StatusError].
package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/model/openaimodel"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/httpclient"
)

// Names of models, or how they begin.
const (
	Offline      = "offline"
	GeminiPrefix = "gemini-"
	OpenAIPrefix = "openai:"
	ChatPrefix   = "chat:"
)

// OpenAIKeyVariable holds the key of a server that speaks one of OpenAI's protocols.
const OpenAIKeyVariable = "OPENAI_API_KEY"

// GeminiURL is where Gemini is served unless Options say otherwise.
const GeminiURL = "https://generativelanguage.googleapis.com"

// DefaultTimeout bounds one model call, its whole stream included.
const DefaultTimeout = 2 * time.Minute

// Options name a model.
type Options struct {
	// Name is "offline", "gemini-…", "openai:NAME" or "chat:NAME". Empty means offline.
	Name string
	// BaseURL is where the model is served, as [ServerURL] reads it. Empty means Google's own
	// address for Gemini; a server that speaks one of OpenAI's protocols needs one, with the
	// path before /responses or /chat/completions: "https://api.openai.com/v1".
	BaseURL string
	// Key is the API key. Empty is read from GEMINI_API_KEY or GOOGLE_API_KEY for
	// Gemini, OPENAI_API_KEY for the others, where a local server needs none.
	Key string
	// AllowHTTP is a host to which the key may go over plain HTTP, where anybody on the way
	// can read it. Empty means to this machine only; a server that is given no key may be
	// asked over plain HTTP anywhere.
	AllowHTTP string
	// Timeout bounds one call. Zero means DefaultTimeout; negative is an error.
	Timeout time.Duration
	// Transport carries the requests; nil means Go's default.
	Transport http.RoundTripper
}

// ErrOptions is the sentinel of options by which no model can be asked.
var ErrOptions = errors.New("models: invalid options")

// New returns the model that o names. No call is made. Each call is one HTTP
// request: retries belong to guards, which count them. No call follows a redirect to
// another host or scheme. From the environment comes the key, where Options have none, and
// nothing else: neither an address nor a header.
func New(ctx context.Context, o Options) (model.LLM, error) {
	if o.Timeout < 0 {
		return nil, fmt.Errorf("%w: time-out %s", ErrOptions, o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.BaseURL != "" {
		var err error
		if o.BaseURL, err = ServerURL(o.BaseURL); err != nil {
			return nil, err
		}
	}
	client := httpclient.New(o.Timeout, o.Transport)
	backend, bare := Billed(o.Name)
	switch {
	case o.Name == "" || o.Name == Offline:
		if o.BaseURL != "" {
			return nil, fmt.Errorf("%w: the offline model has no base URL", ErrOptions)
		}
		return offline.Model{}, nil
	case backend == geminiBackend:
		client.Transport = guards.TapResponseIDs(client.Transport)
		o.BaseURL = firstOf(o.BaseURL, GeminiURL) // not what the client library reads from the environment
		return newGemini(ctx, o, client)
	case backend == openAIBackend && strings.HasPrefix(o.Name, OpenAIPrefix):
		return newOpenAI(ctx, o, bare, client)
	case backend == openAIBackend:
		return newChat(o, bare, client)
	default:
		return nil, fmt.Errorf("%w: no such model: %q; use offline, gemini-NAME, openai:NAME or chat:NAME", ErrOptions, o.Name)
	}
}

// Backends, as price tables name them.
const (
	geminiBackend = "gemini"
	openAIBackend = "openai"
)

// Billed returns what a price table knows the model of that name by: the backend that bills
// its calls, as guards.SpendOptions and guards/prices.Query take it, and the model's name there,
// which is that of the model [New] makes and of its requests. A name by which nothing is
// billed, the offline model's or one that New refuses, is returned as it is, with no backend.
func Billed(name string) (backend, bare string) {
	if strings.HasPrefix(name, GeminiPrefix) {
		return geminiBackend, name
	}
	for _, prefix := range []string{OpenAIPrefix, ChatPrefix} {
		if bare, ok := strings.CutPrefix(name, prefix); ok && bare != "" {
			return openAIBackend, bare
		}
	}
	return "", name
}

// SpeaksOpenAI reports whether the model of that name is on a server that speaks one of
// OpenAI's protocols.
func SpeaksOpenAI(name string) bool {
	backend, _ := Billed(name)
	return backend == openAIBackend
}

// ServerURL returns the address of a model's server in full: http(s)://HOST/PATH without a
// user, a query or a fragment, since it is no secret. Where the scheme of an address of
// this machine is left out, "localhost:11434/v1", it is http. Any other is refused with
// ErrOptions.
func ServerURL(address string) (string, error) {
	if host, _, _ := strings.Cut(address, "/"); !strings.Contains(address, "://") && httpclient.Loopback(host) {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.ContainsAny(address, "?#") {
		return "", fmt.Errorf("%w: base URL must be http(s)://HOST/PATH without a user, a query or a fragment; a key belongs into the environment", ErrOptions)
	}
	return address, nil
}

func newGemini(ctx context.Context, o Options, client *http.Client) (model.LLM, error) {
	key := firstOf(o.Key, os.Getenv("GEMINI_API_KEY"), os.Getenv("GOOGLE_API_KEY"))
	if key == "" {
		return nil, fmt.Errorf("%w: %s needs a key in GEMINI_API_KEY or GOOGLE_API_KEY", ErrOptions, o.Name)
	}
	if err := o.mayCarryKey(); err != nil {
		return nil, err
	}
	m, err := gemini.NewModel(ctx, o.Name, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: client,
		HTTPOptions: genai.HTTPOptions{BaseURL: o.BaseURL},
	})
	if err != nil {
		return nil, hide(key, fmt.Errorf("models: %w", err))
	}
	return keyed(m, key), nil
}

func newOpenAI(ctx context.Context, o Options, bare string, client *http.Client) (model.LLM, error) {
	if o.BaseURL == "" {
		return nil, fmt.Errorf("%w: %s needs the address of its server", ErrOptions, o.Name)
	}
	// A server without keys is asked with one that means nothing: the client would
	// otherwise read the environment behind our back.
	key := firstOf(o.Key, os.Getenv(OpenAIKeyVariable))
	if key == "" {
		key = "none"
	} else if err := o.mayCarryKey(); err != nil {
		return nil, err
	}
	client.Transport = finishTap{ownHeaders{client.Transport, key}}
	m, err := openaimodel.NewModel(ctx, bare, &openaimodel.ClientConfig{
		APIKey: key, BaseURL: o.BaseURL, HTTPClient: client, Options: []option.RequestOption{option.WithMaxRetries(0)},
	})
	if err != nil {
		return nil, hide(key, fmt.Errorf("models: %w", err))
	}
	return keyed(m, key), nil
}

// mayCarryKey refuses an address that the key would reach in the clear.
func (o *Options) mayCarryKey() error {
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return fmt.Errorf("%w: the base URL can't be read", ErrOptions)
	}
	if httpclient.Confidential(u) || o.AllowHTTP != "" && (strings.EqualFold(o.AllowHTTP, u.Host) || strings.EqualFold(o.AllowHTTP, u.Hostname())) {
		return nil
	}
	return &PlainHTTPError{Host: u.Host}
}

// A PlainHTTPError is the refusal to send a key to a host where others could read it on
// the way. It matches [ErrOptions].
type PlainHTTPError struct{ Host string }

// Error implements error.
func (e *PlainHTTPError) Error() string {
	return "models: the key would go to " + e.Host + " over plain http, where others can read it on the way: use https"
}

// Unwrap returns ErrOptions.
func (e *PlainHTTPError) Unwrap() error { return ErrOptions }

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// keyed keeps the key out of errors, whatever a server or a client library puts into
// them, names the error of a call that is not JSON, and the finish reason of every answer.
func keyed(m model.LLM, key string) model.LLM {
	return callbacks.AroundModel(m, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			ctx, finished := withFinish(ctx)
			for resp, err := range m.GenerateContent(ctx, inOneRequest(req), stream) {
				if errors.Is(err, openaimodel.ErrFunctionCallArgs) || err != nil && strings.Contains(err.Error(), streamedArgs) {
					err = fmt.Errorf("%w: %w", guards.ErrMalformedCall, err)
				}
				if !yield(finished(resp), hide(key, err)) {
					return
				}
			}
		}
	})
}

// inOneRequest is req without genai's automatic continuation, which makes further requests
// on its own. Req is not changed.
func inOneRequest(req *model.LLMRequest) *model.LLMRequest {
	if req == nil {
		return nil
	}
	one, cfg := *req, genai.GenerateContentConfig{}
	if req.Config != nil {
		cfg = *req.Config
	}
	cfg.AutomaticContinuation = new(bool)
	one.Config = &cfg
	return &one
}

// streamedArgs is how ADK's adapter names the same failure in a stream, where it has
// no sentinel for it.
const streamedArgs = "parse streamed function args"

// minKey is the shortest key that is looked for in errors.
const minKey = 8

// hide returns err with the key out of its text.
func hide(key string, err error) error {
	if err == nil || len(key) < minKey || !strings.Contains(err.Error(), key) {
		return err
	}
	return &hiddenKey{err, strings.ReplaceAll(err.Error(), key, "[key]")}
}

type hiddenKey struct {
	err  error
	text string
}

func (h *hiddenKey) Error() string { return h.text }

// Is compares with the hidden error, which itself must not be handed out.
func (h *hiddenKey) Is(target error) bool { return errors.Is(h.err, target) }
