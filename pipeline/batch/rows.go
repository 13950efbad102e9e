// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// maxLine bounds one line of the file.
const maxLine = 64 << 10

// input is one row as it was read.
type input struct {
	number int
	query  string
	err    error
}

// identifying are the names of columns that say who is meant, the surest first.
var identifying = []string{"siren", "siret", "vat", "tva", "lei", "name", "supplier", "nom", "fournisseur", "raison sociale", "denomination"}

// rows reads the file line by line: a row that can't be read, one with a line break in
// a quoted field among them, costs itself and no other.
func rows(r io.Reader) iter.Seq[input] {
	return func(yield func(input) bool) {
		br := bufio.NewReaderSize(r, maxLine)
		comma := ','
		var columns []int // that say who is meant, the surest first
		for n := 1; ; n++ {
			line, err := readLine(br)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if !yield(input{number: n, err: err}) || !errors.Is(err, errLongLine) {
					return
				}
				continue
			}
			if n == 1 {
				line = strings.TrimPrefix(line, "\ufeff")
				comma = separator(line)
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
			fields, err := split(line, comma)
			if err != nil {
				if !yield(input{number: n, query: supplier.Clean(line, 60), err: err}) {
					return
				}
				continue
			}
			if columns == nil { // the first row that can be read may be a header
				if columns = header(fields); columns != nil {
					continue
				}
				columns = []int{0}
			}
			in := input{number: n, query: first(fields, columns)}
			if in.query == "" {
				in.query, in.err = supplier.Clean(line, 60), errNobody
			}
			if !yield(in) {
				return
			}
		}
	}
}

// first returns the first cell of columns that holds anything.
func first(fields []string, columns []int) string {
	for _, i := range columns {
		if i < len(fields) {
			if cell := strings.TrimSpace(fields[i]); cell != "" {
				return cell
			}
		}
	}
	return ""
}

var errNobody = errors.New("the row names nobody: its columns for a number and a name are empty")

var errLongLine = fmt.Errorf("the line is longer than %d bytes", maxLine)

func readLine(br *bufio.Reader) (string, error) {
	line, err := br.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = br.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", errLongLine
	case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

func separator(line string) rune {
	if strings.Count(line, ";") > strings.Count(line, ",") {
		return ';'
	}
	return ','
}

func split(line string, comma rune) ([]string, error) {
	c := csv.NewReader(strings.NewReader(line))
	c.Comma = comma
	c.FieldsPerRecord = -1
	fields, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("the row can't be read: %w", err)
	}
	return fields, nil
}

// header returns the columns that say who is meant, the surest first, or nil where the first
// row is no header.
func header(fields []string) []int {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = supplier.Fold(f)
	}
	var found []int
	for _, want := range identifying {
		if i := slices.Index(names, want); i >= 0 {
			found = append(found, i)
		}
	}
	return found
}
