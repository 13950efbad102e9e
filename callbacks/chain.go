// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gardefou/gardefou/callbacks/inspect"
)

// A Chain is an immutable, ordered list of guards. The zero value and nil are
// empty chains. A Chain is safe for concurrent use.
type Chain struct {
	guards []Guard
	h      hooks
	err    error
	// as is the chain this one stands for, where a form of attachment made its own
	// copy; nil means itself.
	as *Chain
}

// New returns a chain of guards in the order they are to run. Errors of guards
// and of their order are kept and returned by NewAgent, Attach and Plugin.
func New(guards ...Guard) *Chain {
	c := &Chain{guards: slices.Clone(guards)}
	c.h = sortHooks(c.guards)
	c.err = checkGuards(c.guards)
	return c
}

// With returns a new chain with more guards at its end; c stays as it is.
func (c *Chain) With(more ...Guard) *Chain {
	return New(slices.Concat(c.Guards(), more)...)
}

// Guards returns a copy of the chain's guards.
func (c *Chain) Guards() []Guard {
	if c == nil {
		return nil
	}
	return slices.Clone(c.guards)
}

// Err returns what is wrong with the guards themselves or with their order,
// joined, or nil.
func (c *Chain) Err() error {
	if c == nil {
		return nil
	}
	return c.err
}

func checkGuards(guards []Guard) error {
	var errs []error
	for i, g := range guards {
		if g.Name == "" {
			errs = append(errs, fmt.Errorf("callbacks: guard %d has no name", i))
		}
		if g.Err != nil {
			errs = append(errs, fmt.Errorf("callbacks: guard %q: %w", g.Name, g.Err))
		}
		for _, before := range g.info().After {
			for _, later := range guards[i+1:] {
				if later.Name == before {
					errs = append(errs, &orderError{Guard: g.Name, After: before})
				}
			}
		}
	}
	return errors.Join(errs...)
}

// ErrOrder says that a guard stands before one that it must stand after.
var ErrOrder = errors.New("guards in the wrong order")

// An orderError is ErrOrder with its names.
type orderError struct{ Guard, After string }

// Error implements error.
func (e *orderError) Error() string {
	return fmt.Sprintf("callbacks: guard %q must stand after %q in the chain", e.Guard, e.After)
}

// Is reports whether target is ErrOrder.
func (e *orderError) Is(target error) bool { return target == ErrOrder }

// ErrForm says that a guard needs a hook which the form of attachment does not run.
var ErrForm = errors.New("guard does not work in this form of attachment")

// A formError is ErrForm with its names.
type formError struct {
	Guard string
	Hook  inspect.Hook
	// Form is "agent" or "plugin".
	Form string
}

// Error implements error.
func (e *formError) Error() string {
	hint := "attach it with Chain.Plugin"
	switch {
	case e.Form == formPlugin:
		hint = "attach it with Chain.NewAgent"
	case e.Hook == inspect.WrapAgent:
		hint = "use Chain.NewAgent for a child of a workflow agent"
	}
	return fmt.Sprintf("callbacks: guard %q needs %s, which does not exist in this form (%s): %s", e.Guard, e.Hook, e.Form, hint)
}

// Is reports whether target is ErrForm.
func (e *formError) Is(target error) bool { return target == ErrForm }

const (
	formAgent  = "agent"
	formPlugin = "plugin"
)

func checkForm(guards []Guard, form string, alsoMissing ...inspect.Hook) error {
	var errs []error
	for _, g := range guards {
		for _, h := range g.info().Needs {
			if infoOf(h).missing == form || slices.Contains(alsoMissing, h) {
				errs = append(errs, &formError{Guard: g.Name, Hook: h, Form: form})
			}
		}
	}
	return errors.Join(errs...)
}

// identity is the same for a chain and for the copies that its forms of
// attachment work with.
func (c *Chain) identity() *Chain {
	if c.as != nil {
		return c.as
	}
	return c
}
