// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// declaring is a tool that ADK may be given, of either kind.
type declaring interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	ProcessRequest(ctx agent.Context, req *model.LLMRequest) error
	Calls() []map[string]any
}

func isFunction(t any) bool {
	_, ok := t.(interface {
		Run(ctx agent.Context, args any) (map[string]any, error)
	})
	return ok
}

func isStream(t any) bool {
	_, ok := t.(interface {
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	})
	return ok
}

func aroundTools() map[string]func() declaring {
	return map[string]func() declaring{
		"function": func() declaring { return callbackstest.ToolReturning("look", map[string]any{"result": "plain"}, nil) },
		"stream":   func() declaring { return callbackstest.StreamingTool("look", "pl", "ain") },
	}
}

// loud is a guard as a user writes it: one function for every kind of tool.
func loud() callbacks.Guard {
	return callbacks.Guard{Name: "loud", WrapTool: func(t tool.Tool) tool.Tool {
		return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
			if args["id"] == "13" {
				return nil, callbacks.Deny("unlucky", "not thirteen")
			}
			res, err := next(ctx, map[string]any{"id": args["id"], "loud": true})
			if txt, ok := res["result"].(string); ok {
				res = map[string]any{"result": strings.ToUpper(txt)}
			}
			return res, err
		})
	}}
}

// A tool keeps what ADK knows it by, and takes the request's place of the one inside.
func TestAroundToolKeepsTheFaceOfATool(t *testing.T) {
	for kind, newTool := range aroundTools() {
		t.Run(kind, func(t *testing.T) {
			inner := newTool()
			got := loud().WrapTool(loud().WrapTool(inner))
			require.Equal(t, inner.Name(), got.Name())
			require.Equal(t, inner.Description(), got.Description())
			require.Equal(t, kind == "function", isFunction(got))
			require.Equal(t, kind == "stream", isStream(got))
			require.Same(t, inner.Declaration(), got.(interface {
				Declaration() *genai.FunctionDeclaration
			}).Declaration())
			var plain, wrapped model.LLMRequest
			require.NoError(t, inner.ProcessRequest(callbackstest.Context(t), &plain))
			require.NoError(t, got.(interface {
				ProcessRequest(ctx agent.Context, req *model.LLMRequest) error
			}).ProcessRequest(callbackstest.Context(t), &wrapped))
			require.Equal(t, plain.Config, wrapped.Config, "the model sees the same declaration")
			require.Equal(t, map[string]any{"look": got}, wrapped.Tools, "ADK calls the wrapper")
		})
	}
	long := callbacks.AroundTool(deferring{callbackstest.ToolReturning("later", nil, nil).LongRunning()},
		func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
			return next(ctx, args)
		})
	require.True(t, long.IsLongRunning())
	require.True(t, long.(interface{ DefersResponse() bool }).DefersResponse())
	require.False(t, loud().WrapTool(callbackstest.Tool("now")).(interface{ DefersResponse() bool }).DefersResponse())
	provider := named("search")
	require.Equal(t, tool.Tool(provider), loud().WrapTool(provider), "ADK does not run it")
}

type deferring struct{ *callbackstest.FakeTool }

func (deferring) DefersResponse() bool { return true }

type named string

func (n named) Name() string      { return string(n) }
func (named) Description() string { return "" }
func (named) IsLongRunning() bool { return false }

