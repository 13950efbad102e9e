// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"fmt"
	"slices"

	"github.com/gardefou/gardefou/callbacks/inspect"
)

// Explain returns what is active, in which order, with which limits, and in
// which forms of attachment.
func (c *Chain) Explain() inspect.Explanation {
	e := inspect.Explanation{Warnings: c.Warnings()}
	if err := c.Err(); err != nil {
		e.Error = err.Error()
	}
	for _, g := range c.Guards() {
		info := g.info()
		ge := inspect.Guard{Name: g.Name, Hooks: g.Hooks(), Limits: info.Limits, Tools: info.Tools, Fails: info.Fails}
		for _, form := range []string{formAgent, formPlugin} {
			if checkForm([]Guard{g}, form) == nil {
				ge.Forms = append(ge.Forms, form)
			}
		}
		e.Guards = append(e.Guards, ge)
	}
	return e
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
