// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/internal/toolschema"
)

// ErrRequest is the sentinel of a request that chat completions have no words for: with
// media, with tools that a provider runs, with a setting of Gemini's. It is not sent.
var ErrRequest = errors.New("models: the request can't be made over chat completions")

func cannot(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrRequest, fmt.Sprintf(format, a...))
}

func (m *chatModel) params(req *model.LLMRequest) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{}
	if req == nil {
		return p, cannot("there is none")
	}
	p.Model = firstOf(req.Model, m.name)
	cfg := genai.GenerateContentConfig{}
	if req.Config != nil {
		cfg = *req.Config
	}
	msgs := &chatMessages{}
	if s := cfg.SystemInstruction; s != nil {
		if err := msgs.add(&genai.Content{Role: "system", Parts: s.Parts}); err != nil {
			return p, err
		}
	}
	before := len(msgs.list)
	for _, c := range req.Contents {
		if err := msgs.add(c); err != nil {
			return p, err
		}
	}
	if len(msgs.list) == before {
		return p, cannot("it has no content")
	}
	p.Messages = msgs.list
	return p, m.configure(&p, &cfg)
}

// configure takes each setting out of cfg that it knows. What is left is not known to make
// no difference.
func (m *chatModel) configure(p *openai.ChatCompletionNewParams, cfg *genai.GenerateContentConfig) error {
	p.Temperature, p.TopP = optional(cfg.Temperature), optional(cfg.TopP)
	p.PresencePenalty, p.FrequencyPenalty = optional(cfg.PresencePenalty), optional(cfg.FrequencyPenalty)
	if cfg.Seed != nil {
		p.Seed = openai.Int(int64(*cfg.Seed))
	}
	if cfg.MaxOutputTokens > 0 {
		// OpenAI's newer models refuse the old name, other servers ignore the new one and
		// write without a bound; both names together are refused.
		most := openai.Int(int64(cfg.MaxOutputTokens))
		if m.openAI {
			p.MaxCompletionTokens = most
		} else {
			p.MaxTokens = most
		}
	}
	p.Stop.OfStringArray = cfg.StopSequences
	if cfg.CandidateCount > 1 {
		return cannot("CandidateCount is %d", cfg.CandidateCount)
	}
	if err := setFormat(p, cfg); err != nil {
		return err
	}
	if err := setTools(p, cfg); err != nil {
		return err
	}
	switch strings.ToLower(string(cfg.ServiceTier)) {
	case "", string(genai.ServiceTierUnspecified):
	case string(genai.ServiceTierStandard):
		p.ServiceTier = openai.ChatCompletionNewParamsServiceTierDefault
	default:
		p.ServiceTier = openai.ChatCompletionNewParamsServiceTier(strings.ToLower(string(cfg.ServiceTier)))
	}
	rest := *cfg
	rest.SystemInstruction, rest.Temperature, rest.TopP, rest.PresencePenalty, rest.FrequencyPenalty, rest.Seed = nil, nil, nil, nil, nil, nil
	rest.MaxOutputTokens, rest.StopSequences, rest.CandidateCount, rest.ServiceTier = 0, nil, 0, ""
	rest.ResponseMIMEType, rest.ResponseSchema, rest.ResponseJsonSchema, rest.Tools, rest.ToolConfig = "", nil, nil, nil, nil
	rest.HTTPOptions, rest.AutomaticContinuation = nil, nil // of genai's client
	if slices.Equal(rest.ResponseModalities, []string{string(genai.ModalityText)}) {
		rest.ResponseModalities = nil
	}
	for field, v := range reflect.ValueOf(rest).Fields() {
		if !v.IsZero() {
			return cannot("%s is set", field.Name)
		}
	}
	return nil
}

func optional(v *float32) param.Opt[float64] {
	if v == nil {
		return param.Opt[float64]{}
	}
	return param.NewOpt(float64(*v))
}

func setFormat(p *openai.ChatCompletionNewParams, cfg *genai.GenerateContentConfig) error {
	schema, err := schemaOf(cfg.ResponseSchema, cfg.ResponseJsonSchema)
	switch {
	case err != nil:
		return err
	case schema != nil:
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: schema}}
	case cfg.ResponseMIMEType == "application/json":
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	case cfg.ResponseMIMEType != "" && cfg.ResponseMIMEType != "text/plain":
		return cannot("ResponseMIMEType is %q", cfg.ResponseMIMEType)
	}
	return nil
}

