// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

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

// noting is a guard with one hook that calls note.
func noting(name string, hook inspect.Hook, note func(string)) callbacks.Guard {
	g := callbacks.Guard{Name: name}
	switch hook {
	case inspect.BeforeAgent:
		g.BeforeAgent = func(agent.Context) (*genai.Content, error) { note(name); return nil, nil }
	case inspect.AfterAgent:
		g.AfterAgent = func(agent.Context) (*genai.Content, error) { note(name); return nil, nil }
	case inspect.BeforeModel:
		g.BeforeModel = func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { note(name); return nil, nil }
	case inspect.AfterModel:
		g.AfterModel = func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			note(name)
			return nil, nil
		}
	case inspect.OnModelError:
		g.OnModelError = func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) { note(name); return nil, nil }
	case inspect.BeforeTool:
		g.BeforeTool = func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { note(name); return nil, nil }
	case inspect.AfterTool:
		g.AfterTool = func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			note(name)
			return nil, nil
		}
	case inspect.WrapTool:
		g.WrapTool = func(tl tool.Tool) tool.Tool {
			return callbackstest.ToolFunc(tl.Name(), func(ctx agent.Context, args map[string]any) (map[string]any, error) {
				note(name)
				return tl.(interface {
					Run(ctx agent.Context, args any) (map[string]any, error)
				}).Run(ctx, args)
			})
		}
	}
	return g
}

// Check finds an order that defeats a guard in exactly those set-ups in which the hooks
// really run in that order.
func TestCheckKnowsTheOrderHooksReallyRunIn(t *testing.T) {
	for _, hook := range []inspect.Hook{
		inspect.BeforeAgent, inspect.AfterAgent, inspect.BeforeModel, inspect.AfterModel, inspect.OnModelError,
		inspect.BeforeTool, inspect.AfterTool, inspect.WrapTool,
	} {
		for _, setup := range []string{"base on runner", "base on agent", "base on first plugin", "base on second plugin"} {
			t.Run(string(hook)+"/"+setup, func(t *testing.T) {
				var ran []string
				note := func(name string) { ran = append(ran, name) }
				base, needs := noting("base", hook, note), noting("needs_base", hook, note)
				needs.Info = func() callbacks.Info { return callbacks.Info{After: []string{"base"}} }

				var own []callbacks.Guard
				var chains []*callbacks.Chain
				switch setup {
				case "base on runner":
					own, chains = []callbacks.Guard{needs}, []*callbacks.Chain{callbacks.New(base)}
				case "base on agent":
					own, chains = []callbacks.Guard{base}, []*callbacks.Chain{callbacks.New(needs)}
				case "base on first plugin":
					chains = []*callbacks.Chain{callbacks.New(base), callbacks.New(needs)}
				case "base on second plugin":
					chains = []*callbacks.Chain{callbacks.New(needs), callbacks.New(base)}
				}
				tl := callbackstest.Tool("lookup")
				m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
				if hook == inspect.OnModelError {
					m = callbackstest.Script(callbackstest.Fail(errors.New("503")))
				}
				cfg := llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{tl}}
				a := plainAgent(t, cfg)
				if own != nil {
					a = build(t, callbacks.New(own...), cfg)
				}
				var plugins []*plugin.Plugin
				for i, c := range chains {
					p, err := c.Plugin([]string{"first", "second"}[i])
					require.NoError(t, err)
					plugins = append(plugins, p)
				}
				play(t, a, agent.StreamingModeNone, plugins...)
				require.Subset(t, ran, []string{"base", "needs_base"})

				found := slices.ContainsFunc(callbacks.Check(a, chains...), func(p inspect.Problem) bool { return p.Kind == inspect.Order })
				require.Equal(t, ran[0] == "needs_base", found, "%v", ran)
			})
		}
	}
}
