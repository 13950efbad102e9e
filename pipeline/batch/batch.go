// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package batch runs due diligences for the rows of a CSV file, several at a time, in
// memory that does not grow with the number of rows. Each supplier has a folder, and in it
// a dossier of each batch: see package dossiers. What a batch finished is never changed by
// a later one; one that was interrupted goes on where it was.
package batch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/internal/unresolved"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Options configure a batch.
type Options struct {
	// Pipeline is what every run is made with. Journal, JournalError, Observe and
	// Previous are the batch's own.
	Pipeline pipeline.Options
	// Dir is where the folders of the suppliers, summary.csv and index.html go. Required;
	// created where absent. The two files replace those of an earlier batch and no others.
	Dir string
	// Jobs is how many suppliers are researched at once. Zero means 1.
	Jobs int
	// Timeout bounds the research of one supplier. Zero means five minutes.
	Timeout time.Duration
	// Columns are the headers of the columns that say who is meant, or their numbers from
	// 1 where the file has no header; a cell of theirs holds a name or a number. Empty
	// takes the columns whose headers are known.
	Columns []string
	// Found is called once, before the first row, with how the file is read. Nil means
	// nobody.
	Found func(Found)
	// Done is told of each row as it ends, one at a time. Nil means nobody.
	Done func(Row)
	// Keep keeps each run while it goes on, so that one that was stopped is resumed by the next
	// batch. Nil keeps none: such a run is begun anew.
	Keep *Keep
}

// A Row is how one row of the file ended.
type Row struct {
	// Number is the row's in the file, as a spreadsheet counts: from 1, the header and
	// blank rows included, a row with line breaks in its cells once.
	Number int
	// Query is whom the row names, as far as it could be read.
	Query  string
	Result Result
	// Status is the code in the summary: how the run ended, as a [callbacks.Status], or why
	// there is no report, as a [supplier.Status], "ambiguous", "unreadable" or "failed".
	Status string
	// Rating is the report's and Tone the class of its colour, as [report.Answer.Tone]; empty
	// where there is no report.
	Rating risk.Rating
	Tone   string
	// Next says what to do now, Why is the first reason of the rating, both in the language
	// of the batch. Why is empty where there is no report: Err says it then.
	Next, Why string
	// Folder is the dossier's, in Options.Dir, with slashes: NUMBER, or NUMBER/2026-12-01
	// where earlier ones stand. Empty where there is no report.
	Folder string
	// Err says why there is no report, as a [*RowError].
	Err error
}

// Result is how a row ended.
type Result string

// The results of a row.
const (
	ResultDone     Result = "done"
	ResultPartial  Result = "partial"  // a report, of a run that ended otherwise than done
	ResultKept     Result = "kept"     // a whole report of the same day, of an earlier batch
	ResultRepeated Result = "repeated" // another row of the file means the same supplier
	ResultFailed   Result = "failed"
)

// Summary counts rows by result. Of a batch that was interrupted, Interrupted are the rows
// whose run was begun and goes on with the next batch, NotBegun those that have no run.
type Summary struct{ Done, Partial, Kept, Repeated, Failed, Interrupted, NotBegun int }

// Begun counts the runs that the batch began or went on with, and those of them that ended
// as they should.
func (s Summary) Begun() (begun, finished int) { return s.Done + s.Partial + s.Interrupted, s.Done }

