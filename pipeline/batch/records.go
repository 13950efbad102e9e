// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/gardefou/gardefou/internal/text"
)

// maxRecord bounds one record of the file, in bytes.
const maxRecord = 64 << 10

// maxShown bounds what is shown of a record that can't be read.
const maxShown = 200

// noSeparator is of a file that has one column.
const noSeparator rune = 0

// record is one record of the file.
type record struct {
	number int // from 1, as a spreadsheet counts rows
	cells  []string
	line   string // the first line of a record that can't be read
	err    error
}

// records reads a file of separated values (RFC 4180): a quoted cell may hold line
// breaks, separators and doubled quotes. A quote inside a cell that does not begin with
// one stands for itself. A record that can't be read costs itself and no other.
type records struct {
	br      *bufio.Reader
	sep     rune
	pending []physical // lines that were read ahead
	err     error      // of reading, once pending is used up
	number  int
	written int // the number of the last line that is not empty

	// width is how many cells a record has that follows one which can't be read: after
	// a quote that was left open, the lines of its cell look like records of their own.
	// Zero asks for nothing.
	width int
	lost  bool
}

// physical is one line of the file.
type physical struct {
	text string
	long bool // over the limit, text is its start
	part bool // of a record that can't be read
}

func newRecords(r io.Reader, sep rune) *records {
	return &records{br: bufio.NewReaderSize(&newlines{r: r}, maxRecord), sep: sep}
}

// next returns the next record that holds anything, or the error that ends the file.
func (r *records) next() (record, error) {
	for {
		line, err := r.line()
		if err != nil {
			return record{}, err
		}
		if r.number++; line.text != "" {
			r.written = r.number
		}
		rec := record{number: r.number, line: line.text}
		switch {
		case line.long:
			rec.err = rowError{key: text.BatchRowLong, args: []any{maxRecord >> 10}}
		case line.part:
			rec.err = rowError{key: text.BatchRowLost}
		default:
			rec.cells, rec.err = r.record(line)
		}
		if rec.err != nil {
			r.lost = true
			return rec, nil
		}
		if blank(rec.cells) {
			continue
		}
		if r.lost && r.width > 1 && len(rec.cells) != r.width {
			rec.err = rowError{key: text.BatchRowLost}
			return rec, nil
		}
		r.lost = false
		return rec, nil
	}
}

// blank reports whether a record holds nothing but blanks and separators.
func blank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(c string) bool {
		return strings.ContainsFunc(c, func(r rune) bool { return r != ',' && r != ';' && !unicode.IsSpace(r) })
	})
}

// line returns the next line without its end.
func (r *records) line() (physical, error) {
	if len(r.pending) > 0 {
		line := r.pending[0]
		r.pending = r.pending[1:]
		return line, nil
	}
	if r.err != nil {
		return physical{}, r.err
	}
	line, err := r.br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		start := strings.ToValidUTF8(string(line[:maxShown]), "")
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.br.ReadSlice('\n')
		}
		r.err = err
		return physical{text: start, long: true}, nil
	}
	if err != nil {
		r.err = err
		if len(line) == 0 || !errors.Is(err, io.EOF) {
			return physical{}, err
		}
	}
	return physical{text: strings.TrimSuffix(string(line), "\n")}, nil
}

// record reads the record that begins with first.
func (r *records) record(first physical) ([]string, error) {
	c := cells{sep: r.sep}
	var ahead []physical
	size := len(first.text)
	for whole := c.line(first.text); !whole; {
		if c.bad && c.quotes%2 == 0 {
			// The quotes of the record are in pairs again: it ends here.
			for i := range ahead {
				ahead[i].part = true
			}
			r.pending = append(ahead, r.pending...)
			return nil, rowError{key: text.BatchRowQuotes}
		}
		more, err := r.line()
		if err == nil {
			ahead = append(ahead, more)
			size += len(more.text) + 1
		}
		if err != nil || more.long || more.part || size > maxRecord {
			r.pending = append(ahead, r.pending...)
			return nil, rowError{key: text.BatchRowOpen}
		}
		whole = c.line(more.text)
	}
	return c.done, nil
}

// cells takes a record apart, line by line.
type cells struct {
	sep    rune
	done   []string
	cell   strings.Builder
	inside bool // a quoted cell
	bad    bool // a quoted cell goes on after its closing quote
	quotes int
}

// line reads one more line and reports whether the record is whole with it.
func (c *cells) line(line string) bool {
	c.quotes += strings.Count(line, `"`)
	if c.bad {
		return false
	}
	if c.inside {
		c.cell.WriteByte('\n')
	}
	for {
		if c.inside {
			i := strings.IndexByte(line, '"')
			if i < 0 {
				c.cell.WriteString(line)
				return false
			}
			c.cell.WriteString(line[:i])
			line = line[i+1:]
			switch {
			case strings.HasPrefix(line, `"`):
				c.cell.WriteByte('"')
				line = line[1:]
				continue
			case line != "" && !strings.HasPrefix(line, string(c.sep)):
				c.bad = true
				return false
			}
			c.inside = false
		} else if strings.HasPrefix(line, `"`) {
			c.inside, line = true, line[1:]
			continue
		}
		i := -1
		if c.sep != noSeparator {
			i = strings.IndexRune(line, c.sep)
		}
		if i < 0 {
			c.cell.WriteString(line)
			c.end()
			return true
		}
		c.cell.WriteString(line[:i])
		c.end()
		line = line[i+1:]
	}
}

func (c *cells) end() {
	c.done = append(c.done, c.cell.String())
	c.cell.Reset()
}

// newlines makes every end of a line, CR LF or the CR of old Macs, a line feed.
type newlines struct {
	r       io.Reader
	afterCR bool
}

func (n *newlines) Read(p []byte) (int, error) {
	for {
		got, err := n.r.Read(p)
		kept := 0
		for _, c := range p[:got] {
			switch {
			case c == '\n' && n.afterCR:
				n.afterCR = false
				continue
			case c == '\r':
				n.afterCR, c = true, '\n'
			default:
				n.afterCR = false
			}
			p[kept] = c
			kept++
		}
		if kept > 0 || err != nil || len(p) == 0 {
			return kept, err
		}
	}
}
