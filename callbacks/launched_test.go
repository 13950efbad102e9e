// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// sightings are the Runs that the hooks and wrappers of a guard were in.
type sightings struct {
	mu   sync.Mutex
	runs map[string]map[*callbacks.Run]bool
}

func (s *sightings) at(ctx context.Context, where string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[where] == nil {
		s.runs[where] = map[*callbacks.Run]bool{}
	}
	s.runs[where][callbacks.RunOf(ctx)] = true
}

// guard looks from every place that an agent's guard has.
func (s *sightings) guard() callbacks.Guard {
	return callbacks.Guard{
		Name:        "looking",
		BeforeAgent: func(ctx agent.Context) (*genai.Content, error) { s.at(ctx, "before_agent"); return nil, nil },
		AfterAgent:  func(ctx agent.Context) (*genai.Content, error) { s.at(ctx, "after_agent"); return nil, nil },
		BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			s.at(ctx, "before_model")
			return nil, nil
		},
		AfterModel: func(ctx agent.Context, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			s.at(ctx, "after_model")
			return nil, nil
		},
		BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			s.at(ctx, "before_tool")
			return nil, nil
		},
		AfterTool: func(ctx agent.Context, _ tool.Tool, _, _ map[string]any, _ error) (map[string]any, error) {
			s.at(ctx, "after_tool")
			return nil, nil
		},
		WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return modelFunc(func(ctx context.Context, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
				inner, cancel := context.WithCancel(ctx)
				defer cancel()
				s.at(inner, "wrap_model")
				for resp, err := range next.GenerateContent(inner, req, false) {
					if !yield(resp, err) {
						return
					}
				}
			})
		},
		WrapTool: func(t tool.Tool) tool.Tool {
			return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
				inner, cancel := context.WithCancel(ctx)
				defer cancel()
				s.at(inner, "wrap_tool")
				return next(ctx, args)
			})
		},
		WrapAgent: func(a agent.Agent) agent.Agent { return lookingAgent{a, s} },
		Observe:   func(ctx context.Context, _ callbacks.Event) { s.at(ctx, "observe") },
	}
}

type lookingAgent struct {
	agent.Agent
	s *sightings
}

func (l lookingAgent) Run(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	l.s.at(ctx, "wrap_agent")
	return l.Agent.Run(ctx)
}

// Where nobody calls Start, every hook and wrapper of a run is in one Run, whatever
// contexts are derived on the way.
func TestALaunchedRunIsTheSameEverywhere(t *testing.T) {
	s := &sightings{runs: map[string]map[*callbacks.Run]bool{}}
	chain := callbacks.New(s.guard())
	tl := callbackstest.ToolFunc("lookup", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
		s.at(ctx, "tool")
		return map[string]any{"result": "ok"}, nil
	})
	base := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
	m := modelFunc(func(ctx context.Context, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		s.at(ctx, "model")
		for resp, err := range base.GenerateContent(ctx, req, false) {
			yield(resp, err)
		}
	})
	a := build(t, chain, llmagent.Config{Model: m, Tools: []tool.Tool{tl}})
	l := launch(t, roots(t)["sequential root"](a), agent.StreamingModeNone)
	require.Empty(t, l.errs)

	var first *callbacks.Run
	for where, runs := range s.runs {
		require.Len(t, runs, 1, where)
		for run := range runs {
			require.NotNil(t, run, where)
			if first == nil {
				first = run
			}
			require.Same(t, first, run, where)
		}
	}
	require.Len(t, s.runs, 12, "%v", s.runs)
}

// Of two chains on one agent, each counts the attempts inside it and knows its own step.
func TestStackedChainsEachKnowTheirStep(t *testing.T) {
	for _, started := range []bool{true, false} {
		inner, outer := &callbackstest.Recorder{}, &callbackstest.Recorder{}
		var in []string
		asks := callbacks.Guard{Name: "asks", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return modelFunc(func(ctx context.Context, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
				step, ok := callbacks.CurrentStep(ctx)
				require.True(t, ok)
				in = append(in, step.Agent)
				next.GenerateContent(ctx, req, false)(yield)
			})
		}}
		cfg, err := callbacks.New(asks, inner.Guard()).Attach(llmagent.Config{Name: "guarded", Model: callbackstest.Script(callbackstest.Say("answer"))})
		require.NoError(t, err)
		a := build(t, callbacks.New(asks, outer.Guard()), cfg)
		if started {
			require.NoError(t, play(t, a, agent.StreamingModeNone).err)
		} else {
			require.Empty(t, launch(t, a, agent.StreamingModeNone).errs)
		}
		require.Equal(t, []string{"guarded", "guarded"}, in)
		for name, rec := range map[string]*callbackstest.Recorder{"inner": inner, "outer": outer} {
			told := rec.Events(callbacks.StepModel)
			require.Len(t, told, 1, name)
			require.Equal(t, 1, told[0].Attempt, name)
			require.Equal(t, callbacks.OutcomeAllowed, told[0].Outcome, name)
		}
	}
}
