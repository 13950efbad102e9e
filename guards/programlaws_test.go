// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/guards/ledger"
)

// A violation is a law that a program broke, and how.
type violation struct{ law, how string }

// The laws. What is checked is what really happened: the calls that reached models and tools.
var programLaws = map[string]func(*outing, *testing.T) error{
	"no call over a limit":                        (*outing).limits,
	"no money over the limit or beside the books": (*outing).money,
	"a forbidden call does not reach its tool":    (*outing).forbidden,
	"no effect begins after Stop has returned":    (*outing).stops,
	"what is under way at a stop is finished":     (*outing).inFlight,
	"no masked value in any sink":                 (*outing).masked,
	lawReasons:                                    (*outing).reasons,
	"a run ends in time":                          (*outing).inTime,
	"the journal says what happened":              (*outing).journalled,
	"the outcome says what happened":              (*outing).outcome,
	"observers hear of each call that was made":   (*outing).observed,
	"a call that is said to be made was made":     (*outing).called,
}

// These are parts of laws, with names of their own.
const (
	lawReasons     = "no masked value in the reasons that observers get"
	lawWritten     = "no masked value in any sink, of what a foreign guard writes into state or arguments"
	lawPluginSteps = "observers of a plugin hear of each call that was made"
)

func (o *outing) judge(t *testing.T) []violation {
	t.Helper()
	var broken []violation
	for _, law := range slices.Sorted(maps.Keys(programLaws)) {
		if err := programLaws[law](o, t); err != nil {
			if law == "observers hear of each call that was made" && o.spec.Form == callbackstest.FormPlugin {
				law = lawPluginSteps
			}
			if law == "no masked value in any sink" && o.has("foreign", func(g programGuard) bool { return g.Leak && (g.Do == "state" || g.Do == "mutate") }) {
				law = lawWritten
			}
			broken = append(broken, violation{law, err.Error()})
		}
	}
	return broken
}

// has reports whether the program has a guard of a kind, of which is holds where it is given.
func (o *outing) has(kind string, is func(programGuard) bool) bool {
	return slices.ContainsFunc(o.spec.Guards, func(g programGuard) bool { return g.Kind == kind && (is == nil || is(g)) })
}

// count is how many calls a guard covers, of which is holds.
func (o *outing) count(g programGuard, is func(*effect) bool) int {
	n := 0
	for _, e := range o.effects {
		if g.covers(e.agent, e.tool) && is(e) {
			n++
		}
	}
	return n
}

func ofModel(e *effect) bool { return e.tool == "" }
func ofTool(e *effect) bool  { return e.tool != "" }
func ofThe(name string) func(*effect) bool {
	return func(e *effect) bool { return e.tool == name }
}

func atMost(what string, got, most int) error {
	if got > most {
		return fmt.Errorf("%d %s, %d are allowed", got, what, most)
	}
	return nil
}

func (o *outing) limits(*testing.T) error {
	var errs []error
	for _, g := range o.spec.Guards {
		switch g.Kind {
		case "call_budget":
			errs = append(errs, atMost("model calls", o.count(g, ofModel), g.N), atMost("tool calls", o.count(g, ofTool), g.M))
		case "run_call_budget":
			errs = append(errs, atMost("model calls", o.count(g, ofModel), g.N), atMost("calls of lookup", o.count(g, ofThe("lookup")), g.M))
		case "rate_limit":
			errs = append(errs, atMost("tool calls in a stretch of time", o.count(g, ofTool), g.N+int(float64(g.N)*o.took.Seconds())+1))
		case "model_rate":
			errs = append(errs, atMost("model calls in a stretch of time", o.count(g, ofModel), g.N+int(float64(g.N)*o.took.Minutes())+1))
		case "confirm":
			errs = append(errs, atMost("calls of pay", o.count(g, ofThe("pay")), int(o.approved.Load())))
		}
	}
	return errors.Join(errs...)
}

