// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
)

// AroundModel returns a model that calls f in the place of m.GenerateContent, for
// [Guard].WrapModel and for any model on an agent; f calls m itself, once, never, or again. It
// has m's name and answers what ADK asks of Gemini models; m's other methods are hidden, and
// with them what ADK's live mode needs.
//
// f runs for many calls at once; nil panics at the first. In a chain its errors and panics
// are the model's, and an error that is a [Refusal] refuses the call. It must not call yield
// again once that returned false.
func AroundModel(
	m model.LLM, f func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error],
) model.LLM {
	return &aroundModel{m, f}
}

type aroundModel struct {
	model.LLM
	f func(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error]
}

// GetGoogleLLMVariant forwards what ADK asks of Gemini models.
func (a *aroundModel) GetGoogleLLMVariant() genai.Backend { return variantOf(a.LLM) }

func variantOf(m model.LLM) genai.Backend {
	if v, ok := m.(interface{ GetGoogleLLMVariant() genai.Backend }); ok {
		return v.GetGoogleLLMVariant()
	}
	return genai.BackendUnspecified
}

// GenerateContent implements model.LLM.
func (a *aroundModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return a.f(ctx, req, stream)
}

// AroundAgent returns an agent that calls f in a's place, for [Guard].WrapAgent and for any
// agent that a workflow runs. next runs a: f may call it once, never, or again, with the
// context it was given or one made of that. In a graph of nodes a gets the node's input, each
// time, where it takes one. Only ADK's own agents are more to ADK than this: an LLM agent
// that has sub-agents, or a mode other than its default, must stay bare.
//
// f runs for many invocations at once; nil panics at the first. In a chain a panic in f or in
// a becomes the agent's error. It must not call yield again once that returned false.
func AroundAgent(
	a agent.Agent,
	f func(
		ctx agent.InvocationContext, next func(agent.InvocationContext) iter.Seq2[*session.Event, error],
	) iter.Seq2[*session.Event, error],
) agent.Agent {
	return &aroundAgent{a, f}
}

type (
	agentRun    = func(agent.InvocationContext) iter.Seq2[*session.Event, error]
	aroundAgent struct {
		agent.Agent
		f func(agent.InvocationContext, agentRun) iter.Seq2[*session.Event, error]
	}
)

// Run implements agent.Agent.
func (a *aroundAgent) Run(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return a.f(ctx, a.Agent.Run)
}

// RunNode implements what ADK's workflow graph calls in the place of Run.
func (a *aroundAgent) RunNode(ctx agent.Context, input any) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		n := &nodeRun{}
		if outer := nodeOf(ctx); outer != nil {
			n.line = outer.line
		}
		defer RunOf(ctx).nodeEnds(ctx, n)
		for ev, err := range a.runNode(n.enter(ctx), input) {
			if !yield(ev, err) {
				return
			}
		}
	}
}

// runNode is RunNode in the run of a node that it shares with the wrappers around it.
func (a *aroundAgent) runNode(ctx agent.Context, input any) iter.Seq2[*session.Event, error] {
	var node func(agent.Context, any) iter.Seq2[*session.Event, error]
	switch inner := a.Agent.(type) {
	case *aroundAgent:
		node = inner.runNode
	case interface {
		RunNode(ctx agent.Context, input any) iter.Seq2[*session.Event, error]
	}:
		node = inner.RunNode
	}
	if node == nil || input == nil {
		// A transfer brings no input: RunNode would hide the conversation from the agent.
		return a.Run(ctx)
	}
	return a.f(ctx, func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return node(agent.Promote(ctx), input)
	})
}
