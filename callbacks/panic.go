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

// safely calls f and makes an error of its panic.
func safely[R any](f func() (R, error)) (res R, err error) {
	defer func() {
		if p := recover(); p != nil {
			var none R
			res, err = none, newPanicError(p)
		}
	}()
	return f()
}

// quietly calls f, of which nothing depends, and drops its panic.
func quietly(f func()) {
	defer func() { _ = recover() }()
	f()
}

// pump calls body with a function that hands values on to yield. A panic of body becomes an
// error that is handed on, unless the consumer has left; one that comes up from the
// consumer is not body's and passes.
func pump[T any](yield func(T, error) bool, body func(give func(T, error) bool)) {
	inConsumer, left := false, false
	give := func(v T, err error) bool {
		if left {
			return false
		}
		inConsumer = true
		ok := yield(v, err)
		inConsumer, left = false, !ok
		return ok
	}
	defer func() {
		if inConsumer {
			return
		}
		if p := recover(); p != nil {
			var none T
			give(none, newPanicError(p))
		}
	}()
	body(give)
}
