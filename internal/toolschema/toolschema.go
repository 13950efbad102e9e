// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package toolschema reads the two forms in which genai has schemas as one, JSON Schema.
package toolschema

import (
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/genai"
)

// Of returns s as JSON Schema or, where s is nil, what jsonSchema is as JSON; nil where both
// are nil. The result is the caller's own.
func Of(s *genai.Schema, jsonSchema any) (map[string]any, error) {
	var from any = s
	if s == nil {
		from = jsonSchema
	}
	raw, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		return nil, errors.New("a schema that is no JSON object")
	}
	if s != nil {
		rewrite(schema)
	}
	return schema, nil
}

// rewrite replaces what genai's own schemas have in OpenAPI's form.
func rewrite(schema map[string]any) {
	kind, typed := schema["type"].(string)
	if typed {
		schema["type"] = strings.ToLower(kind)
	}
	if nullable, _ := schema["nullable"].(bool); nullable && typed {
		schema["type"] = []any{strings.ToLower(kind), "null"}
	}
	delete(schema, "nullable")
	delete(schema, "propertyOrdering")
	under := []any{schema["items"]}
	if anyOf, ok := schema["anyOf"].([]any); ok {
		under = append(under, anyOf...)
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for _, p := range properties {
			under = append(under, p)
		}
	}
	for _, u := range under {
		if s, ok := u.(map[string]any); ok {
			rewrite(s)
		}
	}
}
