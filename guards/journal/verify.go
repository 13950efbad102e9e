// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/gardefou/gardefou/guards/journal/line"
)

// FaultKind is what happened to a journal, as far as its lines show.
type FaultKind string

// The kinds of fault.
const (
	FaultEdited   FaultKind = "edited"   // the line is not as it was written
	FaultRemoved  FaultKind = "removed"  // lines before this one are missing
	FaultInserted FaultKind = "inserted" // the line does not belong here
	FaultMoved    FaultKind = "moved"    // the line belongs elsewhere
	FaultCut      FaultKind = "cut"      // the journal does not end with a closing record, or not where it should
	FaultTorn     FaultKind = "torn"     // the last line has no end
)

// A Fault is one place where a journal is not what was written.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// File is the path, "" where a reader was verified, Line the number of the line in
	// it, from 1; where something is missing, the line after it, at the end the last.
	File string `json:"file,omitempty"`
	Line int    `json:"line"`
	// From and To are the numbers, seq, of lines that are missing.
	From uint64 `json:"from,omitempty"`
	To   uint64 `json:"to,omitempty"`
}

// A Report is what [Verify] found.
type Report struct {
	// Lines is how many lines were read, Head names the last of them.
	Lines int  `json:"lines"`
	Head  Head `json:"head"`
	// Recovered counts openings that came after no closing record, as after a crash, Lost
	// the lines that the writer says it could not write.
	Recovered int     `json:"recovered"`
	Lost      uint64  `json:"lost"`
	Faults    []Fault `json:"faults"`
}

// OK says that the journal is whole and as it was written.
func (r Report) OK() bool { return len(r.Faults) == 0 }

// maxFaults bounds a report: behind so many nobody reads on.
const maxFaults = 1000

// VerifyOptions are the options of [Verify] and [VerifyFiles].
type VerifyOptions struct {
	// Head is the head of this journal as it was noted elsewhere: the line it names must
	// be there. Zero means that nothing was noted.
	Head Head
	// After is the head of the journal that this one continues. Zero means that it must
	// begin at its beginning.
	After Head
}

// Verify reads a journal and reports every fault. Its error is one of reading.
func Verify(r io.Reader, o VerifyOptions) (Report, error) {
	return verify(rawLines(source{r: r}), o)
}

// VerifyFiles is [Verify] for the files of one journal in their order; see [Files].
func VerifyFiles(o VerifyOptions, paths ...string) (Report, error) {
	return verify(fileLines(paths), o)
}

// checked is a line with what verifying needs of it.
type checked struct {
	file   string
	number int
	link
	linked bool
	hash   string
	rec    line.Line
	unread bool // it is a record of the chain that can't be read
	err    error
}

// ownKinds are the kinds of the chain's own records.
var ownKinds = []string{line.KindOpen, line.KindLost, line.KindClose}

func check(l rawLine) checked {
	c := checked{file: l.file, number: l.number, err: l.err}
	if l.err != nil {
		return c
	}
	c.hash = hashOf(l.data)
	c.link, c.linked = parseLink(l.data)
	if c.linked {
		// What is no JSON is told by the hash, not by this; a record of the chain has to be one.
		err := json.Unmarshal(l.data, &c.rec)
		c.unread = err != nil && slices.Contains(ownKinds, c.rec.Kind)
	}
	return c
}

type verifier struct {
	o    VerifyOptions
	r    Report
	want Head // the head that the next line must follow
	last *checked
	// aside are lines that were taken for inserted, by hash, with their place among the
	// faults; missing are numbers of lines that were missing when their turn came.
	aside   map[string]int
	missing map[uint64]bool
	found   bool // o.Head
}

func verify(lines iter.Seq[rawLine], o VerifyOptions) (Report, error) {
	v := &verifier{o: o, want: o.After, aside: make(map[string]int), missing: make(map[uint64]bool), found: o.Head == Head{}}
	next, stop := iter.Pull(lines)
	defer stop()
	pull := func() *checked {
		if l, ok := next(); ok {
			c := check(l)
			return &c
		}
		return nil
	}
	for cur, ahead := pull(), pull(); cur != nil; cur, ahead = ahead, pull() {
		if cur.err != nil && !errors.Is(cur.err, ErrTornLine) && !errors.Is(cur.err, ErrLongLine) {
			return v.r, cur.err
		}
		v.line(cur, ahead)
	}
	v.end()
	return v.r, nil
}

