// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
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

// wrapTool puts the chain around a tool that ADK runs in this process. Any other
// tool, one that runs on the provider's servers, comes back as it is.
func (c *Chain) wrapTool(t tool.Tool) tool.Tool {
	if c.wraps(t) {
		return t
	}
	base := guardedTool{Tool: t, c: c}
	switch inner := t.(type) {
	case streamingTool:
		for i := len(c.h.wrapTool) - 1; i >= 0; i-- {
			inner = wrapStreaming(c.h.wrapTool[i], inner)
		}
		return &guardedStreamingTool{guardedTool: base, inner: inner}
	case functionTool:
		for i := len(c.h.wrapTool) - 1; i >= 0; i-- {
			inner = wrapFunction(c.h.wrapTool[i], inner)
		}
		return &guardedFunctionTool{guardedTool: base, inner: inner}
	default:
		return t
	}
}

// wraps reports whether this chain already stands around t, however deep.
func (c *Chain) wraps(t tool.Tool) bool {
	for {
		g, ok := t.(interface{ guarded() *guardedTool })
		if !ok {
			return false
		}
		if g.guarded().c.identity() == c.identity() {
			return true
		}
		t = g.guarded().Tool
	}
}

// guardedTool is what both wrappers share: the tool's face is the inner tool's.
type guardedTool struct {
	tool.Tool
	c *Chain
}

func (g *guardedTool) guarded() *guardedTool { return g }

// DefersResponse forwards ADK's question whether the tool answers later.
func (g *guardedTool) DefersResponse() bool {
	d, ok := g.Tool.(responseDeferrer)
	return ok && d.DefersResponse()
}

// register lets the inner tool put itself into the request, then takes its place.
func (g *guardedTool) register(ctx agent.Context, req *model.LLMRequest, self tool.Tool) error {
	p, ok := g.Tool.(requestProcessor)
	if !ok {
		return fmt.Errorf("tool %q does not implement ProcessRequest", g.Name())
	}
	if err := p.ProcessRequest(ctx, req); err != nil {
		return err
	}
	if _, ok := req.Tools[g.Name()]; ok {
		req.Tools[g.Name()] = self
	}
	return nil
}

// object returns a call's arguments; a model's are always an object, or none.
func (g *guardedTool) object(args any) (map[string]any, error) {
	m, ok := args.(map[string]any)
	if !ok && args != nil {
		return nil, fmt.Errorf("tool %q: arguments are %T, not an object", g.Name(), args)
	}
	return m, nil
}

type guardedFunctionTool struct {
	guardedTool
	inner functionTool
}

func (g *guardedFunctionTool) Declaration() *genai.FunctionDeclaration { return g.inner.Declaration() }

func (g *guardedFunctionTool) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	return g.register(ctx, req, g)
}

// Run takes the call through the chain. It returns an error only for ADK's own
// confirmation flow; every other failure is a result the model may read.
func (g *guardedFunctionTool) Run(ctx agent.Context, args any) (map[string]any, error) {
	m, err := g.object(args)
	if err != nil {
		return nil, err
	}
	ctx = carryRun(ctx)
	g.c.take(ctx)
	s := g.c.newToolStep(ctx, g.Tool, m)
	return g.finish(s, s.before())
}

// finish takes a call on from what the before_tool hooks answered; nil means that the
// tool may run.
func (g *guardedFunctionTool) finish(s *toolStep, res map[string]any) (map[string]any, error) {
	var err error
	if res == nil {
		res, err = g.call(s)
		if err != nil {
			res, err = s.failed(err)
		}
	}
	if isConfirmation(err) {
		s.tell(nil)
		return nil, err
	}
	res = s.after(res, err)
	s.tell(res)
	return res, nil
}

func (g *guardedFunctionTool) call(s *toolStep) (res map[string]any, err error) {
	s.ev.Called = true
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, newPanicError(p)
		}
	}()
	start := s.clock()
	res, err = g.inner.Run(s.ctx, s.args)
	s.ran(start)
	if err == nil && s.run != nil {
		// An agent used as a tool hands back its last text; where that is a refusal
		// it must not pass for an answer.
		if txt, ok := res["result"].(string); ok {
			if r := s.run.refusalFor(txt); r != nil {
				return nil, Deny(r.Code, r.Text).WithDetail(r.Detail).By(r.guard)
			}
		}
	}
	return res, err
}

type guardedStreamingTool struct {
	guardedTool
	inner streamingTool
}

func (g *guardedStreamingTool) Declaration() *genai.FunctionDeclaration { return g.inner.Declaration() }

func (g *guardedStreamingTool) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	return g.register(ctx, req, g)
}

// RunStream takes the call through the chain. The chunks are gathered first and
// handed on as one: after_tool hooks must see the whole before anything leaves. A
// stream that grows over mostStreamed fails.
func (g *guardedStreamingTool) RunStream(ctx agent.Context, args any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		m, err := g.object(args)
		if err != nil {
			yield("", err)
			return
		}
		ctx := carryRun(ctx)
		s := g.c.newToolStep(ctx, g.Tool, m)
		res := s.before()
		if res == nil {
			res, err = g.gather(ctx, s)
			if err != nil {
				res, err = s.failed(err)
			}
		}
		if isConfirmation(err) {
			s.tell(nil)
			yield("", err)
			return
		}
		res = s.after(res, err)
		s.tell(res)
		switch txt := res["error"].(type) {
		case string:
			yield("", errors.New(txt))
		default:
			yield(streamText(res), nil)
		}
	}
}

// mostStreamed is how many bytes of a streaming tool are gathered: one that never ends must
// not take the memory of the process.
const mostStreamed = 16 << 20

func (g *guardedStreamingTool) gather(ctx agent.Context, s *toolStep) (res map[string]any, err error) {
	s.ev.Called = true
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, newPanicError(p)
		}
	}()
	var all []byte
	for chunk, err := range g.inner.RunStream(ctx, s.args) {
		if err != nil {
			return nil, err
		}
		if len(all)+len(chunk) > mostStreamed {
			return nil, fmt.Errorf("callbacks: %s streams more than %d bytes", g.Name(), mostStreamed)
		}
		all = append(all, chunk...)
	}
	return map[string]any{"result": string(all)}, nil
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

func isConfirmation(err error) bool {
	return errors.Is(err, tool.ErrConfirmationRequired) || errors.Is(err, tool.ErrConfirmationRejected)
}

// carryRun puts the Run into the context a tool is called with, so that an agent
// used as a tool, which gets a new invocation id, still finds it.
func carryRun(ctx agent.Context) agent.Context {
	if ctx == nil {
		return nil
	}
	if _, ok := ctx.Value(runKey{}).(*Run); ok {
		return ctx
	}
	run := RunOf(ctx)
	if run == nil {
		return ctx
	}
	carried := context.WithValue(ctx, runKey{}, run)
	if c := ctx.WithDelta(&agent.CommonContextDelta{
		InvocationContextDelta: &agent.InvocationContextDelta{Context: &carried},
	}); c != nil {
		return c
	}
	return ctx
}
