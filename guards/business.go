// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/internal/toolschema"
)

// Business marks a tool's error as one the model may read, word for word, and can do
// something about: "no such document", "closed on Sundays". Its text must hold no
// secret. Business(nil) is nil.
func Business(err error) error {
	if err == nil {
		return nil
	}
	return &businessError{err}
}

type businessError struct{ err error }

func (e *businessError) Error() string { return e.err.Error() }

func (e *businessError) Unwrap() error { return e.err }

// ModelText is what the chain gives to the model.
func (e *businessError) ModelText() string { return e.err.Error() }

// BusinessErrors lets the model read only what it can mend: errors marked by [Business],
// others that declare a ModelText of their own, arguments that are missing, and names
// of tools that do not exist. Any other error of a tool, and a panic, ends the agent as
// failed: the observers get the cause, the model "tool failed: NAME" and no further
// turn. Without this guard the model reads that text and goes on.
//
// The agent's error is [callbacks.ErrFailed]; put [Contain] on the agent, and the failure
// becomes a gap or a further attempt. It fails closed.
//
// Use it when an agent must not work on after a fault it can't mend; leave it out where the
// model may go on with "tool failed".
func BusinessErrors() callbacks.Guard {
	return callbacks.Guard{
		Name: "business_errors",
		OnToolError: func(ctx agent.Context, t tool.Tool, args map[string]any, err error) (map[string]any, error) {
			var mendable interface{ ModelText() string }
			if errors.As(err, &mendable) || unknownTool(t) || toolschema.Missing(t, args) != "" {
				return nil, nil
			}
			return nil, callbacks.Fail(codes.ToolFailed, say(ctx, text.ToolFailed, t.Name())).WithCause(err)
		},
	}
}

// unknownTool reports whether t is what ADK puts in the place of a tool that does not
// exist: something with a name and no declaration.
func unknownTool(t tool.Tool) bool {
	_, declared := t.(interface {
		Declaration() *genai.FunctionDeclaration
	})
	return !declared
}