// Run researches every row that r holds: a table of separated values (RFC 4180), in
// UTF-8, UTF-16 or Windows-1252, with comma, semicolon or tab. A row that can't be
// researched is counted and listed in the summary; only what concerns all rows, a folder
// that can't be written say, is an error: an [*InputError] where the file is at fault, a
// [*FolderError] where Options.Dir holds what a batch does not replace.
// After a cancelled context no further row is researched, the rest of the file is read, and
// summary.csv and index.html are written all the same: a row whose run was begun has the
// status "interrupted" and the folder of that run, any other "not_begun". Options.Done is not
// called for those. The error is that of the context.
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
	lang := text.Parse(o.Pipeline.Lang)
	t, err := open(r, o.Columns)
	if err != nil {
		return Summary{}, inLanguage(lang, err)
	}
	if o.Found != nil {
		o.Found(t.Found)
	}
	if err := checkFolder(o.Dir, lang); err != nil {
		return Summary{}, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return Summary{}, fmt.Errorf("batch: %w", err)
	}
	if err := tidy(o.Dir); err != nil {
		return Summary{}, fmt.Errorf("batch: %w", err)
	}
	spool, err := newSpool(o.Dir)
	if err != nil {
		return Summary{}, fmt.Errorf("batch: %w", err)
	}
	defer func() { _ = spool.close() }()
	seen, err := newSeen(o.Dir)
	if err != nil {
		return Summary{}, fmt.Errorf("batch: %w", err)
	}
	defer func() { _ = seen.close() }()
	b := &batch{o: o, lang: lang, spool: spool, seen: seen, busy: make(map[string]chan struct{})}

	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Jobs)
	var reading error
	for row, err := range t.rows() {
		if gctx.Err() != nil && ctx.Err() == nil { // a row stopped the batch
			break
		}
		if err != nil {
			reading = fmt.Errorf("batch: reading the file: %w", err)
			break
		}
		if row.blank {
			if err := b.keep(line{number: row.number, input: row.cells, cells: noReport("", statusBlank, "")}); err != nil {
				reading = err
				break
			}
			continue
		}
		g.Go(func() error { return b.row(gctx, row) })
	}
	if err := errors.Join(g.Wait(), reading); err != nil {
		return b.sum, err
	}
	if err := b.finish(t.columns.header); err != nil {
		return b.sum, err
	}
	return b.sum, ctx.Err()
}

// inLanguage gives a reason its words.
func inLanguage(lang text.Lang, err error) error {
	if e, ok := errors.AsType[inputError](err); ok {
		return &InputError{text.Get(lang, e.key, e.args...)}
	}
	return fmt.Errorf("batch: %w", err)
}

type batch struct {
	o     Options
	lang  text.Lang
	spool *spool
	seen  seen

	mu   sync.Mutex
	sum  Summary
	busy map[string]chan struct{} // suppliers researched now
}

// row researches one row. Its error is one that stops the batch.
func (b *batch) row(ctx context.Context, in input) error {
	row := Row{Number: in.number, Query: in.shown, Result: ResultFailed}
	cells, err := b.research(ctx, in, &row)
	if err != nil && in.err == nil && ctx.Err() != nil {
		return b.interrupted(in, err)
	}
	line := line{number: row.Number, input: in.cells}
	if err != nil {
		why := b.why(err)
		row.Err = why
		line.cells = b.failure(in.shown, why)
	} else {
		line.folder, line.cells = row.Folder, cells
	}
	row.Status, row.Rating, row.Tone = line.cells[columnStatus], risk.Rating(line.cells[columnRating]), line.cells[columnTone]
	row.Next, row.Why = line.cells[columnNext], line.cells[columnWhy]
	return b.end(row, line)
}

// A begunError is about a run that was begun and came to no report.
type begunError struct {
	subject supplier.Subject
	folder  string // of its dossier, empty where the run is not kept
	err     error
}

func (e *begunError) Error() string { return e.err.Error() }

func (e *begunError) Unwrap() error { return e.err }

// interrupted keeps a row that the end of the batch came before.
func (b *batch) interrupted(in input, err error) error {
	l := line{number: in.number, input: in.cells}
	begun, ok := errors.AsType[*begunError](err)
	if ok {
		next := text.Get(b.lang, text.BatchNextAgain)
		if begun.folder != "" {
			next = text.Get(b.lang, text.BatchNextResume, begun.folder)
		}
		s := begun.subject
		l.folder, l.cells = begun.folder, noReport(s.LegalName, statusInterrupted, next)
		l.cells[columnSIREN], l.cells[columnLEI], l.cells[columnVAT] = s.SIREN, s.LEI, s.VAT
	} else {
		l.cells = noReport(in.shown, statusNotBegun, text.Get(b.lang, text.BatchNextAgain))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		b.sum.Interrupted++
	} else {
		b.sum.NotBegun++
	}
	return b.spool.add(l)
}

// why says in words why a row has no report.
func (b *batch) why(err error) *RowError {
	var refused *supplier.RefusedError
	var unread rowError
	var known *RowError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &unread):
		return &RowError{Text: text.Get(b.lang, unread.key, unread.args...), Err: err}
	case errors.As(err, &refused):
		return &RowError{Text: unresolved.Refused(refused, b.lang), Resolution: supplier.Refusal(refused), Err: err}
	default:
		return &RowError{Text: text.Get(b.lang, text.BatchRowFailed, err), Err: err}
	}
}

// keep keeps a line that counts as nothing.
func (b *batch) keep(l line) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spool.add(l)
}

