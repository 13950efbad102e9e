// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package line holds the one form of a line of a journal: guards.Journal writes a [Line], package
// guards/journal chains, reads, verifies and counts it. It knows no ADK.
package line

import (
	"encoding/json"
	"time"
)

// A Line is one line of a journal. Which fields it has depends on Kind; those of other kinds are
// zero and not written.
//
// A field that comes later is one field here and its name in the kinds of forms, in forms.go:
// writers, readers and the tests of every kind have it then. Its name ends in "?" there, so that
// lines without it read and are written as before. A line that has fields unknown here, of a
// later version, can be read: they are passed over, and verified with the rest of its bytes.
type Line struct {
	Kind string    `json:"kind"`
	TS   time.Time `json:"ts"`
	Run  string    `json:"run"`
	// AttemptOf, in a run line, names what the run is an attempt of.
	AttemptOf string `json:"attempt_of"`

	Invocation string `json:"invocation"`
	Agent      string `json:"agent"`
	// Step is what was refused: model, tool or agent.
	Step    string `json:"step"`
	Outcome string `json:"outcome"`
	Guard   string `json:"guard"`
	Code    string `json:"code"`
	Reason  string `json:"reason"`
	Cause   string `json:"cause"`
	Stop    bool   `json:"stop"`
	// MS is how long the step took, in milliseconds.
	MS int64 `json:"ms"`

	Model    string `json:"model"`
	Served   string `json:"served"`
	Attempts int    `json:"attempts"`
	In       int64  `json:"tokens_in"`
	Out      int64  `json:"tokens_out"`
	Thinking int64  `json:"tokens_thinking"`
	Cached   int64  `json:"tokens_cached"`
	Landed   bool   `json:"landed"`

	Tool   string `json:"tool"`
	CallID string `json:"call_id"`
	// Args are the arguments as they were written, masked.
	Args  json.RawMessage `json:"args"`
	Error bool            `json:"error"`

	// What is the model or the paid tool of a spend line.
	What      string `json:"what"`
	Calls     int    `json:"calls"`
	Refused   int    `json:"refused"`
	Estimated Amount `json:"estimated"`
	Reserved  Amount `json:"reserved"`
	Charged   Amount `json:"charged"`
	Overrun   Amount `json:"overrun"`

	Decision string    `json:"decision"`
	By       string    `json:"by"`
	Asked    time.Time `json:"asked"`
	Answered time.Time `json:"answered"`
	// Always are the arguments for which the decision holds, as they were written, masked.
	Always json.RawMessage `json:"always"`

	Call   int    `json:"call"`
	Part   string `json:"part"`
	At     int    `json:"at"`
	Before string `json:"before"`
	After  string `json:"after"`

	Status     string `json:"status"`
	ModelCalls int    `json:"model_calls"`
	ToolCalls  int    `json:"tool_calls"`
	Refusals   int    `json:"refusals"`

	// Format, Recovered and Torn are those of an open record.
	Format    string `json:"format"`
	Recovered bool   `json:"recovered"`
	Torn      int64  `json:"torn"`
	// Lines is how many lines were lost, in a lost record; Lost is all of them, in a closing one.
	Lines     uint64 `json:"lines"`
	Lost      uint64 `json:"lost"`
	Continues bool   `json:"continues"`

	// Seq, Prev and Sum are the line's link in a chain. A line that is not in one has none.
	Seq  uint64 `json:"seq"`
	Prev string `json:"prev"`
	Sum  string `json:"sum"`
}

// Start is when the step began.
func (l Line) Start() time.Time { return l.TS.Add(-time.Duration(l.MS) * time.Millisecond) }
