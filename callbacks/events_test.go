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
)

// After a stop the events go on until every call is answered, and end soon then: however
// many events without work come in between.
func TestEventsEndWhenEveryCallIsAnswered(t *testing.T) {
	event := func(parts ...*genai.Part) *session.Event {
		return &session.Event{LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: parts}}}
	}
	call := event(&genai.Part{FunctionCall: &genai.FunctionCall{ID: "1", Name: "lookup"}})
	answer := event(&genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "lookup"}})
	idle := event()
	for name, tc := range map[string]struct {
		open     *session.Event
		answered int // after how many idle events
		total    int
	}{
		"nothing open":            {idle, -1, 8},
		"answered late":           {call, 20, 1 + 20 + 1},
		"answered after an hour":  {call, 500, 1 + 500 + 1},
		"never answered":          {call, -1, 1000},
		"long-running, never":     {&session.Event{LLMResponse: call.LLMResponse, LongRunningToolIDs: []string{"1"}}, -1, 1 + 8},
		"only a chunk of a call":  {&session.Event{LLMResponse: model.LLMResponse{Content: call.Content, Partial: true}}, -1, 1 + 8},
		"an answer with the call": {event(call.Content.Parts[0], answer.Content.Parts[0]), -1, 1 + 8},
	} {
		t.Run(name, func(t *testing.T) {
			_, run := callbacks.Start(t.Context())
			run.Stop(callbacks.Stop("enough", "enough"))
			source := func(yield func(*session.Event, error) bool) {
				for i := 0; ; i++ {
					ev := idle
					switch {
					case i == 0:
						ev = tc.open
					case i == tc.answered+1 && tc.answered >= 0:
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
