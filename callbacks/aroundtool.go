// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"fmt"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
)

// ADK decides what a tool is by these method sets, which it does not export.
type (
	functionTool interface {
		tool.Tool
		Declaration() *genai.FunctionDeclaration
		Run(ctx agent.Context, args any) (map[string]any, error)
	}
	streamingTool interface {
		tool.Tool
		Declaration() *genai.FunctionDeclaration
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	}
	requestProcessor interface {
		ProcessRequest(ctx agent.Context, req *model.LLMRequest) error
	}
	responseDeferrer interface{ DefersResponse() bool }
)

// A ToolCall is one call of a tool, function or streaming: it returns what a model would
// read. What a streaming tool streams is gathered, as the text under the key "result".
type ToolCall func(ctx agent.Context, args map[string]any) (map[string]any, error)

// AroundTool returns a tool that calls f in t's place, for [Guard].WrapTool and for any tool
// on an agent. next calls t: f may call it once, never, or again. It has t's name, its
// declaration and its kind, registers itself in requests where t registers itself, and
// answers later where t does; t's other methods are hidden, and its method Unwrap returns t. A tool that ADK does not run in
// this process, one of the provider's, comes back as it is.
//
// A streaming tool's chunks are handed on as one, after f: what f refuses or changes has
// never left. A stream of more than 16 MiB, or one whose context is over, is an error; so is
// f's result where it has a text under the key "error".
//
// f runs for many calls at once; nil panics at the first. Its errors and panics are those of
// a tool: in a chain the call fails closed, and an error that is a [Refusal] refuses it.
func AroundTool(t tool.Tool, f func(ctx agent.Context, args map[string]any, next ToolCall) (map[string]any, error)) tool.Tool {
	inner := runnableOf(t)
	return around(aroundTool{Tool: t, inner: inner, f: f, next: inner.call})
}

// A runnable is a tool that ADK runs in this process. At most one of the two is set.
type runnable struct {
	function  functionTool
	streaming streamingTool
}

func runnableOf(t tool.Tool) runnable {
	switch t := t.(type) {
	case streamingTool:
		return runnable{streaming: t}
	case functionTool:
		return runnable{function: t}
	default:
		return runnable{}
	}
}

func (r runnable) sameKind(other runnable) bool {
	return (r.function == nil) == (other.function == nil) && (r.streaming == nil) == (other.streaming == nil)
}

// call is the tool as a [ToolCall].
func (r runnable) call(ctx agent.Context, args map[string]any) (map[string]any, error) {
	if r.function != nil {
		return r.function.Run(ctx, args)
	}
	if a, ok := r.streaming.(*aroundStream); ok && a.c == nil {
		return a.call(ctx, args) // it is gathered
	}
	return gather(ctx, r.streaming, args)
}

// mostStreamed is how many bytes of a streaming tool are gathered: one that never ends must
// not take the memory of the process.
const mostStreamed = 16 << 20

func gather(ctx agent.Context, t streamingTool, args map[string]any) (map[string]any, error) {
	var all []byte
	for chunk, err := range t.RunStream(ctx, args) {
		if err == nil && ctx != nil {
			err = ctx.Err() // a tool that does not heed it might never end
		}
		if err != nil {
			return nil, err
		}
		if len(all)+len(chunk) > mostStreamed {
			return nil, fmt.Errorf("callbacks: %s streams more than %d bytes", t.Name(), mostStreamed)
		}
		all = append(all, chunk...)
	}
	return map[string]any{"result": string(all)}, nil
}

// around makes a tool of inner's kind.
func around(a aroundTool) tool.Tool {
	switch {
	case a.inner.streaming != nil:
		return &aroundStream{a}
	case a.inner.function != nil:
		return &aroundFunction{a}
	default:
		return a.Tool
	}
}

// aroundTool is what the wrappers of both kinds share: their face is the embedded tool's.
type aroundTool struct {
	tool.Tool
	inner runnable // what the calls go to
	c     *Chain   // takes the calls where it is not nil, else f does
	alone bool     // what c refuses is an error and no result
	f     func(ctx agent.Context, args map[string]any, next ToolCall) (map[string]any, error)
	next  ToolCall
}

// aroundOf returns t's outermost wrapper of this package, or nil.
func aroundOf(t tool.Tool) *aroundTool {
	if w, ok := t.(interface{ around() *aroundTool }); ok {
		return w.around()
	}
	return nil
}

func (a *aroundTool) around() *aroundTool { return a }

// Unwrap returns the tool inside, for what asks a tool about itself.
func (a *aroundTool) Unwrap() tool.Tool { return a.Tool }

// Declaration forwards to the tool.
func (a *aroundTool) Declaration() *genai.FunctionDeclaration {
	if a.inner.function != nil {
		return a.inner.function.Declaration()
	}
	return a.inner.streaming.Declaration()
}

// DefersResponse forwards ADK's question whether the tool answers later.
func (a *aroundTool) DefersResponse() bool {
	d, ok := a.Tool.(responseDeferrer)
	return ok && d.DefersResponse()
}

// register lets the tool put itself into the request, then takes its place.
func (a *aroundTool) register(ctx agent.Context, req *model.LLMRequest, self tool.Tool) error {
	p, ok := a.Tool.(requestProcessor)
	if !ok {
		return fmt.Errorf("tool %q does not implement ProcessRequest", a.Name())
	}
	if err := p.ProcessRequest(ctx, req); err != nil {
		return err
	}
	if _, ok := req.Tools[a.Name()]; ok {
		req.Tools[a.Name()] = self
	}
	return nil
}

// run takes a call's arguments, which are an object, or none, where a model made them.
func (a *aroundTool) run(ctx agent.Context, args any) (map[string]any, error) {
	m, ok := args.(map[string]any)
	if !ok && args != nil {
		return nil, fmt.Errorf("tool %q: arguments are %T, not an object", a.Name(), args)
	}
	return a.call(ctx, m)
}

func (a *aroundTool) call(ctx agent.Context, args map[string]any) (map[string]any, error) {
	if a.c != nil {
		return a.c.callTool(ctx, a, args)
	}
	return a.f(ctx, args, a.next)
}

type aroundFunction struct{ aroundTool }

// ProcessRequest implements what ADK asks of tools.
func (a *aroundFunction) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	return a.register(ctx, req, a)
}

// Run implements ADK's function tool.
func (a *aroundFunction) Run(ctx agent.Context, args any) (map[string]any, error) {
	return a.run(ctx, args)
}

type aroundStream struct{ aroundTool }

// ProcessRequest implements what ADK asks of tools.
func (a *aroundStream) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	return a.register(ctx, req, a)
}

// RunStream implements ADK's streaming tool.
func (a *aroundStream) RunStream(ctx agent.Context, args any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		res, err := a.run(ctx, args)
		if txt, ok := res["error"].(string); ok && err == nil {
			err = errors.New(txt)
		}
		if err != nil {
			yield("", err)
			return
		}
		yield(streamText(res), nil)
	}
}

func streamText(res map[string]any) string {
	if txt, ok := res["result"].(string); ok {
		return txt
	}
	if res == nil {
		return ""
	}
	return fmt.Sprint(res)
}
