// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"slices"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// A WritingTool says itself that it changes something, for [Checkpoint] to know it.
type WritingTool interface {
	tool.Tool
	// Writes reports whether a call may change something.
	Writes() bool
}

// Checkpoint calls take before each call of a tool that writes, so that the caller has a
// point to go back to: a copy of a folder, a savepoint, a snapshot. Tools that write are
// those named here and those that say so themselves, by being a [WritingTool]. The step
// names agent, tool, call and arguments, which take must not change.
//
// It fails closed: where take returns an error, or panics, the tool does not run, and the
// model reads that it was refused. Calls that run at once take their points at once: take
// has to be safe for that. Checkpoint restores nothing, and stands after [Confirm], so that
// what a person rejects takes none.
//
// What a tool says of itself is hidden by a wrapper somebody else puts around it, another
// chain's too; name it then.
//
// Use it when a tool's effect can be undone; use [Confirm] where it can't.
func Checkpoint(take func(ctx context.Context, call callbacks.Step) error, tools ...string) callbacks.Guard {
	c := &checkpoint{take: take, tools: slices.Clone(tools)}
	g := callbacks.Guard{
		Name:     "checkpoint",
		WrapTool: c.wrapTool,
		Info: func() callbacks.Info {
			return callbacks.Info{OnlyJudges: true, Tools: c.tools, After: []string{confirmName, deadlineName, spendName}}
		},
	}
	switch {
	case take == nil:
		g.Err = errors.New("guards: Checkpoint without a function")
	case slices.Contains(tools, ""):
		g.Err = errors.New("guards: Checkpoint: a tool without a name")
	}
	return g
}

type checkpoint struct {
	take  func(context.Context, callbacks.Step) error
	tools []string
}

func (c *checkpoint) wrapTool(t tool.Tool) tool.Tool {
	w, ok := writing(t)
	if !slices.Contains(c.tools, t.Name()) && (!ok || !w.Writes()) {
		return t
	}
	return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
		if err := c.before(ctx, t.Name(), args); err != nil {
			return nil, err
		}
		return next(ctx, args)
	})
}

// before takes the restore point, or says why the tool must not run.
func (c *checkpoint) before(ctx agent.Context, name string, args map[string]any) error {
	plain, err := RevealArgs(ctx, args)
	if err != nil {
		return err
	}
	if err = c.take(ctx, wrappedStep(ctx, name, plain)); err != nil {
		return callbacks.Deny(codes.CheckpointFailed, say(ctx, text.CheckpointFailed, name)).WithCause(err).By("checkpoint")
	}
	return nil
}

// writing finds a [WritingTool] inside the wrappers around it.
func writing(t tool.Tool) (WritingTool, bool) {
	for {
		if w, ok := t.(WritingTool); ok {
			return w, true
		}
		outer, ok := t.(interface{ Unwrap() tool.Tool })
		if !ok {
			return nil, false
		}
		t = outer.Unwrap()
	}
}
