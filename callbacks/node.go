// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"
	"iter"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/workflow"
)

// A guardedNode stands around one node of a graph. ADK asks for all else of the node it embeds.
type guardedNode struct {
	workflow.Node
	c *Chain
}

// Config implements workflow.Node: a refusal is never retried.
func (n *guardedNode) Config() workflow.NodeConfig {
	cfg := n.Node.Config()
	if cfg.RetryConfig == nil {
		return cfg
	}
	retry, asked := *cfg.RetryConfig, cfg.RetryConfig.ShouldRetry
	retry.ShouldRetry = func(err error) bool {
		switch r, _ := refusalIn(err); {
		case r != nil:
			return false
		case asked != nil:
			return asked(err)
		default:
			return !errors.Is(err, workflow.ErrInputValidation) // as ADK has it
		}
	}
	cfg.RetryConfig = &retry
	return cfg
}

// StateFieldNames implements workflow.StateParamsAware.
func (n *guardedNode) StateFieldNames() []string {
	if aware, ok := n.Node.(workflow.StateParamsAware); ok {
		return aware.StateFieldNames()
	}
	return nil
}

// Run implements workflow.Node.
func (n *guardedNode) Run(ctx agent.Context, input any) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		r := &guardedNodeRun{node: n, ctx: ctx, run: RunOf(ctx), line: &nodeLine{invocation: ctx.InvocationID(), branch: ctx.Branch()}}
		if s := r.line.refusedBy(r.run); s != nil {
			yield(nil, r.end(r.refusal(s)))
			return
		}
		at := &nodeRun{line: r.line}
		defer r.run.nodeEnds(ctx, at)
		inner := at.enter(ctx)
		for ev, err := range withoutPanic(func() iter.Seq2[*session.Event, error] { return n.Node.Run(inner, input) }) {
			if err != nil {
				yield(nil, r.end(r.failed(err)))
				return
			}
			if !yield(r.handOn(ev), nil) {
				return
			}
		}
		if s := r.line.refusedBy(r.run); s != nil {
			yield(nil, r.end(r.refusal(s)))
		}
	}
}

// A guardedNodeRun is one run of a guarded node.
type guardedNodeRun struct {
	node *guardedNode
	ctx  agent.Context
	run  *Run
	line *nodeLine
}

// end notes the error for the node that runs this one, if one does.
func (r *guardedNodeRun) end(err error) error {
	nodeOf(r.ctx).childFailed(err)
	return err
}

func (r *guardedNodeRun) refusal(s *stop) error { return &nodeError{r.node.Name(), s} }

// failed returns what the node ends with in the place of err.
func (r *guardedNodeRun) failed(err error) error {
	if child := r.line.lastChild(); child != nil && errors.Is(err, workflow.ErrNodeFailed) {
		err = &childError{err, child}
	}
	refusal, guard := refusalIn(err)
	cut := r.line.refusedBy(r.run)
	var nested *nodeError
	switch {
	case r.run.isStopped():
		return r.refusal(cut)
	case errors.As(err, &nested):
		return r.refusal(nested.stop)
	case refusal != nil && cut != nil && cut.refusal.Code == refusal.Code:
		return r.refusal(cut) // it knows the agent
	case refusal != nil:
		return r.refusal(&stop{guard: guard, refusal: refusal})
	case errors.Is(err, workflow.ErrNodeInterrupted):
		return err // ADK's word for a pause
	case r.ctx.Err() == nil && errors.Is(err, context.Canceled):
		return &sealed{err}
	default:
		return err
	}
}

// handOn returns the event as it may leave the node: without output and routes where they are
// what a refusal left.
func (r *guardedNodeRun) handOn(ev *session.Event) *session.Event {
	if ev == nil {
		return nil
	}
	ownDelta(ev)
	if r.line.refusedBy(r.run) == nil {
		return ev
	}
	dropRefusedOutput(ev)
	held := *ev
	held.Output, held.Routes = nil, nil
	if held.NodeInfo != nil {
		info := *held.NodeInfo
		info.MessageAsOutput = false
		held.NodeInfo = &info
	}
	return &held
}
