// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/redact"
)

// chunkMasker masks the chunks of one streamed answer: its text and its thoughts
// are two texts.
type chunkMasker struct{ text, thought *redact.Stream }

func newChunkMasker(r *redact.Redactor) *chunkMasker {
	return &chunkMasker{text: r.Stream(), thought: r.Stream()}
}

// chunk masks a partial response in place. What may be the beginning of a value is
// held back and comes with a later chunk.
func (c *chunkMasker) chunk(resp *model.LLMResponse) {
	if resp.Content == nil {
		return
	}
	for _, p := range resp.Content.Parts {
		if !isText(p) {
			continue
		}
		if p.Thought {
			p.Text = c.thought.Write(p.Text)
		} else {
			p.Text = c.text.Write(p.Text)
		}
	}
}

// rest returns what is still held back of an answer that ends like this, as one more chunk,
// or nil.
func (c *chunkMasker) rest(like *model.LLMResponse) *model.LLMResponse {
	end := endingOf(like)
	var parts []*genai.Part
	if t := c.thought.Close(end); t != "" {
		parts = append(parts, &genai.Part{Text: t, Thought: true})
	}
	if t := c.text.Close(end); t != "" {
		parts = append(parts, &genai.Part{Text: t})
	}
	if parts == nil {
		return nil
	}
	return &model.LLMResponse{
		Content: &genai.Content{Role: genai.RoleModel, Parts: parts}, Partial: true, ModelVersion: like.ModelVersion,
	}
}

// wrapModel masks what the model inside says.
func (m *masker) wrapModel(next model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		r := m.redactor(ctx)
		return func(yield func(*model.LLMResponse, error) bool) {
			var chunks *chunkMasker
			for resp, err := range next.GenerateContent(ctx, req, stream) {
				if err != nil || resp == nil {
					chunks = nil // what is held back may be half a value
					if !yield(resp, err) {
						return
					}
					continue
				}
				resp = callbacks.CopyResponse(resp)
				if resp.Partial {
					if chunks == nil {
						chunks = newChunkMasker(r)
					}
					chunks.chunk(resp)
					if err := maskResponse(r, m.calls(ctx, resp), resp); err != nil {
						if !yield(nil, err) {
							return
						}
						continue
					}
					if dropEmptyText(resp) {
						continue
					}
					if !yield(resp, nil) {
						return
					}
					continue
				}
				if chunks != nil {
					if rest := chunks.rest(resp); rest != nil && !yield(rest, nil) {
						return
					}
					chunks = nil
				}
				err := m.response(ctx, resp)
				if err != nil {
					resp = nil
				}
				if !yield(resp, err) {
					return
				}
			}
			if chunks != nil { // nothing said that it is complete
				if rest := chunks.rest(&model.LLMResponse{}); rest != nil {
					yield(rest, nil)
				}
			}
		}
	})
}

// dropEmptyText takes out text parts that were held back whole, and reports
// whether nothing is left of the chunk.
func dropEmptyText(resp *model.LLMResponse) bool {
	if resp.Content == nil || len(resp.Content.Parts) == 0 {
		return false
	}
	parts := resp.Content.Parts[:0]
	for _, p := range resp.Content.Parts {
		if p != nil && p.Text == "" && p.FunctionCall == nil && p.InlineData == nil && p.FileData == nil && p.ThoughtSignature == nil {
			continue
		}
		parts = append(parts, p)
	}
	resp.Content.Parts = parts
	return len(parts) == 0
}
