// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks"
)

// BeforeTool calls the guard's before_tool hook through a chain, as ADK would for
// a call of tl with args, and returns what the model would read in place of the
// tool's result; nil means that the tool may run.
func BeforeTool(t testing.TB, guard callbacks.Guard, tl tool.Tool, args map[string]any) map[string]any {
	t.Helper()
	s := &standIn{Tool: tl, result: map[string]any{"result": "ok"}}
	res := callThrough(t, guard, s, args)
	if s.ran {
		return nil
	}
	return res
}

// AfterTool calls the guard's after_tool hook through a chain with what tl
// returned, and returns what the model would read: the result itself where the
// hook left it alone.
func AfterTool(t testing.TB, guard callbacks.Guard, tl tool.Tool, args, result map[string]any, toolErr error) map[string]any {
	t.Helper()
	return callThrough(t, guard, &standIn{Tool: tl, result: result, err: toolErr}, args)
}

// BeforeModel calls the guard's before_model hook through a chain and returns the
// response that takes the model's place; nil means that the model is called, with
// req as the hook left it.
func BeforeModel(t testing.TB, guard callbacks.Guard, req *model.LLMRequest) *model.LLMResponse {
	t.Helper()
	cfg := attach(t, guard)
	resp, err := cfg.BeforeModelCallbacks[0](Context(t), req)
	fail(t, "before_model", err)
	return resp
}

// AfterModel calls the guard's after_model hook through a chain with a copy of
// resp and returns what ADK would go on with.
func AfterModel(t testing.TB, guard callbacks.Guard, resp *model.LLMResponse) *model.LLMResponse {
	t.Helper()
	cfg, ctx := attach(t, guard), Context(t)
	if got, err := cfg.BeforeModelCallbacks[0](ctx, &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("question", genai.RoleUser)}}); err != nil || got != nil {
		fail(t, "before_model", err)
		return got
	}
	mine := copyOf(t, resp)
	got, err := cfg.AfterModelCallbacks[0](ctx, mine, nil)
	fail(t, "after_model", err)
	if got == nil {
		return mine
	}
	return got
}

// standIn is the tool under the chain: it has the face of another and answers as told.
type standIn struct {
	tool.Tool
	result map[string]any
	err    error
	ran    bool
}

// Declaration makes it a function tool: that of the tool it stands for, where it has one.
func (s *standIn) Declaration() *genai.FunctionDeclaration {
	if own, ok := s.Tool.(interface {
		Declaration() *genai.FunctionDeclaration
	}); ok {
		return own.Declaration()
	}
	return &genai.FunctionDeclaration{Name: s.Name()}
}

// Run answers.
func (s *standIn) Run(agent.Context, any) (map[string]any, error) {
	s.ran = true
	return s.result, s.err
}

// callThrough makes one call of a tool through the wrapper that a chain puts around it.
func callThrough(t testing.TB, guard callbacks.Guard, s *standIn, args map[string]any) map[string]any {
	t.Helper()
	cfg := attach(t, guard, s)
	wrapped, ok := cfg.Tools[0].(interface {
		Run(ctx agent.Context, args any) (map[string]any, error)
	})
	if !ok {
		t.Fatalf("the chain left the tool %q bare", s.Name())
	}
	res, err := wrapped.Run(Context(t), args)
	fail(t, "tool", err)
	return res
}

func attach(t testing.TB, guard callbacks.Guard, tools ...tool.Tool) llmagent.Config {
	t.Helper()
	// The tool names a guard knows are not checked here: there is no agent.
	info := guard.Info
	if info != nil {
		guard.Info = func() callbacks.Info {
			i := info()
			i.Tools = nil
			return i
		}
	}
	cfg, err := callbacks.New(guard).Attach(llmagent.Config{Name: AgentName, Tools: tools})
	if err != nil {
		t.Fatalf("attaching guard %q: %v", guard.Name, err)
	}
	return cfg
}

func fail(t testing.TB, hook string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", hook, err)
	}
}
