// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

const canary = "canary.jean@example.fr"

func answers(txt string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(txt, genai.RoleModel), FinishReason: genai.FinishReasonStop}
}

// leaks are guards that each bring the canary by another way.
func leaks() map[string]callbacks.Guard {
	content := func(agent.Context) (*genai.Content, error) {
		return genai.NewContentFromText("I am "+canary, genai.RoleModel), nil
	}
	result := func() map[string]any {
		return map[string]any{"mail": canary, "deep": map[string]any{"list": []any{canary}}}
	}
	return map[string]callbacks.Guard{
		"before_tool answers": {BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return result(), nil }},
		"before_tool denies": {BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			return nil, callbacks.Deny("leak", "ask "+canary)
		}},
		"after_tool answers": {AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return result(), nil
		}},
		"after_tool has the last word": {AfterTool: func(_ agent.Context, _ tool.Tool, _, res map[string]any, _ error) (map[string]any, error) {
			res["mail"] = canary
			return res, nil
		}},
		"after_tool edits": {AfterTool: func(_ agent.Context, _ tool.Tool, _, res map[string]any, _ error) (map[string]any, error) {
			if nested, ok := res["nested"].(map[string]any); ok {
				nested["mail"] = canary
			}
			return nil, nil
		}},
		"after_tool denies": {AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return nil, callbacks.Deny("leak", "ask "+canary)
		}},
		"on_tool_error answers": {OnToolError: func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) {
			return result(), nil
		}},
		"before_model answers": {BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return answers("I am " + canary), nil
		}},
		"before_model ends": {BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			return nil, callbacks.End("leak", "ask "+canary)
		}},
		"after_model answers": {AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			out := answers("I am " + canary)
			out.Partial = resp.Partial
			return out, nil
		}},
		"after_model edits": {AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			resp.Content = genai.NewContentFromText("I am "+canary, genai.RoleModel)
			return nil, nil
		}},
		"on_model_error answers": {OnModelError: func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) {
			return answers("I am " + canary), nil
		}},
		"before_agent answers": {BeforeAgent: content},
		"after_agent answers":  {AfterAgent: content},
		"before_agent ends":    {BeforeAgent: func(agent.Context) (*genai.Content, error) { return nil, callbacks.End("leak", "ask "+canary) }},
	}
}

// No guard of the chain steps around Redact's last pass, wherever the two are.
func TestNothingThatAGuardBringsPassesUnmasked(t *testing.T) {
	other := callbacks.Guard{Name: "other", AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
		return nil, nil
	}}
	brought := map[string]bool{}
	for name := range leaks() {
		for position, order := range map[string]func(leak callbacks.Guard) []callbacks.Guard{
			"before": func(leak callbacks.Guard) []callbacks.Guard { return []callbacks.Guard{leak, other, guards.Redact()} },
			"after":  func(leak callbacks.Guard) []callbacks.Guard { return []callbacks.Guard{guards.Redact(), other, leak} },
			"none":   func(leak callbacks.Guard) []callbacks.Guard { return []callbacks.Guard{leak} },
		} {
			for _, form := range forms {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, %s, %s, streaming=%t", name, position, form, streaming), func(t *testing.T) {
						leak := leaks()[name]
						leak.Name = "leak"
						seen := leakedInto(t, order(leak), form, streaming)
						if position == "none" {
							brought[name] = brought[name] || seen != ""
							return
						}
						require.Empty(t, seen)
					})
				}
			}
		}
	}
	for name := range leaks() {
		require.True(t, brought[name], "%s brings nothing without Redact", name)
	}
}

// leakedInto names the sinks that the canary reached.
func leakedInto(t *testing.T, gs []callbacks.Guard, form callbackstest.Form, streaming bool) (sinks string) {
	t.Helper()
	rec := &callbackstest.Recorder{}
	build, p := inForm(t, form, callbacks.New(append(gs, rec.Guard())...))
	tl := callbackstest.ToolReturning("lookup", map[string]any{"nested": map[string]any{"a": "b"}}, nil)
	bad := callbackstest.ToolReturning("bad", nil, errors.New("it broke"))
	turns := []callbackstest.Turn{
		callbackstest.Call("lookup", nil), callbackstest.Call("bad", nil), callbackstest.Say("well done, all of it"),
	}
	root := build(llmagent.Config{Name: "a", Model: callbackstest.Script(turns...), Tools: []tool.Tool{tl, bad}, OutputKey: "out"})
	broken := build(llmagent.Config{Name: "b", Model: callbackstest.Script(callbackstest.Fail(errors.New("reset")))})
	for _, a := range []agent.Agent{root, broken} {
		cfg := runnerConfig(a, p)
		r, err := runner.New(cfg)
		require.NoError(t, err)
		mode := agent.StreamingModeNone
		if streaming {
			mode = agent.StreamingModeSSE
		}
		ctx, run := callbacks.Start(t.Context())
		var events []any
		for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{StreamingMode: mode})) {
			if err == nil {
				events = append(events, ev)
			}
		}
		run.Close()
		stored, err := cfg.SessionService.Get(ctx, &session.GetRequest{AppName: "test", UserID: "u", SessionID: "s"})
		require.NoError(t, err)
		state := map[string]any{}
		for k, v := range stored.Session.State().All() {
			state[k] = v
		}
		var steps []any
		for _, ev := range rec.Events() {
			steps = append(steps, ev.Result, ev.Response)
		}
		for sink, v := range map[string]any{
			"events": events, "history": slices.Collect(stored.Session.Events().All()), "state": state, "observers": steps,
		} {
			b, err := json.Marshal(v)
			require.NoError(t, err)
			if bytes.Contains(b, []byte(canary)) {
				sinks += fmt.Sprintf("%s: %s\n", sink, b)
			}
		}
	}
	return sinks
}
