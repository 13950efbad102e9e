// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// An Explanation says what a chain does, guard by guard in the order they run.
type Explanation struct {
	Guards   []GuardExplanation `json:"guards"`
	Warnings []string           `json:"warnings,omitempty"`
	Error    string             `json:"error,omitempty"`
}

// A GuardExplanation is one line of an [Explanation].
type GuardExplanation struct {
	Name   string   `json:"name"`
	Hooks  []Hook   `json:"hooks"`
	Limits []string `json:"limits,omitempty"`
	Tools  []string `json:"tools,omitempty"`
	// Forms are the forms of attachment the guard works in: "agent", "plugin".
	Forms []string `json:"forms"`
	// Fails is which way the guard fails.
	Fails string `json:"fails"`
}

// Explain returns what is active, in which order, with which limits, and in
// which forms of attachment.
func (c *Chain) Explain() Explanation {
	e := Explanation{Warnings: c.Warnings()}
	if err := c.Err(); err != nil {
		e.Error = err.Error()
	}
	for _, g := range c.Guards() {
		info := g.info()
		ge := GuardExplanation{Name: g.Name, Hooks: g.Hooks(), Limits: info.Limits, Tools: info.Tools, Fails: info.Fails}
		for _, form := range []string{formAgent, formPlugin} {
			if checkForm([]Guard{g}, form) == nil {
				ge.Forms = append(ge.Forms, form)
			}
		}
		e.Guards = append(e.Guards, ge)
	}
	return e
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

// Warnings returns what is allowed but probably not meant: hooks that a form of
// attachment leaves out, guards that stand twice.
func (c *Chain) Warnings() []string {
	var warnings []string
	guards := c.Guards()
	for i, g := range guards {
		if slices.ContainsFunc(guards[:i], func(o Guard) bool { return same(o, g) }) {
			warnings = append(warnings, fmt.Sprintf("guard %q stands in the chain more than once", g.Name))
		}
		needs := g.info().Needs
		for _, form := range []string{formAgent, formPlugin} {
			for _, h := range g.Hooks() {
				if infoOf(h).missing == form && !slices.Contains(needs, h) {
					warnings = append(warnings, fmt.Sprintf("guard %q: %s does not run in the form %q", g.Name, h, form))
				}
			}
		}
	}
	return warnings
}
