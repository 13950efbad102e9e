// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"slices"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal/line"
)

// A lineMaker makes a line of the journal that writes it: each journal masks and stamps
// for itself.
type lineMaker func(j *journal, run *callbacks.Run) line.Line

// journalledKey holds what guards of a Run leave for its journals, so that the journal
// knows none of them.
var journalledKey = callbacks.NewKey(func() *journalled { return &journalled{} })

type journalled struct {
	mu     sync.Mutex
	lines  []lineMaker
	last   []func(j *journal, run *callbacks.Run) []line.Line
	charge func(agentName string) line.Amount
}

// add leaves a line that is written before the next line of a step.
func (l *journalled) add(made lineMaker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, made)
}

// atEnd leaves lines that are made when the Run ends, before its last line.
func (l *journalled) atEnd(lines func(j *journal, run *callbacks.Run) []line.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, lines)
}

// chargedBy says where the charges of an agent are looked up.
func (l *journalled) chargedBy(f func(agentName string) line.Amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.charge = f
}

// since returns the lines from the n-th on.
func (l *journalled) since(n int) []lineMaker {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines[n:])
}

func (l *journalled) ending(j *journal, run *callbacks.Run) []line.Line {
	l.mu.Lock()
	last := slices.Clone(l.last)
	l.mu.Unlock()
	var lines []line.Line
	for _, f := range last {
		lines = append(lines, f(j, run)...)
	}
	return lines
}

// charged is what an agent was charged so far.
func (l *journalled) charged(agentName string) line.Amount {
	l.mu.Lock()
	f := l.charge
	l.mu.Unlock()
	if f == nil {
		return 0
	}
	return f(agentName)
}
