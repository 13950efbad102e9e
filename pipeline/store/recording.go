// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"iter"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/redact"
)

// A Recording is what a run's models answered and its tools returned, as its events tell.
// It serves one Run and is safe for concurrent use.
type Recording struct {
	mu      sync.Mutex
	answers map[string][]*genai.Content // by agent
	played  map[string]int
	live    map[string]bool // agents whose last answer was new
	results map[call]map[string]any
}

// A call is one of those in an agent's answer, counted from 1. Its id alone names none:
// some servers number the calls of each answer anew.
type call struct {
	agent    string
	answer   int
	tool, id string
}

func newRecording() *Recording {
	return &Recording{answers: make(map[string][]*genai.Content), played: make(map[string]int), live: make(map[string]bool), results: make(map[call]map[string]any)}
}

// add takes the events of one attempt in. An attempt begins with what those before it
// recorded, as far as it came: the longest record of an agent is the whole one.
func (r *Recording) add(events session.Events) {
	answers := make(map[string][]*genai.Content)
	for ev := range events.All() {
		if ev.Partial || ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p != nil && p.FunctionResponse != nil && p.FunctionResponse.ID != "" {
				r.results[call{ev.Author, len(answers[ev.Author]), p.FunctionResponse.Name, p.FunctionResponse.ID}] = p.FunctionResponse.Response
			}
		}
		if isAnswer(ev) {
			forgetTokens(ev.Content)
			answers[ev.Author] = append(answers[ev.Author], ev.Content)
		}
	}
	for name, list := range answers {
		if len(list) > len(r.answers[name]) {
			r.answers[name] = list
		}
	}
}

// forgetTokens makes labels of the tokens that stand for personal data in the arguments of
// calls: their values were never stored, and a tool runs on none that is gone.
func forgetTokens(c *genai.Content) {
	for _, p := range c.Parts {
		if p == nil || p.FunctionCall == nil {
			continue
		}
		v, err := redact.ForgetTokens(p.FunctionCall.Args)
		if args, ok := v.(map[string]any); ok && err == nil {
			p.FunctionCall.Args = args
		}
	}
}

// isAnswer reports whether an event is what a model answered: neither a refusal nor what
// stands in for an agent that did not begin.
func isAnswer(ev *session.Event) bool {
	if ev.Content.Role != genai.RoleModel || len(ev.Content.Parts) == 0 || ev.ErrorCode != "" || callbacks.IsRefusal(&ev.LLMResponse) {
		return false
	}
	for _, lang := range []text.Lang{text.English, text.French} {
		if p := ev.Content.Parts[0]; p != nil && strings.HasPrefix(p.Text, text.Get(lang, text.GuardPrefix)) {
			return false
		}
	}
	return true
}

// Answers counts the answers that are recorded.
func (r *Recording) Answers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, list := range r.answers {
		n += len(list)
	}
	return n
}

// Replay is a guard that answers in the models' place as long as the recording has
// answers for the agent, and in that of the tools whose name begins with toolPrefix
// where it has the result of their call: tools that look something up. All others run
// again. It must stand first, so that an answer passes everything as it did when it was
// new. It fails open: what is not recorded is asked for.
func (r *Recording) Replay(toolPrefix string) callbacks.Guard {
	return callbacks.Guard{
		Name:      "replay",
		WrapModel: r.wrapModel,
		WrapTool: func(t tool.Tool) tool.Tool {
			if !strings.HasPrefix(t.Name(), toolPrefix) {
				return t
			}
			return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
				if res, ok := r.result(ctx.AgentName(), t.Name(), ctx.FunctionCallID()); ok {
					return res, nil
				}
				return next(ctx, args)
			})
		},
		Info: func() callbacks.Info { return callbacks.Info{Fails: "open"} },
	}
}

func (r *Recording) next(agentName string) *genai.Content {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.played[agentName]
	if n >= len(r.answers[agentName]) {
		r.live[agentName] = true
		return nil
	}
	r.played[agentName]++
	return r.answers[agentName][n]
}

// result is what a call of the answer that was played last returned.
func (r *Recording) result(agentName, toolName, callID string) (map[string]any, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[agentName] {
		return nil, false
	}
	res, ok := r.results[call{agentName, r.played[agentName], toolName, callID}]
	return res, ok && res["error"] == nil
}

func (r *Recording) wrapModel(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			if s, ok := callbacks.CurrentStep(ctx); ok {
				if answer := r.next(s.Agent); answer != nil {
					// What it used was counted when it was new.
					yield(&model.LLMResponse{Content: answer, TurnComplete: true}, nil)
					return
				}
			}
			next.GenerateContent(ctx, req, stream)(yield)
		}
	})
}
