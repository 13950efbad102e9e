// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package keptrun

import (
	"bytes"
	"io"

	"github.com/gardefou/gardefou/guards/journal"
)

// A Journal is the journal of one run, which can be read back once it is closed.
type Journal struct {
	chain
	lines func() ([]byte, error)
}

type chain interface {
	io.WriteCloser
	Head() journal.Head
}

// NewJournal returns a journal in memory, for a run that is not kept.
func NewJournal() *Journal {
	var buf bytes.Buffer
	return &Journal{journal.NewWriter(&buf), func() ([]byte, error) { return buf.Bytes(), nil }}
}

// Lines are those that were written, of all attempts.
func (j *Journal) Lines() ([]byte, error) { return j.lines() }
