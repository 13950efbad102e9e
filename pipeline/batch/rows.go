// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// input is one row as it was read.
type input struct {
	number int
	cells  []string
	shown  string // who is meant, as it stands in the row
	query  supplier.Query
	blank  bool  // the row holds nothing
	err    error // why the row names no one supplier
}

// table is a file of suppliers that is being read.
type table struct {
	Found
	columns chosen
	records *records
	ahead   []record // read already
	width   int      // cells of the header, zero where there is none
	top     int      // the number of the header, zero where there is none
}

// Found says how a file of suppliers was read.
type Found struct {
	Encoding  string // such as UTF-8
	Separator string // ",", ";" or a tab; empty where the file has one column
	// Columns are the headers of those that say who is meant; empty without a header.
	Columns []string
}

// open finds out how a file is written. Its error is an inputError or one of reading.
func open(r io.Reader, wanted []string) (*table, error) {
	plain, encoding, err := decode(r)
	if err != nil {
		return nil, err
	}
	br := bufio.NewReaderSize(plain, maxSample)
	sample, err := br.Peek(maxSample)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	whole := len(sample) < maxSample
	sep, skip := separatorLine(sample)
	if !skip {
		sep = separator(sample, whole, wanted)
	}
	t := &table{Found: Found{Encoding: encoding}, records: newRecords(br, sep)}
	if skip {
		if _, err := t.records.line(); err != nil {
			return nil, err
		}
	}
	if sep != noSeparator {
		t.Separator = string(sep)
	}
	return t, t.begin(wanted)
}

// maxUnreadable is how many records that can't be read may stand before the first.
const maxUnreadable = 20

