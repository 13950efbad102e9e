// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/guards/ledger"
)

// A SpendLine is what one agent spent on one model or tool in a Run.
type SpendLine struct {
	Agent   string
	What    string // a model or a tool
	Calls   int
	Refused int
	// Estimated is the most that all calls asked for could have cost, as the agent wanted
	// them and with those that were refused. Reserved is what was set aside for those that
	// were made, with the output they were allowed.
	Estimated ledger.Nano
	Reserved  ledger.Nano
	// Charged is the real cost where the provider told it, else the reservation. Overrun
	// is the part of it that no reservation covered.
	Charged ledger.Nano
	Overrun ledger.Nano
	// TokensIn are the tokens read, TokensCached those of them that came from the
	// provider's cache, TokensOut the tokens written, thinking included: of the calls whose
	// whole use the provider reported.
	TokensIn     int64
	TokensOut    int64
	TokensCached int64
}

// CachedShare is the part of the tokens read that came from the provider's cache, from 0
// to 1; 0 where none were read.
func (l SpendLine) CachedShare() float64 {
	if l.TokensIn == 0 {
		return 0
	}
	return float64(l.TokensCached) / float64(l.TokensIn)
}

var spendBooksKey = callbacks.NewKey(func() *spendBooks { return &spendBooks{lines: make(map[[2]string]*SpendLine)} })

// spendBooks are what one Run's calls cost.
type spendBooks struct {
	begin   sync.Once
	mu      sync.Mutex
	lines   map[[2]string]*SpendLine
	order   [][2]string
	refused *callbacks.Refusal
	denied  *ledger.DeniedError
}

func note(ctx context.Context, agentName, what string, f func(*SpendLine)) {
	b := spendBooksKey.Of(ctx)
	b.begin.Do(func() {
		l := journalledKey.Of(ctx)
		l.chargedBy(b.charged)
		l.atEnd(b.linesOf)
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	k := [2]string{agentName, what}
	line, ok := b.lines[k]
	if !ok {
		line = &SpendLine{Agent: agentName, What: what}
		b.lines[k] = line
		b.order = append(b.order, k)
	}
	f(line)
}

func noteRefused(ctx context.Context, r *callbacks.Refusal) {
	b := spendBooksKey.Of(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refused == nil {
		b.refused = r
	}
	var denied *ledger.DeniedError
	if b.denied == nil && errors.As(r, &denied) {
		b.denied = denied
	}
}

// Spent returns what ctx's Run has cost so far, by agent and by model or tool, in the
// order they first came.
func (r RunRecords) Spent() []SpendLine { return spendBooksKey.In(r.run).list() }

func (b *spendBooks) list() []SpendLine {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]SpendLine, 0, len(b.order))
	for _, k := range b.order {
		out = append(out, *b.lines[k])
	}
	return out
}

// SpendRefused returns the first refusal by [Spend] in ctx's Run, and the limit that said
// no: which account, and how much more it would have needed. Both are nil where nothing
// was refused; denied alone is nil where it was for another reason, a model without a
// price say.
func (r RunRecords) SpendRefused() (refusal *callbacks.Refusal, denied *ledger.DeniedError) {
	b := spendBooksKey.In(r.run)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused, b.denied
}

// charged is what one agent was charged so far.
func (b *spendBooks) charged(agentName string) line.Amount {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sum ledger.Nano
	for k, spent := range b.lines {
		if k[0] == agentName {
			sum += spent.Charged
		}
	}
	return line.Amount(sum)
}

// linesOf are the books in a journal.
func (b *spendBooks) linesOf(j *journal, run *callbacks.Run) []line.Line {
	var lines []line.Line
	for _, spent := range b.list() {
		l := j.begin(line.KindSpend, run)
		l.Agent, l.What, l.Calls, l.Refused = spent.Agent, spent.What, spent.Calls, spent.Refused
		l.Estimated, l.Reserved = line.Amount(spent.Estimated), line.Amount(spent.Reserved)
		l.Charged, l.Overrun = line.Amount(spent.Charged), line.Amount(spent.Overrun)
		l.In, l.Out, l.Cached = spent.TokensIn, spent.TokensOut, spent.TokensCached
		lines = append(lines, l)
	}
	return lines
}
