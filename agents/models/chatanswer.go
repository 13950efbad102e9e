// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// chatAnswer is an answer as far as it has come.
type chatAnswer struct {
	id, model, tier, finish string
	text                    strings.Builder
	calls                   []chatCall
	usage                   *genai.GenerateContentResponseUsageMetadata
}

// chatCall is a tool call as the server wrote it.
type chatCall struct {
	index                     int64
	id, kind, name, arguments string
}

// add takes a chunk in and returns the text that came with it.
func (a *chatAnswer) add(c openai.ChatCompletionChunk) string {
	a.id, a.model = firstOf(c.ID, a.id), firstOf(c.Model, a.model)
	a.tier = firstOf(string(c.ServiceTier), a.tier)
	// The last count is the whole: some servers count up, chunk by chunk.
	if c.JSON.Usage.Valid() {
		a.usage = chatUsage(c.Usage)
	}
	came := ""
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		came += choice.Delta.Content + choice.Delta.Refusal
		for _, d := range choice.Delta.ToolCalls {
			a.addCall(d)
		}
		a.finish = firstOf(choice.FinishReason, a.finish)
	}
	a.text.WriteString(came)
	return came
}

// addCall takes a piece of a call in. Some servers number all calls 0: a new id begins a
// new call too.
func (a *chatAnswer) addCall(d openai.ChatCompletionChunkChoiceDeltaToolCall) {
	at := -1
	for i, c := range a.calls {
		if c.index == d.Index && (d.ID == "" || c.id == "" || c.id == d.ID) {
			at = i
		}
	}
	if at < 0 {
		at = len(a.calls)
		a.calls = append(a.calls, chatCall{index: d.Index})
	}
	c := &a.calls[at]
	c.id, c.kind = firstOf(c.id, d.ID), firstOf(c.kind, d.Type)
	if c.name != d.Function.Name { // some servers repeat the name
		c.name += d.Function.Name
	}
	c.arguments += d.Function.Arguments
}

// response is the answer as ADK takes it. A call that can't be read makes the whole answer
// malformed, and an empty answer that did not end by itself an error, as Gemini has it.
func (a *chatAnswer) response() (*model.LLMResponse, error) {
	if a.finish == "error" {
		return nil, errors.New("models: the server ended the answer with an error")
	}
	resp := &model.LLMResponse{
		ModelVersion: a.model, UsageMetadata: a.usage, FinishReason: finishReason(a.finish),
		CustomMetadata: map[string]any{"openai_response_id": a.id},
	}
	if t := trafficType(a.tier); t != "" && a.usage != nil {
		a.usage.TrafficType = t
	}
	content := &genai.Content{Role: genai.RoleModel}
	if a.text.Len() > 0 {
		content.Parts = append(content.Parts, genai.NewPartFromText(a.text.String()))
	}
	for i, c := range a.calls {
		call, err := c.read()
		if err != nil {
			resp.FinishReason = genai.FinishReasonMalformedFunctionCall
			resp.ErrorCode, resp.ErrorMessage = string(resp.FinishReason), err.Error()
			return resp, nil
		}
		if slices.ContainsFunc(a.calls[:i], func(before chatCall) bool { return before.id == c.id }) {
			call.ID = "" // two calls under one id can't be answered: ADK gives it one of its own
		}
		content.Parts = append(content.Parts, &genai.Part{FunctionCall: call})
	}
	if len(content.Parts) == 0 && resp.FinishReason != genai.FinishReasonStop {
		resp.ErrorCode = string(resp.FinishReason)
		return resp, nil
	}
	resp.Content = content
	return resp, nil
}

func (c chatCall) read() (*genai.FunctionCall, error) {
	if c.name == "" || c.kind != "" && c.kind != "function" {
		return nil, errors.New("a tool call that names no function")
	}
	args := map[string]any{}
	if strings.TrimSpace(c.arguments) != "" {
		if err := json.Unmarshal([]byte(c.arguments), &args); err != nil {
			return nil, fmt.Errorf("the arguments of %s are no JSON object", c.name)
		}
	}
	if args == nil { // null
		args = map[string]any{}
	}
	return &genai.FunctionCall{ID: c.id, Name: c.name, Args: args}, nil
}

func finishReason(reason string) genai.FinishReason {
	switch reason {
	case "stop", "tool_calls", "function_call":
		return genai.FinishReasonStop
	case "length":
		return genai.FinishReasonMaxTokens
	case "content_filter":
		return genai.FinishReasonSafety
	default:
		return genai.FinishReasonOther
	}
}

// trafficType is the service tier in which the server says that it served a call, as
// guards.Spend reads it.
func trafficType(tier string) genai.TrafficType {
	switch tier {
	case "":
		return ""
	case "default":
		return genai.TrafficTypeOnDemand
	case "flex":
		return genai.TrafficTypeOnDemandFlex
	case "priority":
		return genai.TrafficTypeOnDemandPriority
	default:
		return genai.TrafficType(strings.ToUpper(tier)) // no tier of the price table: the dearest counts
	}
}

// chatUsage is what a server counted: reasoning is part of the completion, as in ADK's
// model for OpenAI. Counts that can't be are no counts.
func chatUsage(u openai.CompletionUsage) *genai.GenerateContentResponseUsageMetadata {
	n := [5]int32{}
	for i, count := range []int64{u.PromptTokens, u.CompletionTokens, u.TotalTokens, u.PromptTokensDetails.CachedTokens, u.CompletionTokensDetails.ReasoningTokens} {
		if count < 0 || count > math.MaxInt32 {
			return nil
		}
		n[i] = int32(count)
	}
	return &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: n[0], CandidatesTokenCount: n[1], TotalTokenCount: n[2], CachedContentTokenCount: n[3], ThoughtsTokenCount: n[4],
	}
}
