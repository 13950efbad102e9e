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
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// A line is what is kept of a row until all are there.
type line struct {
	number int
	sameAs int    // the first row that means the same supplier; 0 for itself
	folder string // of the dossier, empty where there is none
	cells  []string
	input  []string
}

const fixed = 3 // cells of a line before those of its report

func (l line) fields() []string {
	return slices.Concat([]string{strconv.Itoa(l.number), strconv.Itoa(l.sameAs), l.folder}, l.cells, l.input)
}

func lineOf(fields []string) (line, error) {
	if len(fields) < fixed+len(columns) {
		return line{}, errors.New("batch: a line of the spool is torn")
	}
	number, err := strconv.Atoi(fields[0])
	sameAs, err2 := strconv.Atoi(fields[1])
	return line{number, sameAs, fields[2], fields[fixed : fixed+len(columns)], fields[fixed+len(columns):]}, errors.Join(err, err2)
}

// A spool keeps lines in a file of dir as they come and hands them out sorted in pieces,
// so that a million rows need no more memory than ten thousand.
type spool struct {
	dir   string
	file  *os.File
	w     *csv.Writer
	width int // the most input cells of a line
}

// Bounds of a piece that is sorted in memory.
const (
	pieceRows  = 10_000
	pieceBytes = 16 << 20
)

func newSpool(dir string) (*spool, error) {
	file, err := os.CreateTemp(dir, ".rows-*")
	if err != nil {
		return nil, err
	}
	return &spool{dir: dir, file: file, w: csv.NewWriter(file)}, nil
}

func (s *spool) close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }

func (s *spool) add(l line) error {
	s.width = max(s.width, len(l.input))
	if err := s.w.Write(l.fields()); err != nil {
		return fmt.Errorf("batch: keeping a row: %w", err)
	}
	return nil
}

// sorted calls each with every line, in order.
func (s *spool) sorted(order func(a, b line) int, each func(line) error) (err error) {
	s.w.Flush()
	if err := s.w.Error(); err != nil {
		return fmt.Errorf("batch: keeping a row: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	pieces, err := s.pieces(order)
	defer func() {
		for _, p := range pieces {
			err = errors.Join(err, p.Close(), os.Remove(p.Name()))
		}
	}()
	if err != nil {
		return fmt.Errorf("batch: sorting: %w", err)
	}
	return merge(pieces, order, each)
}

// pieces cuts the spool into sorted files.
func (s *spool) pieces(order func(a, b line) int) ([]*os.File, error) {
	in := newLines(s.file)
	var files []*os.File
	for {
		var lines []line
		var err error
		for size := 0; len(lines) < pieceRows && size < pieceBytes; {
			var l line
			if l, err = in.next(); err != nil {
				break
			}
			lines = append(lines, l)
			for _, c := range l.fields() {
				size += len(c)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return files, err
		}
		if len(lines) > 0 {
			slices.SortStableFunc(lines, order)
			f, err := os.CreateTemp(s.dir, ".sorted-*")
			if err != nil {
				return files, err
			}
			files = append(files, f)
			w := csv.NewWriter(f)
			for _, l := range lines {
				_ = w.Write(l.fields()) // the error is kept until the flush
			}
			w.Flush()
			if _, serr := f.Seek(0, io.SeekStart); w.Error() != nil || serr != nil {
				return files, errors.Join(w.Error(), serr)
			}
		}
		if err != nil {
			return files, nil
		}
	}
}

func merge(pieces []*os.File, order func(a, b line) int, each func(line) error) error {
	type head struct {
		in   *lines
		line line
	}
	var heads []head
	for _, p := range pieces {
		in := newLines(p)
		l, err := in.next()
		if err != nil { // a piece holds at least one line
			return fmt.Errorf("batch: sorting: %w", err)
		}
		heads = append(heads, head{in, l})
	}
	for len(heads) > 0 {
		least := 0
		for i := range heads {
			if order(heads[i].line, heads[least].line) < 0 {
				least = i
			}
		}
		if err := each(heads[least].line); err != nil {
			return err
		}
		next, err := heads[least].in.next()
		switch {
		case errors.Is(err, io.EOF):
			heads = slices.Delete(heads, least, least+1)
		case err != nil:
			return fmt.Errorf("batch: sorting: %w", err)
		default:
			heads[least].line = next
		}
	}
	return nil
}

// lines reads what a spool wrote.
type lines struct{ r *csv.Reader }

func newLines(f io.Reader) *lines {
	r := csv.NewReader(bufio.NewReader(f))
	r.FieldsPerRecord = -1
	return &lines{r}
}

func (l *lines) next() (line, error) {
	fields, err := l.r.Read()
	if err != nil {
		return line{}, err
	}
	return lineOf(fields)
}

// byNumber is the order of the file, bySupplier puts rows of one supplier together.
func byNumber(a, b line) int { return cmp.Compare(a.number, b.number) }

func bySupplier(a, b line) int { return cmp.Or(cmp.Compare(a.folder, b.folder), byNumber(a, b)) }

// ranks is the gravest first; what has no report needs a person first of all.
var ranks = []string{
	"", string(risk.RatingStop), string(risk.RatingCritical), string(risk.RatingHigh), string(risk.RatingInsufficient),
	string(risk.RatingMedium), string(risk.RatingLow),
}

// rank is a line's place among the ranks. What an interrupted batch left comes last.
func rank(l line) int {
	switch l.cells[columnStatus] {
	case statusNotBegun:
		return len(ranks) + 1
	case statusInterrupted:
		return len(ranks)
	default:
		return slices.Index(ranks, l.cells[columnRating])
	}
}

func byGravity(a, b line) int {
	return cmp.Or(
		cmp.Compare(rank(a), rank(b)),
		cmp.Compare(score(b.cells), score(a.cells)),
		cmp.Compare(a.cells[columnName], b.cells[columnName]),
		byNumber(a, b),
	)
}

func score(row []string) float64 {
	f, err := strconv.ParseFloat(row[columnScore], 64)
	if err != nil {
		return -1
	}
	return f
}

// temporary are the names of what a batch makes for itself.
var temporary = regexp.MustCompile(`^\.(rows|sorted|seen|summary\.csv|index\.html)-[0-9]+$`)

// tidy removes what a batch that was killed left of its own in dir.
func tidy(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if temporary.MatchString(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
