// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// billing is a provider that bills the worst it was allowed to, at the prices of the
// table dear, from the moment a request arrives and whatever becomes of the answer.
type billing struct {
	mu     sync.Mutex
	billed ledger.Nano
	calls  atomic.Int32

	name   string               // of the model; "" is dear
	rate   int64                // pico-USD per token of output; 0 is that of dear
	wait   chan struct{}        // answers when it is closed
	takes  time.Duration        // for an answer
	share  int32                // percent of the output allowed that it uses; 0 is all
	fail   error                // in place of an answer, and not billed
	silent bool                 // answers without usage
	panics bool                 // breaks before it bills
	says   []callbackstest.Turn // the first answers; later ones are a word
	stream []streamed           // how the first answers arrive where they are no single piece
}

// streamed is how an answer arrives in pieces.
type streamed struct {
	chunks int
	usage  func(chunk, chunks int, whole genai.GenerateContentResponseUsageMetadata) *genai.GenerateContentResponseUsageMetadata // nil is none
	end    error                                                                                                                 // in place of a last piece; errCut is none at all
	refuse error                                                                                                                 // at once, and not billed
}

func (b *billing) Name() string {
	if b.name == "" {
		return "dear"
	}
	return b.name
}

func (b *billing) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		n := int(b.calls.Add(1)) - 1
		if b.panics {
			panic("a model that breaks")
		}
		if b.fail != nil {
			yield(nil, b.fail)
			return
		}
		if n < len(b.stream) && b.stream[n].refuse != nil {
			yield(nil, b.stream[n].refuse)
			return
		}
		usage := b.bill(req)
		if err := b.pause(ctx); err != nil {
			yield(nil, err)
			return
		}
		if n < len(b.stream) {
			b.stream[n].play(usage, yield)
			return
		}
		resp := &model.LLMResponse{Content: genai.NewContentFromText("answer", genai.RoleModel), TurnComplete: true}
		if n < len(b.says) {
			resp.Content.Parts = b.says[n].Parts
		}
		if !b.silent {
			resp.UsageMetadata = &usage
		}
		yield(resp, nil)
	}
}

func (b *billing) bill(req *model.LLMRequest) genai.GenerateContentResponseUsageMetadata {
	out := req.Config.MaxOutputTokens
	if b.share > 0 {
		out = out * b.share / 100
	}
	rate := b.rate
	if rate == 0 {
		rate = 299_000_000
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.billed += ledger.NanoOf(prices.Pico(int64(out)*rate + 10*1_000_000))
	return genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: out, TotalTokenCount: 10 + out}
}

func (b *billing) pause(ctx context.Context) error {
	if b.takes > 0 {
		time.Sleep(b.takes) // on the test's own clock
	}
	if b.wait == nil {
		return nil
	}
	select {
	case <-b.wait:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s streamed) play(whole genai.GenerateContentResponseUsageMetadata, yield func(*model.LLMResponse, error) bool) {
	for i := range s.chunks {
		chunk := &model.LLMResponse{Content: genai.NewContentFromText("piece ", genai.RoleModel), Partial: true}
		if s.usage != nil {
			chunk.UsageMetadata = s.usage(i, s.chunks, whole)
		}
		if !yield(chunk, nil) {
			return
		}
	}
	switch {
	case s.end == nil:
		last := &model.LLMResponse{Content: genai.NewContentFromText("answer", genai.RoleModel), TurnComplete: true}
		if s.usage != nil {
			last.UsageMetadata = s.usage(s.chunks, s.chunks, whole)
		}
		yield(last, nil)
	case errors.Is(s.end, errCut):
	default:
		yield(nil, s.end)
	}
}
