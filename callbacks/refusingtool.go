// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"fmt"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/internal/text"
)

// wrapBy puts a guard's wrapper around a tool. A wrapper that panics, or gives a tool of
// another kind, leaves one that refuses every call: the bare tool would run unguarded.
// Tools are wrapped while a run goes on too, where a panic would end the process.
func wrapBy(w toolWrapper, t tool.Tool) tool.Tool {
	wrapped, err := safely(func() (tool.Tool, error) { return w.f(t), nil })
	if err == nil && runnableOf(wrapped).sameKind(runnableOf(t)) {
		return wrapped
	}
	broken := brokenWrapper(w, t, wrapped, err)
	return AroundTool(t, func(ctx agent.Context, _ map[string]any, _ ToolCall) (map[string]any, error) {
		return nil, refuseBroken(ctx, w.guard, broken)
	})
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
