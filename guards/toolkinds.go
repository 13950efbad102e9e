// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
)

// What ADK runs, by method set; it exports no names for it.
type (
	functionTool interface {
		tool.Tool
		Declaration() *genai.FunctionDeclaration
		Run(ctx agent.Context, args any) (map[string]any, error)
	}
	streamRunner interface {
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	}
	streamingTool interface {
		tool.Tool
		Declaration() *genai.FunctionDeclaration
		streamRunner
	}
	requestProcessor interface {
		ProcessRequest(ctx agent.Context, req *model.LLMRequest) error
	}
)
