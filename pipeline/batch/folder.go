// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// checkFolder refuses a folder where a batch would replace what no batch wrote, and the
// folder of a single supplier.
func checkFolder(dir string, lang text.Lang) error {
	all, err := dossiers.In(dir)
	if err != nil || slices.ContainsFunc(all, dossiers.Dossier.Begun) {
		return &FolderError{text.Get(lang, text.KeptDossier, "-o", dir)}
	}
	for name, own := range map[string]func(io.Reader) bool{summaryFile: ownSummary, runpage.IndexFile: ownOverview} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !info.Mode().IsRegular() || !reads(path, own) {
			return &FolderError{text.Get(lang, text.BatchForeign, path)}
		}
	}
	return nil
}

func reads(path string, own func(io.Reader) bool) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return own(io.LimitReader(f, maxRecord))
}

// ownSummary reports whether a file begins with the header of a summary.
func ownSummary(r io.Reader) bool {
	header, err := csv.NewReader(r).Read()
	return err == nil && len(header) > len(result) && header[0] == "row" && slices.Equal(header[len(header)-len(result):], result)
}

// ownOverview reports whether a page says that a batch made it.
func ownOverview(r io.Reader) bool {
	page, err := io.ReadAll(r)
	return err == nil && bytes.Contains(page, []byte(`<meta name="generator" content="gardefou batch">`))
}

// keptReport returns the newest whole report on subject in home about the day and the kind
// of data of this batch: its folder and its cells. It is taken over as it is: what was paid
// for is not paid for again.
func (b *batch) keptReport(home string, subject supplier.Subject) (dir string, cells []string, ok bool) {
	day := b.o.Pipeline.Sources.AsOf().Format(time.DateOnly)
	for _, dir := range slices.Backward(dossiers.Folders(home)) {
		if dir != home && !strings.HasPrefix(filepath.Base(dir), day) {
			continue
		}
		if cells, ok := b.wholeReport(dir, day, subject); ok {
			return dir, cells, true
		}
	}
	return "", nil, false
}

func (b *batch) wholeReport(dir, day string, subject supplier.Subject) ([]string, bool) {
	data, err := os.ReadFile(filepath.Join(dir, runpage.ReportJSON))
	if err != nil {
		return nil, false
	}
	r, err := report.Parse(data)
	if err != nil || r.AsOf != day || r.Run.Mode != b.mode() || !r.Subject.Same(subject) {
		return nil, false
	}
	lines, err := os.ReadFile(filepath.Join(dir, runpage.JournalFile))
	if err != nil {
		return nil, false
	}
	cells, err := cellsOf(r, statusIn(dir, lines), lines, b.lang)
	return cells, err == nil && whole(cells)
}

// mode is the kind of data of this batch, as its reports say it.
func (b *batch) mode() sources.Mode {
	if m := b.o.Pipeline.Sources.Mode(); m != sources.ModeRecord {
		return m
	}
	return sources.ModeReplay
}

// statusIn is how the run in dir ended, "" where it goes on or that is not known. One that
// was not kept says so in its journal; its page is the last of its files.
func statusIn(dir string, lines []byte) callbacks.Status {
	r, err := store.Read(filepath.Join(dir, store.Folder))
	if err == nil {
		return callbacks.Status(r.Status)
	}
	if _, serr := os.Stat(filepath.Join(dir, runpage.IndexFile)); serr != nil || !errors.Is(err, store.ErrNoRun) {
		return ""
	}
	stats, err := journal.Count(journal.Entries(bytes.NewReader(lines)))
	if err != nil || stats.Runs.Total != 1 {
		return ""
	}
	for status := range stats.Runs.ByStatus {
		return callbacks.Status(status)
	}
	return ""
}
