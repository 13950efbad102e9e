// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks"
)

// A Contract says how a guard is held against the laws of the chain.
type Contract struct {
	// Guard is the guard. Required.
	Guard callbacks.Guard
	// KeepsState says that the guard means to remember one run in the next, as a rate
	// limit does: runs need not go alike then.
	KeepsState bool
	// Timeout is for 64 runs side by side. Zero is a minute.
	Timeout time.Duration
}

// AssertContract holds a guard against the laws of the chain, whatever it is for, and
// reports each broken one by its name:
//
//	info      says what it needs, and the same each time
//	nil       bears empty requests, answers, arguments and results
//	shared    edits nothing nested in arguments, results, contents, parts and events, which
//	          ADK shares with the stored session
//	args      does not return the arguments it was given, which ADK takes for a result
//	secret    hands no text of an unexpected error on to a model
//	wrapper   keeps a tool's name, kind and nil result, and a model's name, and stops when
//	          its caller does
//	parallel  works in 64 runs side by side; under the race detector, without a race
//	run       keeps what it counts in the Run: the second run goes as the first
//	launched  works where nobody calls callbacks.Start as it does where somebody does
//	monitored counts and settles the same beside a monitored guard that would refuse all
//	leak      leaves no goroutine; a test beside it must not start any meanwhile
//
// That a panic in a hook refuses the step is the chain's own part.
func AssertContract(t testing.TB, guard callbacks.Guard) {
	t.Helper()
	Contract{Guard: guard}.Assert(t)
}

// Assert is [AssertContract] with options.
func (c Contract) Assert(t testing.TB) {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	a := &asserted{TB: t, Contract: c, g: c.Guard}
	if !a.info() {
		return // nothing can be attached
	}
	// A count that is kept outside the Run is used up by whatever calls the hooks, so that
	// later runs go alike: they come first. A guard that is meant to keep one has them last.
	if !c.KeepsState && !a.runs() {
		return
	}
	a.shared()
	a.nils()
	a.secrets()
	a.wrappers()
	if c.KeepsState {
		a.runs()
	}
}

type asserted struct {
	testing.TB
	Contract
	g callbacks.Guard
}

func (a *asserted) broken(law, format string, args ...any) {
	a.Helper()
	a.Errorf("guard %q breaks the law %q: %s", a.g.Name, law, fmt.Sprintf(format, args...))
}

// panics reports a panic in f as a breach of law.
func (a *asserted) panics(law, what string, f func()) {
	a.Helper()
	defer func() {
		if p := recover(); p != nil {
			a.Helper()
			a.broken(law, "%s panics: %v", what, p)
		}
	}()
	f()
}

// info reports whether the guard can be attached at all.
func (a *asserted) info() bool {
	a.Helper()
	if a.g.Name == "" {
		a.broken("info", "it has no name")
		return false
	}
	if a.g.Err != nil {
		a.broken("info", "its constructor failed: %v", a.g.Err)
		return false
	}
	if a.g.Info == nil {
		return true
	}
	ok := true
	a.panics("info", "Info", func() {
		info, again := a.g.Info(), a.g.Info()
		same := (info.Root == nil) == (again.Root == nil)
		info.Root, again.Root = nil, nil // functions are never deeply equal
		if !same || !reflect.DeepEqual(info, again) {
			a.broken("info", "it says one thing and then another")
		}
		for _, h := range info.Needs {
			if !slices.Contains(a.g.Hooks(), h) {
				ok = false
				a.broken("info", "it needs %s and has no such hook", h)
			}
		}
		if slices.Contains(info.After, a.g.Name) || slices.Contains(info.Wants, a.g.Name) {
			a.broken("info", "it stands in relation to itself")
		}
		for _, text := range slices.Concat(info.Limits, info.Tools, info.Only, info.Agents, []string{info.Fails + "."}) {
			if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\n\t") {
				a.broken("info", "the entry %q can't be printed in a table", text)
			}
		}
		if info.MaxCalls < 0 {
			a.broken("info", "%d calls at most", info.MaxCalls)
		}
	})
	return ok
}
