// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/genai"
)

// A function is a declared tool as far as its shape tells.
type function struct {
	name     string
	params   []string // sorted
	required []string
	types    map[string]string
}

// declared reads the functions a request offers. A schema may come as JSON Schema
// in any Go type or as genai's own; its JSON is what both have in common.
func declared(cfg *genai.GenerateContentConfig) []function {
	if cfg == nil {
		return nil
	}
	var out []function
	for _, t := range cfg.Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			out = append(out, shape(d))
		}
	}
	return out
}

func shape(d *genai.FunctionDeclaration) function {
	f := function{name: d.Name, types: map[string]string{}}
	var raw []byte
	var err error
	if d.ParametersJsonSchema != nil {
		raw, err = json.Marshal(d.ParametersJsonSchema)
	} else {
		raw, err = json.Marshal(d.Parameters)
	}
	var schema struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err != nil || json.Unmarshal(raw, &schema) != nil {
		return f
	}
	f.required = schema.Required
	f.params = slices.Sorted(maps.Keys(schema.Properties))
	for p, s := range schema.Properties {
		f.types[p] = typeOf(s)
	}
	return f
}

// typeOf returns the type of a property; of several, the one that is not null.
func typeOf(schema json.RawMessage) string {
	var one struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(schema, &one) != nil {
		return ""
	}
	switch t := one.Type.(type) {
	case string:
		return t
	case []any:
		for _, e := range t {
			if s, ok := e.(string); ok && s != "null" {
				return s
			}
		}
	}
	return ""
}
