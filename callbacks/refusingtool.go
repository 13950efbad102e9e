// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"fmt"
	"iter"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/internal/text"
)

type toolWrapper = named[func(tool.Tool) tool.Tool]

// wrapAny puts a guard's wrapper around a tool that ADK runs in this process, and leaves
// any other as it is.
func wrapAny(w toolWrapper, t tool.Tool) tool.Tool {
	switch inner := t.(type) {
	case streamingTool:
		return wrapStreaming(w, inner)
	case functionTool:
		return wrapFunction(w, inner)
	default:
		return t
	}
}

// wrapFunction puts a guard's wrapper around a tool. A wrapper that panics, or gives no
// function tool, leaves one that refuses every call: the bare tool would run unguarded.
// Tools are wrapped while a run goes on too, where a panic would end the process.
func wrapFunction(w toolWrapper, t functionTool) functionTool {
	wrapped, err := callWrapTool(w, t)
	if f, ok := wrapped.(functionTool); ok && err == nil {
		return f
	}
	return &refusingTool{t, w.guard, brokenWrapper(w, t, wrapped, err)}
}

// wrapStreaming is [wrapFunction] for a streaming tool.
func wrapStreaming(w toolWrapper, t streamingTool) streamingTool {
	wrapped, err := callWrapTool(w, t)
	if s, ok := wrapped.(streamingTool); ok && err == nil {
		return s
	}
	return &refusingStream{t, w.guard, brokenWrapper(w, t, wrapped, err)}
}

func callWrapTool(w toolWrapper, t tool.Tool) (wrapped tool.Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			wrapped, err = nil, newPanicError(p)
		}
	}()
	return w.f(t), nil
}

func brokenWrapper(w toolWrapper, t, wrapped tool.Tool, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("wrap_tool of guard %q made a %T of the tool %q, which is of another kind", w.guard, wrapped, t.Name())
}

func refuseBroken(ctx agent.Context, guard string, err error) error {
	lang := langOf(runOrNil(ctx))
	if isPanic(err) {
		return refusalOf(lang, err).By(guard)
	}
	return Deny(codes.GuardFaulty, text.Get(lang, text.GuardFaulty)).WithCause(err).By(guard)
}

type refusingTool struct {
	functionTool
	guard string
	err   error
}

// Run refuses.
func (r *refusingTool) Run(ctx agent.Context, _ any) (map[string]any, error) {
	return nil, refuseBroken(ctx, r.guard, r.err)
}

type refusingStream struct {
	streamingTool
	guard string
	err   error
}

// RunStream refuses.
func (r *refusingStream) RunStream(ctx agent.Context, _ any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("", refuseBroken(ctx, r.guard, r.err)) }
}
