// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/internal/text"
)

// A Run holds what one run of an agent tree must remember and nobody may forge:
// counters, records, whether it was stopped. It travels in the context, which
// reaches parallel branches and agents used as tools; session state does
// neither safely. A Run is safe for concurrent use.
type Run struct {
	id     string
	lang   text.Lang
	values sync.Map // *keyID or internal key types -> value

	stopped atomic.Pointer[stop]
	landed  atomic.Bool
	// short is why an agent was cut short while the Run went on.
	short atomic.Pointer[stop]

	mu       sync.Mutex
	failure  error
	onClose  []func()
	closed   bool
	refusals map[string]*Refusal // texts of refused model steps, as rendered
	pending  int                 // tool calls that wait for an approval
	last     time.Time           // last use, for the registry
}

type stop struct {
	agent, guard string
	refusal      *Refusal
}

// StartOptions are the options of [StartWith].
type StartOptions struct {
	// Lang is the language of texts for people and models: "en" or "fr". A locale
	// such as "fr_FR.UTF-8" is understood; empty means English.
	Lang string
}

type runKey struct{}

// Start returns a context that carries a new Run. Close the Run when the run is
// over.
func Start(ctx context.Context) (context.Context, *Run) { return StartWith(ctx, StartOptions{}) }

// StartWith is [Start] with options.
func StartWith(ctx context.Context, o StartOptions) (context.Context, *Run) {
	run := newRun()
	run.lang = text.Parse(o.Lang)
	return run.Context(ctx), run
}

func newRun() *Run { return &Run{id: rand.Text(), refusals: make(map[string]*Refusal)} }

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

// Lang returns the language of ctx's Run: "en" or "fr". Without a Run it is "en".
func Lang(ctx context.Context) string { return string(langOf(RunOf(ctx))) }

func langOf(run *Run) text.Lang {
	if run == nil || run.lang == "" {
		return text.English
	}
	return run.lang
}

// Lang returns the language of the Run: "en" or "fr".
func (r *Run) Lang() string { return string(langOf(r)) }

// Stopped returns the refusal that stopped the Run, or nil.
func (r *Run) Stopped() *Refusal {
	if s := r.stopped.Load(); s != nil {
		return s.refusal
	}
	return nil
}

// Stop stops the Run from outside a hook: every later step of it is refused with
// this refusal. The first stop wins; Stop reports whether this one did.
func (r *Run) Stop(refusal *Refusal) bool { return r.stop("", "", refusal) }

func (r *Run) stop(agent, guard string, refusal *Refusal) bool {
	if refusal.scope != scopeRun {
		all := *refusal
		all.scope = scopeRun
		refusal = &all
	}
	return r.stopped.CompareAndSwap(nil, &stop{agent: agent, guard: guard, refusal: refusal})
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

// Events passes on the events of a runner and ends when the Run was stopped: steps
// in flight finish, so that every call is answered and the stored history stays one
// a provider accepts, but no agent can go round an endless loop of refusals. It does
// not end at a denied call, an ended agent or a failed branch.
//
// Use it around Runner.Run:
//
//	for ev, err := range run.Events(r.Run(ctx, user, session, msg, cfg)) { … }
func (r *Run) Events(events iter.Seq2[*session.Event, error]) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		open := make(map[string]struct{})
		idle, after := 0, 0
		for ev, err := range events {
			if err != nil {
				r.fail(err)
			}
			answerCalls(open, ev)
			if !yield(ev, err) {
				return
			}
			if r.stopped.Load() == nil {
				continue
			}
			if saysNothing(ev) {
				idle++
			}
			// The second bound is for a call that is never answered, that of a
			// long-running tool say.
			if after++; idle >= maxIdleEvents && len(open) == 0 || after >= maxEventsAfterStop {
				return
			}
		}
	}
}

const (
	maxIdleEvents      = 8
	maxEventsAfterStop = 1000
)

// saysNothing reports whether an event is what a refused agent leaves: no work.
func saysNothing(ev *session.Event) bool {
	return ev == nil || ev.Content == nil || len(ev.Content.Parts) == 0 || IsRefusalEvent(ev)
}

func answerCalls(open map[string]struct{}, ev *session.Event) {
	if ev == nil || ev.Partial || ev.Content == nil {
		return
	}
	for _, p := range ev.Content.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			open[p.FunctionCall.ID] = struct{}{}
		case p.FunctionResponse != nil:
			delete(open, p.FunctionResponse.ID)
		}
	}
	for _, id := range ev.LongRunningToolIDs {
		delete(open, id)
	}
}

func (r *Run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
}

// Status is how a Run ended: a closed set.
type Status string

// The statuses of a Run. Landed is done, with an agent that had to answer on the last
// call it had.
const (
	StatusDone            Status = "done"
	StatusLanded          Status = "landed"
	StatusCallsExhausted  Status = "calls_exhausted"
	StatusTokensExhausted Status = "tokens_exhausted"
	StatusTimeExhausted   Status = "time_exhausted"
	StatusBudgetExhausted Status = "budget_exhausted"
	StatusLoopDetected    Status = "loop_detected"
	StatusDenied          Status = "denied"
	StatusFailed          Status = "failed"
	StatusInterrupted     Status = "interrupted"
)

// statusOf maps a refusal to the status of what it ends: the one it says itself, a code
// that is a status, else "denied".
func statusOf(r *Refusal) Status {
	if r.status != "" {
		return r.status
	}
	switch s := Status(r.Code); s {
	case StatusCallsExhausted, StatusTokensExhausted, StatusTimeExhausted, StatusBudgetExhausted, StatusLoopDetected, StatusFailed, StatusInterrupted:
		return s
	default:
		return StatusDenied
	}
}

// Result is how a Run ended and why.
type Result struct {
	Status Status
	// Agent and Guard are where a stop was decided; empty otherwise.
	Agent string
	Guard string
	Code  string
	// Reason is the reason with its figures.
	Reason string
	// Err is the error that ended the Run, if one did.
	Err error
}

// Outcome returns how the Run stands now; after the run, how it ended.
func (r *Run) Outcome() Result {
	if s := r.stopped.Load(); s != nil {
		return s.result()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failure == nil && r.short.Load() != nil:
		return r.short.Load().result()
	case r.failure == nil && r.landed.Load():
		return Result{Status: StatusLanded}
	case r.failure == nil:
		return Result{Status: StatusDone}
	case errors.Is(r.failure, context.Canceled):
		return Result{Status: StatusInterrupted, Err: r.failure}
	case errors.Is(r.failure, context.DeadlineExceeded):
		return Result{Status: StatusTimeExhausted, Err: r.failure}
	default:
		return Result{Status: StatusFailed, Err: r.failure}
	}
}

func (s *stop) result() Result {
	return Result{
		Status: statusOf(s.refusal), Agent: s.agent, Guard: s.guard,
		Code: s.refusal.Code, Reason: s.refusal.reason(), Err: s.refusal.Unwrap(),
	}
}

func (r *Run) rememberRefusal(rendered string, refusal *Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals[rendered] = refusal
}

func (r *Run) refusalFor(rendered string) *Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusals[rendered]
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
