// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/workflow"
)

// A nodeRun is one run of a node of a graph, or of an agent that runs as one. Its pointer is in
// the places of all that works in it: two runs of one agent at once have everything else in
// common.
type nodeRun struct{ line *nodeLine }

type nodeKey struct{}

func nodeOf(ctx context.Context) *nodeRun {
	n, _ := ctx.Value(nodeKey{}).(*nodeRun)
	return n
}

// enter returns the context of what works in n.
func (n *nodeRun) enter(ctx agent.Context) agent.Context {
	if inner := ctx.WithAgentContext(context.WithValue(ctx, nodeKey{}, n)); inner != nil {
		return inner
	}
	return ctx // a hook's, in which nothing can run
}

// A nodeLine is to a guarded node what the main line is to a run: the agents that work one
// after the other in its branch. nil where no guarded node stands around an agent.
type nodeLine struct {
	invocation, branch string

	mu sync.Mutex
	// cut is why the agent that worked last was ended, or nil.
	cut *stop
	// child is what the last node that this one ran and that failed ended with, or nil.
	child error
}

func (n *nodeRun) cutShort(p Place, guard string, r *Refusal) {
	n.setCut(p, &stop{agent: p.Agent, guard: guard, refusal: r})
}

func (n *nodeRun) wentOn(p Place) { n.setCut(p, nil) }

func (n *nodeRun) setCut(p Place, s *stop) {
	if n == nil || n.line == nil || p.Invocation != n.line.invocation || p.Branch != n.line.branch {
		return
	}
	n.line.mu.Lock()
	defer n.line.mu.Unlock()
	n.line.cut = s
}

// refusedBy returns why nothing of the node may be handed on: the stop of the Run, else what
// ended the agent that worked last in it, or nil.
func (l *nodeLine) refusedBy(run *Run) *stop {
	if run != nil {
		if s := run.stopped.Load(); s != nil {
			return s
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

func (n *nodeRun) childFailed(err error) {
	if n == nil || n.line == nil {
		return
	}
	n.line.mu.Lock()
	defer n.line.mu.Unlock()
	n.line.child = err
}

func (l *nodeLine) lastChild() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.child
}

// nodeEnds forgets what was remembered of places in a node. Where its context is over they are
// kept until the invocation is: agents that were at work are reported then.
func (r *Run) nodeEnds(ctx context.Context, n *nodeRun) {
	if r == nil || ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.places, func(p Place, _ *work) bool { return p.node == n })
	r.closeStepsWhere(func(o openStep) bool { return o.node == n && o.over })
}

// A nodeError is the refusal that a node ends with. Of its cause it hides what ADK's graph would
// take for a cancelled sibling or a pause, and drop with all that it says. It is no [Refusal]
// itself: around a graph used as a tool it says nothing about the agent that called it.
type nodeError struct {
	node string
	stop *stop
}

// Error implements error.
func (e *nodeError) Error() string { return fmt.Sprintf("node %q: %s", e.node, e.stop.refusal.Text) }

// Is reports whether target is the sentinel of the refusal's scope, or in its cause.
func (e *nodeError) Is(target error) bool {
	return target == sentinels[e.stop.refusal.scope] || (&sealed{e.stop.refusal.cause}).Is(target)
}

// As finds a [FailedError], which has the refusal, and what is in its cause.
func (e *nodeError) As(target any) bool {
	switch target := target.(type) {
	case **FailedError:
		*target = &FailedError{e.stop.refusal}
		return true
	case **Refusal:
		return false
	default:
		return errors.As(e.stop.refusal.cause, target)
	}
}

// sealed is an error that ADK's graph takes neither for the end of a sibling nor for a pause,
// whatever is in it.
type sealed struct{ error }

// Is implements what errors.Is asks.
func (e *sealed) Is(target error) bool {
	switch target {
	case context.Canceled, workflow.ErrNodeInterrupted, workflow.ErrNodeWaitingForOutput:
		return false
	default:
		return errors.Is(e.error, target)
	}
}

// As implements what errors.As asks.
func (e *sealed) As(target any) bool { return errors.As(e.error, target) }

// A childError is what ADK makes of the error of a node that a node ran, its text, and that error.
type childError struct{ err, child error }

// Error implements error.
func (e *childError) Error() string { return e.err.Error() }

// Unwrap returns both errors.
func (e *childError) Unwrap() []error { return []error{e.err, e.child} }

// refusalIn returns the refusal in err, of a node, an agent or a call.
func refusalIn(err error) (r *Refusal, guard string) {
	var failed *FailedError
	switch {
	case errors.As(err, &failed):
		r = failed.Refusal
	case errors.As(err, &r):
	default:
		return nil, ""
	}
	return r, r.guard
}
