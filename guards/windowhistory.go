// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/gardefou/gardefou/internal/text"
)

// A history is what a request says of what was said before, in turns that can be left out
// one by one.
type history struct {
	// head is the first message, which stays; nil where the history does not begin with one.
	head  *genai.Content
	turns [][]*genai.Content
	// question is the turn that asks what this run is about; -1 where that is the head, or
	// not there.
	question int
}

// readHistory takes contents apart. Nothing shared is changed.
func readHistory(contents []*genai.Content, question *genai.Content) history {
	h := history{question: -1}
	asked := wordsOf(question)
	for i := 0; i < len(contents); i++ {
		c := contents[i]
		switch {
		case c == nil || len(c.Parts) == 0:
		case len(callsOf(c)) > 0:
			var answer *genai.Content
			if i+1 < len(contents) && contents[i+1] != nil && hasResponse(contents[i+1]) {
				i++
				answer = contents[i]
			}
			call, response := paired(c, answer)
			h.add(call, response)
		case hasResponse(c):
			_, rest := paired(&genai.Content{}, c)
			h.add(rest)
		case i == 0 && c.Role == genai.RoleUser:
			h.head = c
		default:
			h.add(c)
			if asked != "" && c.Role == genai.RoleUser && wordsOf(c) == asked {
				h.question = len(h.turns) - 1
			}
		}
	}
	return h
}

// add makes one turn of what is not nil.
func (h *history) add(contents ...*genai.Content) {
	turn := slices.DeleteFunc(contents, func(c *genai.Content) bool { return c == nil })
	if len(turn) > 0 {
		h.turns = append(h.turns, turn)
	}
}

// from returns the contents without the first cut turns, and how many of them stand before
// those that were kept in their order.
func (h history) from(cut int) (contents []*genai.Content, pinned int) {
	if h.head != nil {
		contents = append(contents, h.head)
	}
	if h.question >= 0 && h.question < cut {
		contents = append(contents, h.turns[h.question]...)
	}
	pinned = len(contents)
	for _, turn := range h.turns[min(cut, len(h.turns)):] {
		contents = append(contents, turn...)
	}
	return contents, pinned
}

// find returns where the turn of that name stands, which stood at was; 0 where it is gone,
// or name is empty.
func (h history) find(name string, was int) int {
	if name == "" {
		return 0
	}
	if was < len(h.turns) && nameOf(h.turns[was]) == name {
		return was
	}
	// A late response moves a turn. From the end: an equal turn that came earlier was cut off.
	for i := len(h.turns) - 1; i > 0; i-- {
		if nameOf(h.turns[i]) == name {
			return i
		}
	}
	return 0
}

// nameOf names a turn: equal turns, equal names.
func nameOf(turn []*genai.Content) string {
	parts := make([]any, 0, len(turn))
	for _, c := range turn {
		parts = append(parts, c)
	}
	return fingerprint(parts...)
}

// paired matches the calls of one content with the responses of the next, in the order of
// the calls, and leaves out what has no match. Contents that are right come back as they
// are; nil is one of which nothing is left.
func paired(c, answer *genai.Content) (call, response *genai.Content) {
	var responses []*genai.Part
	if answer != nil {
		for _, p := range answer.Parts {
			if p != nil && p.FunctionResponse != nil {
				responses = append(responses, p)
			}
		}
	}
	var calls, answers []*genai.Part
	for _, p := range c.Parts {
		if p == nil || p.FunctionCall == nil {
			calls = append(calls, p)
			continue
		}
		i := slices.IndexFunc(responses, func(r *genai.Part) bool {
			return r.FunctionResponse.Name == p.FunctionCall.Name && r.FunctionResponse.ID == p.FunctionCall.ID
		})
		if i < 0 {
			continue
		}
		calls, answers = append(calls, p), append(answers, responses[i])
		responses = slices.Delete(responses, i, i+1)
	}
	if answer != nil {
		for _, p := range answer.Parts {
			if p == nil || p.FunctionResponse == nil {
				answers = append(answers, p)
			}
		}
	}
	return withParts(c, calls), withParts(answer, answers)
}

// withParts is c with these parts: c itself where they are its own.
func withParts(c *genai.Content, parts []*genai.Part) *genai.Content {
	if c == nil || len(parts) == 0 {
		return nil
	}
	if slices.Equal(c.Parts, parts) {
		return c
	}
	return &genai.Content{Role: c.Role, Parts: parts}
}

func callsOf(c *genai.Content) []*genai.FunctionCall {
	var calls []*genai.FunctionCall
	for _, p := range c.Parts {
		if p != nil && p.FunctionCall != nil {
			calls = append(calls, p.FunctionCall)
		}
	}
	return calls
}

// wordsOf is the text of a content, thoughts left out.
func wordsOf(c *genai.Content) string {
	if c == nil {
		return ""
	}
	var sb strings.Builder
	for _, p := range c.Parts {
		if p != nil && !p.Thought {
			sb.WriteString(p.Text)
		}
	}
	return sb.String()
}

func goOn(ctx context.Context) *genai.Content {
	return genai.NewContentFromText(text.Get(langOf(ctx), text.WindowGoOn), genai.RoleUser)
}