func (v *verifier) fault(f Fault) {
	for _, have := range v.r.Faults {
		if have.File == f.File && have.Line == f.Line && (have.Kind == f.Kind || f.Kind == FaultEdited) {
			return
		}
	}
	if len(v.r.Faults) < maxFaults {
		v.r.Faults = append(v.r.Faults, f)
	}
}

func (v *verifier) at(kind FaultKind, c *checked) Fault {
	return Fault{Kind: kind, File: c.file, Line: c.number}
}

// follows says that c is the line that belongs after head.
func (c *checked) follows(head Head) bool {
	return c.linked && c.prev == head.hash() && c.seq == head.Seq+1
}

func (v *verifier) line(c, ahead *checked) {
	v.r.Lines++
	switch {
	case errors.Is(c.err, ErrTornLine):
		v.fault(v.at(FaultTorn, c))
		return
	case c.follows(v.want):
		if c.summed && !c.sumOK || c.rec.Kind == line.KindClose && !c.summed || c.unread {
			v.fault(v.at(FaultEdited, c))
		}
		v.accept(c)
	case ahead != nil && ahead.follows(v.want):
		v.aside[c.hash] = len(v.r.Faults)
		kind := FaultInserted
		if c.linked && v.missing[c.seq] {
			kind = FaultMoved
		}
		v.fault(v.at(kind, c))
	default:
		v.broken(c, ahead)
		v.accept(c)
	}
}

// broken tells why a line that stays in the chain does not follow the one before.
func (v *verifier) broken(c, ahead *checked) {
	switch i, known := v.aside[c.prev]; {
	case !c.linked:
		v.fault(v.at(FaultEdited, c))
		// Its number is unknown: the next line is believed, if it vouches for this one.
		c.seq = v.want.Seq + 1
	case known && i < len(v.r.Faults):
		v.r.Faults[i].Kind = FaultMoved
	case c.summed && !c.sumOK:
		v.fault(v.at(FaultEdited, c))
	case c.seq == v.want.Seq+1 && v.last != nil && (ahead == nil || ahead.prev == c.hash):
		v.fault(v.at(FaultEdited, v.last))
	case c.seq == v.want.Seq+1, c.prev == v.want.hash():
		v.fault(v.at(FaultEdited, c))
	case c.seq > v.want.Seq+1:
		f := v.at(FaultRemoved, c)
		f.From, f.To = v.want.Seq+1, c.seq-1
		for n := f.From; n <= f.To && n-f.From < maxFaults; n++ {
			v.missing[n] = true
		}
		v.fault(f)
	case v.missing[c.seq]:
		v.fault(v.at(FaultMoved, c))
	default:
		v.fault(v.at(FaultInserted, c))
	}
}

func (v *verifier) accept(c *checked) {
	v.last = c
	v.want = Head{c.seq, c.hash}
	v.r.Head = v.want
	v.found = v.found || v.want == v.o.Head
	switch {
	case c.rec.Kind == line.KindOpen && c.rec.Recovered:
		v.r.Recovered++
	case c.rec.Kind == line.KindLost:
		v.r.Lost += c.rec.Lines
	}
}

func (v *verifier) end() {
	switch {
	case v.last == nil:
		v.fault(Fault{Kind: FaultCut})
	case v.last.rec.Kind != line.KindClose || v.last.rec.Continues:
		v.fault(v.at(FaultCut, v.last))
	case !v.found:
		f := v.at(FaultCut, v.last)
		f.From, f.To = v.r.Head.Seq+1, v.o.Head.Seq
		v.fault(f)
	}
}

// String says the fault in English, for logs.
func (f Fault) String() string {
	where := fmt.Sprintf("line %d", f.Line)
	if f.File != "" {
		where = f.File + ": " + where
	}
	if f.From > 0 {
		return fmt.Sprintf("%s: %s (%d to %d)", where, f.Kind, f.From, f.To)
	}
	return fmt.Sprintf("%s: %s", where, f.Kind)
}
