// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"errors"
	"fmt"
)

var (
	// ErrUnpriced is wrapped by every refusal to quote: the model is unknown, its row was
	// refused, or no row is in effect.
	ErrUnpriced = errors.New("no usable price")
	// ErrBadRow is wrapped by every refusal of a row.
	ErrBadRow = errors.New("unusable price row")
	// ErrUnbounded is wrapped when a row can't bound what is asked: a fee it doesn't list,
	// or media that its source prices in units this package doesn't apply.
	ErrUnbounded = errors.New("cost has no bound")
	// ErrUsage is wrapped when counts contradict each other, such as more cached tokens
	// than tokens. Charge the reservation then.
	ErrUsage = errors.New("inconsistent usage")
	// ErrStale is wrapped by [Table.CheckAge].
	ErrStale = errors.New("price table is too old")
)

// UnpricedError says what was looked up and why there is no price for it. It matches
// [ErrUnpriced], and [ErrBadRow] when a row exists but was refused.
type UnpricedError struct {
	Query Query
	Err   error
}

// Error implements error.
func (e *UnpricedError) Error() string {
	return fmt.Sprintf("%v for %s: %v", ErrUnpriced, e.Query, e.Err)
}

// Unwrap gives errors.Is and errors.As the cause.
func (e *UnpricedError) Unwrap() []error { return []error{ErrUnpriced, e.Err} }

// RowError names a refused row, the field at fault and the reason. It matches [ErrBadRow].
type RowError struct {
	// Row is the name of the row: backend/model, its service tier and first day if any.
	Row    string
	Field  string
	Reason string
}

// Error implements error.
func (e *RowError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("price row %s: %s", e.Row, e.Reason)
	}
	return fmt.Sprintf("price row %s: %s: %s", e.Row, e.Field, e.Reason)
}

// Unwrap gives errors.Is and errors.As the cause.
func (e *RowError) Unwrap() error { return ErrBadRow }
