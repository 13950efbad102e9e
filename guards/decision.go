// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"time"

	"google.golang.org/adk/v2/agent"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal/line"
)

// DecisionOutcome is how a question for an approval ended: a closed set.
type DecisionOutcome string

// The outcomes of a question. Only the first two let the call be made.
const (
	DecisionApproved DecisionOutcome = "approved"
	// DecisionStanding: an earlier answer holds for this call as well.
	DecisionStanding DecisionOutcome = "approved_before"
	DecisionRejected DecisionOutcome = "rejected"
	DecisionTimedOut DecisionOutcome = "timed_out"
	// DecisionInvalid: the answer was forged, used before, or to another call.
	DecisionInvalid DecisionOutcome = "invalid"
	DecisionFailed  DecisionOutcome = "failed"
)

// A Decision is what became of one call that needed an approval.
type Decision struct {
	Agent, Tool, CallID string
	// Call names the tool and its arguments, as in [Question].
	Call    string
	Outcome DecisionOutcome
	// By is who decided, as the approver says; empty where nobody did.
	By string
	// Always are the arguments for which the decision holds for the rest of the Run; nil
	// where it holds for this call only.
	Always   map[string]any
	Asked    time.Time
	Answered time.Time
}

// Decisions returns what people decided in ctx's Run so far, in the order they did.
func (r RunRecords) Decisions() []Decision {
	return decisionsKey.In(r.run).list()
}

var decisionsKey = callbacks.NewKey(func() *records[Decision] { return &records[Decision]{} })

// settle records the decision and returns the refusal, or nil.
func (d Decision) settle(ctx agent.Context, refusal *callbacks.Refusal) error {
	d.Answered = time.Now()
	decisionsKey.Of(ctx).add(d)
	journalledKey.Of(ctx).add(d.line)
	if refusal == nil {
		return nil
	}
	return refusal.By(confirmName)
}

// line is the decision in a journal.
func (d Decision) line(j *journal, run *callbacks.Run) line.Line {
	l := j.begin(line.KindApproval, run)
	l.Agent, l.Tool, l.CallID, l.Decision, l.By = d.Agent, j.mask(d.Tool), j.mask(d.CallID), string(d.Outcome), j.mask(d.By)
	l.Asked, l.Answered = d.Asked.UTC(), d.Answered.UTC()
	if d.Always != nil {
		l.Always, _ = j.maskedJSON(d.Always)
	}
	return l
}
