// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"maps"
	"slices"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// CopyResponse copies everything of a response that hooks and ADK change in
// place: the response, its content, its parts and their calls. What hangs below,
// nested arguments above all, is shared and must be replaced, never edited.
func CopyResponse(resp *model.LLMResponse) *model.LLMResponse {
	c := *resp
	c.CustomMetadata = maps.Clone(resp.CustomMetadata)
	c.Content = copyContent(resp.Content)
	return &c
}

func copyContent(content *genai.Content) *genai.Content {
	if content == nil {
		return nil
	}
	c := *content
	c.Parts = slices.Clone(content.Parts)
	for i, p := range c.Parts {
		if p != nil {
			c.Parts[i] = copyPart(p)
		}
	}
	return &c
}

func copyPart(part *genai.Part) *genai.Part {
	p := *part
	if fc := part.FunctionCall; fc != nil {
		cc := *fc
		cc.Args = maps.Clone(fc.Args)
		p.FunctionCall = &cc
	}
	if fr := part.FunctionResponse; fr != nil {
		cc := *fr
		cc.Response = maps.Clone(fr.Response)
		p.FunctionResponse = &cc
	}
	return &p
}
