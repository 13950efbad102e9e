// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/fold"
	"github.com/gardefou/gardefou/internal/text"
)

// maxNamedValues is how many assigned values a refusal names.
const maxNamedValues = 10

// ScopeOptions are the options of [Scope].
type ScopeOptions struct {
	// Arg is the argument that is limited. Required. Keys that differ from it in case
	// alone are limited too: encoding/json takes them for the same.
	Arg string
	// Values are the values assigned to the agent. Either they or ValuesFunc are
	// required, which tells them for each step, from the Run say; an error of it refuses.
	Values     []string
	ValuesFunc func(context.Context) ([]string, error)
	// Match reports whether a value a model gave means an assigned one. Nil compares
	// exactly.
	Match func(given, assigned string) bool
	// Tools are the tools whose argument is required and limited. Nil limits it in every
	// tool it is given to, and requires it in none.
	Tools []string
	// Searches are the tools whose results are filtered to the assigned values.
	Searches []ScopeSearch
	// Unlisted leaves the values out of the agent's first prompt.
	Unlisted bool
}

// A ScopeSearch says where the result of a tool holds entries of a scope.
type ScopeSearch struct {
	Tool string
	// List is the key of the result that holds the entries.
	List string
	// Field is the key of an entry that holds its value. Empty means that the entries are
	// the values themselves.
	Field string
}

// Scope lets an argument take only the values assigned to this agent, in a list of
// values too. A refusal names the agent's own values where they are ten or fewer, never
// what others have; the agent's first prompt lists them.
//
// A scope that stands in the prompt alone holds nothing: this one stands in the tool's
// way, and judges the values where [Redact] put tokens for them. With Searches it stands
// before Redact: after it a result holds labels, none of which is assigned. It fails
// closed.
//
// Use it when agents share a tool and not its data; use [Args] where the allowed values are
// the same for all.
func Scope(arg string, values ...string) callbacks.Guard {
	return ScopeOptions{Arg: arg, Values: values}.Guard()
}

// Guard returns the guard that [Scope] describes, with these options.
func (o ScopeOptions) Guard() callbacks.Guard {
	o.Values, o.Tools, o.Searches = slices.Clone(o.Values), slices.Clone(o.Tools), slices.Clone(o.Searches)
	var errs []error
	if o.Arg == "" {
		errs = append(errs, errors.New("guards: Scope without an argument"))
	}
	if (len(o.Values) == 0) == (o.ValuesFunc == nil) {
		errs = append(errs, errors.New("guards: Scope needs values or a function that tells them, and not both"))
	}
	if slices.Contains(o.Values, "") || slices.Contains(o.Tools, "") {
		errs = append(errs, errors.New("guards: Scope: an empty value or tool name"))
	}
	tools := slices.Clone(o.Tools)
	for _, s := range o.Searches {
		if s.Tool == "" || s.List == "" {
			errs = append(errs, fmt.Errorf("guards: Scope: a search needs a tool and a list, got %+v", s))
		}
		tools = append(tools, s.Tool)
	}
	var after []string
	if !o.Unlisted {
		after = []string{isolateName} // what it lists must reach the prompt that is sent
	}
	s := &scope{o}
	g := callbacks.Guard{
		Name:       "scope",
		Err:        errors.Join(errs...),
		BeforeTool: s.beforeTool,
		Info: func() callbacks.Info {
			limit := o.Arg + " as assigned"
			if n := len(o.Values); n > 0 {
				limit = fmt.Sprintf("%s: %d values", o.Arg, n)
			}
			return callbacks.Info{Limits: []string{limit}, Tools: tools, Rechecks: true, After: after}
		},
	}
	if len(o.Searches) > 0 {
		g.AfterTool = s.afterTool
	}
	if !o.Unlisted {
		g.BeforeModel = s.list
	}
	return g
}

type scope struct{ o ScopeOptions }

func (s *scope) values(ctx context.Context) ([]string, error) {
	if s.o.ValuesFunc == nil {
		return s.o.Values, nil
	}
	return s.o.ValuesFunc(ctx)
}