// begin reads up to the first record that can be read, which may be a header, and one
// row more.
func (t *table) begin(wanted []string) error {
	var first record
	for {
		var err error
		first, err = t.records.next()
		switch {
		case errors.Is(err, io.EOF) && len(t.ahead) == 0:
			return inputError{key: text.BatchEmpty}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if first.err == nil {
			break
		}
		if t.ahead = append(t.ahead, first); len(t.ahead) > maxUnreadable {
			return inputError{text.BatchFirstRows, []any{first.err}}
		}
	}
	var err error
	if t.columns, err = columnsOf(first.cells, wanted); err != nil {
		return err
	}
	t.records.width = len(first.cells)
	if t.columns.header == nil {
		t.ahead = append(t.ahead, first)
		return nil
	}
	t.width, t.top = len(first.cells), first.number
	for _, i := range slices.Concat(t.columns.names, t.columns.numbers, t.columns.either) {
		t.Columns = append(t.Columns, supplier.Clean(first.cells[i], supplier.MaxNameLength))
	}
	second, err := t.records.next()
	switch {
	case errors.Is(err, io.EOF) && len(t.ahead) == 0:
		return inputError{key: text.BatchHeaderOnly}
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	t.ahead = append(t.ahead, second)
	return nil
}

// rows are the rows of the file below its header, blank ones included, but for empty lines
// at its end. An error ends it.
func (t *table) rows() iter.Seq2[input, error] {
	return func(yield func(input, error) bool) {
		last := 0
		for {
			rec, err := t.next()
			end := rec.number
			if errors.Is(err, io.EOF) {
				end = t.records.written + 1
			}
			// The records between two that are read hold nothing.
			for n := max(last, t.top) + 1; n < end; n++ {
				if !yield(input{number: n, cells: []string{""}, blank: true}, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) || !yield(t.row(rec), err) || err != nil {
				return
			}
			last = rec.number
		}
	}
}

func (t *table) next() (record, error) {
	if len(t.ahead) > 0 {
		rec := t.ahead[0]
		t.ahead = t.ahead[1:]
		return rec, nil
	}
	return t.records.next()
}

// row reads a record.
func (t *table) row(rec record) input {
	in := input{number: rec.number, cells: rec.cells, err: rec.err}
	if in.err == nil {
		var name string
		var numbers []string
		name, numbers, in.err = t.fields(rec.cells)
		in.shown = supplier.Clean(strings.Join(append([]string{name}, numbers...), " "), supplier.MaxNameLength)
		if in.err == nil {
			in.query, in.err = supplier.NewQuery(name, numbers...)
		}
	}
	if in.cells == nil {
		in.cells = []string{supplier.Clean(rec.line, maxShown)}
	}
	if in.shown == "" {
		in.shown = supplier.Clean(strings.Join(in.cells, t.Separator), 60)
	}
	return in
}

// fields returns the name and the numbers of a row.
func (t *table) fields(cells []string) (name string, numbers []string, err error) {
	if t.width > 0 && len(cells) > t.width && !blank(cells[t.width:]) {
		return "", nil, rowError{text.BatchRowCells, []any{len(cells), t.width}}
	}
	at := func(i int) string {
		if i >= len(cells) {
			return ""
		}
		return oneLine(cells[i])
	}
	for _, i := range t.columns.names {
		name = at(i)
	}
	for _, i := range t.columns.numbers {
		if n := bareNumber(at(i)); !slices.Contains(nothing, supplier.Fold(n)) {
			numbers = append(numbers, n)
		}
	}
	for _, i := range t.columns.either {
		cell := bareNumber(at(i))
		id, err := supplier.ParseIdentifier(cell)
		switch {
		case cell == "":
		case err != nil || id != (supplier.Identifier{}):
			numbers = append(numbers, cell)
		case name == "":
			name = cell
		case !t.columns.guessed:
			return name, append(numbers, cell), rowError{text.BatchRowTwoNames, []any{name, cell}}
		}
	}
	for _, cell := range append(numbers, name) {
		if strings.ContainsRune(cell, '\ufffd') || strings.ToValidUTF8(cell, "") != cell {
			return name, numbers, rowError{key: text.BatchRowCharacters}
		}
	}
	if supplier.Fold(name) == "" && len(numbers) == 0 {
		return name, numbers, rowError{key: text.BatchRowNobody}
	}
	return name, numbers, nil
}

// nothing is what people write into a number's cell for none.
var nothing = []string{"", "n a", "na", "n d", "nd", "nc", "n c", "none", "null", "neant", "aucun", "inconnu", "unknown", "keine"}

// bareNumber undoes what people write around a number so that a spreadsheet keeps its
// zeros: ="012345678" or '012345678.
func bareNumber(cell string) string {
	if s, ok := strings.CutPrefix(cell, `="`); ok && strings.HasSuffix(s, `"`) {
		return strings.TrimSpace(strings.TrimSuffix(s, `"`))
	}
	return strings.TrimPrefix(cell, "'")
}

// oneLine writes a cell with line breaks, as a spreadsheet wraps long names, as one line.
func oneLine(cell string) string { return strings.TrimSpace(strings.ReplaceAll(cell, "\n", " ")) }

// separatorLine reads the line sep=; with which Excel is told the separator.
func separatorLine(sample []byte) (sep rune, ok bool) {
	line, _, _ := bytes.Cut(sample, []byte("\n"))
	s := strings.ToLower(strings.Trim(string(line), "\"\r "))
	if rest, found := strings.CutPrefix(s, "sep="); found && len(rest) == 1 {
		return rune(rest[0]), true
	}
	return noSeparator, false
}

const sampleRecords = 20

// separator finds the separator of a file by its start: the one with which its first
// record names known columns, or that all records of a file without a header hold.
func separator(sample []byte, whole bool, wanted []string) rune {
	best, bestKnown, bestCells := noSeparator, 0, 1
	for _, sep := range []rune{noSeparator, ';', '\t', ','} {
		list := sampled(sample, whole, sep)
		if len(list) == 0 {
			continue
		}
		found, least := known(list[0], wanted), len(list[0])
		if found == 0 {
			for _, cells := range list[1:] {
				least = min(least, len(cells))
			}
			if sep == ',' && prose(list) {
				continue
			}
		}
		if found > bestKnown || found == bestKnown && least > bestCells {
			best, bestKnown, bestCells = sep, found, least
		}
	}
	return best
}

// sampled are the first records that can be read.
func sampled(sample []byte, whole bool, sep rune) [][]string {
	r := newRecords(bytes.NewReader(sample), sep)
	var list [][]string
	for len(list) < sampleRecords {
		rec, err := r.next()
		if err != nil {
			break
		}
		if rec.err == nil {
			list = append(list, rec.cells)
		}
	}
	if !whole && len(list) > 1 && len(list) < sampleRecords {
		list = list[:len(list)-1] // cut by the sample's end
	}
	return list
}

// prose reports commas that are part of a name: a blank follows them.
func prose(list [][]string) bool {
	for _, cells := range list {
		for _, c := range cells[1:] {
			if strings.HasPrefix(c, " ") {
				return true
			}
		}
	}
	return false
}
