// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/redact"
)

// calls puts tokens in place of the values in the calls of a response.
func (m *masker) calls(ctx context.Context, resp *model.LLMResponse) callMask {
	if m.keepArgs {
		return callMask{args: func(args map[string]any) (map[string]any, error) { return args, nil }, id: m.redactor(ctx).String}
	}
	return callMask{args: m.hider(ctx, endingOf(resp)).Map, id: m.hider(ctx, redact.Complete).String}
}

// RevealArgs returns the arguments of a call as the tool will see them: with the values
// that [Redact] put tokens for, in a copy, or args itself where there are none. It is for
// hooks that judge arguments, in ctx's Run. What it returns must not reach a model, a log
// or anything stored; quote args instead.
//
// It fails closed: for a token without a value it returns a refusal with the code
// [codes.ValueUnavailable], for the hook to return.
func RevealArgs(ctx context.Context, args map[string]any) (map[string]any, error) {
	if args == nil {
		return nil, nil
	}
	v, err := vaultKey.Of(ctx).RevealValue(args)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	plain, ok := v.(map[string]any)
	if !ok {
		return nil, unavailable(ctx, redact.ErrOpaque)
	}
	return plain, nil
}

func unavailable(ctx context.Context, err error) *callbacks.Refusal {
	return callbacks.Deny(codes.ValueUnavailable, text.Get(langOf(ctx), text.ValueUnavailable)).WithCause(err)
}

// revealingTool gives the tool the values, and nothing before it.
func revealingTool(t tool.Tool) tool.Tool {
	return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
		plain, err := RevealArgs(ctx, args)
		if err != nil {
			return nil, err
		}
		return next(ctx, plain)
	})
}
