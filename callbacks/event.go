// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/internal/fold"
)

// StepKind is what a step of a run is.
type StepKind string

// The kinds of step.
const (
	StepAgent StepKind = "agent"
	StepModel StepKind = "model"
	StepTool  StepKind = "tool"
)

// Outcome is how a step ended.
type Outcome string

// The outcomes of a step.
const (
	// OutcomeAllowed: the step ran; nothing of the chain decided it.
	OutcomeAllowed Outcome = "allowed"
	// OutcomeRefused: a guard said no; the step did not run, or its result was withheld.
	OutcomeRefused Outcome = "refused"
	// OutcomeReplaced: a guard answered in place of the model or tool, or replaced what it answered.
	OutcomeReplaced Outcome = "replaced"
	// OutcomeFailed: the model, tool or agent returned an error.
	OutcomeFailed Outcome = "failed"
	// OutcomePanicked: the model, tool, agent or a hook panicked.
	OutcomePanicked Outcome = "panicked"
	// OutcomeUnknownTool: the model called a tool that does not exist.
	OutcomeUnknownTool Outcome = "unknown_tool"
	// OutcomePending: the step waits for an approval or for a long-running tool.
	OutcomePending Outcome = "pending"
	// OutcomeAbandoned: the consumer went away before the model had answered.
	OutcomeAbandoned Outcome = "abandoned"
	// OutcomeWouldRefuse: a monitored guard would have refused; the step goes on. Only
	// ObserveMonitored gets it.
	OutcomeWouldRefuse Outcome = "would_refuse"
)

// An Event tells an observer about one step, once, after the whole chain.
// Observers must not change what it refers to.
type Event struct {
	Step       StepKind
	Invocation string
	Agent      string
	Branch     string
	// Model is the name of the model of a model step as asked for, ServedModel what
	// the provider says it served; empty where it does not say.
	Model       string
	ServedModel string
	// Tool and CallID are set for tool steps.
	Tool   string
	CallID string
	// Attempt is how many times the model of this step was called; 0 where it
	// was not, and always 0 for other steps.
	Attempt int
	// Called says, in a tool step, that the tool was run; not where it waits for a
	// confirmation.
	Called bool
	// Landed says, in a model step, that the call was the agent's last, kept for its
	// answer.
	Landed  bool
	Outcome Outcome
	// Guard is the guard that decided, Code and Reason are its why; all empty
	// where nothing was decided.
	Guard  string
	Code   codes.Code
	Reason string
	// Err is the cause of a failure, with all its detail: for journals, never for
	// a model.
	Err error
	// Stop says that this step stopped the Run.
	Stop     bool
	Start    time.Time
	Duration time.Duration
	// Inner is how much of Duration the tool, or the model in all its attempts, took
	// itself; the rest is the chain's. Zero where that is not known: for streams, whose
	// consumer takes its time too, and in plugins, which see no model.
	Inner time.Duration
	// Args are the arguments as the tool saw them.
	Args map[string]any
	// Result is what goes back to the model from a tool, Response what a model
	// step ended with.
	Result   map[string]any
	Response *genai.Content
	// Usage is the token usage of a model step, read once, from its final
	// response. Nil where the model reported none.
	Usage *genai.GenerateContentResponseUsageMetadata

	node *nodeRun
}

// A Step says which step a hook is in, for the predicates of [When] and for
// model wrappers, which see no ADK context.
type Step struct {
	Hook       inspect.Hook
	Invocation string
	Agent      string
	Branch     string
	// Tool, CallID and Args are set in tool hooks. Look an argument up with [Step.Arg].
	Tool   string
	CallID string
	Args   map[string]any

	node *nodeRun
}

// Arg returns the argument of that name, or nil. Like encoding/json, by which many tools read
// their arguments, it takes names that differ in case alone for the same: what a predicate
// does not find under one, a tool may. No tool is run with two such names, see
// [codes.AmbiguousArgs].
func (s Step) Arg(name string) any {
	v, _ := fold.Get(s.Args, name)
	return v
}

type stepKey struct{}

// CurrentStep returns the step that ctx, the context a model wrapper is called
// with, belongs to. It reports false outside a chain.
func CurrentStep(ctx context.Context) (Step, bool) {
	if ctx == nil {
		return Step{}, false
	}
	ms, ok := ctx.Value(stepKey{}).(*modelStep)
	if !ok {
		return Step{}, false
	}
	return ms.ev.Place().step(inspect.WrapModel), true
}
