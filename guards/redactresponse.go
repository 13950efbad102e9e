// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"reflect"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/redact"
)

// callMask is what takes the place of values in calls.
type callMask struct {
	args func(map[string]any) (map[string]any, error)
	id   func(string) string
}

// endingOf says whether what a model said is all there. It is where it says so: any other
// reason than STOP, and none, may mean that it breaks off.
func endingOf(resp *model.LLMResponse) redact.Ending {
	if resp.FinishReason == genai.FinishReasonStop && resp.ErrorCode == "" && !resp.Interrupted {
		return redact.Complete
	}
	return redact.CutOff
}

// maskResponse masks what a model's response holds, by replacing it in resp. The text of a
// chunk is left: a value cut over two can't be seen in one.
func maskResponse(r *redact.Redactor, calls callMask, resp *model.LLMResponse) error {
	end := r.Ending(endingOf(resp))
	return maskSaid(r, end, calls, resp)
}

// maskSaid is maskResponse with the redactor for texts that end as these do.
func maskSaid(r, end *redact.Redactor, calls callMask, resp *model.LLMResponse) error {
	m := &fieldMask{r: end, calls: calls}
	if resp.Content != nil {
		c, err := maskedContent(m, resp.Content)
		if err != nil {
			return err
		}
		if !resp.Partial {
			maskContent(r, end, c)
		}
		said := textOf(c) != textOf(resp.Content)
		if (resp.Partial || said) && resp.LogprobsResult != nil {
			resp.LogprobsResult = nil // it repeats the text, token by token
		}
		// ADK reads a chunk while it is shown: what stays must not be written.
		if said || m.changes > 0 {
			resp.Content = c
		}
	}
	return m.fields(reflect.ValueOf(resp).Elem(), "Content")
}

// maskedContent returns a copy of c with everything but its text masked, down to its parts
// the caller's own. c is not nil.
func maskedContent(m *fieldMask, c *genai.Content) (*genai.Content, error) {
	out := *c
	out.Parts = slices.Clone(c.Parts)
	for i, p := range c.Parts {
		if p == nil {
			continue
		}
		cp := *p
		if err := m.fields(reflect.ValueOf(&cp).Elem(), "Text", "ThoughtSignature"); err != nil {
			return nil, err
		}
		out.Parts[i] = &cp
	}
	return &out, m.fields(reflect.ValueOf(&out).Elem(), "Parts")
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
