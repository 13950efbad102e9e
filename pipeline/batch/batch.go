// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package batch runs due diligences for the rows of a CSV file, several at a time, in
// memory that does not grow with the number of rows. Each supplier gets a folder; a
// batch that was interrupted goes on where it was.
package batch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Options configure a batch.
type Options struct {
	// Pipeline is what every run is made with. Journal, JournalError, Observe and
	// Previous are the batch's own.
	Pipeline pipeline.Options
	// Dir is where the folders and summary.csv go. Required; created where absent.
	Dir string
	// Jobs is how many suppliers are researched at once. Zero means 1.
	Jobs int
	// Timeout bounds the research of one supplier. Zero means five minutes.
	Timeout time.Duration
	// Done is told of each row as it ends, one at a time. Nil means nobody.
	Done func(Row)
	// Keep keeps each run while it goes on, so that one that was stopped is resumed by the next
	// batch. Nil keeps none: such a run is begun anew.
	Keep *Keep
}

// A Row is how one row of the file ended.
type Row struct {
	// Number is the line in the file, from 1.
	Number int
	// Query is whom the row names, as far as it could be read.
	Query  string
	Result Result
	// Status is how the run ended; empty where none was made by this batch.
	Status callbacks.Status
	// Err says why there is no report.
	Err error
}

// Result is how a row ended.
type Result string

// The results of a row.
const (
	ResultDone     Result = "done"
	ResultPartial  Result = "partial"  // a report, of a run that ended otherwise than done
	ResultKept     Result = "kept"     // a report of an earlier, interrupted batch
	ResultRepeated Result = "repeated" // the supplier stands in the file before
	ResultFailed   Result = "failed"
)

// Summary counts rows by result.
type Summary struct{ Done, Partial, Kept, Repeated, Failed int }

// Run researches every row that r holds. A row that can't be researched is counted
// and listed in the summary; only what concerns all rows, a folder that can't be
// written say, is an error. After a cancelled context the summary is not written.
func Run(ctx context.Context, r io.Reader, o Options) (Summary, error) {
	if o.Dir == "" {
		return Summary{}, errors.New("batch: no folder")
	}
	if o.Jobs == 0 {
		o.Jobs = 1
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return Summary{}, fmt.Errorf("batch: %w", err)
	}
	if err := tidy(o.Dir); err != nil {
		return Summary{}, fmt.Errorf("batch: %w", err)
	}
	spool, err := os.CreateTemp(o.Dir, ".rows-*")
	if err != nil {
		return Summary{}, fmt.Errorf("batch: %w", err)
	}
	b := &batch{o: o, spool: newSpool(spool), started: time.Now(), busy: make(map[string]chan struct{})}
	defer func() { _ = errors.Join(spool.Close(), os.Remove(spool.Name())) }()

	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Jobs)
	for row := range rows(r) {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return b.row(gctx, row) })
	}
	if err := g.Wait(); err != nil {
		return b.sum, err
	}
	if err := ctx.Err(); err != nil {
		return b.sum, err
	}
	if err := b.spool.writeSorted(filepath.Join(o.Dir, summaryFile)); err != nil {
		return b.sum, err
	}
	return b.sum, b.writeOverview()
}

type batch struct {
	o       Options
	spool   *spool
	started time.Time

	mu   sync.Mutex
	sum  Summary
	busy map[string]chan struct{} // suppliers researched now
}

// row researches one row. Its error is one that stops the batch.
func (b *batch) row(ctx context.Context, in input) error {
	row := Row{Number: in.number, Query: in.query, Result: ResultFailed, Err: in.err}
	var cells []string
	if row.Err == nil {
		row.Result, cells, row.Err = b.research(ctx, in.query)
	}
	if row.Result == ResultDone || row.Result == ResultPartial {
		row.Status = callbacks.Status(cells[columnStatus])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if row.Err != nil {
		cells = append(report.CSVFailure(in.query, row.Err.Error()), "", "")
	}
	return b.end(row, cells)
}

func (b *batch) end(row Row, cells []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch row.Result {
	case ResultDone:
		b.sum.Done++
	case ResultPartial:
		b.sum.Partial++
	case ResultKept:
		b.sum.Kept++
	case ResultRepeated:
		b.sum.Repeated++
	default:
		b.sum.Failed++
	}
	if b.o.Done != nil {
		b.o.Done(row)
	}
	if cells == nil {
		return nil
	}
	return b.spool.add(cells)
}

func (b *batch) research(ctx context.Context, query string) (Result, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, b.o.Timeout)
	defer cancel()
	subject, err := b.resolve(ctx, query)
	if err != nil {
		return ResultFailed, nil, err
	}
	name := folderName(subject.SIREN, subject.LEI, subject.VAT)
	release := b.claim(ctx, name)
	defer release()
	dir := filepath.Join(b.o.Dir, name)
	if result, cells, ok := b.before(dir); ok {
		return result, cells, nil
	}
	cells, err := b.run(ctx, subject, query, dir)
	if err != nil {
		return ResultFailed, nil, err
	}
	if !whole(cells) {
		return ResultPartial, cells, nil
	}
	return ResultDone, cells, nil
}

