// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/runpage"
)

// A spool keeps the summary's rows in a file as they come and sorts them at the end in
// pieces, so that a million rows need no more memory than ten thousand.
type spool struct {
	file *os.File
	w    *csv.Writer
}

const pieceRows = 10_000

func newSpool(file *os.File) *spool { return &spool{file, csv.NewWriter(file)} }

func (s *spool) add(cells []string) error {
	if err := s.w.Write(cells); err != nil {
		return fmt.Errorf("batch: keeping a row: %w", err)
	}
	return nil
}

// writeSorted writes the rows, gravest first, under path.
func (s *spool) writeSorted(path string) (err error) {
	s.w.Flush()
	if err := s.w.Error(); err != nil {
		return fmt.Errorf("batch: keeping a row: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	pieces, err := s.pieces()
	defer func() {
		for _, p := range pieces {
			err = errors.Join(err, p.Close(), os.Remove(p.Name()))
		}
	}()
	if err != nil {
		return err
	}
	return merge(pieces, path)
}

// pieces cuts the spool into sorted files.
func (s *spool) pieces() ([]*os.File, error) {
	in := csv.NewReader(bufio.NewReader(s.file))
	in.FieldsPerRecord = -1
	var files []*os.File
	for {
		var rows [][]string
		var err error
		for len(rows) < pieceRows {
			var row []string
			if row, err = in.Read(); err != nil {
				break
			}
			rows = append(rows, row)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return files, fmt.Errorf("batch: sorting: %w", err)
		}
		if len(rows) > 0 {
			slices.SortStableFunc(rows, compare)
			f, werr := os.CreateTemp(filepath.Dir(s.file.Name()), ".sorted-*")
			if werr != nil {
				return files, fmt.Errorf("batch: sorting: %w", werr)
			}
			files = append(files, f)
			if werr := csv.NewWriter(f).WriteAll(rows); werr != nil {
				return files, fmt.Errorf("batch: sorting: %w", werr)
			}
			if _, werr := f.Seek(0, io.SeekStart); werr != nil {
				return files, fmt.Errorf("batch: sorting: %w", werr)
			}
		}
		if err != nil {
			return files, nil
		}
	}
}

func merge(pieces []*os.File, path string) (err error) {
	out, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	w := csv.NewWriter(out)
	w.UseCRLF = true
	err = w.Write(columns)
	heads := make([][]string, len(pieces))
	readers := make([]*csv.Reader, len(pieces))
	for i, p := range pieces {
		readers[i] = csv.NewReader(bufio.NewReader(p))
		readers[i].FieldsPerRecord = -1
		heads[i], _ = readers[i].Read() // a piece holds at least one row
	}
	for err == nil {
		least := -1
		for i, h := range heads {
			if h != nil && (least < 0 || compare(h, heads[least]) < 0) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		err = w.Write(heads[least])
		next, rerr := readers[least].Read()
		if rerr != nil && !errors.Is(rerr, io.EOF) {
			err = errors.Join(err, rerr)
		}
		heads[least] = next
	}
	w.Flush()
	if err = errors.Join(err, w.Error(), out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("batch: writing the summary: %w", err)
	}
	return os.Rename(out.Name(), path)
}

// columns are those of summary.csv: of a report, how the run ended, what it cost.
var columns = append(report.CSVHeader(), "status", "cost_usd")

// Columns of a summary row that it is sorted by, shown with, or known again by.
var (
	columnName   = slices.Index(columns, "legal_name")
	columnRating = slices.Index(columns, "rating")
	columnScore  = slices.Index(columns, "score")
	columnAsOf   = slices.Index(columns, "as_of")
	columnData   = slices.Index(columns, "data")
	columnError  = slices.Index(columns, "error")
	columnStatus = slices.Index(columns, "status")
	columnCost   = slices.Index(columns, "cost_usd")
)

// writeRows writes the columns and rows as report.WriteCSV does.
func writeRows(w io.Writer, rows ...[]string) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	if err := c.Write(columns); err != nil {
		return err
	}
	return c.WriteAll(rows)
}

// order is the gravest first; what has no report needs a person first of all.
var order = []string{
	"", string(risk.RatingStop), string(risk.RatingCritical), string(risk.RatingHigh), string(risk.RatingInsufficient),
	string(risk.RatingMedium), string(risk.RatingLow),
}

func compare(a, b []string) int {
	return cmp.Or(
		cmp.Compare(slices.Index(order, a[columnRating]), slices.Index(order, b[columnRating])),
		cmp.Compare(score(b), score(a)),
		cmp.Compare(a[columnName], b[columnName]),
	)
}

func score(row []string) float64 {
	f, err := strconv.ParseFloat(row[columnScore], 64)
	if err != nil {
		return -1
	}
	return f
}

func readRow(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(io.LimitReader(f, maxLine)).ReadAll()
	if err != nil || len(all) != 2 {
		return nil, fmt.Errorf("batch: %s is not a row of a batch", path)
	}
	return all[1], nil
}

// tidy removes what a batch that was killed left of its own in dir.
func tidy(dir string) error {
	for _, pattern := range []string{".rows-*", ".sorted-*", "." + summaryFile + "-*", "." + runpage.IndexFile + "-*"} {
		left, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return err
		}
		for _, name := range left {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
