// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed table.json
var embedded []byte

// Default is the table built into the binary.
var Default = sync.OnceValue(func() *Table {
	t, err := Parse(embedded)
	if err != nil {
		panic(err) // the tests load it
	}
	return t
})

// Table is an immutable set of rows, safe for concurrent use. The zero value refuses every query.
type Table struct {
	id        string
	sha       string
	generated time.Time
	models    map[Query][]Row // in order of date; Query.Service included
	patterns  []pattern
	refused   map[Query]error // Query.Service empty: the whole model
}

type pattern struct{ backend, glob, model string }

type document struct {
	ID          string `json:"id"`
	GeneratedAt Date   `json:"generated_at"`
	Unit        string `json:"unit"`
	Rows        []Row  `json:"rows"`
}

// Parse reads a table in this package's own format. One bad row refuses the whole table:
// it was written for this package.
func Parse(data []byte) (*Table, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var doc document
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("price table: %w", err)
	}
	t, err := New(doc.ID, doc.GeneratedAt, doc.Rows...)
	if err != nil {
		return nil, err
	}
	t.sha = digest(data)
	return t, nil
}

// New makes a table of rows given in code: a model of your own, a negotiated price. Id and
// generated, the day the rows were last known to be true, are required.
func New(id string, generated Date, rows ...Row) (*Table, error) {
	if id == "" {
		return nil, errors.New("price table: id is required")
	}
	day, err := generated.midnight()
	if err != nil {
		return nil, fmt.Errorf("price table: generated_at: %w", err)
	}
	t := &Table{id: id, generated: day, models: map[Query][]Row{}}
	for _, row := range rows {
		if err := t.add(row); err != nil {
			return nil, err
		}
	}
	if err := t.finish(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(rows)
	if err != nil {
		return nil, fmt.Errorf("price table: %w", err)
	}
	t.sha = digest(data)
	return t, nil
}

func digest(data []byte) string {
	sha := sha256.Sum256(data)
	return hex.EncodeToString(sha[:])
}

func (t *Table) add(row Row) error {
	if err := row.validate(); err != nil {
		return err
	}
	key := Query{Backend: row.Backend, Model: row.Model, Service: row.Service}
	t.models[key] = append(t.models[key], row)
	for _, glob := range row.Match {
		p := pattern{row.Backend, glob, row.Model}
		if !slices.Contains(t.patterns, p) {
			t.patterns = append(t.patterns, p)
		}
	}
	return nil
}

// finish sorts the rows of each model and refuses periods that overlap.
func (t *Table) finish() error {
	for _, rows := range t.models {
		slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.From, b.From) })
		for i := 1; i < len(rows); i++ {
			if before := rows[i-1]; before.Until == "" || before.Until >= rows[i].From {
				return &RowError{Row: rows[i].Name(), Field: "from", Reason: "overlaps the row before it"}
			}
		}
	}
	return nil
}

// ID is the table's version. An overridden table has the ids of both, joined by "+".
func (t *Table) ID() string { return t.id }

// SHA256 is the digest of what the table was read from, in hexadecimal.
func (t *Table) SHA256() string { return t.sha }

// Generated is the day the table was made.
func (t *Table) Generated() time.Time { return t.generated }

// Age is how long before now the table was made; an overridden table is as old as its
// embedded part.
func (t *Table) Age(now time.Time) time.Duration { return now.Sub(t.generated) }

// CheckAge refuses, with [ErrStale], a table older than most.
func (t *Table) CheckAge(now time.Time, most time.Duration) error {
	if age := t.Age(now); age > most {
		return fmt.Errorf("%w: %s is %d days old", ErrStale, t.id, age/(24*time.Hour))
	}
	return nil
}

// Override gives a table in which o's models replace the rows of the same backend and model,
// all service tiers of it. A model that o refuses is refused: it never falls back to the
// older price. What o can't know stays: the names that a pattern gives a model, where o has
// no such pattern, and rows that begin after the day on which o's were last true; o's count
// until then.
func (t *Table) Override(o *Table) *Table {
	merged := &Table{
		id: t.id + "+" + o.id, sha: digest([]byte(t.sha + o.sha)), generated: t.generated,
		models: map[Query][]Row{}, refused: map[Query]error{},
	}
	replaced := map[Query]bool{}
	for key := range o.models {
		replaced[key.anyService()] = true
	}
	for key := range o.refused {
		replaced[key] = true
	}
	for key, rows := range t.models {
		if !replaced[key.anyService()] {
			merged.models[key] = rows
		}
	}
	for _, p := range t.patterns {
		if !slices.ContainsFunc(o.patterns, func(own pattern) bool { return own.backend == p.backend && own.glob == p.glob }) {
			merged.patterns = append(merged.patterns, p)
		}
	}
	for key, err := range t.refused {
		if !replaced[key] {
			merged.refused[key] = err
		}
	}
	for key, rows := range o.models {
		merged.models[key] = before(rows, t.models[key])
	}
	merged.patterns = append(merged.patterns, o.patterns...)
	for key, err := range o.refused {
		merged.refused[key] = err
	}
	return merged
}

