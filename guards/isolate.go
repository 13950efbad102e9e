// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
)

// Isolate makes an agent's request hold its own question in place of the user's
// message and of everything else that was said before the agent began: other
// agents' turns and earlier rounds. The agent's own turns since then, calls and
// responses paired, stay.
//
// Keep ADK's default IncludeContents: IncludeContentsNone under a parallel agent
// sends function responses without their calls. Isolate does not keep an agent's
// tools from telling it more; that is for the tools and for Scope. It fails closed.
//
// Use it when an agent is to see its own question alone; use [Window] where it may see the
// conversation, but not all of it.
func Isolate(question string) callbacks.Guard {
	g := IsolateFunc(func(context.Context) (string, error) { return question, nil })
	if question == "" {
		g.Err = errors.New("guards: Isolate without a question")
	}
	return g
}

// IsolateFunc is [Isolate] with a question made for each request, from the Run
// say. It fails closed: an error of it refuses the call.
//
// Use it when the question is known only in the run; use [Isolate] where it is known before.
func IsolateFunc(question func(context.Context) (string, error)) callbacks.Guard {
	g := callbacks.Guard{
		Name: isolateName,
		BeforeModel: func(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
			q, err := question(contextOf(ctx))
			if err != nil {
				return nil, err
			}
			req.Contents = isolated(q, req.Contents)
			return nil, nil
		},
	}
	if question == nil {
		g.Err = errors.New("guards: IsolateFunc without a function")
	}
	return g
}

// isolated returns the question followed by the turns after the last text that
// came from outside the agent. Nothing shared is changed.
func isolated(question string, contents []*genai.Content) []*genai.Content {
	start := 0
	for i, c := range contents {
		if c != nil && c.Role == genai.RoleUser && !hasResponse(c) {
			start = i + 1
		}
	}
	own := contents[start:]
	out := make([]*genai.Content, 0, len(own)+1)
	out = append(out, genai.NewContentFromText(question, genai.RoleUser))
	// A turn that ends with the model's own prose asks for nothing.
	if len(own) > 0 && own[len(own)-1].Role == genai.RoleUser {
		out = append(out, own...)
	}
	return out
}

func hasResponse(c *genai.Content) bool {
	for _, p := range c.Parts {
		if p != nil && p.FunctionResponse != nil {
			return true
		}
	}
	return false
}
