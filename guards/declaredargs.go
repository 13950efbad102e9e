// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/internal/toolschema"
)

// DeclaredArgs validates the arguments of every call against the schema that its tool
// declares, before the tool runs: types, ranges, lists of values, what is required and,
// where the schema says so, what is unknown. The refusal names at most three errors with
// their places, so that a model can correct itself. Without it ADK's function tools fail
// with such a call, which [BusinessErrors] takes for the tool's own failure.
//
// It validates what the tool will see, as [Args] does, which has rules beyond a schema. A
// tool that declares no parameters is not validated. It fails closed: where a schema can't
// be read, the tool does not run. Its hook needs nothing from the context.
//
// Use it when tools declare what they take, as ADK's function tools do; use [Args] for rules
// that a schema can't say.
func DeclaredArgs() callbacks.Guard {
	return callbacks.Guard{
		Name:       "declared_args",
		BeforeTool: refuseUndeclared,
		Info:       func() callbacks.Info { return callbacks.Info{OnlyJudges: true, Rechecks: true} },
	}
}

func refuseUndeclared(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
	declared, ok := t.(interface {
		Declaration() *genai.FunctionDeclaration
	})
	if !ok {
		return nil, nil
	}
	d := declared.Declaration()
	if d == nil {
		return nil, nil
	}
	schema, err := toolschema.Of(d.Parameters, d.ParametersJsonSchema)
	if err != nil || schema == nil {
		return nil, err
	}
	check, err := compileSchema(schema)
	if err != nil {
		return nil, err
	}
	said, detail, err := misfit(ctx, check, args)
	if err != nil || said == "" {
		return nil, err
	}
	return nil, callbacks.Deny(codes.InvalidArgument, say(ctx, text.ArgsInvalid, said)).WithDetail(detail)
}
