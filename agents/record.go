// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"context"
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// A Finding is what a researcher reported.
type Finding struct {
	Agent      string   `json:"agent"`
	Summary    string   `json:"summary"`
	Evidence   []string `json:"evidence"`
	Gaps       []string `json:"gaps"`
	Confidence string   `json:"confidence"`
}

// A Record is what one run of the team found out. It is a copy: the caller may
// keep and change it.
type Record struct {
	Subject  supplier.Subject
	Facts    sources.Facts
	Findings []Finding
	// Completed names the look-ups that code made because their researcher had
	// not: by the name the data is stashed under.
	Completed []string
	Risk      *risk.Result
	// Draft is the writer's last text, Approved whether the reviewer let it pass,
	// Changes what it last asked for.
	Draft    string
	Approved bool
	Changes  []string
	Rounds   int
}

var recordKey = callbacks.NewKey(func() *record { return &record{findings: make(map[string]Finding)} })

type record struct {
	mu        sync.Mutex
	subject   supplier.Subject
	findings  map[string]Finding
	completed []string
	facts     sources.Facts
	risk      *risk.Result
	draft     string
	approved  bool
	changes   []string
	rounds    int
	turn      whoseTurn
}

// SetSubject says whom the Run is about. Every look-up of the Run is about this
// subject, whatever a model asks for.
func SetSubject(ctx context.Context, s supplier.Subject) {
	r := recordKey.Of(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subject = s
}

// RecordOf returns what the Run of ctx knows so far.
func RecordOf(ctx context.Context) Record {
	r := recordKey.Of(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Record{
		Subject: r.subject, Facts: r.facts, Completed: slices.Clone(r.completed), Risk: r.risk,
		Draft: r.draft, Approved: r.approved, Changes: slices.Clone(r.changes), Rounds: r.rounds,
	}
	for _, name := range slices.Sorted(maps.Keys(r.findings)) {
		out.Findings = append(out.Findings, r.findings[name])
	}
	return out
}

func (r *record) do(f func(*record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r)
}

func subjectOf(ctx context.Context) supplier.Subject { return RecordOf(ctx).Subject }

// supplierArg is how a model is told to name the subject: a legal name that the
// argument has no room for is named by its number.
func supplierArg(s supplier.Subject) string {
	if utf8.RuneCountInString(s.LegalName) > MaxSupplierLen && s.SIREN != "" {
		return s.SIREN
	}
	return s.LegalName
}
