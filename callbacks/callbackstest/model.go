// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
)

// A Turn is one answer of a scripted model.
type Turn struct {
	// Parts are the parts of the answer.
	Parts []*genai.Part
	// Chunks, where set, are streamed as partial text before the final answer,
	// whose text is their join.
	Chunks []string
	// Usage is reported with the final answer, and with each chunk too, as
	// providers do.
	Usage *genai.GenerateContentResponseUsageMetadata
	// Err fails the call after the chunks.
	Err error
	// Cut ends a stream after the chunks without a final answer.
	Cut bool
	// Do, where set, makes the turn from the request; it comes before all else.
	Do func(ctx context.Context, req *model.LLMRequest) Turn
}

// Say is a turn of plain text.
func Say(text string) Turn { return Turn{Parts: []*genai.Part{genai.NewPartFromText(text)}} }

// Call is a turn that calls one tool.
func Call(name string, args map[string]any) Turn {
	return Turn{Parts: []*genai.Part{genai.NewPartFromFunctionCall(name, args)}}
}

// Calls joins the parts of several turns into one answer, for parallel calls.
func Calls(turns ...Turn) Turn {
	var t Turn
	for _, one := range turns {
		t.Parts = append(t.Parts, one.Parts...)
	}
	return t
}

// Stream is a turn of text that arrives in chunks where the caller streams.
func Stream(chunks ...string) Turn { return Turn{Chunks: chunks} }

// Fail is a turn that fails with err.
func Fail(err error) Turn { return Turn{Err: err} }

// WithUsage returns the turn with a token usage.
func (t Turn) WithUsage(in, out int32) Turn {
	t.Usage = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: in, CandidatesTokenCount: out, TotalTokenCount: in + out}
	return t
}

// ErrScriptOver is the error of a call after a script's last turn.
var ErrScriptOver = errors.New("callbackstest: the script is over")

// A Model plays a script of turns and is as strict as a provider: a request that
// one would reject fails the call. It remembers the requests it got. It is safe
// for concurrent use; concurrent calls take the turns in the order they come.
type Model struct {
	name  string
	turns []Turn
	loop  bool

	mu       sync.Mutex
	next     int
	requests []*model.LLMRequest
	faults   []error
}

// Script returns a model that answers with turns, one a call.
func Script(turns ...Turn) *Model { return &Model{name: "scripted", turns: turns} }

// Repeat makes the model start over after its last turn and returns it.
func (m *Model) Repeat() *Model { m.loop = true; return m }

// Named gives the model a name, for guards that look at it, as a price table does, and
// returns it.
func (m *Model) Named(name string) *Model { m.name = name; return m }

// Name implements model.LLM.
func (m *Model) Name() string { return m.name }

// Requests returns copies of the requests the model got, refused ones included.
func (m *Model) Requests() []*model.LLMRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*model.LLMRequest(nil), m.requests...)
}

// Calls returns how many requests the model got.
func (m *Model) Calls() int { return len(m.Requests()) }

// Faults returns why requests were refused.
func (m *Model) Faults() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]error(nil), m.faults...)
}

// GenerateContent implements model.LLM.
func (m *Model) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		turn, err := m.take(req)
		if err != nil {
			yield(nil, err)
			return
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		if turn.Do != nil {
			turn = turn.Do(ctx, req)
		}
		play(turn, stream, yield)
	}
}

func play(turn Turn, stream bool, yield func(*model.LLMResponse, error) bool) {
	parts := turn.Parts
	if len(turn.Chunks) > 0 {
		parts = append([]*genai.Part{genai.NewPartFromText(strings.Join(turn.Chunks, ""))}, parts...)
	}
	if stream {
		for _, c := range turn.Chunks {
			chunk := &model.LLMResponse{Content: genai.NewContentFromText(c, genai.RoleModel), Partial: true, UsageMetadata: turn.Usage}
			if !yield(chunk, nil) {
				return
			}
		}
	}
	switch {
	case turn.Err != nil:
		yield(nil, turn.Err)
	case turn.Cut:
	default:
		yield(&model.LLMResponse{Content: deepCopy(&genai.Content{Role: genai.RoleModel, Parts: parts}), UsageMetadata: turn.Usage, TurnComplete: true}, nil)
	}
}

func (m *Model) take(req *model.LLMRequest) (Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, &model.LLMRequest{Model: req.Model, Contents: deepCopySlice(req.Contents), Config: req.Config, Tools: req.Tools})
	if err := CheckRequest(req); err != nil {
		m.faults = append(m.faults, err)
		return Turn{}, err
	}
	if m.next >= len(m.turns) {
		if !m.loop || len(m.turns) == 0 {
			return Turn{}, ErrScriptOver
		}
		m.next = 0
	}
	turn := m.turns[m.next]
	m.next++
	return turn, nil
}

// ErrBadRequest is the sentinel of a request that a provider would reject.
var ErrBadRequest = errors.New("callbackstest: a provider would reject this request")

// CheckRequest returns what a provider would reject in a request: no content, a
// first or last turn that is not the user's, a call without its response in the
// next turn, a response without its call in the turn before.
func CheckRequest(req *model.LLMRequest) error {
	if len(req.Contents) == 0 {
		return fmt.Errorf("%w: no content", ErrBadRequest)
	}
	if first := req.Contents[0]; first.Role != genai.RoleUser {
		return fmt.Errorf("%w: the first turn is the %s's", ErrBadRequest, first.Role)
	}
	if last := req.Contents[len(req.Contents)-1]; last.Role != genai.RoleUser {
		return fmt.Errorf("%w: the last turn is the %s's", ErrBadRequest, last.Role)
	}
	var open []string
	for i, c := range req.Contents {
		if len(c.Parts) == 0 {
			return fmt.Errorf("%w: turn %d is empty", ErrBadRequest, i)
		}
		calls, answers := callNames(c)
		if fmt.Sprint(answers) != fmt.Sprint(open) && (len(answers) > 0 || len(open) > 0) {
			return fmt.Errorf("%w: turn %d answers the calls %v, open were %v", ErrBadRequest, i, answers, open)
		}
		open = calls
	}
	if len(open) > 0 {
		return fmt.Errorf("%w: the calls %v are not answered", ErrBadRequest, open)
	}
	return nil
}

// callNames names calls by tool, and by id where ADK did not strip it.
func callNames(c *genai.Content) (calls, answers []string) {
	for _, p := range c.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			calls = append(calls, p.FunctionCall.Name+"/"+p.FunctionCall.ID)
		case p.FunctionResponse != nil:
			answers = append(answers, p.FunctionResponse.Name+"/"+p.FunctionResponse.ID)
		}
	}
	return calls, answers
}

func deepCopy[T any](v *T) *T {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("callbackstest: a scripted value is not JSON: %v", err))
	}
	var c T
	if err := json.Unmarshal(b, &c); err != nil {
		panic(fmt.Sprintf("callbackstest: a scripted value does not survive JSON: %v", err))
	}
	return &c
}

func deepCopySlice(contents []*genai.Content) []*genai.Content {
	out := make([]*genai.Content, len(contents))
	for i, c := range contents {
		out[i] = deepCopy(c)
	}
	return out
}

func copyOf(t testing.TB, resp *model.LLMResponse) *model.LLMResponse {
	t.Helper()
	if resp == nil {
		t.Fatal("a nil response")
	}
	c := *resp
	if resp.Content != nil {
		c.Content = deepCopy(resp.Content)
	}
	return &c
}
