// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
)

const confirmName = "confirm"

// defaultApprovalTimeout is how long [Confirm] waits for a person.
const defaultApprovalTimeout = 10 * time.Minute

// A Question is what a person is asked before a tool runs.
type Question struct {
	// ID is random and good for one answer.
	ID string `json:"id"`
	// Call names the tool and its arguments: calls that are equal have equal names,
	// whatever the order of keys.
	Call string `json:"call"`

	Run    string `json:"run"`
	Agent  string `json:"agent"`
	Tool   string `json:"tool"`
	CallID string `json:"call_id"`
	// Args are a copy of the arguments the tool will run with.
	Args map[string]any `json:"args"`
	// Always are the arguments that an answer with Always set is bound to.
	Always map[string]any `json:"always"`
	// Lang is the language of the Run, "en" or "fr".
	Lang  string    `json:"lang"`
	Asked time.Time `json:"asked"`
	// Until is when the question times out.
	Until time.Time `json:"until"`
}

// Answer returns the answer to q of the person named by.
func (q Question) Answer(approved bool, by string) Answer {
	return Answer{Question: q.ID, Call: q.Call, Approved: approved, By: by}
}

// An Answer is what a person said. It is valid for the one question whose ID and Call it
// repeats.
type Answer struct {
	Question string `json:"question"`
	Call     string `json:"call"`
	Approved bool   `json:"approved"`
	// Always approves later calls of the tool in this Run as well, those with the
	// arguments in Question.Always. It says nothing where Approved is false.
	Always bool `json:"always,omitempty"`
	// By is who decided, for the journal.
	By string `json:"by"`
}

// An Approver asks a person. Ask blocks until there is an answer, or until ctx is done,
// whose error it then returns. It is called by many goroutines at once. Package approvers
// has a terminal, a webhook and a script for tests.
type Approver interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// ConfirmOptions are the options of [Confirm].
type ConfirmOptions struct {
	// Approver asks. Required.
	Approver Approver
	// Tools are the tools that need an approval. Empty means all, and needs When.
	Tools []string
	// When says, by the arguments say, which calls of Tools need an approval. It must not
	// change them. Nil means all.
	When func(callbacks.Step) bool
	// Timeout is how long to wait for a person. Zero is ten minutes; negative is an error.
	Timeout time.Duration
	// AlwaysArgs names the arguments whose values an answer with Always is bound to. Nil
	// binds it to all of them; an empty list to none, so that it covers the tool whatever
	// its arguments. Keys that differ from a name in case alone are meant too.
	AlwaysArgs []string
}

// Confirm has a person approve each call of the named tools before it runs. The call
// waits: the approver is asked inside the tool, so that it works for any agent of any
// tree, also where ADK's own confirmation loses the call. An approval is good for one
// question, for this tool with these arguments; an answer to another question, to one
// that was answered before, or with other arguments is refused. What was decided, by whom
// and when, is in [RunRecords.Decisions] and in the journal.
//
// Where [Redact] put tokens into the arguments, before it or after it, the person sees the
// values, and a call whose values are gone is refused unasked.
//
// It fails closed: no answer in time, a failing approver, a cancelled context, and the
// tool does not run. The model reads that it was refused, not why. A call that a person
// rejected has used its slot of a budget of tool calls, and the wait counts in a budget of
// time. It does not bind the tool: what that does with its arguments, nobody approved.
//
// Use it when a person has to decide before a tool runs; use [ConfirmByADK] where a front end
// speaks ADK's confirmation, [Args] where a rule can decide.
func Confirm(approver Approver, tools ...string) callbacks.Guard {
	return ConfirmOptions{Approver: approver, Tools: tools}.Guard()
}

// Guard returns the guard that [Confirm] describes, with these options.
func (o ConfirmOptions) Guard() callbacks.Guard {
	if err := o.check(); err != nil {
		return callbacks.Guard{Name: confirmName, Err: err}
	}
	if o.Timeout == 0 {
		o.Timeout = defaultApprovalTimeout
	}
	o.Tools = slices.Clone(o.Tools)
	c := &confirm{o: o, key: callbacks.NewKey(newStanding)}
	return callbacks.Guard{
		Name:     confirmName,
		WrapTool: func(t tool.Tool) tool.Tool { return c.wrapTool(t) },
		Info: func() callbacks.Info {
			which := "all tools"
			if len(o.Tools) > 0 {
				which = strings.Join(o.Tools, ", ")
			}
			return callbacks.Info{OnlyJudges: true, Limits: []string{fmt.Sprintf("a person approves %s within %v", which, o.Timeout)}, Tools: o.Tools}
		},
	}
}

func (o ConfirmOptions) check() error {
	var errs []error
	if o.Approver == nil {
		errs = append(errs, errors.New("guards: Confirm without an approver"))
	}
	if len(o.Tools) == 0 && o.When == nil {
		errs = append(errs, errors.New("guards: Confirm: name tools, or say When"))
	}
	if slices.Contains(o.Tools, "") {
		errs = append(errs, errors.New("guards: Confirm: a tool without a name"))
	}
	if o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("guards: Confirm: timeout %v", o.Timeout))
	}
	return errors.Join(errs...)
}