// folderName is the folder of a supplier: the first of its numbers that is known.
func folderName(siren, lei, vat string) string { return cmp.Or(siren, lei, vat) }

// resolve takes exactly one company for an answer: in a batch nobody can be asked.
func (b *batch) resolve(ctx context.Context, query string) (supplier.Subject, error) {
	res := b.o.Pipeline.Sources.Resolve(ctx, query)
	switch res.Status {
	case supplier.StatusResolved:
		return res.Subject, nil
	case supplier.StatusCandidates:
		return supplier.Subject{}, fmt.Errorf("ambiguous: %d companies could be meant; name one by its SIREN", max(res.Total, len(res.Candidates)))
	default:
		return supplier.Subject{}, fmt.Errorf("%s: %s", res.Status, res.Detail)
	}
}

// claim makes two rows about the same supplier wait for each other.
func (b *batch) claim(ctx context.Context, key string) (release func()) {
	for {
		b.mu.Lock()
		other, taken := b.busy[key]
		if !taken {
			mine := make(chan struct{})
			b.busy[key] = mine
			b.mu.Unlock()
			return func() {
				b.mu.Lock()
				delete(b.busy, key)
				b.mu.Unlock()
				close(mine)
			}
		}
		b.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return func() {}
		}
	}
}

const (
	rowFile     = "row.csv"
	summaryFile = "summary.csv"
)

// before reports that the supplier's folder is there already: from an interrupted
// batch, whose row is taken over, or from an earlier row of this one.
func (b *batch) before(dir string) (Result, []string, bool) {
	if _, err := os.Stat(filepath.Join(dir, rowFile)); err != nil {
		return "", nil, false
	}
	if b.seen(dir) {
		return ResultRepeated, nil, true
	}
	cells, err := readRow(filepath.Join(dir, rowFile))
	if err != nil || !b.current(cells) || !whole(cells) {
		return "", nil, false
	}
	b.mark(dir)
	return ResultKept, cells, true
}

// whole reports that the run of a row ended as it should: what stopped another may be gone by now.
func whole(cells []string) bool {
	s := callbacks.Status(cells[columnStatus])
	return s == callbacks.StatusDone || s == callbacks.StatusLanded
}

// current reports that a row is about the same day and kind of data as this batch: a
// report of last spring, or about the sample set, is not taken over.
func (b *batch) current(cells []string) bool {
	c := b.o.Pipeline.Sources
	mode := c.Mode()
	if mode == sources.ModeRecord {
		mode = sources.ModeReplay // as a recording's report says
	}
	return len(cells) == len(columns) && cells[columnAsOf] == c.AsOf().Format(time.DateOnly) && cells[columnData] == string(mode)
}

// seen and mark tell rows of this batch from those of an earlier one, by a file in the
// folder, so that memory does not grow with the rows.
func (b *batch) seen(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, ".batch"))
	return err == nil && string(data) == b.id()
}

func (b *batch) mark(dir string) {
	// Without the mark a repeated row is taken for a kept one, nothing worse.
	_ = os.WriteFile(filepath.Join(dir, ".batch"), []byte(b.id()), 0o600)
}

func (b *batch) id() string { return b.started.UTC().Format(time.RFC3339Nano) }

func (b *batch) run(ctx context.Context, subject supplier.Subject, query, dir string) (cells []string, err error) {
	o := b.o.Pipeline
	o.JournalError, o.Observe, o.Previous = nil, nil, nil
	k, err := b.open(ctx, &o, subject, query, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	p, err := pipeline.New(o)
	if err != nil {
		return nil, err
	}
	out, err := p.Run(ctx, subject, query)
	if err != nil {
		return nil, err
	}
	lines, head, err := k.end(out)
	if err != nil {
		return nil, err
	}
	stats, err := journal.Count(journal.Entries(bytes.NewReader(lines)))
	if err != nil {
		return nil, err
	}
	cells = append(out.Report.CSVRow(), string(out.Result.Status), cost(stats))
	var row bytes.Buffer
	if err := writeRows(&row, cells); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	all, err := runpage.Files(out, lines, head, o.Lang, k.goOn(out))
	if err != nil {
		return nil, err
	}
	// The row comes last: it is what says that the folder is whole.
	if err := files.Write(dir, append(all, files.File{Name: rowFile, Data: row.Bytes()})...); err != nil {
		return nil, err
	}
	b.mark(dir)
	return cells, nil
}

// cost is what all attempts of a run were charged, in USD; empty where nothing was.
func cost(s journal.Stats) string {
	if s.Charged == 0 {
		return ""
	}
	return strings.TrimPrefix(s.Charged.String(), "$")
}
