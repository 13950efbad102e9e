// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/gardefou/gardefou/guards/ledger"
)

// Kinds of line that guards.Journal writes.
const (
	KindRun      = "run"
	KindModel    = "model"
	KindTool     = "tool"
	KindRefusal  = "refusal"
	KindApproval = "approval"
	KindPrefix   = "prefix"
	KindSpend    = "spend"
	KindEnd      = "end"
)

// An Entry is one line of a journal. Which fields are set depends on Kind, as the doc of
// guards.Journal says.
type Entry struct {
	Kind string    `json:"kind"`
	TS   time.Time `json:"ts"`
	Run  string    `json:"run"`
	// AttemptOf, in a run line, names what the run is an attempt of.
	AttemptOf string `json:"attempt_of"`
	Seq       uint64 `json:"seq"`

	Invocation string `json:"invocation"`
	Agent      string `json:"agent"`
	Step       string `json:"step"`
	Outcome    string `json:"outcome"`
	Guard      string `json:"guard"`
	Code       string `json:"code"`
	Reason     string `json:"reason"`
	Cause      string `json:"cause"`
	Stop       bool   `json:"stop"`
	MS         int64  `json:"ms"`

	Model    string `json:"model"`
	Served   string `json:"served"`
	Attempts int    `json:"attempts"`
	In       int64  `json:"tokens_in"`
	Out      int64  `json:"tokens_out"`
	Thinking int64  `json:"tokens_thinking"`
	Cached   int64  `json:"tokens_cached"`
	Landed   bool   `json:"landed"`

	Tool   string         `json:"tool"`
	CallID string         `json:"call_id"`
	Args   map[string]any `json:"args"`
	Error  bool           `json:"error"`

	What     string      `json:"what"`
	Calls    int         `json:"calls"`
	Refused  int         `json:"refused"`
	Reserved ledger.Nano `json:"reserved"`
	Charged  ledger.Nano `json:"charged"`

	Decision string         `json:"decision"`
	By       string         `json:"by"`
	Asked    time.Time      `json:"asked"`
	Answered time.Time      `json:"answered"`
	Always   map[string]any `json:"always"`

	Call   int    `json:"call"`
	Part   string `json:"part"`
	At     int    `json:"at"`
	Before string `json:"before"`
	After  string `json:"after"`

	Status     string `json:"status"`
	ModelCalls int    `json:"model_calls"`
	ToolCalls  int    `json:"tool_calls"`
	Refusals   int    `json:"refusals"`

	// Lines is how many lines were lost, in a lost record.
	Lines uint64 `json:"lines"`
}

// Start is when the step began.
func (e Entry) Start() time.Time { return e.TS.Add(-time.Duration(e.MS) * time.Millisecond) }

// A LineError is a line that can't be read.
type LineError struct {
	File string
	Line int
	Err  error
}

// Error implements error.
func (e *LineError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("journal: line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("journal: %s: line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Entries reads a journal line by line, chained or not. A line that can't be read comes
// as a [LineError] and the next is read; any other error ends it.
func Entries(r io.Reader) iter.Seq2[Entry, error] { return entries(rawLines(source{r: r})) }

// FileEntries is [Entries] for the files of a journal in their order; see [Files].
func FileEntries(paths ...string) iter.Seq2[Entry, error] { return entries(fileLines(paths)) }

func entries(lines iter.Seq[rawLine]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for l := range lines {
			e, err := entryOf(l)
			if !yield(e, err) {
				return
			}
		}
	}
}

func entryOf(l rawLine) (Entry, error) {
	var e Entry
	if l.err != nil && !errors.Is(l.err, ErrTornLine) && !errors.Is(l.err, ErrLongLine) {
		return e, l.err
	}
	err := l.err
	if err == nil {
		err = json.Unmarshal(l.data, &e)
	}
	if err == nil && e.Kind == "" {
		err = errors.New("no kind")
	}
	if err != nil {
		return Entry{}, &LineError{l.file, l.number, err}
	}
	return e, nil
}
