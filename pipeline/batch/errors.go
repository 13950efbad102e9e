// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// An InputError says why a file is not researched at all, and what to do. Nothing was
// written then. Its text is in the language of the batch.
type InputError struct{ Text string }

// Error implements error.
func (e *InputError) Error() string { return e.Text }

// A FolderError says why nothing is written to the folder of the batch, and what to do. Its
// text is in the language of the batch.
type FolderError struct{ Text string }

// Error implements error.
func (e *FolderError) Error() string { return e.Text }

// A RowError says why a row has no report. Its text is in the language of the batch.
type RowError struct {
	Text string
	// Resolution is why the row means no one company; zero where it could not be read
	// and where the run failed.
	Resolution supplier.Resolution
	// Err is what failed, nil where nothing did.
	Err error
}

// Error implements error.
func (e *RowError) Error() string { return e.Text }

// Unwrap returns what failed.
func (e *RowError) Unwrap() error { return e.Err }

// inputError and rowError are reasons before the language is known.
type (
	inputError struct {
		key  text.Key
		args []any
	}
	rowError struct {
		key  text.Key
		args []any
	}
)

func (e inputError) Error() string { return text.Get(text.English, e.key, e.args...) }

func (e rowError) Error() string { return text.Get(text.English, e.key, e.args...) }
