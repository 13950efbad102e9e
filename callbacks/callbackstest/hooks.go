// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"testing"

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
	cfg := attach(t, guard)
	res, err := cfg.BeforeToolCallbacks[0](Context(t), tl, args)
	fail(t, "before_tool", err)
	return res
}

// AfterTool calls the guard's after_tool hook through a chain with what tl
// returned, and returns what the model would read: the result itself where the
// hook left it alone.
func AfterTool(t testing.TB, guard callbacks.Guard, tl tool.Tool, args, result map[string]any, toolErr error) map[string]any {
	t.Helper()
	cfg, ctx := attach(t, guard), Context(t)
	if res, err := cfg.BeforeToolCallbacks[0](ctx, tl, args); err != nil || res != nil {
		fail(t, "before_tool", err)
		return res
	}
	if toolErr != nil {
		res, err := cfg.OnToolErrorCallbacks[0](ctx, tl, args, toolErr)
		fail(t, "on_tool_error", err)
		result, toolErr = res, nil
	}
	res, err := cfg.AfterToolCallbacks[0](ctx, tl, args, result, toolErr)
	fail(t, "after_tool", err)
	if res == nil {
		return result
	}
	return res
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

func attach(t testing.TB, guard callbacks.Guard) llmagent.Config {
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
	cfg, err := callbacks.New(guard).Attach(llmagent.Config{Name: AgentName})
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
