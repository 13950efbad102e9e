// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

var (
	// ErrClosed is the error of writing to a closed journal.
	ErrClosed = errors.New("journal: closed")
	// ErrNoLine is the error of a Write that is not one JSON object.
	ErrNoLine = errors.New("journal: not one JSON object in one line")
	// ErrTorn is the error of every Write after one that left half a line which can't be
	// taken back.
	ErrTorn = errors.New("journal: an earlier line was written in part only")
)

// WriterOptions are the options of [NewWriterWith].
type WriterOptions struct {
	// After is the head of the journal that this one continues. Zero begins a new one.
	After Head
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

// A Writer chains the lines written to it. It is safe for concurrent use: lines come out
// whole, in one order, none lost without a lost record that counts it.
type Writer struct {
	mu     sync.Mutex
	to     sink
	now    func() time.Time
	head   Head
	opened bool
	closed bool
	open   openRecord
	// unwritten counts lines lost since the last that was written, lost all of them.
	unwritten, lost uint64
}

// A sink takes a whole line or nothing.
type sink interface {
	write(line []byte) error
	// full says that a further line of n bytes belongs into the next file, which next begins.
	full(n int) bool
	next() error
}

// NewWriter returns a Writer that begins a new journal on w. w gets one Write a line.
// Close writes the closing record and leaves w open.
func NewWriter(w io.Writer) *Writer { return NewWriterWith(w, WriterOptions{}) }

// NewWriterWith is [NewWriter] with options.
func NewWriterWith(w io.Writer, o WriterOptions) *Writer {
	j := &Writer{to: &streamSink{w: w}, now: o.Now, head: o.After}
	if j.now == nil {
		j.now = time.Now
	}
	return j
}

type openRecord struct {
	Kind      string `json:"kind"`
	TS        string `json:"ts"`
	Format    string `json:"format"`
	Recovered bool   `json:"recovered,omitempty"`
	Torn      int64  `json:"torn,omitempty"`
}

type lostRecord struct {
	Kind  string `json:"kind"`
	TS    string `json:"ts"`
	Lines uint64 `json:"lines"`
}

type closeRecord struct {
	Kind      string `json:"kind"`
	TS        string `json:"ts"`
	Lost      uint64 `json:"lost"`
	Continues bool   `json:"continues,omitempty"`
}

// mostOfLine leaves room in a line for what links it.
const mostOfLine = MaxLine - 1024

// Write writes one line: a JSON object, with or without a line feed. Where it fails the
// line is lost and counted: the next that can be written has a lost record before it.
func (j *Writer) Write(p []byte) (int, error) {
	line := bytes.TrimSuffix(p, []byte("\n"))
	if len(line) < 3 || line[0] != '{' || bytes.IndexByte(line, '\n') >= 0 || !json.Valid(line) {
		return 0, ErrNoLine
	}
	line = bytes.TrimRight(line, " \t\r")
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, ErrClosed
	}
	err := ErrLongLine
	if len(line) <= mostOfLine {
		err = j.put(line)
	}
	if err != nil {
		j.unwritten++
		j.lost++
		return 0, err
	}
	return len(p), nil
}

func (j *Writer) put(line []byte) error {
	if err := j.begin(); err != nil {
		return err
	}
	if j.to.full(len(line) + 256) {
		if err := j.turn(); err != nil {
			return err
		}
	}
	if j.unwritten > 0 {
		if err := j.record(lostRecord{KindLost, j.ts(), j.unwritten}); err != nil {
			return err
		}
		j.unwritten = 0
	}
	return j.link(line)
}

func (j *Writer) begin() error {
	if j.opened {
		return nil
	}
	j.open.Kind, j.open.TS, j.open.Format = KindOpen, j.ts(), Format
	if err := j.record(j.open); err != nil {
		return err
	}
	j.open = openRecord{}
	j.opened = true
	return nil
}

// turn ends this file and begins the next.
func (j *Writer) turn() error {
	if err := j.end(true); err != nil {
		return err
	}
	j.opened = false
	if err := j.to.next(); err != nil {
		return err
	}
	return j.begin()
}

func (j *Writer) end(continues bool) error {
	line, err := json.Marshal(closeRecord{KindClose, j.ts(), j.lost, continues})
	if err != nil {
		return err
	}
	return j.emit(summed(chained(line, j.head)))
}

func (j *Writer) record(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return j.link(line)
}

func (j *Writer) link(line []byte) error { return j.emit(chained(line, j.head)) }

// emit writes a finished line and moves the head to it.
func (j *Writer) emit(line []byte) error {
	if err := j.to.write(append(line, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.head = Head{j.head.Seq + 1, hashOf(line)}
	return nil
}

func (j *Writer) ts() string { return j.now().UTC().Format(time.RFC3339Nano) }

// Head names the last line written.
func (j *Writer) Head() Head {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head
}

// Lost is how many lines could not be written.
func (j *Writer) Lost() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lost
}

// Close writes the closing record. A second Close does nothing.
func (j *Writer) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	if err := j.begin(); err != nil {
		return err
	}
	return j.end(false)
}

// streamSink writes to a stream, where half a line can't be taken back.
type streamSink struct {
	w    io.Writer
	torn bool
}

func (s *streamSink) write(line []byte) error {
	if s.torn {
		return ErrTorn
	}
	n, err := s.w.Write(line)
	s.torn = n > 0 && n < len(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return err
}

func (*streamSink) full(int) bool { return false }
func (*streamSink) next() error   { return nil }
