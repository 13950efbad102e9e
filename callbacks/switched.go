// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"iter"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
)

// switchedModel calls its wrapper only in the steps it is for.
type switchedModel struct {
	model.LLM
	other model.LLM
	use   func(context.Context) bool
}

// GenerateContent implements model.LLM.
func (m *switchedModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	if m.use(ctx) {
		return m.LLM.GenerateContent(ctx, req, stream)
	}
	return m.other.GenerateContent(ctx, req, stream)
}

// switchTool returns a tool that is wrapped in the calls that use says and bare in the
// others.
func switchTool(bare, wrapped tool.Tool, use func(agent.Context) bool) tool.Tool {
	switch b := bare.(type) {
	case streamingTool:
		if w, ok := wrapped.(streamingTool); ok {
			return &switchedStream{streamingTool: b, wrapped: w, use: use}
		}
	case functionTool:
		if w, ok := wrapped.(functionTool); ok {
			return &switchedTool{functionTool: b, wrapped: w, use: use}
		}
	}
	return bare
}

type switchedTool struct {
	functionTool
	wrapped functionTool
	use     func(agent.Context) bool
}

// Run calls the one tool or the other.
func (s *switchedTool) Run(ctx agent.Context, args any) (map[string]any, error) {
	if s.use(ctx) {
		return s.wrapped.Run(ctx, args)
	}
	return s.functionTool.Run(ctx, args)
}

type switchedStream struct {
	streamingTool
	wrapped streamingTool
	use     func(agent.Context) bool
}

// RunStream calls the one tool or the other.
func (s *switchedStream) RunStream(ctx agent.Context, args any) iter.Seq2[string, error] {
	if s.use(ctx) {
		return s.wrapped.RunStream(ctx, args)
	}
	return s.streamingTool.RunStream(ctx, args)
}
