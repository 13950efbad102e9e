// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// geminiNamed is a model to which ADK adds set_model_response.
type geminiNamed struct{ model.LLM }

func (geminiNamed) Name() string                       { return "gemini-2.0-flash" }
func (geminiNamed) GetGoogleLLMVariant() genai.Backend { return genai.BackendGeminiAPI }

// attached builds an agent with the chain in one form, in both, or without it.
func attached(t *testing.T, chain *callbacks.Chain, form string, cfg llmagent.Config) (agent.Agent, []*plugin.Plugin) {
	t.Helper()
	var plugins []*plugin.Plugin
	if form != "agent" {
		p, err := chain.Plugin("p")
		require.NoError(t, err)
		plugins = append(plugins, p)
	}
	if form == "plugin" {
		return plainAgent(t, cfg), plugins
	}
	cfg, err := chain.Attach(cfg)
	require.NoError(t, err)
	return plainAgent(t, cfg), plugins
}

var allForms = []string{"agent", "plugin", "both"}

// P37 and P39: the tools ADK adds by itself pass the hooks like any other, once, and
// do what they do.
func TestP37TransferPassesTheHooksAndHappens(t *testing.T) {
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			chain := callbacks.New(allow("a"), rec.Guard())
			sub := plainAgent(t, llmagent.Config{Name: "sub", Description: "d", Model: callbackstest.Script(callbackstest.Say("from sub"))})
			root, plugins := attached(t, chain, form, llmagent.Config{
				Name: "root", SubAgents: []agent.Agent{sub},
				Model: callbackstest.Script(callbackstest.Call("transfer_to_agent", map[string]any{"agent_name": "sub"})),
			})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			require.Equal(t, []string{"from sub"}, texts(l.events))
			told := rec.Events(callbacks.StepTool)
			require.Len(t, told, 1)
			require.Equal(t, "transfer_to_agent", told[0].Tool)
			require.Equal(t, callbacks.OutcomeAllowed, told[0].Outcome)
		})
	}
}

func TestP37ADeniedTransferDoesNotHappen(t *testing.T) {
	deny := callbacks.Guard{Name: "deny", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no", "stay here")
	}}
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			m := callbackstest.Script(callbackstest.Say("from sub"))
			root, plugins := attached(t, callbacks.New(deny), form, llmagent.Config{
				Name: "root", SubAgents: []agent.Agent{plainAgent(t, llmagent.Config{Name: "sub", Description: "d", Model: m})},
				Model: callbackstest.Script(callbackstest.Call("transfer_to_agent", map[string]any{"agent_name": "sub"}), callbackstest.Say("stayed")),
			})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Equal(t, []string{"stayed"}, texts(l.events))
			require.Zero(t, m.Calls())
		})
	}
}

// P39: a single-turn sub-agent keeps the plugins; its call passes the hooks with
// edited arguments, and so do its own calls where the chain is a plugin.
func TestP39ASingleTurnSubAgentPassesTheHooks(t *testing.T) {
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			edits := callbacks.Guard{Name: "edits", BeforeTool: func(_ agent.Context, tl tool.Tool, args map[string]any) (map[string]any, error) {
				if tl.Name() == "sub" {
					args["request"] = "edited"
				}
				return nil, nil
			}}
			tl := callbackstest.Tool("lookup")
			m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("from sub"))
			sub := plainAgent(t, llmagent.Config{Name: "sub", Description: "d", Mode: llmagent.ModeSingleTurn, Model: m, Tools: []tool.Tool{tl}})
			root, plugins := attached(t, callbacks.New(edits, rec.Guard()), form, llmagent.Config{
				Name: "root", SubAgents: []agent.Agent{sub},
				Model: callbackstest.Script(callbackstest.Call("sub", map[string]any{"request": "raw"}), callbackstest.Say("done")),
			})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			require.Contains(t, texts(l.events), "done")
			require.JSONEq(t, `{"request":"edited"}`, m.Requests()[0].Contents[0].Parts[0].Text)
			require.Equal(t, map[string]any{"request": "raw"}, calls(l.stored(t))[0].Args, "the stored call is the model's")
			var tools []string
			for _, ev := range rec.Events(callbacks.StepTool) {
				tools = append(tools, ev.Tool)
			}
			want := map[string][]string{"agent": {"sub"}, "plugin": {"lookup", "sub"}, "both": {"lookup", "sub"}}
			require.Equal(t, want[form], tools)
		})
	}
}

// P39: the output key of a structured answer is saved in every form.
func TestP39AStructuredAnswerIsSaved(t *testing.T) {
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			root, plugins := attached(t, callbacks.New(allow("a"), rec.Guard()), form, llmagent.Config{
				Name: "root", OutputKey: "out", Tools: []tool.Tool{callbackstest.Tool("lookup")},
				Model:        geminiNamed{callbackstest.Script(callbackstest.Call("set_model_response", map[string]any{"score": "7"}))},
				OutputSchema: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"score": {Type: genai.TypeString}}},
			})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			var out map[string]any
			require.NoError(t, json.Unmarshal([]byte(l.state(t)["out"].(string)), &out))
			require.Equal(t, map[string]any{"score": "7"}, out)
			require.Len(t, rec.Events(callbacks.StepTool), 1)
		})
	}
}
