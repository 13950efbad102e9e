// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// recorded is one call in a recording: a line of JSON.
type recorded struct {
	Model   string `json:"model"`
	Request string `json:"request"` // the hash of what the model was asked
	Stream  bool   `json:"stream"`
	// Asked is the last turn of the request, for whoever reads the file.
	Asked   *genai.Content       `json:"asked,omitempty"`
	Answers []*model.LLMResponse `json:"answers"`
	Error   string               `json:"error,omitempty"`
}

// Record returns a model that passes every call on to m and writes each with its answer
// to w, a JSON line per call, for [Replay]. A call whose caller stops early is written
// with the chunks that came. Errors of w end the call.
//
// The file holds what the models said, personal data included: put the model under
// guards.Redact, or keep the file to yourself. It is safe for concurrent use.
func Record(m model.LLM, w io.Writer) model.LLM { return &recorder{LLM: m, w: w} }

type recorder struct {
	model.LLM
	mu sync.Mutex
	w  io.Writer
}

// GenerateContent implements model.LLM.
func (r *recorder) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		line := recorded{Model: r.Name(), Request: fingerprint(req), Stream: stream, Asked: lastTurn(req)}
		going := true
		for resp, err := range r.LLM.GenerateContent(ctx, req, stream) {
			if err != nil {
				line.Error = err.Error()
			} else if resp != nil {
				line.Answers = append(line.Answers, deepCopy(resp))
			}
			if going = yield(resp, err); !going {
				break
			}
		}
		if err := r.write(line); err != nil && going {
			yield(nil, err)
		}
	}
}

func (r *recorder) write(line recorded) error {
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("callbackstest: recording a call: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("callbackstest: recording a call: %w", err)
	}
	return nil
}

// ErrNotRecorded is the error of a call that a recording does not hold.
var ErrNotRecorded = errors.New("callbackstest: the recording does not hold this call")

// A Replayed model answers from a recording: the same request gets the same answer, in
// whatever order requests come, and one that was not recorded fails. It is safe for
// concurrent use.
type Replayed struct {
	name string

	mu    sync.Mutex
	calls map[string][]recorded
}

// Replay reads a recording made by [Record].
func Replay(r io.Reader) (*Replayed, error) {
	p := &Replayed{name: "replayed", calls: make(map[string][]recorded)}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		raw, readErr := lines.ReadBytes('\n')
		if len(strings.TrimSpace(string(raw))) > 0 {
			var line recorded
			if err := json.Unmarshal(raw, &line); err != nil || line.Request == "" {
				return nil, fmt.Errorf("callbackstest: line %d is no recorded call: %w", n, errors.Join(err, errNoRequest(line)))
			}
			p.name = line.Model
			p.calls[line.key()] = append(p.calls[line.key()], line)
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return p, nil
		case readErr != nil:
			return nil, fmt.Errorf("callbackstest: reading a recording: %w", readErr)
		}
	}
}

func errNoRequest(r recorded) error {
	if r.Request == "" {
		return errors.New("it has no request")
	}
	return nil
}

func (r recorded) key() string { return fmt.Sprint(r.Stream, r.Request) }

// Name implements model.LLM: it is the recorded model's.
func (p *Replayed) Name() string { return p.name }

// Left returns how many recorded calls were not made.
func (p *Replayed) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := 0
	for _, calls := range p.calls {
		left += len(calls)
	}
	return left
}

// GenerateContent implements model.LLM.
func (p *Replayed) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		line, err := p.take(req, stream)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, resp := range line.Answers {
			if !yield(resp, nil) {
				return
			}
		}
		if line.Error != "" {
			yield(nil, errors.New(line.Error))
		}
	}
}

func (p *Replayed) take(req *model.LLMRequest, stream bool) (recorded, error) {
	key := recorded{Stream: stream, Request: fingerprint(req)}.key()
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls[key]
	if len(calls) == 0 {
		return recorded{}, fmt.Errorf("%w: record it anew", ErrNotRecorded)
	}
	p.calls[key] = calls[1:]
	return calls[0], nil
}

func lastTurn(req *model.LLMRequest) *genai.Content {
	if req == nil || len(req.Contents) == 0 {
		return nil
	}
	return req.Contents[len(req.Contents)-1]
}

// fingerprint is the same for requests that ask the same: the ids that ADK draws for
// calls are left out.
func fingerprint(req *model.LLMRequest) string {
	var asked struct {
		Contents []*genai.Content
		Config   *genai.GenerateContentConfig
	}
	if req != nil {
		asked.Config = req.Config
		for _, c := range deepCopySlice(req.Contents) {
			for _, p := range c.Parts {
				if p.FunctionCall != nil {
					p.FunctionCall.ID = ""
				}
				if p.FunctionResponse != nil {
					p.FunctionResponse.ID = ""
				}
			}
			asked.Contents = append(asked.Contents, c)
		}
	}
	b, err := json.Marshal(asked)
	if err != nil {
		b = []byte(err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
