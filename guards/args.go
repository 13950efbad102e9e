// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/fold"
	"github.com/gardefou/gardefou/internal/text"
)

// An Arg is the rule for one argument. An argument that is absent is checked only
// for Required. Every rule but Required and Check takes text; another type is
// refused.
type Arg struct {
	// Name of the argument. Required. Names that differ from it in case alone are the same:
	// encoding/json takes them so.
	Name string
	// Label is what a refusal calls the argument. Empty means Name.
	Label string
	// Required refuses a call without the argument, or with null.
	Required bool
	// NotBlank refuses text that is empty or only white space.
	NotBlank bool
	// MaxLen is the most characters allowed, not counting white space around the
	// text. Zero means any.
	MaxLen int
	// Pattern must match somewhere in the text; anchor it to match the whole.
	// Go's own regexp compiles it where it can, regexp2 where it has look-around
	// or back-references; that one has a time limit, and running into it refuses.
	Pattern string
	// OneOf are the values allowed, compared exactly. Nil means any.
	OneOf []string
	// Check returns an error for a value it refuses. The model reads the error's
	// ModelText() where it has one and else that the value is not valid.
	Check func(value any) error
}

// Args validates the arguments of one tool before it runs. The refusal says which
// argument, what was wanted and what came, cut to 60 characters, so that a model
// can correct itself.
//
// It validates what the tool will see: the values, where [Redact] put tokens for them,
// which the refusal quotes; and where the agent's own callbacks change the arguments, it
// looks again. A call with two names that differ in case alone is refused. It fails closed. Its hook needs nothing from the
// context.
//
// Use it when a rule about an argument goes beyond the tool's schema; use [DeclaredArgs] where
// the schema says it all, [Scope] where the values differ from agent to agent.
func Args(toolName string, rules ...Arg) callbacks.Guard {
	var errs []error
	if toolName == "" {
		errs = append(errs, errors.New("guards: Args without a tool name"))
	}
	if len(rules) == 0 {
		errs = append(errs, errors.New("guards: Args without a rule"))
	}
	checks := make([]argCheck, 0, len(rules))
	for _, r := range rules {
		c, err := newArgCheck(r)
		errs = append(errs, err)
		checks = append(checks, c)
	}
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.Name
	}
	return callbacks.Guard{
		Name: "args",
		Err:  errors.Join(errs...),
		BeforeTool: func(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
			if t.Name() != toolName {
				return nil, nil
			}
			plain, err := RevealArgs(contextOf(ctx), args)
			if err != nil {
				return nil, err
			}
			if fold.Twice(plain) { // outside a chain, which looks itself
				return nil, callbacks.Deny(codes.AmbiguousArgs, say(ctx, text.ArgTwice))
			}
			for _, c := range checks {
				if r := c.refuse(ctx, plain, args); r != nil {
					return nil, r
				}
			}
			return nil, nil
		},
		Info: func() callbacks.Info {
			return callbacks.Info{
				OnlyJudges: true,
				Limits:     []string{fmt.Sprintf("%s(%s)", toolName, strings.Join(names, ", "))},
				Tools:      []string{toolName},
				Rechecks:   true,
			}
		},
	}
}

type argCheck struct {
	Arg
	match func(string) (bool, error)
}

func newArgCheck(r Arg) (argCheck, error) {
	c := argCheck{Arg: r}
	c.OneOf = slices.Clone(r.OneOf)
	if c.Label == "" {
		c.Label = c.Name
	}
	if r.Name == "" {
		return c, errors.New("guards: Args: a rule without an argument name")
	}
	if r.MaxLen < 0 {
		return c, fmt.Errorf("guards: Args: %s: MaxLen %d", r.Name, r.MaxLen)
	}
	if r.Pattern != "" {
		m, err := compilePattern(r.Pattern)
		if err != nil {
			return c, fmt.Errorf("guards: Args: %s: %w", r.Name, err)
		}
		c.match = m
	}
	return c, nil
}

// refuse judges the arguments as the tool will see them and quotes them as they are stored.
func (c argCheck) refuse(ctx agent.Context, args, stored map[string]any) *callbacks.Refusal {
	deny := func(key text.Key, a ...any) *callbacks.Refusal {
		return callbacks.Deny(codes.InvalidArgument, say(ctx, key, append([]any{c.Label}, a...)...))
	}
	v, present := fold.Get(args, c.Name)
	if !present || v == nil {
		if c.Required {
			return deny(text.ArgMissing)
		}
		return nil
	}
	came := func() string {
		v, _ := fold.Get(stored, c.Name)
		return cut(strings.TrimSpace(fmt.Sprint(v)))
	}
	if c.NotBlank || c.MaxLen > 0 || c.match != nil || c.OneOf != nil {
		s, ok := v.(string)
		if !ok {
			return deny(text.ArgType, jsonType(v))
		}
		trimmed := strings.TrimSpace(s)
		if c.NotBlank && trimmed == "" {
			return deny(text.ArgBlank)
		}
		if n := utf8.RuneCountInString(trimmed); c.MaxLen > 0 && n > c.MaxLen {
			return deny(text.ArgLength, c.MaxLen, n, came())
		}
		if c.OneOf != nil && !slices.Contains(c.OneOf, s) {
			return deny(text.ArgOneOf, strings.Join(c.OneOf, ", "), came())
		}
		if c.match != nil {
			ok, err := c.match(s)
			if err != nil {
				return deny(text.ArgPattern, c.Pattern, came()).WithCause(err)
			}
			if !ok {
				return deny(text.ArgPattern, c.Pattern, came())
			}
		}
	}
	if c.Check != nil {
		if err := c.Check(v); err != nil {
			wanted := say(ctx, text.ArgNotValid)
			var safe interface{ ModelText() string }
			if errors.As(err, &safe) {
				wanted = safe.ModelText()
			}
			return deny(text.ArgCustom, wanted, came()).WithCause(err)
		}
	}
	return nil
}

func jsonType(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case float64, float32, int, int32, int64, uint, uint32, uint64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return fmt.Sprintf("%T", v)
	}
}
