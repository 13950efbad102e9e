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
		comma, column := ',', -1
		for n := 1; ; n++ {
			line, err := readLine(br)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(input{number: n, err: err})
				if !errors.Is(err, errLongLine) {
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
			if column < 0 { // the first row that can be read may be a header
				if column = header(fields); column >= 0 {
					continue
				}
				column = 0
			}
			in := input{number: n}
			if column >= len(fields) || strings.TrimSpace(fields[column]) == "" {
				in.err = fmt.Errorf("the row has no column %d", column+1)
			} else {
				in.query = strings.TrimSpace(fields[column])
			}
			if !yield(in) {
				return
			}
		}
	}
}

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

// header returns the column that says who is meant, or -1 where the first row is no
// header.
func header(fields []string) int {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = supplier.Fold(f)
	}
	for _, want := range identifying {
		if i := slices.Index(names, want); i >= 0 {
			return i
		}
	}
	return -1
}
