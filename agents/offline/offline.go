// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package offline is a model.LLM that follows rules instead of weights, so that
// the pipeline runs without a key or a network. It sees the request and nothing
// else: it knows no agent, tool or company by name.
//
// Its rules, the first that fits:
//
//  1. A declared function whose required parameters all stand in the data of the
//     question, and which has not been answered, is called (a look-up).
//  2. A declared function that takes a summary is called with the fields of the
//     look-ups' answers that have its parameters' names (a finishing tool).
//  3. Where one function takes nothing and another takes reasons, the draft in the
//     question is checked and one of the two is called (a review).
//  4. Otherwise the sections in the question are written down, each statement with
//     its evidence.
package offline

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// Model is the offline model. The zero value is ready; it has no state and is safe
// for concurrent use.
type Model struct{}

// Name implements model.LLM.
func (Model) Name() string { return "offline" }

// GenerateContent implements model.LLM. Text is streamed in pieces where asked.
func (Model) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		parts := answer(req)
		usage := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: tokens(req.Contents...), CandidatesTokenCount: tokens(&genai.Content{Parts: parts})}
		usage.TotalTokenCount = usage.PromptTokenCount + usage.CandidatesTokenCount
		if stream {
			for _, p := range parts {
				for piece := range pieces(p.Text) {
					if !yield(&model.LLMResponse{Content: genai.NewContentFromText(piece, genai.RoleModel), Partial: true}, nil) {
						return
					}
				}
			}
		}
		yield(&model.LLMResponse{
			Content: &genai.Content{Role: genai.RoleModel, Parts: parts}, UsageMetadata: usage,
			FinishReason: genai.FinishReasonStop, TurnComplete: true, ModelVersion: "offline",
		}, nil)
	}
}

// pieces cuts text into pieces of some words, whitespace kept.
func pieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			n := min(len(s), 40)
			if i := strings.IndexByte(s[n:], ' '); i >= 0 {
				n += i
			} else {
				n = len(s)
			}
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

// tokens is a rough count, four bytes a token, so that figures in a journal are
// not zero.
func tokens(contents ...*genai.Content) int32 {
	n := 0
	for _, c := range contents {
		if b, err := json.Marshal(c); err == nil {
			n += len(b) / 4
		}
	}
	return int32(min(n, 1<<30)) //nolint:gosec // bounded
}

func answer(req *model.LLMRequest) []*genai.Part {
	data, responses := read(req.Contents)
	funcs := declared(req.Config)

	if calls := lookups(funcs, data, responses); len(calls) > 0 {
		return calls
	}
	for _, f := range funcs {
		if slices.Contains(f.params, "summary") && responses[f.name] == nil {
			return []*genai.Part{genai.NewPartFromFunctionCall(f.name, finish(f, responses))}
		}
	}
	if approve, change, ok := review(funcs); ok {
		if reasons := faults(data); len(reasons) > 0 {
			return []*genai.Part{genai.NewPartFromFunctionCall(change.name, map[string]any{"reasons": reasons})}
		}
		return []*genai.Part{genai.NewPartFromFunctionCall(approve.name, map[string]any{})}
	}
	return []*genai.Part{genai.NewPartFromText(prose(data, responses))}
}

// read returns the JSON object in the user's text and the functions' answers, in
// the order they came.
func read(contents []*genai.Content) (data map[string]any, responses answers) {
	responses = make(answers)
	for _, c := range contents {
		if c == nil || c.Role != genai.RoleUser {
			continue
		}
		for _, p := range c.Parts {
			switch {
			case p == nil:
			case p.FunctionResponse != nil:
				responses[p.FunctionResponse.Name] = p.FunctionResponse.Response
			case p.Text != "":
				if d := object(p.Text); d != nil {
					data = d
				}
			}
		}
	}
	return data, responses
}

type answers map[string]map[string]any

// object returns the JSON object that the text ends with, or nil.
func object(s string) map[string]any {
	i := strings.IndexByte(s, '{')
	if i < 0 {
		return nil
	}
	var m map[string]any
	if json.Unmarshal([]byte(s[i:]), &m) != nil {
		return nil
	}
	return m
}

func lookups(funcs []function, data map[string]any, responses answers) []*genai.Part {
	var calls []*genai.Part
	for _, f := range funcs {
		if len(f.required) == 0 || responses[f.name] != nil || slices.Contains(f.params, "summary") {
			continue
		}
		args := make(map[string]any, len(f.required))
		for _, p := range f.required {
			if v, ok := data[p]; ok {
				args[p] = v
			}
		}
		if len(args) == len(f.required) {
			calls = append(calls, genai.NewPartFromFunctionCall(f.name, args))
		}
	}
	return calls
}

// finish copies each parameter from the first answer that has a field of its name.
func finish(f function, responses answers) map[string]any {
	args := make(map[string]any, len(f.params))
	for _, p := range f.params {
		for _, r := range responses {
			if v, ok := r[p]; ok {
				args[p] = v
			}
		}
		if _, ok := args[p]; ok {
			continue
		}
		switch {
		case f.types[p] == "array" && p == "gaps":
			args[p] = failures(responses)
		case f.types[p] == "array":
			args[p] = []any{}
		case p == "summary":
			args[p] = "No answer came back."
		default:
			args[p] = "low"
		}
	}
	return args
}

func failures(responses answers) []any {
	out := []any{}
	for _, r := range responses {
		if e, ok := r["error"].(string); ok {
			out = append(out, e)
		}
	}
	return out
}

// review recognises a pair of verdicts by its shape.
func review(funcs []function) (approve, change function, ok bool) {
	var a, c bool
	for _, f := range funcs {
		switch {
		case len(f.params) == 0:
			approve, a = f, true
		case slices.Equal(f.params, []string{"reasons"}):
			change, c = f, true
		}
	}
	return approve, change, a && c
}