func (s *scope) beforeTool(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
	listed := slices.Contains(s.o.Tools, t.Name())
	if s.o.Tools != nil && !listed {
		return nil, nil
	}
	args, err := RevealArgs(contextOf(ctx), args)
	if err != nil {
		return nil, err
	}
	given := false
	for _, key := range fold.Keys(args, s.o.Arg) {
		if args[key] == nil {
			continue
		}
		given = true
		assigned, err := s.values(contextOf(ctx))
		if err != nil {
			return nil, err
		}
		if !s.within(args[key], assigned) {
			return nil, s.refuse(ctx, assigned)
		}
	}
	if listed && !given {
		return nil, callbacks.Deny(codes.OutOfScope, say(ctx, text.ScopeMissing, s.o.Arg))
	}
	return nil, nil
}

// within reports whether a value, or every value of a list, is assigned. An empty list
// asks for nothing in particular, which may be everything.
func (s *scope) within(v any, assigned []string) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(e any) bool { return !s.within(e, assigned) })
	case string:
		return s.matches(v, assigned)
	case float64:
		return s.matches(number(v), assigned)
	case int, int64, int32, json.Number:
		return s.matches(fmt.Sprint(v), assigned)
	default:
		return false
	}
}

func (s *scope) matches(given string, assigned []string) bool {
	if s.o.Match == nil {
		return slices.Contains(assigned, given)
	}
	return slices.ContainsFunc(assigned, func(a string) bool { return s.o.Match(given, a) })
}

func (s *scope) refuse(ctx agent.Context, assigned []string) *callbacks.Refusal {
	if n := len(assigned); n == 0 || n > maxNamedValues {
		return callbacks.Deny(codes.OutOfScope, say(ctx, text.ScopeOutside, s.o.Arg))
	}
	r := callbacks.Deny(codes.OutOfScope, say(ctx, text.ScopeOneOf, s.o.Arg, strings.Join(assigned, ", ")))
	return r.WithDetail(fmt.Sprintf("%s: not one of %d assigned values", s.o.Arg, len(assigned)))
}

// afterTool takes out of a search's result what is not assigned. A result that is not
// as said is withheld.
func (s *scope) afterTool(ctx agent.Context, t tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
	if err != nil || result == nil {
		return nil, nil
	}
	for _, search := range s.o.Searches {
		if search.Tool != t.Name() {
			continue
		}
		list, has := result[search.List]
		if list == nil && !succeeded(result, nil) {
			continue // a failure with nothing to filter
		}
		entries, ok := plainList(list)
		if !has || !ok {
			return nil, callbacks.Deny(codes.OutOfScope, say(ctx, text.ScopeResult)).WithDetail(fmt.Sprintf("%s: no list %q in the result", t.Name(), search.List))
		}
		assigned, err := s.values(contextOf(ctx))
		if err != nil {
			return nil, err
		}
		kept := make([]any, 0, len(entries))
		for _, e := range entries {
			v := e
			if search.Field != "" {
				m, _ := e.(map[string]any)
				v = m[search.Field]
			}
			if v != nil && s.within(v, assigned) {
				kept = append(kept, e)
			}
		}
		result[search.List] = kept
	}
	return nil, nil
}

// plainList returns a list as JSON has it, whatever Go slice it is. A nil one, null in
// JSON, is empty.
func plainList(v any) ([]any, bool) {
	if l, ok := v.([]any); ok || v == nil {
		return l, true
	}
	enc, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	var l []any
	if err := json.Unmarshal(enc, &l); err != nil {
		return nil, false
	}
	return l, true
}

// list adds the values to the agent's first prompt, in every request at the same
// place, so that a prompt cache holds. The prompt itself is shared and is copied.
func (s *scope) list(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	assigned, err := s.values(contextOf(ctx))
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(req.Contents, func(c *genai.Content) bool {
		return c != nil && c.Role == genai.RoleUser && !hasResponse(c)
	})
	if first < 0 {
		return nil, nil
	}
	lines := say(ctx, text.ScopeList, s.o.Arg) + "\n- " + strings.Join(assigned, "\n- ")
	prompt := *req.Contents[first]
	prompt.Parts = append(slices.Clip(prompt.Parts), genai.NewPartFromText(lines))
	req.Contents = slices.Clone(req.Contents)
	req.Contents[first] = &prompt
	return nil, nil
}
