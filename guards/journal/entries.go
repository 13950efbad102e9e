// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gardefou/gardefou/guards/journal/line"
)

// A LineError is a line that can't be read.
type LineError struct {
	File string
	Line int
	Err  error
}

// Error implements error.
func (e *LineError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("journal: line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("journal: %s: line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Entries reads a journal line by line, chained or not. A line that can't be read comes
// as a [LineError] and the next is read; any other error ends it.
func Entries(r io.Reader) iter.Seq2[line.Line, error] { return entries(rawLines(source{r: r})) }

// FileEntries is [Entries] for the files of a journal in their order; see [Files].
func FileEntries(paths ...string) iter.Seq2[line.Line, error] { return entries(fileLines(paths)) }

func entries(lines iter.Seq[rawLine]) iter.Seq2[line.Line, error] {
	return func(yield func(line.Line, error) bool) {
		for l := range lines {
			e, err := entryOf(l)
			if !yield(e, err) {
				return
			}
		}
	}
}

func entryOf(l rawLine) (line.Line, error) {
	var e line.Line
	if l.err != nil && !errors.Is(l.err, ErrTornLine) && !errors.Is(l.err, ErrLongLine) {
		return e, l.err
	}
	err := l.err
	if err == nil {
		err = json.Unmarshal(l.data, &e)
	}
	if err == nil && e.Kind == "" {
		err = errors.New("no kind")
	}
	if err != nil {
		return line.Line{}, &LineError{l.file, l.number, err}
	}
	return e, nil
}
