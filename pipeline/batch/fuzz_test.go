// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// FuzzRecords holds the reader against encoding/csv: what that reads without an error is
// read alike, and whatever comes, no line is lost and none is read twice.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "\"a\nb\",c\n", "\"a\"\"b\",c", "\"open\nb,c\n", "\"a\"b,c\nd,e\n", "a\rb\r\nc", "a\"b,c\n", ",,\n\n", "\"\"\"\"\n\"\",\"\"\n", "\"x\"y\"\nq\nz\"\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		if len(file) >= maxRecord {
			return
		}
		var got [][]string
		r := newRecords(strings.NewReader(file), ',')
		last, wrong := 0, false
		for {
			rec, err := r.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec.number <= last {
				t.Fatalf("row %d after %d", rec.number, last)
			}
			last = rec.number
			wrong = wrong || rec.err != nil
			got = append(got, rec.cells)
		}
		if lines := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(file), "\n") + 1; last > lines {
			t.Fatalf("%d rows of %d lines", last, lines)
		}
		c := csv.NewReader(strings.NewReader(file))
		c.FieldsPerRecord = -1
		all, err := c.ReadAll()
		if err != nil || strings.Contains(file, "\r") {
			return
		}
		if wrong {
			t.Fatalf("%q can be read", file)
		}
		for _, want := range all {
			if blank(want) {
				continue
			}
			if len(got) == 0 || strings.Join(got[0], "\x00") != strings.Join(want, "\x00") {
				t.Fatalf("%q, want %q", got, want)
			}
			got = got[1:]
		}
		if len(got) > 0 {
			t.Fatalf("%q is too much", got)
		}
	})
}

// FuzzRows reads anything as a file of suppliers: every row has cells, a number of its
// own, and either names one supplier or says why it does not.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		"name;siren\nKervalec;999991011\n", "\xff\xfen\x00a\x00m\x00e\x00\n\x00A\x00B\x00C\x00", "nom\nSoci\xe9t\xe9\n", "sep=;\nname;vat\n\"a\nb\";FR70999991029\n",
		"999991011,Kervalec\n", "Transports Kervalec\n", "\ufeffname\n\"open\n", "PK\x03\x04", "name,city\n\"a\"b,c\nd\ne,f\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		table, err := open(strings.NewReader(string(file)), nil)
		if err != nil {
			if inLanguage("fr", err).Error() == "" {
				t.Fatal("no reason")
			}
			return
		}
		last := 0
		for in, err := range table.rows() {
			if err != nil {
				return
			}
			if in.number <= last || len(in.cells) == 0 || !utf8.ValidString(in.shown) {
				t.Fatalf("%+v", in)
			}
			last = in.number
			if in.err == nil && !in.blank && in.query.ID == (supplier.Identifier{}) && in.query.Name == "" {
				t.Fatalf("%+v names no one", in)
			}
		}
		if last == 0 {
			t.Fatal("a table without a row")
		}
	})
}
