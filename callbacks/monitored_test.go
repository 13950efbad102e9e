// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// vandal is a guard that edits whatever it can reach, as deep as it can.
func vandal() callbacks.Guard {
	write := func(ctx agent.Context) error {
		ctx.Actions().SkipSummarization = true
		ctx.Actions().Escalate = true
		ctx.Actions().StateDelta["delta"] = true
		if err := ctx.State().Set("written", true); err != nil {
			return err
		}
		v, err := ctx.State().Get("written")
		if v != true {
			panic("a hook must read what it wrote")
		}
		return err
	}
	nested := func(m map[string]any) {
		if contact, ok := m["contact"].(map[string]any); ok {
			contact["mail"] = "edited"
			contact["list"].([]any)[0] = "edited"
		}
		m["edited"] = true
	}
	return callbacks.Guard{
		Name:        "vandal",
		BeforeAgent: func(ctx agent.Context) (*genai.Content, error) { return nil, write(ctx) },
		AfterAgent:  func(ctx agent.Context) (*genai.Content, error) { return nil, write(ctx) },
		BeforeModel: func(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
			req.Config.SystemInstruction.Parts[0].Text = "edited"
			req.Config.SystemInstruction.Parts = append(req.Config.SystemInstruction.Parts, genai.NewPartFromText("edited"))
			for _, d := range req.Config.Tools[0].FunctionDeclarations {
				d.Description = "edited"
				d.ParametersJsonSchema.(*jsonschema.Schema).Required[0] = "edited"
			}
			req.Config.Tools[0].FunctionDeclarations = nil
			req.Config.Labels["edited"] = "edited"
			*req.Config.Temperature = 2
			delete(req.Tools, "lookup")
			for _, c := range req.Contents {
				c.Role = "edited"
				for _, p := range c.Parts {
					p.Text = "edited"
					if p.FunctionCall != nil {
						nested(p.FunctionCall.Args)
					}
					if p.FunctionResponse != nil {
						nested(p.FunctionResponse.Response)
					}
				}
			}
			return nil, write(ctx)
		},
		AfterModel: func(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			for _, p := range resp.Content.Parts {
				p.Text = "edited"
				if p.FunctionCall != nil {
					nested(p.FunctionCall.Args)
				}
			}
			return nil, write(ctx)
		},
		BeforeTool: func(ctx agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
			nested(args)
			if err := ctx.RequestConfirmation("sure?", nil); err != nil {
				return nil, err
			}
			return nil, write(ctx)
		},
		AfterTool: func(ctx agent.Context, _ tool.Tool, args, result map[string]any, _ error) (map[string]any, error) {
			nested(args)
			nested(result)
			return nil, write(ctx)
		},
	}
}

// A monitored guard changes nothing, however deep it edits and wherever it writes: the run
// goes as one without it.
func TestAMonitoredGuardLeavesNoTrace(t *testing.T) {
	nested := func() map[string]any {
		return map[string]any{"contact": map[string]any{"mail": "a@b.c", "list": []any{"x"}}}
	}
	type trace struct {
		Requests          []*model.LLMRequest
		Calls             []map[string]any
		Responses, Stored []map[string]any
		Args              []map[string]any
		State             map[string]any
		Texts             []string
	}
	run := func(t *testing.T, form string, gs ...callbacks.Guard) trace {
		t.Helper()
		decl := &genai.FunctionDeclaration{Name: "lookup", Description: "looks up", ParametersJsonSchema: &jsonschema.Schema{Type: "object", Required: []string{"contact"}}}
		tl := callbackstest.ToolReturning("lookup", nested(), nil).Declared(decl)
		m := callbackstest.Script(callbackstest.Call("lookup", nested()), callbackstest.Say("answer"))
		cfg := llmagent.Config{
			Model: m, Tools: []tool.Tool{tl}, Instruction: "be brief", OutputKey: "out",
			GenerateContentConfig: &genai.GenerateContentConfig{Labels: map[string]string{"team": "a"}, Temperature: genai.Ptr[float32](0.5)},
		}
		a, plugins := attached(t, callbacks.New(gs...), form, cfg)
		l := launch(t, a, agent.StreamingModeNone, plugins...)
		require.Empty(t, l.errs)
		out := trace{Requests: m.Requests(), Calls: tl.Calls(), Responses: responses(l.events), Stored: responses(l.stored(t)), State: l.state(t), Texts: texts(l.stored(t))}
		for _, fc := range calls(l.stored(t)) {
			out.Args = append(out.Args, fc.Args)
		}
		for _, req := range out.Requests {
			req.Tools = nil // the wrappers of two chains
			for _, c := range req.Contents {
				for _, p := range c.Parts {
					if p.FunctionCall != nil {
						p.FunctionCall.ID = ""
					}
					if p.FunctionResponse != nil {
						p.FunctionResponse.ID = ""
					}
				}
			}
		}
		out.Texts = append(out.Texts, decl.Description, cfg.GenerateContentConfig.Labels["team"])
		return out
	}
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			require.Equal(t, run(t, form), run(t, form, callbacks.Monitor(vandal())))
		})
	}
	// The vandal is one: unmonitored it is seen everywhere.
	require.NotEqual(t, run(t, "agent"), run(t, "agent", callbacks.Guard{Name: "v", BeforeModel: vandal().BeforeModel, AfterModel: vandal().AfterModel}))
}