func (b *batch) end(row Row, l line) error {
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
	return b.spool.add(l)
}

// research fills in row and returns the cells of its report.
func (b *batch) research(ctx context.Context, in input, row *Row) ([]string, error) {
	if in.err != nil {
		return nil, in.err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, b.o.Timeout)
	defer cancel()
	subject, err := b.resolve(limited, in.query)
	if err != nil {
		return nil, err
	}
	name := folderName(subject.SIREN, subject.LEI, subject.VAT)
	release := b.claim(limited, name)
	defer release()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if folder, cells, ok := b.seen.find(name); ok {
		cells[columnCost] = "" // the other row says what was spent
		row.Result, row.Folder = ResultRepeated, folder
		return cells, nil
	}
	home := filepath.Join(b.o.Dir, name)
	dir, cells, kept := b.keptReport(home, subject)
	result := ResultKept
	if !kept {
		if dir, cells, err = b.run(limited, subject, in.shown, home); err != nil {
			if e, ok := errors.AsType[*begunError](err); ok && b.o.Keep != nil {
				e.folder = folderIn(name, dir, home)
			}
			return nil, err
		}
		if result = ResultDone; !whole(cells) {
			result = ResultPartial
		}
	}
	row.Result, row.Folder = result, folderIn(name, dir, home)
	b.seen.add(name, row.Folder, cells)
	return cells, nil
}

// folderIn is the folder dir of a dossier in the home of a supplier, from the batch's.
func folderIn(name, dir, home string) string {
	if dir == home {
		return name
	}
	return path.Join(name, filepath.Base(dir))
}

// folderName is the folder of a supplier: the first of its numbers that is known.
func folderName(siren, lei, vat string) string { return cmp.Or(siren, lei, vat) }

// resolve takes exactly one company for an answer: in a batch nobody can be asked.
func (b *batch) resolve(ctx context.Context, q supplier.Query) (supplier.Subject, error) {
	res := b.o.Pipeline.Sources.ResolveQuery(ctx, q)
	if res.Status == supplier.StatusResolved {
		return res.Subject, nil
	}
	why := unresolved.Why(res, b.lang)
	if list := candidates(res); list != "" {
		key := text.BatchRowOwner
		if res.Status == supplier.StatusCandidates {
			key = text.BatchRowChoose
		}
		why = text.Get(b.lang, key, why, list)
	}
	return supplier.Subject{}, &RowError{Text: why, Resolution: res}
}

// candidates are the companies of res, each with its number.
func candidates(res supplier.Resolution) string {
	var list []string
	for _, c := range res.Candidates {
		parts := slices.DeleteFunc([]string{c.LegalName, c.City, unresolved.Number(c)}, func(s string) bool { return s == "" })
		list = append(list, strings.Join(parts, ", "))
	}
	return strings.Join(list, "; ")
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

// whole reports that the run of a row ended as it should: what stopped another may be gone by now.
func whole(cells []string) bool { return dossiers.Finished(callbacks.Status(cells[columnStatus])) }

// run researches subject in a dossier of its home, and returns the dossier's folder and the
// cells of its report.
func (b *batch) run(ctx context.Context, subject supplier.Subject, query, home string) (dir string, cells []string, err error) {
	o := b.o.Pipeline
	o.JournalError, o.Observe, o.Previous = nil, nil, nil
	k, err := b.open(ctx, &o, subject, query, home)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	p, err := pipeline.New(o)
	if err != nil {
		return "", nil, err
	}
	out, err := p.Run(ctx, subject, query)
	if err != nil {
		return k.dir, nil, &begunError{subject: subject, err: err}
	}
	cells, err = k.write(out, b.lang)
	return k.dir, cells, err
}

// cellsOf are the cells of a report whose run ended with a status.
func cellsOf(r report.Report, s callbacks.Status, lines []byte, lang text.Lang) ([]string, error) {
	stats, err := journal.Count(journal.Entries(bytes.NewReader(lines)))
	if err != nil {
		return nil, err
	}
	a := r.Answer(report.Lang(lang))
	why := ""
	if len(a.Reasons) > 0 {
		why = a.Reasons[0].Text
	}
	return append(r.CSVRow(), string(s), cost(stats), reasons(a), a.Next, a.Tone, why), nil
}

// cost is what all attempts of a run were charged, in USD; empty where nothing was.
func cost(s journal.Stats) string {
	if s.Charged == 0 {
		return ""
	}
	return strings.TrimPrefix(s.Charged.String(), "$")
}