// What the wrapper changes and refuses is what the model reads, of both kinds, in a chain and
// without one, around a chain's tool and inside.
func TestAroundToolDecidesForBothKinds(t *testing.T) {
	forms := map[string]func(*testing.T, tool.Tool, llmagent.Config) agent.Agent{
		"alone": func(t *testing.T, tl tool.Tool, cfg llmagent.Config) agent.Agent {
			t.Helper()
			cfg.Tools = []tool.Tool{loud().WrapTool(tl)}
			return plainAgent(t, cfg)
		},
		"in a chain": func(t *testing.T, tl tool.Tool, cfg llmagent.Config) agent.Agent {
			t.Helper()
			cfg.Tools = []tool.Tool{tl}
			return build(t, callbacks.New(loud(), callbacks.ForAgents(loud(), "another")), cfg)
		},
		"inside a chain": func(t *testing.T, tl tool.Tool, cfg llmagent.Config) agent.Agent {
			t.Helper()
			cfg.Tools = []tool.Tool{loud().WrapTool(tl)}
			return build(t, callbacks.New(allow("a")), cfg)
		},
		"around a chain": func(t *testing.T, tl tool.Tool, cfg llmagent.Config) agent.Agent {
			t.Helper()
			cfg.Tools = []tool.Tool{tl}
			cfg, err := callbacks.New(allow("a")).Attach(cfg)
			require.NoError(t, err)
			cfg.Tools = []tool.Tool{loud().WrapTool(cfg.Tools[0])}
			return plainAgent(t, cfg)
		},
	}
	for kind, newTool := range aroundTools() {
		for form, attach := range forms {
			t.Run(kind+", "+form, func(t *testing.T) {
				inner := newTool()
				m := callbackstest.Script(
					callbackstest.Call("look", map[string]any{"id": "1"}), callbackstest.Call("look", map[string]any{"id": "13"}),
					callbackstest.Say("done"),
				)
				l := launch(t, attach(t, inner, llmagent.Config{Name: "a", Model: m}), agent.StreamingModeNone)
				require.Empty(t, l.errs)
				require.Equal(t, []map[string]any{{"result": "PLAIN"}, {"error": "not thirteen"}}, responses(l.events))
				require.Equal(t, []map[string]any{{"id": "1", "loud": true}}, inner.Calls())
			})
		}
	}
}

// A wrapper that gives a text under "error" says that the call failed, of both kinds.
func TestAroundToolMayAnswerWithAnError(t *testing.T) {
	for kind, newTool := range aroundTools() {
		t.Run(kind, func(t *testing.T) {
			closed := callbacks.Guard{Name: "closed", WrapTool: func(t tool.Tool) tool.Tool {
				return callbacks.AroundTool(t, func(agent.Context, map[string]any, callbacks.ToolCall) (map[string]any, error) {
					return map[string]any{"error": "closed today"}, nil
				})
			}}
			for _, tl := range []tool.Tool{closed.WrapTool(newTool()), closed.WrapTool(loud().WrapTool(newTool()))} {
				m := callbackstest.Script(callbackstest.Call("look", nil), callbackstest.Say("done"))
				l := launch(t, plainAgent(t, llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
				require.Equal(t, []map[string]any{{"error": "closed today"}}, responses(l.events))
			}
			m := callbackstest.Script(callbackstest.Call("look", nil), callbackstest.Say("done"))
			l := launch(t, build(t, callbacks.New(closed), llmagent.Config{Model: m, Tools: []tool.Tool{newTool()}}), agent.StreamingModeNone)
			require.Equal(t, []map[string]any{{"error": "closed today"}}, responses(l.events))
		})
	}
}

// A stream that does not heed its context ends with it, at its next chunk.
func TestAroundToolEndsAStreamWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	endless := endlessTool{callbackstest.StreamingTool("watch"), new(int)}
	tl := callbacks.AroundTool(endless, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
		cancel()
		return next(ctx, args)
	})
	for _, err := range tl.(interface {
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	}).RunStream(callbackstest.ContextFrom(ctx, t), nil) {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, 1, *endless.chunks)
}

type vertex struct{ model.LLM }

func (vertex) GetGoogleLLMVariant() genai.Backend { return genai.BackendVertexAI }

// A model keeps what ADK asks of Gemini models, through every wrapper, and has no client by
// which live mode would pass it.
func TestAroundModelKeepsTheFaceOfAModel(t *testing.T) {
	around := func(m model.LLM) model.LLM {
		return callbacks.AroundModel(m, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
			return m.GenerateContent(ctx, req, stream)
		})
	}
	for _, m := range []model.LLM{
		around(around(vertex{callbackstest.Script().Named("gemini-3")})),
		attachedModel(t, callbacks.New(allow("a")), around(vertex{callbackstest.Script().Named("gemini-3")})),
	} {
		require.Equal(t, "gemini-3", m.Name())
		require.Equal(t, genai.BackendVertexAI, m.(interface{ GetGoogleLLMVariant() genai.Backend }).GetGoogleLLMVariant())
	}
	plain := around(connectable{callbackstest.Script()})
	require.Equal(t, genai.BackendUnspecified, plain.(interface{ GetGoogleLLMVariant() genai.Backend }).GetGoogleLLMVariant())
	_, live := plain.(interface{ Client() *genai.Client })
	require.False(t, live)
}

func attachedModel(t *testing.T, c *callbacks.Chain, m model.LLM) model.LLM {
	t.Helper()
	cfg, err := c.Attach(llmagent.Config{Name: "a", Model: m})
	require.NoError(t, err)
	return cfg.Model
}

