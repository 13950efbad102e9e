// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// adkTools are the tools ADK adds to an agent by itself, or whose only effect is
// on the flow of the run. A list that forgot them would break the run.
var adkTools = []string{
	"transfer_to_agent", "set_model_response", "finish_task", "exit_loop",
	"adk_request_confirmation", "adk_request_credential",
}

// AllowToolsOptions are the options of [AllowTools].
type AllowToolsOptions struct {
	// Tools are the names that may be called, compared exactly. Required.
	Tools []string
	// RefuseADKTools refuses the tools of ADK's own too, unless they are listed.
	RefuseADKTools bool
}

// AllowTools refuses calls of tools that are not named. The model reads "tool not
// allowed: NAME" and goes on. Attach refuses a name the agent does not have.
//
// ADK's own tools are let through: transfer_to_agent, set_model_response,
// finish_task, exit_loop, adk_request_confirmation, adk_request_credential.
//
// It does not hide tools from the model; it fails closed. Its hook needs nothing
// from the context.
//
// Use it when an agent has more tools than it may call, as with a toolset of somebody else's;
// leave it out where the agent's own list of tools is the limit.
func AllowTools(names ...string) callbacks.Guard {
	return AllowToolsOptions{Tools: names}.Guard()
}

// Guard returns the guard that [AllowTools] describes, with these options.
func (o AllowToolsOptions) Guard() callbacks.Guard {
	const name = "allow_tools"
	var errs []error
	if len(o.Tools) == 0 {
		errs = append(errs, errors.New("guards: AllowTools without a tool would refuse every call"))
	}
	for _, n := range o.Tools {
		if n == "" || strings.TrimSpace(n) != n {
			errs = append(errs, fmt.Errorf("guards: AllowTools: %q is not a tool name", n))
		}
	}
	listed := slices.Clone(o.Tools)
	allowed := make(map[string]bool, len(listed)+len(adkTools))
	for _, n := range listed {
		allowed[n] = true
	}
	if !o.RefuseADKTools {
		for _, n := range adkTools {
			allowed[n] = true
		}
	}
	check := func(ctx agent.Context, t tool.Tool) (map[string]any, error) {
		if allowed[t.Name()] {
			return nil, nil
		}
		return nil, callbacks.Deny(codes.ToolNotAllowed, say(ctx, text.ToolNotAllowed, cut(t.Name())))
	}
	return callbacks.Guard{
		Name: name,
		Err:  errors.Join(errs...),
		BeforeTool: func(ctx agent.Context, t tool.Tool, _ map[string]any) (map[string]any, error) {
			return check(ctx, t)
		},
		// A tool that does not exist meets no before_tool hook.
		OnToolError: func(ctx agent.Context, t tool.Tool, _ map[string]any, _ error) (map[string]any, error) {
			return check(ctx, t)
		},
		Info: func() callbacks.Info {
			return callbacks.Info{OnlyJudges: true, Limits: []string{"tools: " + strings.Join(listed, ", ")}, Tools: listed, Only: listed}
		},
	}
}

// cut bounds what came from a model to 60 characters.
func cut(s string) string { return cutTo(s, 60) }

func cutTo(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}
