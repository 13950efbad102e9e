// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// hideArgs puts tokens in place of the values in the calls of a content the caller
// owns down to its parts.
func (m *masker) hideArgs(ctx context.Context, c *genai.Content) error {
	if m.keepArgs || c == nil {
		return nil
	}
	for _, p := range c.Parts {
		if p == nil || p.FunctionCall == nil {
			continue
		}
		masked, err := maskMap(m.hider(ctx), p.FunctionCall.Args)
		if err != nil {
			return err
		}
		p.FunctionCall.Args = masked
	}
	return nil
}

// reveal turns the tokens of a call's arguments back. It never returns arguments that
// still hold a token of a vault that is gone.
func (m *masker) reveal(ctx agent.Context, args any) (any, error) {
	v, err := vaultKey.Of(contextOf(ctx)).RevealValue(args)
	if err != nil {
		return nil, callbacks.Deny(CodeValueUnavailable, say(ctx, text.ValueUnavailable)).WithCause(err)
	}
	return v, nil
}

// wrapTool gives the tool the values, and nobody before it.
func (m *masker) wrapTool(t tool.Tool) tool.Tool {
	switch inner := t.(type) {
	case streamingTool:
		return &revealedStream{inner, m}
	case functionTool:
		return &revealedTool{inner, m}
	default:
		return t
	}
}

type revealedTool struct {
	functionTool
	m *masker
}

// ProcessRequest forwards to the tool.
func (r *revealedTool) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	if p, ok := r.functionTool.(requestProcessor); ok {
		return p.ProcessRequest(ctx, req)
	}
	return nil
}

// Run calls the tool with the values.
func (r *revealedTool) Run(ctx agent.Context, args any) (map[string]any, error) {
	plain, err := r.m.reveal(ctx, args)
	if err != nil {
		return nil, err
	}
	return r.functionTool.Run(ctx, plain)
}

type revealedStream struct {
	streamingTool
	m *masker
}

// ProcessRequest forwards to the tool.
func (r *revealedStream) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	if p, ok := r.streamingTool.(requestProcessor); ok {
		return p.ProcessRequest(ctx, req)
	}
	return nil
}

// RunStream calls the tool with the values.
func (r *revealedStream) RunStream(ctx agent.Context, args any) iter.Seq2[string, error] {
	plain, err := r.m.reveal(ctx, args)
	if err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return r.streamingTool.RunStream(ctx, plain)
}
