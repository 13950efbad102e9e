// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strings"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
)

// secret stands in errors that nobody expects; no model may read it.
const secret = "postgres://app:hunter2@db.internal/crm"

var errUnexpected = errors.New("dial " + secret + ": connection refused")

// stored is a value as a session holds it, with what guards look for: an address, an
// IBAN, nesting.
func stored() map[string]any {
	return map[string]any{
		"supplier": "Acme",
		"contact":  map[string]any{"mail": "alice@example.com", "phones": []any{"1", map[string]any{"kind": "home"}}},
		"accounts": []any{"FR76 3000 6000 0112 3456 7890 189", "x"},
	}
}

func storedContents() []*genai.Content {
	// Spare capacity is what ADK's own slices have: whoever appends writes into it.
	contents := make([]*genai.Content, 0, 8)
	return append(contents,
		genai.NewContentFromText("Write to alice@example.com.", genai.RoleUser),
		&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "1", Name: "lookup", Args: stored()}}}},
		&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "lookup", Response: stored()}}}},
	)
}

func (a *asserted) same(what, want string, got any) {
	a.Helper()
	if now := jsonOf(got); now != want {
		a.broken("shared", "%s edits %s in place", what, now)
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// shared hands each hook values whose insides are shared, as the chain does, and looks
// at them afterwards.
func (a *asserted) shared() {
	a.Helper()
	g, ctx, lookup := a.g, Context(a), Tool("lookup")
	want := jsonOf(stored())
	if g.BeforeModel != nil {
		contents := storedContents()
		before := jsonOf(contents)
		req := &model.LLMRequest{Contents: contents, Tools: map[string]any{"lookup": lookup}, Config: &genai.GenerateContentConfig{
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "lookup"}, {Name: "other"}}}},
		}}
		declared := req.Config.Tools
		declaredBefore := jsonOf(declared)
		a.panics("nil", "before_model", func() { _, _ = g.BeforeModel(ctx, req) })
		a.same("before_model", before, contents)
		a.same("before_model", declaredBefore, declared)
		for _, c := range contents[len(contents):cap(contents)] {
			if c != nil {
				a.broken("shared", "before_model appends to the contents in place: clip the slice first")
			}
		}
	}
	if g.BeforeTool != nil {
		args := stored()
		given := maps.Clone(args)
		a.panics("nil", "before_tool", func() {
			if got, _ := g.BeforeTool(ctx, lookup, given); got != nil && samePointer(got, given) {
				a.broken("args", "before_tool returns the arguments: return nil to go on")
			}
		})
		a.same("before_tool", want, args)
	}
	if g.AfterTool != nil {
		args, result := stored(), stored()
		a.panics("nil", "after_tool", func() { _, _ = g.AfterTool(ctx, lookup, maps.Clone(args), maps.Clone(result), nil) })
		a.same("after_tool", want, args)
		a.same("after_tool", want, result)
	}
	for hook, observe := range observers(g) {
		ev := callbacks.Event{Step: callbacks.StepTool, Agent: AgentName, Tool: "lookup", Args: stored(), Result: stored(), Response: storedContents()[1]}
		before := jsonOf([]any{ev.Args, ev.Result, ev.Response})
		a.panics("nil", hook, func() { observe(ctx, ev) })
		a.same(hook, before, []any{ev.Args, ev.Result, ev.Response})
	}
}

func samePointer(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// nils hands each hook what ADK can hand it at the least.
func (a *asserted) nils() {
	a.Helper()
	g, ctx, lookup := a.g, Context(a), Tool("lookup")
	if f := g.BeforeModel; f != nil {
		a.panics("nil", "before_model of an empty request", func() { _, _ = f(ctx, &model.LLMRequest{}) })
	}
	if f := g.AfterModel; f != nil {
		a.panics("nil", "after_model of an answer without content", func() { _, _ = f(ctx, &model.LLMResponse{}, nil) })
		a.panics("nil", "after_model of an empty chunk", func() {
			_, _ = f(ctx, &model.LLMResponse{Partial: true, Content: &genai.Content{Parts: []*genai.Part{{}}}}, nil)
		})
	}
	if f := g.OnModelError; f != nil {
		a.panics("nil", "on_model_error of an empty request", func() { _, _ = f(ctx, &model.LLMRequest{}, errUnexpected) })
	}
	if f := g.BeforeTool; f != nil {
		a.panics("nil", "before_tool without arguments", func() { _, _ = f(ctx, lookup, nil) })
	}
	if f := g.AfterTool; f != nil {
		a.panics("nil", "after_tool without a result", func() { _, _ = f(ctx, lookup, nil, nil, nil) })
	}
	if f := g.OnToolError; f != nil {
		a.panics("nil", "on_tool_error without arguments", func() { _, _ = f(ctx, lookup, nil, errUnexpected) })
	}
	for hook, observe := range observers(g) {
		a.panics("nil", hook+" of an empty event", func() { observe(ctx, callbacks.Event{}) })
	}
}

// observers are the observers that a guard has, by hook.
func observers(g callbacks.Guard) map[string]func(context.Context, callbacks.Event) {
	all := map[string]func(context.Context, callbacks.Event){
		string(inspect.Observe): g.Observe, string(inspect.ObserveMonitored): g.ObserveMonitored,
	}
	maps.DeleteFunc(all, func(_ string, f func(context.Context, callbacks.Event)) bool { return f == nil })
	return all
}

// secrets fails a tool in a way nobody expects and reads what a model would.
func (a *asserted) secrets() {
	a.Helper()
	leaks := func(hook string, got map[string]any, err error) {
		a.Helper()
		if strings.Contains(jsonOf(got), secret) || err != nil && strings.Contains(err.Error(), secret) {
			a.broken("secret", "%s hands the text of an unexpected error to the model", hook)
		}
	}
	if f := a.g.AfterTool; f != nil {
		a.panics("nil", "after_tool of an error", func() {
			got, err := f(Context(a), Tool("lookup"), stored(), nil, errUnexpected)
			leaks("after_tool", got, err)
		})
	}
	if f := a.g.OnToolError; f != nil {
		a.panics("nil", "on_tool_error", func() {
			got, err := f(Context(a), Tool("lookup"), stored(), errUnexpected)
			leaks("on_tool_error", got, err)
		})
	}
}
