// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"errors"
	"io"
	"strings"
	"sync"
)

// ErrClosed is returned by a [Writer] that was closed.
var ErrClosed = errors.New("redact: writer closed")

// Writer redacts what is written through it, however the writes cut the text.
// The end of the text, at most [Redactor.MaxHold] bytes, arrives when Close is
// called. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	s      *Stream
	err    error // of w, or ErrClosed
	closed bool
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer, r *Redactor) *Writer { return &Writer{w: w, s: r.Stream()} }

// Write takes p whole or returns an error: that of the underlying writer, or a
// [*BlockedError]. Any error is final.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if w.pass(w.s.Write(string(p))); w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close writes the rest. It doesn't close the underlying writer. Closing again
// does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	if w.err != nil {
		return w.err
	}
	w.pass(w.s.Close(Complete))
	err := w.err
	if err == nil {
		w.err = ErrClosed
	}
	return err
}

func (w *Writer) pass(text string) {
	if text != "" {
		_, w.err = io.Copy(w.w, strings.NewReader(text))
	}
	if w.err == nil {
		w.err = w.s.Err()
	}
}
