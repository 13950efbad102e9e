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

	"github.com/gardefou/gardefou/guards/journal/line"
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
	open   line.Line
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

// mostOfLine leaves room in a line for what links it.
const mostOfLine = MaxLine - 1024

// Write writes one line: a JSON object, with or without a line feed. Where it fails the
// line is lost and counted: the next that can be written has a lost record before it.
func (j *Writer) Write(p []byte) (int, error) {
	data := bytes.TrimSuffix(p, []byte("\n"))
	if len(data) < 3 || data[0] != '{' || bytes.IndexByte(data, '\n') >= 0 || !json.Valid(data) {
		return 0, ErrNoLine
	}
	data = bytes.TrimRight(data, " \t\r")
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, ErrClosed
	}
	err := ErrLongLine
	if len(data) <= mostOfLine {
		err = j.put(data)
	}
	if err != nil {
		j.unwritten++
		j.lost++
		return 0, err
	}
	return len(p), nil
}

func (j *Writer) put(data []byte) error {
	if err := j.begin(); err != nil {
		return err
	}
	if j.to.full(len(data) + 256) {
		if err := j.turn(); err != nil {
			return err
		}
	}
	if j.unwritten > 0 {
		if err := j.record(line.Line{Kind: line.KindLost, TS: j.ts(), Lines: j.unwritten}); err != nil {
			return err
		}
		j.unwritten = 0
	}
	return j.link(data)
}

func (j *Writer) begin() error {
	if j.opened {
		return nil
	}
	j.open.Kind, j.open.TS, j.open.Format = line.KindOpen, j.ts(), Format
	if err := j.record(j.open); err != nil {
		return err
	}
	j.open = line.Line{}
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
	data, err := json.Marshal(line.Line{Kind: line.KindClose, TS: j.ts(), Lost: j.lost, Continues: continues})
	if err != nil {
		return err
	}
	return j.emit(summed(chained(data, j.head)))
}

func (j *Writer) record(l line.Line) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return j.link(data)
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

func (j *Writer) ts() time.Time { return j.now().UTC() }

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