// before is rows, and after them those of later that begin when the newest of rows is no
// longer known to be true.
func before(rows, later []Row) []Row {
	newest := rows[len(rows)-1]
	known := max(newest.AsOf, newest.From, newest.Until)
	i := slices.IndexFunc(later, func(r Row) bool { return r.From > known })
	if i < 0 {
		return rows
	}
	out := slices.Clone(rows)
	if newest.Until == "" {
		out[len(out)-1].Until = later[i].From.dayBefore()
	}
	return append(out, later[i:]...)
}

func (q Query) anyService() Query { return Query{Backend: q.Backend, Model: q.Model} }

// Quote finds the rows in effect at any moment from from to until, usually one. Give it the
// time of the call and the time by which it must have ended. The error matches [ErrUnpriced].
func (t *Table) Quote(q Query, from, until time.Time) (Quote, error) {
	refuse := func(err error) (Quote, error) { return Quote{}, &UnpricedError{Query: q, Err: err} }
	if until.Before(from) {
		return refuse(errors.New("the period ends before it begins"))
	}
	q.Model = strings.TrimPrefix(q.Model, "models/")
	name, err := t.resolve(q)
	if err != nil {
		return refuse(err)
	}
	services := []string{q.Service}
	if q.Service == AnyService {
		services = t.services(q.Backend, name)
	}
	var rows []Row
	for _, service := range services {
		of, err := t.inEffect(Query{Backend: q.Backend, Model: name, Service: service}, from, until)
		if err != nil {
			return refuse(err)
		}
		rows = append(rows, of...)
	}
	if len(rows) == 0 {
		return refuse(errors.New("the table has no service tier for it"))
	}
	return Quote{Table: t.id, SHA256: t.sha, Rows: slices.Clip(rows)}, nil
}

func (t *Table) services(backend, model string) []string {
	var found []string
	for key := range t.models {
		if key.Backend == backend && key.Model == model {
			found = append(found, key.Service)
		}
	}
	slices.Sort(found)
	return found
}

// inEffect are the rows of one service tier that count at any moment of a period.
func (t *Table) inEffect(key Query, from, until time.Time) ([]Row, error) {
	rows := t.models[key]
	first, last := -1, -1
	covered := false // at from
	for i := range rows {
		begins, ends := rows[i].period()
		if !begins.After(until) && ends.After(from) {
			if first < 0 {
				first = i
			}
			last = i
			covered = covered || !begins.After(from)
		}
	}
	switch {
	case len(rows) == 0:
		return nil, fmt.Errorf("the table has no service tier %q for it", key.Service)
	case !covered:
		return nil, errors.New("no row is in effect on " + from.UTC().Format(time.DateOnly))
	}
	if _, ends := rows[last].period(); !ends.After(until) {
		return nil, errors.New("no row is in effect on " + until.UTC().Format(time.DateOnly))
	}
	return rows[first : last+1 : last+1], nil
}

var (
	dawn = time.Time{}
	dusk = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// period is when the row counts. Its dates were checked when the row was added.
func (r *Row) period() (begins, ends time.Time) {
	begins, ends = dawn, dusk
	if r.From != "" {
		begins, _ = r.From.begins()
	}
	if r.Until != "" {
		ends, _ = r.Until.ends()
	}
	return begins, ends
}

// resolve finds the model a name belongs to: the exact name first, then the patterns.
func (t *Table) resolve(q Query) (string, error) {
	if err := t.refused[q.anyService()]; err != nil {
		return "", err
	}
	if _, ok := t.models[q]; ok {
		return q.Model, nil
	}
	if _, ok := t.models[q.anyService()]; ok {
		return q.Model, nil
	}
	found := ""
	for _, p := range t.patterns {
		if p.backend != q.Backend {
			continue
		}
		if ok, _ := path.Match(p.glob, q.Model); !ok { // patterns were checked when added
			continue
		}
		if found != "" && found != p.model {
			return "", fmt.Errorf("the name belongs to both %s and %s", found, p.model)
		}
		found = p.model
	}
	if found == "" {
		return "", errors.New("the table doesn't know this model at this backend")
	}
	return found, t.refused[Query{Backend: q.Backend, Model: found}]
}

// Filter selects rows to list. Zero fields select everything.
type Filter struct {
	Backend string
	// Model selects the names that contain it, whatever their case.
	Model string
	// At selects the rows in effect at that moment.
	At time.Time
}

// List gives the selected rows by backend, model, service tier and date.
func (t *Table) List(f Filter) []Row {
	var rows []Row
	for key, dated := range t.models {
		if f.Backend != "" && f.Backend != key.Backend || !strings.Contains(strings.ToLower(key.Model), strings.ToLower(f.Model)) {
			continue
		}
		for _, row := range dated {
			begins, ends := row.period()
			if f.At.IsZero() || !begins.After(f.At) && ends.After(f.At) {
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Service, b.Service), cmp.Compare(a.From, b.From))
	})
	return rows
}

// Refused lists why models of an override file have no price, and what in it is no model,
// in the order of their names.
func (t *Table) Refused() []error {
	errs := make([]error, 0, len(t.refused))
	for _, err := range t.refused {
		errs = append(errs, err)
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errs
}
