// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inspect has the words in which package callbacks describes a chain before it runs:
// the hooks of a guard, the explanation of a chain, and the problems of a set-up.
package inspect

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// A Hook names one field of a callbacks.Guard.
type Hook string

// The hooks of a guard.
const (
	OnUserMessage Hook = "on_user_message"
	BeforeRun     Hook = "before_run"
	AfterRun      Hook = "after_run"
	OnEvent       Hook = "on_event"
	BeforeAgent   Hook = "before_agent"
	AfterAgent    Hook = "after_agent"
	BeforeModel   Hook = "before_model"
	AfterModel    Hook = "after_model"
	OnModelError  Hook = "on_model_error"
	BeforeTool    Hook = "before_tool"
	AfterTool     Hook = "after_tool"
	OnToolError   Hook = "on_tool_error"
	Gate          Hook = "gate"
	WrapModel     Hook = "wrap_model"
	WrapTool      Hook = "wrap_tool"
	WrapAgent     Hook = "wrap_agent"
	Observe       Hook = "observe"

	ObserveMonitored Hook = "observe_monitored"
)

// A ProblemKind says what is wrong with a set-up.
type ProblemKind string

// The kinds of problem that callbacks.Check finds.
const (
	// Unguarded is an agent that calls a model with no chain around it.
	Unguarded ProblemKind = "unguarded"
	// Unknown is an agent, or a node of a graph, whose code can't be looked into.
	Unknown ProblemKind = "unknown"
	// Unbounded is an agent on which nothing counts model calls.
	Unbounded ProblemKind = "unbounded"
	// UncoveredTool is a tool whose calls no hook sees.
	UncoveredTool ProblemKind = "uncovered_tool"
	// UnguardedNode is a node of a graph that no chain stands around.
	UnguardedNode ProblemKind = "unguarded_node"
	// NoSuchTool and NoSuchAgent are names that nothing in the tree has.
	NoSuchTool  ProblemKind = "no_such_tool"
	NoSuchAgent ProblemKind = "no_such_agent"
	// Conflict is two guards that leave nothing to do between them.
	Conflict ProblemKind = "conflict"
	// Order is two guards whose order in different forms defeats one of them.
	Order ProblemKind = "order"
	// Unreachable is a limit that another one always hits first.
	Unreachable ProblemKind = "unreachable"
	// Idle is a guard without the guard it works with.
	Idle ProblemKind = "idle"
	// SplitAccount is one limit for the whole run that was made more than once.
	SplitAccount ProblemKind = "split_account"
	// Root is a guard of the runner that does not work under this root.
	Root ProblemKind = "wrong_root"
	// Repeated is a guard that stands on an agent twice.
	Repeated ProblemKind = "repeated"
)

// A Problem is one thing that callbacks.Check found. Guard is empty where it is about the
// agent.
type Problem struct {
	Kind  ProblemKind `json:"kind"`
	Agent string      `json:"agent"`
	Guard string      `json:"guard,omitempty"`
	Text  string      `json:"text"`
}

// String implements fmt.Stringer.
func (p Problem) String() string {
	if p.Guard == "" {
		return fmt.Sprintf("%s: agent %q: %s", p.Kind, p.Agent, p.Text)
	}
	return fmt.Sprintf("%s: agent %q, guard %q: %s", p.Kind, p.Agent, p.Guard, p.Text)
}

// An Explanation is what is active in a chain, in its order.
type Explanation struct {
	Guards   []Guard  `json:"guards"`
	Warnings []string `json:"warnings,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// A Guard is one line of an [Explanation].
type Guard struct {
	Name   string   `json:"name"`
	Hooks  []Hook   `json:"hooks"`
	Limits []string `json:"limits,omitempty"`
	Tools  []string `json:"tools,omitempty"`
	// Forms are the forms of attachment the guard works in: "agent", "plugin".
	Forms []string `json:"forms"`
	// Fails is which way the guard fails.
	Fails string `json:"fails"`
}

// String returns the explanation as a text table.
func (e Explanation) String() string {
	var sb strings.Builder
	w := tabwriter.NewWriter(&sb, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "#\tguard\tlimits\thooks\tforms\tfails")
	for i, g := range e.Guards {
		hooks := make([]string, len(g.Hooks))
		for j, h := range g.Hooks {
			hooks[j] = string(h)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", i+1, g.Name, strings.Join(g.Limits, "; "), strings.Join(hooks, " "), strings.Join(g.Forms, " "), g.Fails)
	}
	w.Flush()
	for _, warning := range e.Warnings {
		fmt.Fprintf(&sb, "warning: %s\n", warning)
	}
	if e.Error != "" {
		fmt.Fprintf(&sb, "error: %s\n", e.Error)
	}
	return sb.String()
}
