// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
)

// Missing returns the first argument that t declares as required and args
// lacks, or "".
func Missing(t tool.Tool, args map[string]any) string {
	d, ok := t.(interface {
		Declaration() *genai.FunctionDeclaration
	})
	if !ok {
		return ""
	}
	decl := d.Declaration()
	if decl == nil {
		return ""
	}
	var required []string
	switch schema := decl.ParametersJsonSchema.(type) {
	case *jsonschema.Schema:
		required = schema.Required
	case nil:
		if decl.Parameters != nil {
			required = decl.Parameters.Required
		}
	}
	for _, name := range required {
		if _, ok := args[name]; !ok {
			return name
		}
	}
	return ""
}
