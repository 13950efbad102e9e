// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package killswitch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Errors of a state that can't be used, for errors.Is.
var (
	// ErrNoState: the store holds none. It was never made, or it is lost.
	ErrNoState = errors.New("killswitch: there is no state")
	// ErrForeign: what the store holds is no state, or not a whole one.
	ErrForeign = errors.New("killswitch: this is no state of a kill switch")
	// ErrFull: the state holds too many stops for another one.
	ErrFull = errors.New("killswitch: the state is full")
)

// format begins every document.
const format = "gardefou kill switch 1"

// A document is read up to largest bytes. The second half is for stops of everything.
const (
	largest = 2 << 20
	full    = largest / 2
)

type document struct {
	Format string `json:"format"`
	State
}

// parse reads a document. Every error is ErrForeign, or ErrNoState of a nil one.
func parse(data []byte) (State, error) {
	if data == nil {
		return State{}, ErrNoState
	}
	var d document
	switch err := decode(data, &d); {
	case err != nil:
		return State{}, fmt.Errorf("%w: %w", ErrForeign, err)
	case d.Format != format:
		return State{}, fmt.Errorf("%w: its format is %.40q, not %q", ErrForeign, d.Format, format)
	case d.Stops == nil || d.Changed.IsZero():
		return State{}, fmt.Errorf("%w: stops or the time of its last change are missing", ErrForeign)
	}
	for i, stop := range d.Stops {
		if err := stop.check(); err != nil {
			return State{}, fmt.Errorf("%w: stop %d: %w", ErrForeign, i+1, err)
		}
	}
	return d.State, nil
}

func decode(data []byte, d *document) error {
	if len(data) > largest {
		return fmt.Errorf("it has more than %d bytes", largest)
	}
	if !utf8.Valid(data) {
		return errors.New("it is not UTF-8") // names would be read as others
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(d); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}

func (s State) encode() ([]byte, error) {
	data, err := json.MarshalIndent(document{format, s}, "", "  ")
	return append(data, '\n'), err
}
