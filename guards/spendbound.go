// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/guards/prices"
)

// bound is the most a request can use: a token stands for at least a byte of UTF-8, so
// the request's JSON has no more tokens than bytes; declarations and schemas count
// twice, as providers rewrite them.
func (s *spend) bound(req *model.LLMRequest, quote prices.Quote) (prices.Bound, string, error) {
	b := prices.Bound{Output: s.o.MaxOutput, TextInput: true, TextOutput: textOutput(req.Config, quote)}
	if most := quote.MaxOutput(); most > 0 {
		b.Output = most
	}
	size := requestSize{}
	size.contents(req.Contents)
	unsized := false
	if cfg := req.Config; cfg != nil {
		if cfg.CachedContent != "" {
			return b, "", fmt.Errorf("%w: cached content has no size here", prices.ErrUnbounded)
		}
		if cfg.MaxOutputTokens > 0 {
			b.Output = min(b.Output, int64(cfg.MaxOutputTokens))
		}
		if cfg.SystemInstruction != nil {
			size.content(cfg.SystemInstruction)
		}
		size.rewritten(cfg.Tools, cfg.ResponseSchema, cfg.ResponseJsonSchema)
		unsized = serverTools(cfg.Tools)
	}
	if size.err != nil {
		return b, "", fmt.Errorf("guards: Spend: measuring a request: %w", size.err)
	}
	method := "bytes"
	if unsized = unsized || size.media; unsized {
		if !s.o.AllowUnbounded {
			return b, "", fmt.Errorf("%w: files, media or tools on the provider's servers; see SpendOptions.AllowUnbounded", prices.ErrUnbounded)
		}
		method, b.TextInput = "context_window", false
	}
	b.Input = size.bytes + 64
	if window := quote.MaxInput(); window > 0 && (unsized || b.Input > window) {
		b.Input = window
	} else if unsized {
		return b, "", fmt.Errorf("%w: the price table has no context window for it", prices.ErrUnbounded)
	}
	return b, method, nil
}

// textOutput reports whether the answer costs what text costs: because the request asks
// for nothing else, or, where it doesn't say, because images cost no more.
func textOutput(cfg *genai.GenerateContentConfig, quote prices.Quote) bool {
	if cfg == nil || len(cfg.ResponseModalities) == 0 {
		return !quote.ImagesCostMore()
	}
	return !slices.ContainsFunc(cfg.ResponseModalities, func(m string) bool { return m != string(genai.ModalityText) })
}

// requestSize adds up how long the JSON of a request can be, without making it: never
// less than it is, for any value. What it does not know it has encoded.
type requestSize struct {
	bytes int64
	depth int
	media bool // something whose tokens have nothing to do with its bytes
	err   error
}

func (s *requestSize) contents(list []*genai.Content) {
	s.bytes += 2
	for _, c := range list {
		s.bytes++ // the comma
		if c == nil {
			s.bytes += 4
			continue
		}
		s.content(c)
	}
}

func (s *requestSize) content(c *genai.Content) {
	s.bytes += 2
	s.named("parts", 2)
	s.namedText("role", c.Role)
	for _, p := range c.Parts {
		s.bytes++
		if p == nil {
			s.bytes += 4
			continue
		}
		s.part(p)
	}
}

// named counts a field's name, its quotes, colon and comma, and more.
func (s *requestSize) named(field string, more int64) { s.bytes += int64(len(field)) + 4 + more }

func (s *requestSize) namedText(field, value string) {
	if value != "" {
		s.named(field, 0)
		s.text(value)
	}
}

func (s *requestSize) namedObject(field string, m map[string]any) {
	if len(m) > 0 {
		s.named(field, 0)
		s.object(m)
	}
}

func (s *requestSize) part(p *genai.Part) {
	s.bytes += 2
	s.namedText("text", p.Text)
	if p.Thought {
		s.named("thought", 4)
	}
	s.base64("thoughtSignature", p.ThoughtSignature)
	if f := p.FunctionCall; f != nil {
		s.named("functionCall", 2)
		s.namedText("id", f.ID)
		s.namedText("name", f.Name)
		s.namedObject("args", f.Args)
		if f.WillContinue != nil {
			s.named("willContinue", 5)
		}
		if f.PartialArgs != nil {
			s.named("partialArgs", 0)
			s.encoded(f.PartialArgs)
		}
	}
	if f := p.FunctionResponse; f != nil {
		s.named("functionResponse", 2)
		s.namedText("id", f.ID)
		s.namedText("name", f.Name)
		s.namedText("scheduling", string(f.Scheduling))
		s.namedObject("response", f.Response)
		if f.WillContinue != nil {
			s.named("willContinue", 5)
		}
		if len(f.Parts) > 0 {
			s.media = true
			s.named("parts", 0)
			s.encoded(f.Parts)
		}
	}
	if d := p.InlineData; d != nil {
		s.media = s.media || !strings.HasPrefix(d.MIMEType, "text/")
		s.named("inlineData", 2)
		s.namedText("mimeType", d.MIMEType)
		s.namedText("displayName", d.DisplayName)
		s.base64("data", d.Data)
	}
	if p.FileData != nil {
		s.media = true
		s.named("fileData", 0)
		s.encoded(p.FileData)
	}
	if rest := unusual(p); rest != nil {
		s.encoded(rest)
	}
}

