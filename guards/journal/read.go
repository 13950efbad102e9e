// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

var (
	// ErrTornLine is the error of a last line without a line feed.
	ErrTornLine = errors.New("torn: the last line has no end")
	// ErrLongLine is the error of a line longer than [MaxLine], and of a Write that would
	// make one.
	ErrLongLine = errors.New("the line is too long")
)

// A rawLine is one line as it stands in a file.
type rawLine struct {
	file   string
	number int
	data   []byte // without the line feed; valid until the next
	err    error
}

// source is what lines are read from, by name.
type source struct {
	name string
	r    io.Reader
}

// rawLines reads the lines of one reader. A torn or too long line has an error and no
// data; an error of reading ends it.
func rawLines(s source) iter.Seq[rawLine] {
	return func(yield func(rawLine) bool) {
		br := bufio.NewReaderSize(s.r, 64<<10)
		for n := 1; ; n++ {
			data, err := readLine(br)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(rawLine{s.name, n, data, err}) {
				return
			}
			if err != nil && !errors.Is(err, ErrLongLine) {
				return
			}
		}
	}
}

func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := br.ReadSlice('\n')
		if long = long || len(line)+len(piece) > MaxLine; !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0 && !long:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, ErrTornLine
		case err != nil:
			return nil, fmt.Errorf("journal: %w", err)
		case long:
			return nil, ErrLongLine
		default:
			return line[:len(line)-1], nil
		}
	}
}

// fileLines reads files one after the other, each open only while it is read.
func fileLines(paths []string) iter.Seq[rawLine] {
	return func(yield func(rawLine) bool) {
		for _, path := range paths {
			if !oneFile(path, yield) {
				return
			}
		}
	}
}

func oneFile(path string, yield func(rawLine) bool) bool {
	f, err := os.Open(path)
	if err != nil {
		return yield(rawLine{file: path, err: fmt.Errorf("journal: %w", err)})
	}
	defer func() { _ = f.Close() }()
	for l := range rawLines(source{path, f}) {
		if !yield(l) {
			return false
		}
	}
	return true
}
