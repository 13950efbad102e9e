// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"slices"

	"github.com/gardefou/gardefou/callbacks/answer"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
)

// reasonOf is the provider's word for a fault, where it is more than that nothing came.
func reasonOf(fault error) string {
	var e *answer.Error
	if errors.As(fault, &e) && e.Fault != answer.Empty {
		return e.Reason
	}
	return fault.Error()
}

// A poorAnswer is an agent's last answer where that is none, or may be none.
type poorAnswer struct {
	stop
	Place
	err error
}

// answered notes the last answer of an agent: its fault, or nil.
func (r *Run) answered(p Place, resp *model.LLMResponse, fault error) {
	if r == nil {
		return
	}
	p = p.inAnyNode()
	var refusal *Refusal
	switch {
	case fault != nil:
		status := StatusFailed
		var e *answer.Error
		if errors.As(fault, &e) && e.Reason == "" {
			status = StatusUnknown
		}
		refusal = End(codes.ModelFailed, "the model gave no answer").WithStatus(status).WithDetail(reasonOf(fault)).WithCause(fault)
	case resp != nil && resp.FinishReason == genai.FinishReasonUnspecified:
		refusal = End(codes.FinishUnknown, "the adapter does not say whether the answer is whole").WithStatus(StatusUnknown)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgetAnswer(p)
	if fault != nil {
		r.mayBeOver(p.Invocation)
	}
	if refusal != nil {
		r.poor = append(r.poor, poorAnswer{stop{agent: p.Agent, refusal: refusal}, p, fault})
	}
}

// forgetAnswer drops what is known of an agent's last answer. r.mu is held.
func (r *Run) forgetAnswer(p Place) {
	r.poor = slices.DeleteFunc(r.poor, func(a poorAnswer) bool { return a.Place == p })
}

// poorAnswer returns the first agent of the caller's invocation whose last answer is none,
// else the first of which that is not known; or nil. r.mu is held.
func (r *Run) poorAnswer() *poorAnswer {
	invocation := r.line.first
	if r.line.last != "" {
		invocation = r.line.last
	}
	var unknown *poorAnswer
	for i, a := range r.poor {
		switch {
		case a.Invocation != invocation:
		case statusOf(a.refusal) == StatusFailed:
			return &r.poor[i]
		case unknown == nil:
			unknown = &r.poor[i]
		}
	}
	return unknown
}

// TakeNoAnswer returns why the last model response of ctx's agent of that name was no answer, as
// [answer.Check] has it, or nil. The caller then answers for the agent: Outcome no longer
// counts it. A nil Run returns nil.
func (r *Run) TakeNoAnswer(ctx agent.InvocationContext, agentName string) error {
	if r == nil {
		return nil
	}
	p := placeIn(ctx, agentName).inAnyNode()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.poor {
		if a.Place == p && a.err != nil {
			r.forgetAnswer(p)
			return a.err
		}
	}
	return nil
}

// A lostCode is the error code of a chunk, which ADK's aggregator drops where a chunk
// without one comes after it.
type lostCode struct{ code, message string }

// see notes the error code of a chunk, and gives the whole answer the code that it lost.
func (l *lostCode) see(resp *model.LLMResponse) *model.LLMResponse {
	switch {
	case resp.ErrorCode != "":
		*l = lostCode{resp.ErrorCode, resp.ErrorMessage}
	case !resp.Partial && l.code != "" && resp.FinishReason != genai.FinishReasonStop && answer.SaysNothing(resp.Content):
		c := *resp
		c.ErrorCode, c.ErrorMessage = l.code, l.message
		return &c
	}
	return resp
}