// setTools declares the tools that may be called and says whether one must be. A mode that
// leaves some of them out leaves out their declarations: few servers know another way.
func setTools(p *openai.ChatCompletionNewParams, cfg *genai.GenerateContentConfig) error {
	calling := genai.FunctionCallingConfig{}
	if t := cfg.ToolConfig; t != nil {
		rest := *t
		rest.FunctionCallingConfig = nil
		if !reflect.ValueOf(rest).IsZero() {
			return cannot("ToolConfig holds more than FunctionCallingConfig")
		}
		if t.FunctionCallingConfig != nil {
			calling = *t.FunctionCallingConfig
		}
	}
	allowed := func(name string) bool {
		return len(calling.AllowedFunctionNames) == 0 || slices.Contains(calling.AllowedFunctionNames, name)
	}
	for _, t := range cfg.Tools {
		if t == nil {
			continue
		}
		rest := *t
		rest.FunctionDeclarations = nil
		if !reflect.ValueOf(rest).IsZero() {
			return cannot("a tool that the provider runs")
		}
		for _, d := range t.FunctionDeclarations {
			if d == nil || !allowed(d.Name) {
				continue
			}
			schema, err := schemaOf(d.Parameters, d.ParametersJsonSchema)
			if err != nil {
				return err
			}
			if schema == nil {
				schema = map[string]any{"type": "object", "properties": map[string]any{}}
			}
			f := shared.FunctionDefinitionParam{Name: d.Name, Parameters: schema}
			if d.Description != "" {
				f.Description = openai.String(d.Description)
			}
			p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
		}
	}
	choice := ""
	switch calling.Mode {
	case "", genai.FunctionCallingConfigModeUnspecified, genai.FunctionCallingConfigModeAuto:
	case genai.FunctionCallingConfigModeAny:
		choice = "required"
		if len(p.Tools) == 0 {
			return cannot("a tool must be called and none may be")
		}
	case genai.FunctionCallingConfigModeNone:
		choice = "none"
	default:
		return cannot("the function calling mode %q", calling.Mode)
	}
	if choice != "" && len(p.Tools) > 0 {
		p.ToolChoice.OfAuto = openai.String(choice)
	}
	return nil
}

func schemaOf(s *genai.Schema, jsonSchema any) (map[string]any, error) {
	schema, err := toolschema.Of(s, jsonSchema)
	if err != nil {
		return nil, cannot("a schema: %v", err)
	}
	return schema, nil
}

// chatMessages are a history in the form of chat completions, where a call and its result
// name each other by an id.
type chatMessages struct {
	list []openai.ChatCompletionMessageParamUnion
	made int
	open []genai.FunctionCall // calls without a result so far
}

func (m *chatMessages) add(c *genai.Content) error {
	if c == nil {
		return nil
	}
	var texts []string
	var calls []openai.ChatCompletionMessageToolCallUnionParam
	for _, p := range c.Parts {
		if p == nil || p.Thought { // what a model thought is its own matter
			continue
		}
		rest := *p
		rest.Text, rest.FunctionCall, rest.FunctionResponse, rest.ThoughtSignature = "", nil, nil, nil
		if !reflect.ValueOf(rest).IsZero() {
			return cannot("a part that is neither text nor a function call or response")
		}
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
		if p.FunctionCall != nil {
			call, err := m.call(p.FunctionCall)
			if err != nil {
				return err
			}
			calls = append(calls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: call})
		}
		if p.FunctionResponse != nil {
			if c.Role == genai.RoleModel {
				return cannot("a function response that is the model's")
			}
			if err := m.result(p.FunctionResponse); err != nil {
				return err
			}
		}
	}
	text := strings.Join(texts, "\n")
	switch c.Role {
	case genai.RoleModel:
		if text == "" && calls == nil {
			return nil
		}
		said := openai.AssistantMessage(text)
		if text == "" {
			said.OfAssistant.Content = openai.ChatCompletionAssistantMessageParamContentUnion{}
		}
		said.OfAssistant.ToolCalls = calls
		m.list = append(m.list, said)
	case "", genai.RoleUser, "system":
		switch {
		case calls != nil:
			return cannot("a function call that is not the model's")
		case text == "":
		case c.Role == "system":
			m.list = append(m.list, openai.SystemMessage(text))
		default:
			m.list = append(m.list, openai.UserMessage(text))
		}
	default:
		return cannot("a message of the role %q", c.Role)
	}
	return nil
}

func (m *chatMessages) call(f *genai.FunctionCall) (*openai.ChatCompletionMessageFunctionToolCallParam, error) {
	args := []byte("{}")
	if f.Args != nil {
		var err error
		if args, err = json.Marshal(f.Args); err != nil {
			return nil, cannot("the arguments of %s: %v", f.Name, err)
		}
	}
	id := f.ID
	if id == "" {
		id = fmt.Sprintf("call_%d", m.made)
		m.made++
	}
	m.open = append(m.open, genai.FunctionCall{ID: id, Name: f.Name})
	return &openai.ChatCompletionMessageFunctionToolCallParam{
		ID: id, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: f.Name, Arguments: string(args)},
	}, nil
}

// result adds what a call returned: before the text that stands beside it, since results
// have to follow the message with the calls.
func (m *chatMessages) result(f *genai.FunctionResponse) error {
	i := slices.IndexFunc(m.open, func(c genai.FunctionCall) bool {
		return c.ID == f.ID || f.ID == "" && c.Name == f.Name
	})
	if i < 0 {
		return cannot("a response of %s without its call", f.Name)
	}
	if len(f.Parts) > 0 {
		return cannot("a response of %s with media", f.Name)
	}
	body, err := json.Marshal(f.Response)
	if err != nil {
		return cannot("the response of %s: %v", f.Name, err)
	}
	m.list = append(m.list, openai.ToolMessage(string(body), m.open[i].ID))
	m.open = slices.Delete(m.open, i, i+1)
	return nil
}
