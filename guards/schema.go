// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"google.golang.org/adk/v2/agent"

	"github.com/gardefou/gardefou/internal/fold"
	"github.com/gardefou/gardefou/internal/text"
)

// A schemaCheck returns what is wrong with arguments, by place.
type schemaCheck func(args map[string]any) []problem

type problem struct{ at, what string }

// String writes the problem for a model.
func (p problem) String() string { return p.at + ": " + p.what }

// misfit says what is wrong with the arguments as the tool will see them: at most three
// errors for a model, and their number and places for observers; both are empty where
// nothing is. What Redact put a token for is not quoted.
func misfit(ctx agent.Context, check schemaCheck, args map[string]any) (said, detail string, err error) {
	plain, err := RevealArgs(contextOf(ctx), args)
	if err != nil {
		return "", "", err
	}
	found := check(plain)
	if len(found) == 0 {
		return "", "", nil
	}
	asStored := check(args)
	const most = 3
	var texts, places []string
	for _, p := range found[:min(most, len(found))] {
		if !slices.Contains(asStored, p) {
			p.what = say(ctx, text.ArgNotValid)
		}
		texts = append(texts, cutTo(p.String(), 160))
		places = append(places, cut(p.at))
	}
	return strings.Join(texts, "; "), fmt.Sprintf("%d errors, at %s", len(found), strings.Join(places, ", ")), nil
}

// compileSchema returns nil for a nil schema.
func compileSchema(schema any) (schemaCheck, error) {
	if schema == nil {
		return nil, nil
	}
	enc, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("guards: the schema is not JSON: %w", err)
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(enc, &root); err != nil {
		return nil, fmt.Errorf("guards: the schema: %w", err)
	}
	if err := knownTypes(&root); err != nil {
		return nil, fmt.Errorf("guards: the schema: %w", err)
	}
	// No loader: a reference out of the schema is an error, a check reads no file and no
	// network.
	compiled, err := root.Resolve(nil)
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
		var v any
		if err := json.Unmarshal(enc, &v); err != nil {
			return []problem{{"/", "not JSON"}}
		}
		if at := foldNames(&root, v, ""); at != "" {
			return []problem{{at, "two names that differ in case alone"}}
		}
		if err = compiled.Validate(v); err == nil {
			return nil
		}
		if found := problems(&root, v, ""); len(found) > 0 {
			return found
		}
		return []problem{{"/", complaint(err)}} // in a part that a reference names
	}, nil
}

// foldNames gives the keys of v the names under which the schema has them, where they differ
// in case alone: encoding/json takes them for the same. It returns where two keys are.
func foldNames(s *jsonschema.Schema, v any, at string) string {
	if s == nil {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		for name, sub := range s.Properties {
			switch keys := fold.Keys(v, name); len(keys) {
			case 0:
				continue
			case 1:
				value := v[keys[0]]
				delete(v, keys[0])
				v[name] = value
			default:
				return cmp.Or(at, "/")
			}
			if twice := foldNames(sub, v[name], at+"/"+name); twice != "" {
				return twice
			}
		}
	case []any:
		for i, e := range v {
			if twice := foldNames(s.Items, e, at+"/"+strconv.Itoa(i)); twice != "" {
				return twice
			}
		}
	}
	return ""
}

// knownTypes refuses what no value can ever be; the validator lets it stand.
func knownTypes(s *jsonschema.Schema) error {
	if s == nil {
		return nil
	}
	for _, name := range append(slices.Clone(s.Types), s.Type) {
		switch name {
		case "", "null", "boolean", "integer", "number", "string", "array", "object":
		default:
			return fmt.Errorf("there is no type %q", name)
		}
	}
	for _, p := range s.Properties {
		if err := knownTypes(p); err != nil {
			return err
		}
	}
	return knownTypes(s.Items)
}

// problems goes down properties and items to the innermost places that are wrong; the
// validator by itself stops at the first.
func problems(s *jsonschema.Schema, v any, at string) []problem {
	if s == nil {
		return nil
	}
	own := *s
	var out []problem
	switch v := v.(type) {
	case map[string]any:
		own.Properties = maps.Clone(s.Properties)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if e, ok := v[name]; ok {
				out = append(out, problems(s.Properties[name], e, at+"/"+name)...)
			}
			own.Properties[name] = &jsonschema.Schema{}
		}
	case []any:
		own.Items = nil
		for i, e := range v {
			out = append(out, problems(s.Items, e, at+"/"+strconv.Itoa(i))...)
		}
	}
	// What refers to elsewhere in the whole schema can't be resolved in a part of it.
	compiled, err := own.Resolve(nil)
	if err != nil {
		return out
	}
	if err := compiled.Validate(v); err != nil {
		out = append([]problem{{"/" + trimSlash(at), complaint(err)}}, out...)
	}
	return out
}

func trimSlash(at string) string {
	if at == "" {
		return ""
	}
	return at[1:]
}

var validatingPrefix = regexp.MustCompile(`^(?:validating [^:]*: )+`)

// mostOfComplaint bounds a sentence that may quote what the model wrote.
const mostOfComplaint = 200

func complaint(err error) string {
	what := []rune(validatingPrefix.ReplaceAllString(err.Error(), ""))
	if len(what) > mostOfComplaint {
		what = append(what[:mostOfComplaint], '…')
	}
	return string(what)
}
