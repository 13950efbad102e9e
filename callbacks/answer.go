// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
)

// ErrNoAnswer is the cause of a model step whose model returned nothing: no response, or
// one without text, call or data.
var ErrNoAnswer = errors.New("the model returned nothing")

// AnswerFault is why a model's response is no answer.
type AnswerFault string

// The faults of a response.
const (
	// FaultEmpty: the response holds no text, call or data; thoughts are none.
	FaultEmpty AnswerFault = "empty"
	// FaultBlocked: the provider withheld the prompt or the answer.
	FaultBlocked AnswerFault = "blocked"
	// FaultCut: the answer reached its limit of tokens.
	FaultCut AnswerFault = "cut"
	// FaultMalformed: the model wrote a call that can't be read.
	FaultMalformed AnswerFault = "malformed"
	// FaultFailed: the provider reports any other error or finish reason.
	FaultFailed AnswerFault = "failed"
)

// An AnswerError says that a model responded without an error, and that its response is no
// answer. It is [ErrNoAnswer] where the response is empty.
type AnswerError struct {
	Fault AnswerFault
	// Reason is the provider's word for it, a finish reason or an error code; empty where
	// the provider, or the adapter to it, does not say. Message is its text, if any.
	Reason, Message string
}

// Error implements error.
func (e *AnswerError) Error() string {
	if e.Fault == FaultEmpty {
		return ErrNoAnswer.Error()
	}
	s := "the model answered with " + e.Reason
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// reasonOf is the provider's word for a fault, where it is more than that nothing came.
func reasonOf(fault error) string {
	var e *AnswerError
	if errors.As(fault, &e) && e.Fault != FaultEmpty {
		return e.Reason
	}
	return fault.Error()
}

// Is reports whether target is ErrNoAnswer and the response was empty.
func (e *AnswerError) Is(target error) bool {
	return target == ErrNoAnswer && e.Fault == FaultEmpty
}

// CheckAnswer returns an [AnswerError] where a model's whole response is no answer: it
// carries an error code, its finish reason is another than that the model was done, or it
// holds nothing. A chunk, a guard's refusal and no response at all give nil.
//
// Observers, [Run.Outcome] and the guards that try again, fall back or record gaps all go
// by it.
func CheckAnswer(resp *model.LLMResponse) error {
	if resp == nil || resp.Partial || IsRefusal(resp) {
		return nil
	}
	reason := string(resp.FinishReason)
	if resp.ErrorCode != "" {
		reason = resp.ErrorCode
	}
	switch {
	case resp.ErrorCode != "" || !wentWell(resp.FinishReason):
		fault, known := faults[strings.ToUpper(reason)]
		if !known {
			fault = FaultFailed
		}
		return &AnswerError{Fault: fault, Reason: reason, Message: resp.ErrorMessage}
	case saysNothingAtAll(resp.Content):
		return &AnswerError{Fault: FaultEmpty, Reason: finishReason(resp)}
	}
	return nil
}

// wentWell reports whether a finish reason is that of a whole answer, or none.
func wentWell(r genai.FinishReason) bool {
	return r == "" || r == genai.FinishReasonUnspecified || strings.EqualFold(string(r), string(genai.FinishReasonStop))
}

// finishReason is the finish reason of a response as far as its adapter says it.
func finishReason(resp *model.LLMResponse) string {
	if resp.FinishReason == genai.FinishReasonUnspecified {
		return ""
	}
	return string(resp.FinishReason)
}

// faults are the faults by what providers call them. What is not in it is FaultFailed.
var faults = map[string]AnswerFault{
	string(genai.FinishReasonMaxTokens):              FaultCut,
	string(genai.FinishReasonMalformedFunctionCall):  FaultMalformed,
	string(genai.FinishReasonUnexpectedToolCall):     FaultMalformed,
	string(genai.FinishReasonSafety):                 FaultBlocked,
	string(genai.FinishReasonRecitation):             FaultBlocked,
	string(genai.FinishReasonLanguage):               FaultBlocked,
	string(genai.FinishReasonBlocklist):              FaultBlocked,
	string(genai.FinishReasonProhibitedContent):      FaultBlocked,
	string(genai.FinishReasonSPII):                   FaultBlocked,
	string(genai.FinishReasonImageSafety):            FaultBlocked,
	string(genai.FinishReasonImageProhibitedContent): FaultBlocked,
	string(genai.FinishReasonImageRecitation):        FaultBlocked,
	string(genai.BlockedReasonModelArmor):            FaultBlocked,
	string(genai.BlockedReasonJailbreak):             FaultBlocked,
}

// saysNothingAtAll reports whether a content holds nothing that anybody could read or run.
func saysNothingAtAll(c *genai.Content) bool {
	return c == nil || !slices.ContainsFunc(c.Parts, func(p *genai.Part) bool {
		if p == nil || p.Thought {
			return false
		}
		return strings.TrimSpace(p.Text) != "" || p.FunctionCall != nil || p.FunctionResponse != nil || p.InlineData != nil ||
			p.FileData != nil || p.ExecutableCode != nil || p.CodeExecutionResult != nil || p.ToolCall != nil || p.ToolResponse != nil
	})
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
	var refusal *Refusal
	switch {
	case fault != nil:
		status := StatusFailed
		var e *AnswerError
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

// TakeNoAnswer returns why the last model response of ctx's agent was no answer, as
// [CheckAnswer] has it, or nil. Whoever takes it answers for the agent: Run.Outcome no
// longer counts it. Without a Run it returns nil.
func TakeNoAnswer(ctx agent.InvocationContext, agentName string) error {
	run := RunOf(ctx)
	if run == nil {
		return nil
	}
	p := placeIn(ctx, agentName)
	run.mu.Lock()
	defer run.mu.Unlock()
	for _, a := range run.poor {
		if a.Place == p && a.err != nil {
			run.forgetAnswer(p)
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
	case !resp.Partial && l.code != "" && resp.FinishReason != genai.FinishReasonStop && saysNothingAtAll(resp.Content):
		c := *resp
		c.ErrorCode, c.ErrorMessage = l.code, l.message
		return &c
	}
	return resp
}
