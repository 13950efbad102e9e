// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"

	"github.com/gardefou/gardefou/callbacks/codes"
)

func (r *Run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure, r.ended = err, r.callersEnd()
	}
}

// dropped keeps the error of an agent's model that ADK may not hand on: under an LLM agent
// as the root a run ends without an error where one was cancelled.
func (r *Run) dropped(p Place, err error) {
	r.mu.Lock()
	r.mayBeOver(p.Invocation)
	status := r.callersEnd().echoed(err)
	r.mu.Unlock()
	switch {
	case status != "":
	case errors.Is(err, context.Canceled):
		status = StatusFailed
	default:
		return
	}
	r.cutShort(p, "", End(codes.Code(status), string(codes.ModelFailed)).WithCause(err))
}

// A callerEnd is why the caller's context is over.
type callerEnd struct{ err, cause error }

// callersEnd returns why the caller's context is over, or nil. r.mu is held.
func (r *Run) callersEnd() *callerEnd {
	for _, ctx := range r.callers {
		if err := ctx.Err(); err != nil {
			return &callerEnd{err, context.Cause(ctx)}
		}
	}
	return nil
}

// echoed returns the status of a run that ended with an error which is the end of the
// caller's context handed back, as such or as its cause; "" where it is another error. A
// cause says why somebody cancelled, never that time ran out: that is for the context's own
// error to say.
func (e *callerEnd) echoed(err error) Status {
	switch {
	case e == nil || !errors.Is(err, e.err) && !errors.Is(err, e.cause):
		return ""
	case errors.Is(e.err, context.DeadlineExceeded):
		return StatusTimeExhausted
	default:
		return StatusInterrupted
	}
}

// Status is how a Run ended: a closed set.
type Status string

// The statuses of a Run. Landed is done, with an agent that had to answer on the last
// call it had. Unknown is a Run of which an agent's last answer may not be whole, or is none,
// where the adapter to the model does not say why.
const (
	StatusDone            Status = "done"
	StatusLanded          Status = "landed"
	StatusCallsExhausted  Status = "calls_exhausted"
	StatusTokensExhausted Status = "tokens_exhausted"
	StatusTimeExhausted   Status = "time_exhausted"
	StatusBudgetExhausted Status = "budget_exhausted"
	StatusLoopDetected    Status = "loop_detected"
	StatusDenied          Status = "denied"
	StatusFailed          Status = "failed"
	StatusInterrupted     Status = "interrupted"
	StatusUnknown         Status = "unknown"
)

// statusOf maps a refusal to the status of what it ends: the one it says itself, a code
// that is a status, else "denied".
func statusOf(r *Refusal) Status {
	if r.status != "" {
		return r.status
	}
	switch s := Status(r.Code); s {
	case StatusCallsExhausted, StatusTokensExhausted, StatusTimeExhausted, StatusBudgetExhausted, StatusLoopDetected, StatusFailed, StatusInterrupted, StatusUnknown:
		return s
	default:
		return StatusDenied
	}
}

// Result is how a Run ended and why.
type Result struct {
	Status Status
	// Agent and Guard are where it was decided that the run, or the agent that worked last,
	// ends; empty where nothing was.
	Agent string
	Guard string
	Code  codes.Code
	// Reason is the reason with its figures.
	Reason string
	// Err is the error that ended the Run, if one did.
	Err error
}

// Outcome returns how the Run stands now; after the run, how it ended: why it was stopped;
// else the error it ended with, which is the refusal where a node of a graph ended with one;
// else what [Run.MarkShort] said; else why a guard ended the agent
// that worked last; else that the last model response of an agent was no answer, see
// [answer.Check]; else done.
//
// A response that is no answer counts wherever the agent stands, as an error does, but for an
// agent used as a tool, whose caller reads it: the status is StatusFailed, or StatusUnknown
// where the reason is hidden. It no longer counts when the same agent answers later, or where
// guards.Contain made a gap of it. An answer that an adapter gives the finish reason
// FINISH_REASON_UNSPECIFIED, as ADK's OpenAI adapter does in streams, may have been cut: the
// status is StatusUnknown. One without any finish reason is taken for whole.
//
// The agent that worked last is one on the main line of the run, the root and whatever
// sequences and loops run one after the other. An agent that was cut short and has a
// follower, works in a parallel branch or is used as a tool leaves the run as it is: somebody
// goes on without it. An error is StatusInterrupted or StatusTimeExhausted only where the
// context of the caller was cancelled or ran out, with a cause of its own or without, and
// StatusFailed else.
func (r *Run) Outcome() Result {
	if s := r.stopped.Load(); s != nil {
		return s.result()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failure == nil && r.short.Load() != nil:
		return r.short.Load().result()
	case r.failure == nil && r.line.cut() != nil:
		return r.line.cut().result()
	case r.failure == nil && r.poorAnswer() != nil:
		return r.poorAnswer().result()
	case r.failure == nil && r.landed.Load():
		return Result{Status: StatusLanded}
	case r.failure == nil:
		return Result{Status: StatusDone}
	case refusedNode(r.failure) != nil:
		return refusedNode(r.failure).result()
	case r.ended.echoed(r.failure) != "":
		return Result{Status: r.ended.echoed(r.failure), Err: r.failure}
	default:
		return Result{Status: StatusFailed, Err: r.failure}
	}
}

func (s *stop) result() Result {
	return Result{
		Status: statusOf(s.refusal), Agent: s.agent, Guard: s.guard,
		Code: s.refusal.Code, Reason: s.refusal.reason(), Err: s.refusal.Unwrap(),
	}
}

// refusedNode returns the refusal that a node ended the graph with, where err is one, or nil:
// one that fails is an error as any other.
func refusedNode(err error) *stop {
	var e *nodeError
	if errors.As(err, &e) && e.stop.refusal.scope != scopeFailure {
		return e.stop
	}
	return nil
}