// unusual is the part without the fields that part measures itself, or nil where
// nothing is left.
func unusual(p *genai.Part) *genai.Part {
	if p.MediaResolution == nil && p.CodeExecutionResult == nil && p.ExecutableCode == nil && p.VideoMetadata == nil && p.ToolCall == nil &&
		p.ToolResponse == nil && p.PartMetadata == nil && p.AudioTranscription == nil && p.MediaProcessing == "" && p.SpeechMetadata == nil {
		return nil
	}
	rest := *p
	rest.Text, rest.ThoughtSignature, rest.FunctionCall, rest.FunctionResponse, rest.InlineData, rest.FileData = "", nil, nil, nil, nil, nil
	return &rest
}

// rewritten counts tool declarations and schemas, which the provider renders anew.
func (s *requestSize) rewritten(tools []*genai.Tool, schema *genai.Schema, jsonSchema any) {
	before := s.bytes
	if len(tools) > 0 {
		s.encoded(tools)
	}
	if schema != nil {
		s.encoded(schema)
	}
	if jsonSchema != nil {
		s.encoded(jsonSchema)
	}
	s.bytes += s.bytes - before
}

func (s *requestSize) encoded(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		s.err = err
	}
	s.bytes += int64(len(raw))
}

func (s *requestSize) base64(field string, data []byte) {
	if len(data) > 0 {
		s.named(field, 0)
		s.bytes += 2 + (int64(len(data))+2)/3*4
	}
}

func (s *requestSize) object(m map[string]any) {
	if !s.deeper() {
		return
	}
	s.bytes += 2
	for name, v := range m {
		s.text(name)
		s.bytes += 2 // the colon and the comma
		s.value(v)
	}
	s.depth--
}

// deeper goes one level down, where that is still JSON.
func (s *requestSize) deeper() bool {
	if s.depth++; s.depth > maxNesting {
		s.err = errTooDeep
	}
	return s.err == nil
}

var errTooDeep = errors.New("a value that is nested without end")

func (s *requestSize) value(v any) {
	switch v := v.(type) {
	case nil, bool:
		s.bytes += 5
	case string:
		s.text(v)
	case float64, int, int64, int32:
		s.bytes += 25 // -1.7976931348623157e+308 and -9223372036854775808 are shorter
	case map[string]any:
		s.object(v)
	case []any:
		if !s.deeper() {
			return
		}
		s.bytes += 2
		for _, e := range v {
			s.value(e)
			s.bytes++
		}
		s.depth--
	case []string:
		s.bytes += 4 // "null" where it is nil
		for _, e := range v {
			s.text(e)
			s.bytes++
		}
	default:
		s.encoded(v)
	}
}

// text counts a string as JSON writes it at its longest.
func (s *requestSize) text(t string) {
	n := int64(2)
	for i := 0; i < len(t); i++ {
		if t[i] >= utf8.RuneSelf {
			n += unicodeSize(t[i:])
			break
		}
		n += int64(jsonSize[t[i]])
	}
	s.bytes += n
}

// unicodeSize goes on where a string is no longer ASCII.
func unicodeSize(t string) int64 {
	n := int64(0)
	for i := 0; i < len(t); {
		if t[i] < utf8.RuneSelf {
			n += int64(jsonSize[t[i]])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(t[i:])
		switch {
		case r == utf8.RuneError && size == 1, r == '\u2028', r == '\u2029':
			n += 6
		default:
			n += int64(size)
		}
		i += size
	}
	return n
}

// jsonSize is how many bytes JSON writes for an ASCII character.
var jsonSize = func() (sizes [utf8.RuneSelf]uint8) {
	for c := range sizes {
		switch {
		case c == '"' || c == '\\':
			sizes[c] = 2
		case c < ' ' || c == '<' || c == '>' || c == '&' || c == 0x7f:
			sizes[c] = 6
		default:
			sizes[c] = 1
		}
	}
	return sizes
}()

// serverTools reports tools that the provider runs and bills by itself: any but a
// declared function, also one that a later version of the client brings.
func serverTools(tools []*genai.Tool) bool {
	for _, t := range tools {
		if t == nil {
			continue
		}
		rest := *t
		rest.FunctionDeclarations = nil
		if !reflect.ValueOf(rest).IsZero() {
			return true
		}
	}
	return false
}
