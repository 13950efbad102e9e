// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// A PanicError is a panic that the chain caught: in a hook, a tool, a model or an
// agent. It reaches observers only.
type PanicError struct {
	Panic any
	Stack []byte
}

// newPanicError is called where a panic was recovered. One that was caught before, on
// another goroutine, and handed on keeps the stack of where it happened.
func newPanicError(p any) *PanicError {
	if caught, ok := p.(*PanicError); ok && caught != nil {
		return caught
	}
	return &PanicError{Panic: p, Stack: debug.Stack()}
}

// Error implements error. It leaves out the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Panic) }

// Unwrap returns the error that was panicked with, if it was one.
func (e *PanicError) Unwrap() error {
	err, _ := e.Panic.(error)
	return err
}

func isPanic(err error) bool {
	var p *PanicError
	return errors.As(err, &p)
}
