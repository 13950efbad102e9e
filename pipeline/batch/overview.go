// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"cmp"
	_ "embed" // the page
	"fmt"
	"html/template"
	"os"
	"path/filepath"

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
	// Interrupted says what is missing, and is empty where nothing is.
	Interrupted string
	Rows        []overviewRow
	t           text.Lang
}

type overviewRow struct {
	Row                                                                       int
	Name, Number, Folder, Rating, Class, Tone, Next, Score, Status, Cost, Why string
}

// Say is a sentence of the catalogue, for the template.
func (o overview) Say(key string) string { return text.Get(o.t, text.Key("overview."+key)) }

// writeOverview writes index.html, a table of the suppliers, the gravest first, with
// links to their folders.
func (b *batch) writeOverview(s *spool) error {
	o := overview{Lang: string(b.lang), t: b.lang}
	n, partial := 0, 0
	err := s.sorted(byGravity, func(l line) error {
		if l.sameAs > 0 || l.cells[columnStatus] == statusBlank {
			return nil
		}
		if l.cells[columnRating] != "" && !whole(l.cells) {
			partial++
		}
		if n++; n <= maxOverview {
			o.Rows = append(o.Rows, overviewOf(b.o.Dir, l, b.lang))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("batch: the overview: %w", err)
	}
	o.Count = text.Get(b.lang, text.OverviewCount, n)
	if begun, finished := b.sum.Begun(); b.sum.Interrupted+b.sum.NotBegun > 0 {
		o.Interrupted = text.Get(b.lang, text.OverviewInterrupted, begun, finished, b.sum.NotBegun)
	}
	if partial > 0 {
		o.Partial = text.Get(b.lang, text.OverviewPartial, partial)
	}
	if n > maxOverview {
		o.More = text.Get(b.lang, text.OverviewMore, n-maxOverview)
	}
	var buf bytes.Buffer
	if err := overviewTemplate.Execute(&buf, o); err != nil {
		return fmt.Errorf("batch: the overview: %w", err)
	}
	return files.Write(b.o.Dir, files.File{Name: runpage.IndexFile, Data: buf.Bytes()})
}

func overviewOf(dir string, l line, lang text.Lang) overviewRow {
	row := l.cells
	o := overviewRow{
		Row: l.number, Name: row[columnName], Number: folderName(row[columnSIREN], row[columnLEI], row[columnVAT]),
		Rating: report.RatingText(report.Lang(lang), row[columnRating]), Class: row[columnRating], Tone: cmp.Or(row[columnTone], "open"),
		Why: cmp.Or(row[columnError], row[columnWhy]), Next: row[columnNext],
		Status: text.Get(lang, text.Key("run."+row[columnStatus])), Score: row[columnScore], Cost: row[columnCost],
	}
	if rank(l) >= len(ranks) {
		o.Class = "PENDING"
	}
	if o.Rating == "" {
		o.Rating = text.Get(lang, text.BatchNoReport)
	}
	if l.folder == "" {
		return o
	}
	if _, err := os.Stat(filepath.Join(dir, l.folder, runpage.IndexFile)); err == nil {
		o.Folder = l.folder
	}
	return o
}
