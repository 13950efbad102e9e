// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/internal/text"
)

// Sentinels for the scopes of a refusal, for errors.Is.
var (
	ErrDenied  = errors.New("call denied")
	ErrEnded   = errors.New("agent ended")
	ErrStopped = errors.New("run stopped")
	ErrFailed  = errors.New("agent failed")
)

// A Refusal is how a hook says no. Make one with [Deny], [End], [Stop] or [Fail].
// A Refusal is immutable and safe for concurrent use.
type Refusal struct {
	scope scope
	// Code is the stable, machine-readable reason.
	Code codes.Code
	// Text is what a model or a caller may read: short, and free of arguments,
	// secrets and personal data.
	Text string
	// Detail is the reason with its figures, for observers and people, such as
	// "calls: 6/6". Empty means Text.
	Detail string
	cause  error
	guard  string
	status Status // "" is the one that follows from Code
	// graceful says that a stop lets finish what is in flight.
	graceful bool
}

// scope is how far a refusal reaches.
type scope int

const (
	scopeCall scope = iota
	scopeAgent
	scopeRun
	scopeFailure
)

var sentinels = [...]error{scopeCall: ErrDenied, scopeAgent: ErrEnded, scopeRun: ErrStopped, scopeFailure: ErrFailed}

// Deny refuses this call: the model reads text and goes on.
func Deny(code codes.Code, text string) *Refusal {
	return &Refusal{scope: scopeCall, Code: code, Text: text}
}

// End refuses this call and ends the agent that made it; siblings and
// followers go on.
func End(code codes.Code, text string) *Refusal {
	return &Refusal{scope: scopeAgent, Code: code, Text: text}
}

// Stop refuses this call and stops the Run, as [Run.Stop] does: every later step of it is
// refused with the same reason.
func Stop(code codes.Code, text string) *Refusal {
	return &Refusal{scope: scopeRun, Code: code, Text: text}
}

// Fail refuses this call and ends the agent that made it as failed: the agent's own
// run ends with a [FailedError], which a parallel agent takes as a reason
// to cancel the siblings unless something around the agent contains it. From a tool
// hook the call is answered first, so that the stored history stays whole, and the
// agent fails in place of its next model call.
func Fail(code codes.Code, text string) *Refusal {
	return &Refusal{scope: scopeFailure, Code: code, Text: text}
}

// A FailedError is the error an agent ends with that was failed by [Fail], and what errors.As
// finds in the error of a node that ended with a refusal, see [Chain.Node]. It is not a
// refusal itself: around an agent used as a tool it says nothing about the agent that
// called it.
type FailedError struct{ Refusal *Refusal }

// Error returns the refusal's text.
func (e *FailedError) Error() string { return e.Refusal.Text }

// Is reports whether target is ErrFailed.
func (e *FailedError) Is(target error) bool { return target == ErrFailed }

// Unwrap returns the refusal's cause, or nil.
func (e *FailedError) Unwrap() error { return e.Refusal.cause }

// By returns a copy that names the guard which refuses. The chain knows the guard of
// a hook; a wrapper that yields a refusal as an error has to say it.
func (r *Refusal) By(guard string) *Refusal {
	c := *r
	c.guard = guard
	return &c
}

// WithDetail returns a copy that carries the reason with its figures.
func (r *Refusal) WithDetail(detail string) *Refusal {
	c := *r
	c.Detail = detail
	return &c
}

// WithStatus returns a copy that gives the Run it ends this status, where Code is none of
// the statuses and "denied" says too little: [StatusFailed] for a store that is gone, say.
func (r *Refusal) WithStatus(s Status) *Refusal {
	c := *r
	c.status = s
	return &c
}

// Graceful returns a copy that, where it stops a Run, lets the steps finish that have begun:
// those that a budget let pass before, say. A further attempt of theirs, a fallback or a
// retry, is refused, and no step begins.
func (r *Refusal) Graceful() *Refusal {
	c := *r
	c.graceful = true
	return &c
}

// WithCause returns a copy that carries the error behind the refusal. Observers
// see it, a model never does.
func (r *Refusal) WithCause(err error) *Refusal {
	c := *r
	c.cause = err
	return &c
}

// Error returns Text, so that a hook used in plain ADK, which sends
// err.Error() to the model, sends nothing else.
func (r *Refusal) Error() string { return r.Text }

// ModelText returns Text.
func (r *Refusal) ModelText() string { return r.Text }

// Is reports whether target is the sentinel of this refusal's scope.
func (r *Refusal) Is(target error) bool { return target == sentinels[r.scope] }

// Unwrap returns the cause, or nil.
func (r *Refusal) Unwrap() error { return r.cause }

func (r *Refusal) reason() string {
	if r.Detail != "" {
		return r.Detail
	}
	return r.Text
}

// metadataKey is the key in LLMResponse.CustomMetadata under which a refused
// model step carries {guard, status, code}. Code recognises a refusal by it and
// never by the text.
const metadataKey = "gardefou"

func refusalResponse(lang text.Lang, guard string, r *Refusal) *model.LLMResponse {
	return &model.LLMResponse{
		Content: genai.NewContentFromText(text.Get(lang, text.GuardPrefix)+r.Text, genai.RoleModel),
		CustomMetadata: map[string]any{metadataKey: map[string]any{
			"guard": guard, "status": string(statusOf(r)), "code": r.Code,
		}},
		TurnComplete: true,
	}
}

// refusingGuard returns the guard that a refusal response names.
func refusingGuard(resp *model.LLMResponse) string {
	stamp, _ := resp.CustomMetadata[metadataKey].(map[string]any)
	guard, _ := stamp["guard"].(string)
	return guard
}

// IsRefusal reports whether a response is a refusal of the chain and not the
// work of a model.
func IsRefusal(resp *model.LLMResponse) bool {
	if resp == nil {
		return false
	}
	_, ok := resp.CustomMetadata[metadataKey]
	return ok
}

// isRefusalEvent is IsRefusal for a session event.
func isRefusalEvent(ev *session.Event) bool { return ev != nil && IsRefusal(&ev.LLMResponse) }

// refusalResult is what the model reads on the tool side: exactly one key.
func refusalResult(r *Refusal) map[string]any { return map[string]any{"error": r.Text} }

// decides reports whether a hook's error is a decision of its own, and not the error it
// was shown handed back.
func decides(hookErr, shown error) bool {
	if hookErr == nil || shown == nil {
		return hookErr != nil // nearly every step: nothing is allocated for it
	}
	var r *Refusal
	return errors.As(hookErr, &r) || !errors.Is(hookErr, shown)
}

// modelText returns what a model may read of err: the text err itself declares
// safe, or fallback.
func modelText(err error, fallback string) string {
	var safe interface{ ModelText() string }
	if errors.As(err, &safe) {
		if t := strings.TrimSpace(safe.ModelText()); t != "" {
			return t
		}
	}
	return fallback
}
