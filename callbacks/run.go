// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gardefou/gardefou/internal/text"
)

// A Run holds what one run of an agent tree must remember and nobody may forge:
// counters, records, whether it was stopped. It travels in the context, which
// reaches parallel branches and agents used as tools; session state does
// neither safely. A Run is safe for concurrent use.
type Run struct {
	id     string
	lang   text.Lang
	values sync.Map // *Key -> value

	stopped atomic.Pointer[stop]
	landed  atomic.Bool
	// short is why an agent was cut short while the Run went on.
	short atomic.Pointer[stop]

	mu      sync.Mutex
	failure error
	// ended is how the caller's context stood at the time of failure.
	ended *callerEnd
	// callers are the contexts that the run was started with: the one given to Start, and
	// the one that the first hook had, which may have got a deadline since.
	callers []context.Context
	line    mainLine
	onClose []func()
	closed  bool
	// refusals are texts of refused model steps, as rendered, after refusalsBefore.
	refusals, refusalsBefore map[string]*Refusal
	open                     map[any]openStep // by *modelStep or *toolStep
	places                   map[Place]*work
	// waiting counts the tool calls of an invocation that wait for an approval.
	waiting map[string]int
	// over are the invocations that may be, the newest last.
	over []string
	poor []poorAnswer
	last time.Time // last use, for the registry
}

type stop struct {
	agent, guard string
	refusal      *Refusal
}

// StartOptions are the options of [Start].
type StartOptions struct {
	// Lang is the language of texts for people and models: "en" or "fr". A locale
	// such as "fr_FR.UTF-8" is understood; empty means English.
	Lang string
}

type runKey struct{}

// Start returns a context that carries a new Run. Close the Run when the run is
// over.
func Start(ctx context.Context) (context.Context, *Run) { return StartOptions{}.Start(ctx) }

// Start is the function [Start] with these options.
func (o StartOptions) Start(ctx context.Context) (context.Context, *Run) {
	run := newRun()
	run.lang = text.Parse(o.Lang)
	run.callers = []context.Context{ctx}
	return run.Context(ctx), run
}

func newRun() *Run {
	return &Run{id: rand.Text(), refusals: make(map[string]*Refusal), places: make(map[Place]*work), waiting: make(map[string]int)}
}

// ID returns the random identifier of this Run, for journals.
func (r *Run) ID() string { return r.id }

// Context returns ctx with this Run in place of any other.
func (r *Run) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

// RunOf returns the Run that ctx belongs to. Where nobody called [Start], as
// under ADK's own launcher, it is the Run kept for ctx's invocation id; a
// context with neither has no Run and gives nil.
func RunOf(ctx context.Context) *Run {
	if ctx == nil {
		return nil
	}
	if run, ok := ctx.Value(runKey{}).(*Run); ok {
		return run
	}
	if inv, ok := ctx.(interface{ InvocationID() string }); ok {
		if id := inv.InvocationID(); id != "" {
			return runs.get(id)
		}
	}
	return nil
}

func langOf(run *Run) text.Lang {
	if run == nil || run.lang == "" {
		return text.English
	}
	return run.lang
}

// Lang returns the language of the Run: "en" or "fr". A nil Run has "en".
func (r *Run) Lang() string { return string(langOf(r)) }

// Stopped returns the refusal that stopped the Run, or nil.
func (r *Run) Stopped() *Refusal {
	if s := r.stopped.Load(); s != nil {
		return s.refusal
	}
	return nil
}

// Stop stops the Run from outside a hook: no effect of it, a call of a model or a run of a
// tool, begins once Stop returned, every later step is refused with this refusal, what waits
// ends with it, and the contexts of what is in flight are cancelled. A [Refusal.Graceful] stop
// lets the steps that have begun finish. The first stop wins, but one that is not graceful
// takes the place of one that is; Stop reports whether this one counts.
func (r *Run) Stop(refusal *Refusal) bool { return r.stop("", "", refusal) }

func (r *Run) stop(agent, guard string, refusal *Refusal) bool {
	if refusal.scope != scopeRun {
		all := *refusal
		all.scope, all.graceful = scopeRun, true
		refusal = &all
	}
	st := &stop{agent: agent, guard: guard, refusal: refusal}
	for !r.stopped.CompareAndSwap(nil, st) {
		before := r.stopped.Load()
		if !before.refusal.graceful || refusal.graceful {
			return false
		}
		if r.stopped.CompareAndSwap(before, st) {
			break
		}
	}
	for _, e := range r.openEffects() {
		e.stop(refusal)
	}
	return true
}

// OnClose registers f to be called once when the Run is closed, after those
// registered later. On a closed Run f is called at once.
func (r *Run) OnClose(f func()) {
	r.mu.Lock()
	if !r.closed {
		r.onClose = append(r.onClose, f)
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	f()
}

// Close ends the Run and runs what was registered with OnClose. It may be called
// more than once.
func (r *Run) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	fs := r.onClose
	r.onClose = nil
	r.mu.Unlock()
	for i := len(fs) - 1; i >= 0; i-- {
		fs[i]()
	}
}

func (r *Run) rememberRefusal(rendered string, refusal *Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.refusals) >= mostRefusals {
		r.refusals, r.refusalsBefore = make(map[string]*Refusal), r.refusals
	}
	r.refusals[rendered] = refusal
}

// mostRefusals is how many texts of refusals are kept at least, and twice as many at most: a
// text that is asked for has just been given out.
const mostRefusals = 128

func (r *Run) refusalFor(rendered string) *Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	if refusal, ok := r.refusals[rendered]; ok {
		return refusal
	}
	return r.refusalsBefore[rendered]
}

// A Key names one value that every Run has for itself: a counter, a record.
// Declare keys as package variables with [NewKey].
type Key[T any] struct{ make func() T }

// NewKey returns a key whose value is made by mk the first time a Run is asked
// for it. mk may be called more than once under a race; one result is kept.
func NewKey[T any](mk func() T) *Key[T] { return &Key[T]{make: mk} }

// Of returns the value of the Run that ctx belongs to. Without a Run it returns a
// fresh value that nobody else sees.
func (k *Key[T]) Of(ctx context.Context) T { return k.In(RunOf(ctx)) }

// In returns the value in run; a nil run gives a fresh value.
func (k *Key[T]) In(run *Run) T {
	if run == nil {
		return k.make()
	}
	if v, ok := run.values.Load(k); ok {
		return v.(T)
	}
	v, _ := run.values.LoadOrStore(k, k.make())
	return v.(T)
}
