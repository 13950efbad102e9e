// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/gardefou/gardefou/callbacks/answer"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

type routedModel struct {
	r     *route
	cheap *candidate
	// better are the agent's own model and those it falls back on.
	better []candidate
}

// A candidate is a model that may be asked.
type candidate struct {
	model.LLM
	// own says that it is the agent's own.
	own bool
}

func (m *routedModel) generate(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		c := &routedCall{m: m, ctx: ctx, req: req, stream: stream, yield: yield}
		t := m.r.turn(ctx, req)
		if m.cheap == nil || !m.r.o.UseCheap(t) {
			if err := c.first(m.better, c.send); err != nil {
				giveUp(err, yield)
			}
			return
		}
		if m.r.o.KeepAnswer || t.TargetPassed || !t.Tools {
			if err := c.first(slices.Insert(slices.Clone(m.better), 0, *m.cheap), c.send); err != nil {
				giveUp(err, yield)
			}
			return
		}
		err := c.first([]candidate{*m.cheap}, c.draft)
		switch {
		case err != nil && (c.sent || !m.fallsBack(ctx, err)):
			giveUp(err, yield)
			return
		case err == nil && c.sent:
			return
		case err != nil:
			c.held = nil
		}
		// The cheaper model failed, or what it said is the answer: the better one's turn.
		if err := c.first(m.better, c.send); err != nil {
			if c.sent || len(c.held) == 0 {
				giveUp(err, yield)
				return
			}
			for _, resp := range c.held {
				if !c.send(resp) {
					return
				}
			}
		}
	}
}

// fallsBack reports whether another model may be asked after err.
func (m *routedModel) fallsBack(ctx context.Context, err error) bool {
	var fault *answer.Error
	malformed := errors.Is(err, ErrMalformedCall) || errors.As(err, &fault) && fault.Fault == answer.Malformed
	return ctx.Err() == nil && !decided(err) && !malformed
}

// routedCall is one call on its way to one model or several.
type routedCall struct {
	m      *routedModel
	ctx    context.Context
	req    *model.LLMRequest
	stream bool
	yield  func(*model.LLMResponse, error) bool

	// sent says that a chunk was handed out; held are those of an answer that may be
	// thrown away.
	sent bool
	held []*model.LLMResponse
}

func (c *routedCall) send(resp *model.LLMResponse) bool {
	c.sent = true
	return c.yield(resp, nil)
}

// draft holds chunks back until one of them calls a tool.
func (c *routedCall) draft(resp *model.LLMResponse) bool {
	if c.sent {
		return c.send(resp)
	}
	c.held = append(c.held, resp)
	if resp.Content == nil || len(callsOf(resp.Content)) == 0 {
		return true
	}
	held := c.held
	c.held = nil
	for _, resp := range held {
		if !c.send(resp) {
			return false
		}
	}
	return true
}

// first asks one model after the other until one answers, and returns the last error.
func (c *routedCall) first(models []candidate, give func(*model.LLMResponse) bool) error {
	var err error
	for _, next := range models {
		if err = c.attempt(next, give); err == nil || c.sent || !c.m.fallsBack(c.ctx, err) {
			return err
		}
	}
	return err
}

func (c *routedCall) attempt(next candidate, give func(*model.LLMResponse) bool) error {
	req := c.m.r.prepare(c.ctx, c.req, next.Name(), next.own)
	answer := func(ctx context.Context) iter.Seq2[*model.LLMResponse, error] {
		return next.GenerateContent(ctx, req, c.stream)
	}
	var seq iter.Seq2[*model.LLMResponse, error]
	if limit := c.m.r.o.FirstChunk; limit > 0 {
		seq = startsWithin(c.ctx, limit, answer)
	} else {
		seq = answer(c.ctx)
	}
	_, err := deliver(seq, func(resp *model.LLMResponse) bool {
		c.m.r.remember(c.ctx, next.Name(), resp)
		return give(resp)
	})
	return err
}

// prepare is the request as the model of that name is to get it: under its name, with
// thought signatures it takes. The request itself is not changed.
func (r *route) prepare(ctx context.Context, req *model.LLMRequest, name string, own bool) *model.LLMRequest {
	c := *req
	if !own {
		c.Model = name
	}
	if r.o.Signature != nil {
		c.Contents = r.key.Of(ctx).translate(req.Contents, name, r.o.Signature)
	}
	return &c
}

func (r *route) remember(ctx context.Context, name string, resp *model.LLMResponse) {
	if r.o.Signature == nil || resp == nil || resp.Content == nil {
		return
	}
	s := r.key.Of(ctx)
	for _, p := range resp.Content.Parts {
		if p != nil && len(p.ThoughtSignature) > 0 {
			s.add(p.ThoughtSignature, name)
		}
	}
}

// signatures are the newest thought signatures of one Run and the models they are of. They
// outlive an invocation: the history of a further turn carries them.
type signatures struct {
	mu         sync.Mutex
	by, before map[[sha256.Size]byte]string
}

// mostSignatures is how many a Run remembers at least, and twice as many at most.
const mostSignatures = 1024

func newSignatures() *signatures { return &signatures{by: make(map[[sha256.Size]byte]string)} }

func (s *signatures) add(signature []byte, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.by) >= mostSignatures {
		s.by, s.before = make(map[[sha256.Size]byte]string), s.by
	}
	s.by[sha256.Sum256(signature)] = name
}

// modelOf returns the model that a signature is of; empty where that is not known.
func (s *signatures) modelOf(signature []byte) string {
	sum := sha256.Sum256(signature)
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, ok := s.by[sum]; ok {
		return name
	}
	return s.before[sum]
}

// translate replaces the signatures of other models. Contents without any are shared.
func (s *signatures) translate(contents []*genai.Content, to string, f func(from, to string, signature []byte) []byte) []*genai.Content {
	out := slices.Clone(contents)
	for i, content := range contents {
		if content == nil {
			continue
		}
		copied := false
		for j, p := range content.Parts {
			if p == nil || len(p.ThoughtSignature) == 0 {
				continue
			}
			from := s.modelOf(p.ThoughtSignature)
			if from == "" || from == to {
				continue
			}
			if !copied {
				out[i] = &genai.Content{Role: content.Role, Parts: slices.Clone(content.Parts)}
				copied = true
			}
			part := *p
			part.ThoughtSignature = f(from, to, slices.Clone(p.ThoughtSignature))
			out[i].Parts[j] = &part
		}
	}
	return out
}

// startsWithin ranges over what run yields, in a goroutine of its own. Where nothing has
// come within limit it cancels run's context and yields a [DeadlineError].
func startsWithin[T any](ctx context.Context, limit time.Duration, run func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		items := pump(inner, run)
		timer := time.NewTimer(limit)
		defer timer.Stop()
		var none T
		for {
			select {
			case it := <-items:
				timer.Stop()
				switch {
				case it.panicked != nil:
					panic(it.panicked) // on the caller's goroutine, where the chain catches it
				case it.over:
					return
				case !yield(it.value, it.err):
					return
				}
			case <-timer.C:
				yield(none, &DeadlineError{limit})
				return
			case <-ctx.Done():
				yield(none, ctx.Err())
				return
			}
		}
	}
}
