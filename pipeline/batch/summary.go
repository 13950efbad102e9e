// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/internal/spreadsheet"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

const summaryFile = "summary.csv"

// columns are what is kept of a row: what a report says, how the run ended, what it cost,
// why the rating is what it is, what to do, and for the overview the class of the rating's
// colour and the first reason.
var columns = append(report.CSVHeader(), "status", "cost_usd", "reason", "next_step", "tone", "why")

var (
	columnSIREN  = slices.Index(columns, "siren")
	columnLEI    = slices.Index(columns, "lei")
	columnVAT    = slices.Index(columns, "vat")
	columnName   = slices.Index(columns, "legal_name")
	columnRating = slices.Index(columns, "rating")
	columnScore  = slices.Index(columns, "score")
	columnError  = slices.Index(columns, "error")
	columnStatus = slices.Index(columns, "status")
	columnCost   = slices.Index(columns, "cost_usd")
	columnNext   = slices.Index(columns, "next_step")
	columnTone   = slices.Index(columns, "tone")
	columnWhy    = slices.Index(columns, "why")
)

// Statuses of a row that has no report, beside those of [supplier.Status].
const (
	statusBlank       = "blank"
	statusInterrupted = "interrupted"
	statusNotBegun    = "not_begun"
	statusUnreadable  = "unreadable"
	statusAmbiguous   = "ambiguous"
	statusFailed      = "failed"
)

// failure are the cells of a row that has no report.
func (b *batch) failure(shown string, why *RowError) []string {
	status, next := failedStatus(why), text.BatchNextMend
	if status == statusFailed || status == string(supplier.StatusUnavailable) {
		next = text.BatchNextAgain
	}
	cells := noReport(shown, status, text.Get(b.lang, next))
	cells[columnError] = spreadsheet.Safe(supplier.Clean(why.Text, 0))[0]
	return cells
}

// noReport are the cells of a row without a report, whatever the cause.
func noReport(shown, status, next string) []string {
	return append(report.CSVFailure(shown, ""), status, "", "", next, "", "")
}

func failedStatus(why *RowError) string {
	switch s := why.Resolution.Status; s {
	case "":
	case supplier.StatusCandidates:
		return statusAmbiguous
	default:
		return string(s)
	}
	if _, ok := errors.AsType[rowError](why.Err); ok {
		return statusUnreadable
	}
	return statusFailed
}

// finish writes the summary, with a row for each of the file in its order, and the
// overview.
func (b *batch) finish(header []string) (err error) {
	// Rows of one supplier end in any order: the first is known when all are there.
	pointed, err := newSpool(b.o.Dir)
	if err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	defer func() { err = errors.Join(err, pointed.close()) }()
	var first line
	err = b.spool.sorted(bySupplier, func(l line) error {
		switch l.folder {
		case "":
		case first.folder:
			l.sameAs = first.number
		default:
			first = l
		}
		return pointed.add(l)
	})
	if err != nil {
		return err
	}
	if err := b.writeSummary(pointed, header); err != nil {
		return err
	}
	return b.writeOverview(pointed)
}

// result are the columns of the summary behind those of the file.
var result = []string{
	"status", "rating", "score", "decision", "next_step", "reason", "error", "same_as", "folder",
	"legal_name", "siren", "lei", "vat", "interval_low", "interval_high", "coverage_pct", "stops", "reviews", "not_checked",
	"as_of", "data", "report_id", "cost_usd",
}

func (b *batch) writeSummary(s *spool, header []string) (err error) {
	path := filepath.Join(b.o.Dir, summaryFile)
	out, err := os.CreateTemp(b.o.Dir, "."+summaryFile+"-*")
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
	width := max(s.width, len(header))
	err = w.Write(slices.Concat([]string{"row"}, inputHeader(header, width), result))
	if err == nil {
		err = s.sorted(byNumber, func(l line) error { return w.Write(b.summaryRow(l, width)) })
	}
	w.Flush()
	if err = errors.Join(err, w.Error(), out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("batch: writing the summary: %w", err)
	}
	return os.Rename(out.Name(), path)
}

// inputHeader names the columns of the file, each by its own name where no other has it.
func inputHeader(header []string, width int) []string {
	names := make([]string, width)
	taken := map[string]bool{"row": true}
	for _, r := range result {
		taken[r] = true
	}
	for i := range names {
		name := ""
		if i < len(header) {
			name = strings.TrimSpace(oneLine(header[i]))
		}
		if name == "" {
			name = "input_" + strconv.Itoa(i+1)
		}
		if taken[strings.ToLower(name)] {
			name = "input_" + name
		}
		for taken[strings.ToLower(name)] {
			name += "_" + strconv.Itoa(i+1)
		}
		taken[strings.ToLower(name)] = true
		names[i] = name
	}
	return spreadsheet.Safe(names...)
}

func (b *batch) summaryRow(l line, width int) []string {
	row := make([]string, 0, 1+width+len(result))
	row = append(row, strconv.Itoa(l.number))
	row = append(row, spreadsheet.Safe(slices.Clone(l.input)...)...)
	row = append(row, make([]string, width-len(l.input))...)
	for _, name := range result {
		switch name {
		case "same_as":
			if l.sameAs > 0 {
				row = append(row, strconv.Itoa(l.sameAs))
				continue
			}
			row = append(row, "")
		case "folder":
			row = append(row, l.folder)
		case "legal_name":
			if l.folder == "" { // what was typed is the legal name of no company yet
				row = append(row, "")
				continue
			}
			row = append(row, l.cells[columnName])
		default:
			row = append(row, l.cells[slices.Index(columns, name)])
		}
	}
	return row
}

// reasons are the grounds of a rating, the gravest first.
func reasons(a report.Answer) string {
	var list []string
	for _, reason := range a.Reasons {
		list = append(list, reason.Text)
	}
	return spreadsheet.Safe(strings.Join(list, "; "))[0]
}
