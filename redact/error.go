// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

// Error is err with its text redacted, err itself where nothing is found, nil
// for nil. errors.Is and errors.As see through it; whoever takes the original
// out of it that way has its text. The text of one that must not pass (strategy
// [Block]) is "[text blocked]".
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	was := err.Error()
	if text := r.String(was); text != was {
		return &redactedError{text: text, err: err}
	}
	return err
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// GoString keeps %#v from printing the original.
func (e *redactedError) GoString() string { return e.text }

func (e *redactedError) Unwrap() error { return e.err }

// MarshalText is what JSON shows.
func (e *redactedError) MarshalText() ([]byte, error) { return []byte(e.text), nil }
