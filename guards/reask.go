// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"iter"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// ErrMalformedCall is what a model's error must be where the model wrote a call whose
// arguments are not JSON, for [Reask] to know it.
var ErrMalformedCall = errors.New("the model wrote a malformed call")

// Reask tells a model once, and asks again, when it wrote a call that can't be read:
// finish reason MALFORMED_FUNCTION_CALL or UNEXPECTED_TOOL_CALL, or arguments that are
// not JSON. A second malformed call is the model's failure. The second attempt is a
// model call like any other: put Reask before CallBudget, which then counts it.
//
// It works on an agent only: a plugin wraps no model. It fails closed: a model
// that can't write a call has failed.
//
// Use it when a model now and then writes calls that can't be read; use [Finish] for an answer
// that breaks its schema, [Retry] for calls of the model that fail.
func Reask() callbacks.Guard {
	return callbacks.Guard{
		Name:      reaskName,
		WrapModel: askAgain,
		Info:      func() callbacks.Info { return callbacks.Info{Limits: []string{"once per model call"}} },
	}
}

func askAgain(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			for resp, err := range next.GenerateContent(ctx, req, stream) {
				if malformed(resp, err) {
					for resp, err := range next.GenerateContent(ctx, correction(ctx, req), stream) {
						if !yield(resp, err) {
							return
						}
					}
					return
				}
				if !yield(resp, err) {
					return
				}
			}
		}
	})
}

func malformed(resp *model.LLMResponse, err error) bool {
	if err != nil {
		return errors.Is(err, ErrMalformedCall)
	}
	if resp == nil || resp.Partial {
		return false
	}
	return resp.FinishReason == genai.FinishReasonMalformedFunctionCall || resp.FinishReason == genai.FinishReasonUnexpectedToolCall
}

// correction is the request with a word about what went wrong at its end. The request
// itself is not changed.
func correction(ctx context.Context, req *model.LLMRequest) *model.LLMRequest {
	c := *req
	c.Contents = append(slices.Clip(req.Contents), genai.NewContentFromText(text.Get(text.Parse(callbacks.RunOf(ctx).Lang()), text.MalformedCall), genai.RoleUser))
	return &c
}
