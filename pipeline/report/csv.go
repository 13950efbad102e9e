// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/internal/spreadsheet"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

var csvColumns = []string{
	"siren", "lei", "vat", "legal_name", "rating", "decision", "score", "interval_low", "interval_high", "coverage_pct",
	"stops", "reviews", "not_checked", "as_of", "data", "report_id", "error",
}

// CSVHeader returns the column names of a row.
func CSVHeader() []string { return append([]string{}, csvColumns...) }

// CSVRow returns the report as one row of a table of suppliers. Figures have a
// decimal point; lists are separated by blanks. The cells are safe to open in a
// spreadsheet.
func (r Report) CSVRow() []string {
	var notDone []string
	for _, c := range r.Checks {
		if c.Outcome.NotDone() {
			notDone = append(notDone, c.ID)
		}
	}
	return cells(
		r.Subject.SIREN, r.Subject.LEI, r.Subject.VAT, r.Subject.LegalName, string(r.Risk.Rating), string(r.Risk.Decision), tenths(r.Risk.Score),
		r.Risk.Interval[0].String(), r.Risk.Interval[1].String(), r.Risk.Coverage.String(),
		strings.ReplaceAll(join(r.Risk.Stops, func(s risk.Stop) string { return string(s.Code) }), ",", ""),
		strings.ReplaceAll(join(r.Risk.Reviews, func(c risk.ReviewCode) string { return string(c) }), ",", ""),
		strings.Join(notDone, " "), r.AsOf, string(r.Run.Mode), r.ID, "",
	)
}

// CSVFailure is the row of a supplier that no report could be made for: its
// name as it was given, and why.
func CSVFailure(name, why string) []string {
	row := make([]string, len(csvColumns))
	row[slices.Index(csvColumns, "legal_name")], row[len(row)-1] = supplier.Clean(name, supplier.MaxNameLength), supplier.Clean(why, supplier.MaxTitleLength)
	return cells(row...)
}

// WriteCSV writes a header and rows, comma separated, lines ended by CRLF
// (RFC 4180).
func WriteCSV(w io.Writer, rows ...[]string) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	if err := c.Write(csvColumns); err != nil {
		return err
	}
	return c.WriteAll(rows)
}

// cells keeps a spreadsheet from running text as a formula.
func cells(values ...string) []string { return spreadsheet.Safe(values...) }