func passing(a agent.Agent) agent.Agent {
	return callbacks.AroundAgent(a, func(
		ctx agent.InvocationContext, next func(agent.InvocationContext) iter.Seq2[*session.Event, error],
	) iter.Seq2[*session.Event, error] {
		return next(ctx)
	})
}

// In ADK's workflow graph an agent with a wrapper reads the node's input, as a bare one does,
// also where it is run again.
func TestAroundAgentForwardsTheInputOfANode(t *testing.T) {
	again := callbacks.Guard{Name: "again", WrapAgent: func(a agent.Agent) agent.Agent {
		return callbacks.AroundAgent(a, func(
			ctx agent.InvocationContext, next func(agent.InvocationContext) iter.Seq2[*session.Event, error],
		) iter.Seq2[*session.Event, error] {
			return func(yield func(*session.Event, error) bool) {
				failed := false
				for _, err := range next(ctx) {
					failed = failed || err != nil
				}
				if failed {
					next(ctx)(yield)
				}
			}
		})
	}}
	rec := &callbackstest.Recorder{}
	for name, tc := range map[string]struct {
		agent func(llmagent.Config) agent.Agent
		turns []callbackstest.Turn
	}{
		"bare":    {agent: func(cfg llmagent.Config) agent.Agent { return plainAgent(t, cfg) }},
		"wrapped": {agent: func(cfg llmagent.Config) agent.Agent { return passing(passing(plainAgent(t, cfg))) }},
		"a guard, the second attempt": {
			agent: func(cfg llmagent.Config) agent.Agent { return build(t, callbacks.New(again, rec.Guard()), cfg) },
			turns: []callbackstest.Turn{callbackstest.Fail(errors.New("busy"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := callbackstest.Script(append(tc.turns, callbackstest.Say("answer"))...)
			pre := workflow.NewFunctionNode("pre", func(agent.Context, string) (string, error) {
				return "QUESTION MADE BY PRE", nil
			}, workflow.NodeConfig{})
			node, err := workflow.NewAgentNode(tc.agent(llmagent.Config{Name: "a", Model: m}), workflow.NodeConfig{})
			require.NoError(t, err)
			root, err := workflowagent.New(workflowagent.Config{Name: "graph", Edges: workflow.Chain(workflow.Start, pre, node)})
			require.NoError(t, err)
			l := launch(t, root, agent.StreamingModeNone)
			require.Empty(t, l.errs)
			require.Contains(t, texts(l.events), "answer")
			require.Len(t, m.Requests(), len(tc.turns)+1)
			for _, req := range m.Requests() {
				require.Equal(t, "QUESTION MADE BY PRE", req.Contents[len(req.Contents)-1].Parts[0].Text)
			}
		})
	}
	ended := rec.Events(callbacks.StepAgent)
	require.Len(t, ended, 2)
	require.Equal(t, callbacks.OutcomeFailed, ended[0].Outcome)
	require.Equal(t, callbacks.OutcomeAllowed, ended[1].Outcome)
}

// An agent that takes no input is run as one, and so is one that a transfer calls, which
// must see the conversation.
func TestAroundAgentRunsWhereThereIsNoInput(t *testing.T) {
	custom, err := agent.New(agent.Config{Name: "custom", Run: func(agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			ev := session.NewEvent(t.Context(), "i")
			ev.Content = genai.NewContentFromText("custom", genai.RoleModel)
			yield(ev, nil)
		}
	}})
	require.NoError(t, err)
	node, err := workflow.NewAgentNode(passing(custom), workflow.NodeConfig{})
	require.NoError(t, err)
	root, err := workflowagent.New(workflowagent.Config{Name: "graph", Edges: workflow.Chain(workflow.Start, node)})
	require.NoError(t, err)
	require.Contains(t, texts(launch(t, root, agent.StreamingModeNone).events), "custom")

	m := callbackstest.Script(callbackstest.Call("transfer_to_agent", map[string]any{"agent_name": "sub"}))
	sub := callbackstest.Script(callbackstest.Say("answer"))
	l := launch(t, plainAgent(t, llmagent.Config{
		Name: "root", Model: m, SubAgents: []agent.Agent{passing(plainAgent(t, llmagent.Config{Name: "sub", Model: sub}))},
	}), agent.StreamingModeNone)
	require.Empty(t, l.errs)
	require.Contains(t, texts(l.events), "answer")
	require.Equal(t, "question", sub.Requests()[0].Contents[0].Parts[0].Text)
}