func (o *outing) money(t *testing.T) error {
	at := slices.IndexFunc(o.spec.Guards, func(g programGuard) bool { return g.Kind == "spend" })
	if at < 0 {
		return nil
	}
	b, err := o.ledger.Balance(t.Context(), "task")
	if errors.Is(err, ledger.ErrNoAccount) {
		return nil
	}
	billed := ledger.Nano(0)
	for name, sum := range o.billed {
		if o.spec.Guards[at].covers(name, "") {
			billed += sum
		}
	}
	pending, perr := o.ledger.Pending(t.Context(), "task")
	switch {
	case err != nil || perr != nil:
		return errors.Join(err, perr)
	case len(pending) > 0:
		return fmt.Errorf("%d reservations are not settled: %+v", len(pending), pending)
	case billed > b.Spent+b.Held:
		return fmt.Errorf("%s billed, %s booked", billed, b.Spent+b.Held)
	case b.Spent+b.Held > b.Limits.Hard || b.Overrun > 0:
		return fmt.Errorf("%s booked, %s over, of %s", b.Spent+b.Held, b.Overrun, b.Limits.Hard)
	}
	return nil
}

// forbidden looks at the arguments as the tool got them.
func (o *outing) forbidden(*testing.T) error {
	var errs []error
	for _, g := range o.spec.Guards {
		for _, e := range o.effects {
			who, _ := e.args["who"].(string)
			switch {
			case e.tool == "" || !g.covers(e.agent, e.tool):
			case g.Kind == "allow_tools" && !slices.Contains(allowedTools, e.tool),
				g.Kind == "args" && e.tool == "lookup" && !slices.Contains(wellFormed, who),
				g.Kind == "scope" && !slices.Contains(inScope, who):
				errs = append(errs, fmt.Errorf("%s: %s ran %s with %q", g.Kind, e.agent, e.tool, who))
			}
		}
	}
	return errors.Join(errs...)
}

func (o *outing) stops(*testing.T) error {
	if len(o.late) > 0 {
		return errors.New(strings.Join(o.late, ", "))
	}
	return nil
}

// cutOff reports whether calls may have been cancelled: the caller does that, and an agent
// that fails, to its siblings.
func (o *outing) cutOff() bool {
	failed := slices.ContainsFunc(o.seen, func(ev callbacks.Event) bool {
		return ev.Step != callbacks.StepTool && (ev.Outcome == callbacks.OutcomeFailed || ev.Outcome == callbacks.OutcomePanicked)
	})
	fails := o.has("finish", nil) || o.has("foreign", func(g programGuard) bool { return g.Do == "fail" })
	return failed || fails || o.cancelled || o.left || o.err != nil || o.took >= callerWaits
}

// inFlight: a budget that stops the run cuts no call off, nor does anything else but limits
// of time and stops that are not graceful.
func (o *outing) inFlight(*testing.T) error {
	if stop := o.run.Stopped(); stop != nil && stop.Code != codes.CallsExhausted {
		return nil
	}
	if o.cutOff() || o.has("deadline", nil) || o.has("route", nil) {
		return nil
	}
	for _, e := range o.effects {
		if e.gaveUp {
			return fmt.Errorf("call %d, of %s, was cut off", e.n, e.agent)
		}
	}
	return nil
}

func (o *outing) outcome(*testing.T) error {
	stop := o.run.Stopped()
	switch {
	case stop != nil:
		if o.end.Code != stop.Code || o.stopped.Load() && o.end.Code == "enough" && o.end.Status != callbacks.StatusDenied {
			return fmt.Errorf("stopped with %s, the outcome is %+v", stop.Code, o.end)
		}
	case o.stopped.Load() && !o.spec.Launched:
		return errors.New("stopped, and the Run says that it is not")
	case o.spec.Launched:
	case o.err != nil:
		ends := []callbacks.Status{callbacks.StatusFailed}
		if o.cancelled {
			ends = append(ends, callbacks.StatusInterrupted)
		}
		if o.took >= callerWaits {
			ends = append(ends, callbacks.StatusTimeExhausted)
		}
		if !slices.Contains(ends, o.end.Status) {
			return fmt.Errorf("the error %w, the outcome %+v", o.err, o.end)
		}
	case o.end.Status == callbacks.StatusInterrupted && !o.cancelled && !o.left:
		return fmt.Errorf("nobody interrupted it: %+v", o.end)
	}
	return nil
}
