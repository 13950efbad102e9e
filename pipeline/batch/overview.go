// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"bytes"
	_ "embed" // the page
	"encoding/csv"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/runpage"
)

//go:embed overview.html.tmpl
var overviewSource string

var overviewTemplate = template.Must(template.New("overview").Parse(overviewSource))

// maxOverview bounds the page; summary.csv holds all rows.
const maxOverview = 2000

type overview struct {
	Lang    string
	Count   string
	More    string
	Partial string
	Rows    []overviewRow
	t       text.Lang
}

type overviewRow struct{ Name, Number, Folder, Rating, Class, Decision, Score, Status, Cost, Why string }

// Say is a sentence of the catalogue, for the template.
func (o overview) Say(key string) string { return text.Get(o.t, text.Key("overview."+key)) }

var (
	columnSIREN    = slices.Index(columns, "siren")
	columnLEI      = slices.Index(columns, "lei")
	columnVAT      = slices.Index(columns, "vat")
	columnDecision = slices.Index(columns, "decision")
)

// writeOverview writes index.html, a table of the suppliers of summary.csv with links to
// their folders.
func (b *batch) writeOverview() error {
	lang := text.Parse(b.o.Pipeline.Lang)
	o, err := readOverview(b.o.Dir, lang)
	if err != nil {
		return fmt.Errorf("batch: the overview: %w", err)
	}
	var buf bytes.Buffer
	if err := overviewTemplate.Execute(&buf, o); err != nil {
		return fmt.Errorf("batch: the overview: %w", err)
	}
	return files.Write(b.o.Dir, files.File{Name: runpage.IndexFile, Data: buf.Bytes()})
}

func readOverview(dir string, lang text.Lang) (overview, error) {
	o := overview{Lang: string(lang), t: lang}
	f, err := os.Open(filepath.Join(dir, summaryFile))
	if err != nil {
		return o, err
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(bufio.NewReader(f))
	if _, err := r.Read(); err != nil { // the header
		return o, err
	}
	n, partial := 0, 0
	for ; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return o, err
		}
		if row[columnStatus] != "" && !whole(row) {
			partial++
		}
		if n < maxOverview {
			o.Rows = append(o.Rows, overviewOf(dir, row, report.Lang(lang)))
		}
	}
	o.Count = text.Get(lang, text.OverviewCount, n)
	if partial > 0 {
		o.Partial = text.Get(lang, text.OverviewPartial, partial)
	}
	if n > maxOverview {
		o.More = text.Get(lang, text.OverviewMore, n-maxOverview)
	}
	return o, nil
}

func overviewOf(dir string, row []string, lang report.Lang) overviewRow {
	o := overviewRow{
		Name: row[columnName], Number: folderName(row[columnSIREN], row[columnLEI], row[columnVAT]), Rating: report.RatingText(lang, row[columnRating]), Class: row[columnRating],
		Decision: report.DecisionText(lang, row[columnDecision]), Score: row[columnScore], Cost: row[columnCost], Why: row[columnError],
	}
	if s := row[columnStatus]; s != "" {
		o.Status = text.Get(text.Lang(lang), text.Key("run."+s))
	}
	if _, err := os.Stat(filepath.Join(dir, o.Number, runpage.IndexFile)); o.Number != "" && err == nil {
		o.Folder = o.Number
	}
	return o
}
