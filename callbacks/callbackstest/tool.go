// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool/toolutils"
)

// A FakeTool is a function tool that answers as told and remembers its calls. It
// is safe for concurrent use.
type FakeTool struct {
	name string
	do   func(ctx agent.Context, args map[string]any) (map[string]any, error)
	decl *genai.FunctionDeclaration
	long bool

	mu    sync.Mutex
	calls []map[string]any
}

// Tool returns a fake tool that answers {"result": "ok"}.
func Tool(name string) *FakeTool {
	return ToolFunc(name, func(agent.Context, map[string]any) (map[string]any, error) {
		return map[string]any{"result": "ok"}, nil
	})
}

// ToolReturning returns a fake tool that answers result and err. It hands out a
// copy of result's top level each time.
func ToolReturning(name string, result map[string]any, err error) *FakeTool {
	return ToolFunc(name, func(agent.Context, map[string]any) (map[string]any, error) { return maps.Clone(result), err })
}

// ToolFunc returns a fake tool that answers with do.
func ToolFunc(name string, do func(agent.Context, map[string]any) (map[string]any, error)) *FakeTool {
	return &FakeTool{name: name, do: do, decl: &genai.FunctionDeclaration{Name: name, Description: "A fake tool."}}
}

// LongRunning makes the tool one that answers later and returns it.
func (f *FakeTool) LongRunning() *FakeTool { f.long = true; return f }

// Declared sets the tool's declaration and returns the tool.
func (f *FakeTool) Declared(decl *genai.FunctionDeclaration) *FakeTool { f.decl = decl; return f }

// Calls returns the arguments of the calls that reached the tool.
func (f *FakeTool) Calls() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Name implements tool.Tool.
func (f *FakeTool) Name() string { return f.name }

// Description implements tool.Tool.
func (f *FakeTool) Description() string { return f.decl.Description }

// IsLongRunning implements tool.Tool.
func (f *FakeTool) IsLongRunning() bool { return f.long }

// Declaration makes the tool one that ADK offers to a model.
func (f *FakeTool) Declaration() *genai.FunctionDeclaration { return f.decl }

// ProcessRequest puts the tool into a request.
func (f *FakeTool) ProcessRequest(_ agent.Context, req *model.LLMRequest) error {
	return toolutils.PackTool(req, f)
}

// Run makes the tool one that ADK can call.
func (f *FakeTool) Run(ctx agent.Context, args any) (map[string]any, error) {
	m, ok := args.(map[string]any)
	if !ok {
		return nil, errors.New("arguments are not an object")
	}
	f.note(m)
	return f.do(ctx, m)
}

func (f *FakeTool) note(args map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, maps.Clone(args))
}

// A FakeStreamingTool is a streaming tool that yields chunks and remembers its
// calls.
type FakeStreamingTool struct {
	fake   *FakeTool
	chunks []string
	err    error
}

// StreamingTool returns a streaming tool that yields chunks.
func StreamingTool(name string, chunks ...string) *FakeStreamingTool {
	return &FakeStreamingTool{fake: Tool(name), chunks: chunks}
}

// Failing makes the tool fail with err after its chunks and returns it.
func (f *FakeStreamingTool) Failing(err error) *FakeStreamingTool { f.err = err; return f }

// Calls returns the arguments of the calls that reached the tool.
func (f *FakeStreamingTool) Calls() []map[string]any { return f.fake.Calls() }

// Name implements tool.Tool.
func (f *FakeStreamingTool) Name() string { return f.fake.name }

// Description implements tool.Tool.
func (f *FakeStreamingTool) Description() string { return f.fake.Description() }

// IsLongRunning implements tool.Tool.
func (f *FakeStreamingTool) IsLongRunning() bool { return false }

// Declaration makes the tool one that ADK offers to a model.
func (f *FakeStreamingTool) Declaration() *genai.FunctionDeclaration { return f.fake.decl }

// ProcessRequest puts the tool into a request.
func (f *FakeStreamingTool) ProcessRequest(_ agent.Context, req *model.LLMRequest) error {
	return toolutils.PackTool(req, f)
}

// RunStream makes the tool one that ADK calls as a stream.
func (f *FakeStreamingTool) RunStream(_ agent.Context, args any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		m, _ := args.(map[string]any)
		f.fake.note(m)
		for _, c := range f.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if f.err != nil {
			yield("", f.err)
		}
	}
}
