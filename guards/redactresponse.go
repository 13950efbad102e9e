// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/redact"
)

// callMask is what takes the place of values in calls.
type callMask struct {
	args func(map[string]any) (map[string]any, error)
	id   func(string) string
}

// maskResponse masks what a model's response holds, by replacing it in resp. The text of a
// chunk is left: a value cut over two can't be seen in one.
func maskResponse(r *redact.Redactor, calls callMask, resp *model.LLMResponse) error {
	if resp.Content != nil {
		c, err := maskedContent(r, calls, resp.Content)
		if err != nil {
			return err
		}
		if !resp.Partial {
			maskContent(r, c)
		}
		if resp.Partial || textOf(c) != textOf(resp.Content) {
			resp.LogprobsResult = nil // it repeats the text, token by token
		}
		resp.Content = c
	}
	meta, err := r.Map(resp.CustomMetadata)
	if err != nil {
		return err
	}
	resp.CustomMetadata = meta
	if resp.CitationMetadata, err = maskedShape(r, resp.CitationMetadata); err != nil {
		return err
	}
	if resp.GroundingMetadata, err = maskedShape(r, resp.GroundingMetadata); err != nil {
		return err
	}
	for _, t := range []**genai.Transcription{&resp.InputTranscription, &resp.OutputTranscription} {
		*t = maskedTranscription(r, *t)
	}
	resp.ErrorMessage = r.String(resp.ErrorMessage)
	return nil
}

// maskedContent returns a copy of c with everything but its text masked, down to its parts
// the caller's own. c is not nil.
func maskedContent(r *redact.Redactor, calls callMask, c *genai.Content) (*genai.Content, error) {
	out := *c
	out.Parts = slices.Clone(c.Parts)
	for i, p := range c.Parts {
		masked, err := maskPart(r, calls, p)
		if err != nil {
			return nil, err
		}
		out.Parts[i] = masked
	}
	return &out, nil
}

// maskPart returns a copy of p with everything but its text masked.
func maskPart(r *redact.Redactor, calls callMask, p *genai.Part) (*genai.Part, error) {
	if p == nil {
		return nil, nil
	}
	cp := *p
	if b := p.InlineData; b != nil {
		c := *b
		if masked := r.String(string(b.Data)); utf8.Valid(b.Data) && masked != string(b.Data) {
			c.Data = []byte(masked)
		}
		c.DisplayName = r.String(b.DisplayName)
		cp.InlineData = &c
	}
	if f := p.FileData; f != nil {
		c := *f
		c.DisplayName, c.FileURI = r.String(f.DisplayName), r.String(f.FileURI)
		cp.FileData = &c
	}
	if x := p.ExecutableCode; x != nil {
		c := *x
		c.Code = r.String(x.Code)
		cp.ExecutableCode = &c
	}
	if x := p.CodeExecutionResult; x != nil {
		c := *x
		c.Output = r.String(x.Output)
		cp.CodeExecutionResult = &c
	}
	cp.AudioTranscription = maskedTranscription(r, p.AudioTranscription)
	var err error
	if cp.PartMetadata, err = r.Map(p.PartMetadata); err != nil {
		return nil, err
	}
	if cp.ToolCall, err = maskedShape(r, p.ToolCall); err != nil {
		return nil, err
	}
	if cp.ToolResponse, err = maskedShape(r, p.ToolResponse); err != nil {
		return nil, err
	}
	if fr := p.FunctionResponse; fr != nil {
		c := *fr
		c.ID, c.Name = calls.id(fr.ID), r.String(fr.Name)
		if c.Response, err = r.Map(fr.Response); err != nil {
			return nil, err
		}
		cp.FunctionResponse = &c
	}
	if fc := p.FunctionCall; fc != nil {
		c := *fc
		c.ID, c.Name = calls.id(fc.ID), r.String(fc.Name)
		c.PartialArgs = nil // pieces that can't be looked into alone; the whole comes in Args
		if c.Args, err = calls.args(fc.Args); err != nil {
			return nil, err
		}
		cp.FunctionCall = &c
	}
	return &cp, nil
}

func maskedTranscription(r *redact.Redactor, t *genai.Transcription) *genai.Transcription {
	if t == nil {
		return nil
	}
	c := *t
	c.Text = r.String(t.Text)
	return &c
}

// maskedShape masks what has a JSON shape and returns it in its own type, v itself where
// nothing is found.
func maskedShape[T any](r *redact.Redactor, v *T) (*T, error) {
	if v == nil {
		return nil, nil
	}
	masked, _, err := r.Value(v)
	if err != nil || masked == any(v) {
		return v, err
	}
	enc, err := json.Marshal(masked)
	if err != nil {
		return nil, redact.ErrOpaque
	}
	var out T
	if err := json.Unmarshal(enc, &out); err != nil {
		return nil, redact.ErrOpaque
	}
	return &out, nil
}

// textOf is the text of all parts, thoughts among them.
func textOf(c *genai.Content) string {
	var all strings.Builder
	for _, p := range c.Parts {
		if isText(p) {
			all.WriteString(p.Text)
		}
	}
	return all.String()
}
