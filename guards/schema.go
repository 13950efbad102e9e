// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A schemaCheck returns what is wrong with arguments, by place.
type schemaCheck func(args map[string]any) []problem

type problem struct{ at, what string }

// String writes the problem for a model.
func (p problem) String() string { return p.at + ": " + p.what }

var schemaPrinter = message.NewPrinter(language.English)

// compileSchema returns nil for a nil schema.
func compileSchema(schema any) (schemaCheck, error) {
	if schema == nil {
		return nil, nil
	}
	enc, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("guards: the schema is not JSON: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(enc))
	if err != nil {
		return nil, fmt.Errorf("guards: the schema is not JSON: %w", err)
	}
	const name = "finish.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("guards: the schema: %w", err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("guards: the schema: %w", err)
	}
	return func(args map[string]any) []problem {
		if args == nil {
			args = map[string]any{}
		}
		enc, err := json.Marshal(args)
		if err != nil {
			return []problem{{"/", "not JSON"}}
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(enc))
		if err != nil {
			return []problem{{"/", "not JSON"}}
		}
		var invalid *jsonschema.ValidationError
		switch err := compiled.Validate(v); {
		case err == nil:
			return nil
		case errors.As(err, &invalid):
			return problems(nil, invalid)
		default:
			return []problem{{"/", "not valid"}}
		}
	}, nil
}

// noLoader refuses references out of the schema: a check reads no file and no network.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a reference to %q: the schema must be whole in itself", url)
}

// problems are the innermost causes, in the order of their places.
func problems(to []problem, e *jsonschema.ValidationError) []problem {
	if len(e.Causes) == 0 {
		to = append(to, problem{"/" + strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(schemaPrinter)})
	}
	for _, c := range e.Causes {
		to = problems(to, c)
	}
	slices.SortStableFunc(to, func(a, b problem) int { return strings.Compare(a.at, b.at) })
	return to
}
