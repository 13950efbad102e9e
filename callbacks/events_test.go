// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/codes"
)

// After a stop the events go on until every call is answered, and end then: however many
// events without work come in between.
func TestEventsEndWhenEveryCallIsAnswered(t *testing.T) {
	event := func(branch string, parts ...*genai.Part) *session.Event {
		return &session.Event{Branch: branch, LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: parts}}}
	}
	call := event("a.b", &genai.Part{FunctionCall: &genai.FunctionCall{ID: "1", Name: "lookup"}})
	answer := event("a.b", &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "lookup"}})
	for name, tc := range map[string]struct {
		open     *session.Event
		idle     string // the branch of the idle events
		answered int    // after how many idle events
		total    int
	}{
		"nothing open":                     {open: event(""), total: 1},
		"answered late":                    {open: call, answered: 20, total: 1 + 20 + 1},
		"answered late, beside a loop":     {open: call, idle: "a.c", answered: 5000, total: 1 + 5000 + 1},
		"never answered":                   {open: call, total: 1 + 1000},
		"never answered, in a sub-branch":  {open: call, idle: "a", total: 1 + 1000},
		"long-running, never answered":     {open: &session.Event{LLMResponse: call.LLMResponse, LongRunningToolIDs: []string{"1"}}, total: 1},
		"only a chunk of a call":           {open: &session.Event{LLMResponse: model.LLMResponse{Content: call.Content, Partial: true}}, total: 1},
		"an answer with the call":          {open: event("", call.Content.Parts[0], answer.Content.Parts[0]), total: 1},
		"an answer of a call not seen yet": {open: answer, total: 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, run := callbacks.Start(t.Context())
			source := func(yield func(*session.Event, error) bool) {
				run.Stop(callbacks.Stop("enough", "enough"))
				for i := 0; ; i++ {
					ev := event(tc.idle)
					switch {
					case i == 0:
						ev = tc.open
					case i == tc.answered+1 && tc.answered > 0:
						ev = answer
					}
					if !yield(ev, nil) {
						return
					}
				}
			}
			n := 0
			for range run.Events(source) {
				n++
			}
			require.Equal(t, tc.total, n)
		})
	}
}

// A Run that is stopped begins nothing.
func TestEventsOfAStoppedRunStartNothing(t *testing.T) {
	_, run := callbacks.Start(t.Context())
	run.Stop(callbacks.Stop("enough", "enough"))
	for range run.Events(func(func(*session.Event, error) bool) { t.Fatal("started") }) {
		t.Fatal("an event")
	}
	require.Equal(t, codes.Code("enough"), run.Outcome().Code)
}
