// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package answer decides whether a model's response is an answer. Providers report many
// failures as a response without an error: an empty one, a blocked or cut one, a call that
// can't be read. Observers, the outcome of a Run and the guards that try again, fall back or
// record gaps all go by [Check].
package answer

import (
	"errors"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// ErrNone is the cause of a model step whose model returned nothing: no response, or
// one without text, call or data.
var ErrNone = errors.New("the model returned nothing")

// Fault is why a model's response is no answer.
type Fault string

// The faults of a response.
const (
	// Empty: the response holds no text, call or data; thoughts are none.
	Empty Fault = "empty"
	// Blocked: the provider withheld the prompt or the answer.
	Blocked Fault = "blocked"
	// Cut: the answer reached its limit of tokens.
	Cut Fault = "cut"
	// Malformed: the model wrote a call that can't be read.
	Malformed Fault = "malformed"
	// Failed: the provider reports any other error or finish reason.
	Failed Fault = "failed"
)

// An Error says that a model responded without an error, and that its response is no
// answer. It is [ErrNone] where the response is empty.
type Error struct {
	Fault Fault
	// Reason is the provider's word for it, a finish reason or an error code; empty where
	// the provider, or the adapter to it, does not say. Message is its text, if any.
	Reason, Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Fault == Empty {
		return ErrNone.Error()
	}
	s := "the model answered with " + e.Reason
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// Is reports whether target is ErrNone and the response was empty.
func (e *Error) Is(target error) bool {
	return target == ErrNone && e.Fault == Empty
}

// Check returns an [Error] where a model's whole response is no answer: it
// carries an error code, its finish reason is another than that the model was done, or it
// holds nothing. A chunk and no response at all give nil; so does a
// guard's refusal, which says something.
func Check(resp *model.LLMResponse) error {
	if resp == nil || resp.Partial {
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
			fault = Failed
		}
		return &Error{Fault: fault, Reason: reason, Message: resp.ErrorMessage}
	case SaysNothing(resp.Content):
		return &Error{Fault: Empty, Reason: finishReason(resp)}
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

// faults are the faults by what providers call them. What is not in it is Failed.
var faults = map[string]Fault{
	string(genai.FinishReasonMaxTokens):              Cut,
	string(genai.FinishReasonMalformedFunctionCall):  Malformed,
	string(genai.FinishReasonUnexpectedToolCall):     Malformed,
	string(genai.FinishReasonSafety):                 Blocked,
	string(genai.FinishReasonRecitation):             Blocked,
	string(genai.FinishReasonLanguage):               Blocked,
	string(genai.FinishReasonBlocklist):              Blocked,
	string(genai.FinishReasonProhibitedContent):      Blocked,
	string(genai.FinishReasonSPII):                   Blocked,
	string(genai.FinishReasonImageSafety):            Blocked,
	string(genai.FinishReasonImageProhibitedContent): Blocked,
	string(genai.FinishReasonImageRecitation):        Blocked,
	string(genai.BlockedReasonModelArmor):            Blocked,
	string(genai.BlockedReasonJailbreak):             Blocked,
}

// SaysNothing reports whether a content holds nothing that anybody could read or run.
func SaysNothing(c *genai.Content) bool {
	return c == nil || !slices.ContainsFunc(c.Parts, func(p *genai.Part) bool {
		if p == nil || p.Thought {
			return false
		}
		return strings.TrimSpace(p.Text) != "" || p.FunctionCall != nil || p.FunctionResponse != nil || p.InlineData != nil ||
			p.FileData != nil || p.ExecutableCode != nil || p.CodeExecutionResult != nil || p.ToolCall != nil || p.ToolResponse != nil
	})
}
