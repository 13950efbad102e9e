// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/internal/text"
)

const loopName = "loop"

// defaultRepeats is the identical call that [Loop] refuses.
const defaultRepeats = 3

// LoopOptions are the options of [Loop].
type LoopOptions struct {
	// Repeats is the identical call that is refused before it runs; the one after it ends
	// the agent. Zero means 3; less than 2 otherwise is an error.
	Repeats int
	// Window looks for Repeats identical calls among the last Window calls, with others
	// in between. Zero means calls in a row; otherwise it must not be less than Repeats.
	Window int
	// Strict looks at tool and arguments alone, whatever the results, and ends the agent
	// at the call that would else be refused.
	Strict bool
	// Scope is what a loop ends. Zero is ScopeAgent, the agent; ScopeRun stops the Run,
	// whose status is then "loop_detected".
	Scope BudgetScope
	// Store is where the calls are remembered. Nil is the Run's memory. Where the store
	// fails the call is refused; see [counters.Fallback].
	Store counters.Store
	// RunKey names the Run towards Store, as in [CallBudgetOptions].
	RunKey func(context.Context) (string, error)
}

// Loop stops an agent that makes the same call over and over: same tool, same
// arguments, whatever the order of their keys. The third such call in a row is refused
// before it runs, if the results so far were the same or are still to come; the model
// reads so and can do something else. A fourth ends the agent. Calls of tools that do not exist count
// too. Polling whose result changes is no loop.
//
// Each agent has its own history of one invocation, also where a loop runs it again. It
// does not see a loop whose arguments change a little each time; [CallBudget] ends that
// one. It fails closed.
//
// Use it when a model tends to repeat itself; [CallBudget] ends every other way of going on
// for ever.
func Loop() callbacks.Guard { return LoopOptions{}.Guard() }

// Guard returns the guard that [Loop] describes, with these options.
func (o LoopOptions) Guard() callbacks.Guard {
	var errs []error
	if o.Repeats == 0 {
		o.Repeats = defaultRepeats
	}
	if o.Repeats < 2 {
		errs = append(errs, fmt.Errorf("guards: Loop: Repeats is %d, it must be at least 2: the first call repeats none", o.Repeats))
	}
	if o.Window != 0 && o.Window < o.Repeats {
		errs = append(errs, fmt.Errorf("guards: Loop: Window is %d, it must be at least Repeats, which is %d", o.Window, o.Repeats))
	}
	if o.Scope != ScopeAgent && o.Scope != ScopeRun {
		errs = append(errs, fmt.Errorf("guards: Loop: Scope is %d, it must be ScopeAgent or ScopeRun", o.Scope))
	}
	l := &loop{o: o, key: callbacks.NewPlaceKey(newMadeCalls).Lasting()}
	return callbacks.Guard{
		Name: loopName,
		Err:  errors.Join(errs...),
		BeforeTool: func(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
			return nil, l.check(ctx, t.Name(), args)
		},
		OnToolError: func(ctx agent.Context, t tool.Tool, args map[string]any, _ error) (map[string]any, error) {
			if !unknownTool(t) {
				return nil, nil
			}
			return nil, l.check(ctx, t.Name(), args)
		},
		Observe: l.observe,
		Info: func() callbacks.Info {
			limit := fmt.Sprintf("identical call %d in a row", o.Repeats)
			if o.Window > 0 {
				limit = fmt.Sprintf("identical call %d in %d", o.Repeats, o.Window)
			}
			if o.Strict {
				limit += ", whatever the results"
			}
			return callbacks.Info{OnlyJudges: true, Limits: []string{limit}, Needs: []inspect.Hook{inspect.BeforeTool, inspect.Observe}}
		},
	}
}

type loop struct {
	o   LoopOptions
	key *callbacks.PlaceKey[*madeCalls]
}

// madeCalls are what one process knows of one agent's calls; the history is in the store.
type madeCalls struct {
	mu    sync.Mutex
	local *counters.Memory
	next  int
	// open are the ids of calls that have not come back, waiting those that wait for a
	// person's approval and will come by again.
	open    map[toolCall][]string
	waiting map[toolCall]bool
}

func newMadeCalls() *madeCalls {
	return &madeCalls{
		local: counters.NewMemoryWith(counters.MemoryOptions{TTL: -1}),
		open:  make(map[toolCall][]string), waiting: make(map[toolCall]bool),
	}
}

// refusedCall is the result of a call that Loop refused: it is like any other's.
const refusedCall = "refused"

// check remembers a call and returns why it must not be made, or nil.
func (l *loop) check(ctx agent.Context, name string, args map[string]any) error {
	plain := contextOf(ctx)
	p, c := callbacks.PlaceOf(ctx), toolCall{tool: name}
	r := l.key.At(plain, p)
	if ctx != nil {
		c.id = ctx.FunctionCallID()
	}
	id, again := r.begin(p, c)
	if again {
		return nil
	}
	store, key, err := l.history(plain, r, p)
	if err != nil {
		return l.broken(plain, err)
	}
	keep := l.o.Repeats + 1
	if l.o.Window > 0 {
		keep = l.o.Window
	}
	history, err := store.Push(plain, key, counters.Entry{ID: id, Call: fingerprint(name, args)}, keep)
	if err != nil {
		return l.broken(plain, err)
	}
	n, refused := l.repeats(history)
	if n < l.o.Repeats {
		return nil
	}
	if err := store.Settle(plain, key, id, refusedCall); err != nil {
		return l.broken(plain, err)
	}
	r.end(c)
	detail := fmt.Sprintf("%s: identical call %d", cut(name), n)
	// A call at the same moment may not be noted as refused yet: then there are more.
	if n == l.o.Repeats && !refused && !l.o.Strict {
		return callbacks.Deny(codes.RepeatedCall, text.Get(langOf(plain), text.LoopRepeated, n-1)).WithDetail(detail)
	}
	if l.o.Scope == ScopeRun {
		return callbacks.Stop(codes.LoopDetected, text.Get(langOf(plain), text.LoopStopped)).Graceful().WithDetail(detail)
	}
	return callbacks.End(codes.LoopDetected, text.Get(langOf(plain), text.LoopEnded)).WithDetail(detail)
}

func (l *loop) broken(ctx context.Context, err error) error {
	return callbacks.Deny(codes.CountersFailed, text.Get(langOf(ctx), text.LoopBroken)).WithCause(err)
}

// repeats counts the calls that are the newest over again, itself included, and reports
// whether one of them was refused.
func (l *loop) repeats(calls []counters.Entry) (n int, refused bool) {
	newest := calls[len(calls)-1]
	n = 1
	result := ""
	for i := len(calls) - 2; i >= 0; i-- {
		e := calls[i]
		same := e.Call == newest.Call
		if same && !l.o.Strict && e.Result != "" && e.Result != refusedCall {
			if result != "" && e.Result != result {
				return n, refused // the result changed here
			}
			result = e.Result
		}
		switch {
		case same:
			n++
			refused = refused || e.Result == refusedCall
		case l.o.Window == 0:
			return n, refused
		}
	}
	return n, refused
}

func (l *loop) history(ctx context.Context, r *madeCalls, p callbacks.Place) (counters.Store, string, error) {
	place := fmt.Sprintf("loop:%q/%q", p.Branch, p.Agent)
	if l.o.Store == nil {
		return r.local, place, nil
	}
	id := "none"
	if run := callbacks.RunOf(ctx); run != nil {
		id = run.ID()
	}
	if l.o.RunKey != nil {
		var err error
		if id, err = l.o.RunKey(ctx); err != nil {
			return nil, "", fmt.Errorf("guards: Loop: naming the run: %w", err)
		}
	}
	return l.o.Store, "run:" + id + ":" + place, nil
}

// begin gives a call an id; again says that it has one and was checked already.
func (r *madeCalls) begin(p callbacks.Place, c toolCall) (id string, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[c] {
		delete(r.waiting, c)
		return "", true
	}
	r.next++
	id = fingerprint(p.Invocation, p.Branch, p.Agent, c.id, c.tool) + strconv.Itoa(r.next)
	r.open[c] = append(r.open[c], id)
	return id, false
}

// end returns the id of an open call and forgets it; empty where there is none.
func (r *madeCalls) end(c toolCall) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := r.open[c]
	if len(ids) == 0 {
		return ""
	}
	id := ids[len(ids)-1]
	if r.open[c] = ids[:len(ids)-1]; len(ids) == 1 {
		delete(r.open, c)
	}
	return id
}

// observe notes what came back. A store that fails now leaves the call pending, which
// counts as the same result.
func (l *loop) observe(ctx context.Context, ev callbacks.Event) {
	if ev.Step != callbacks.StepTool {
		return
	}
	r, c := l.key.At(ctx, ev.Place()), toolCall{ev.CallID, ev.Tool}
	if ev.Outcome == callbacks.OutcomePending {
		if !ev.Called {
			r.mu.Lock()
			r.waiting[c] = true
			r.mu.Unlock()
		}
		return
	}
	id := r.end(c)
	if id == "" {
		return
	}
	if store, key, err := l.history(ctx, r, ev.Place()); err == nil {
		_ = store.Settle(withoutCancel(ctx), key, id, fingerprint(ev.Result))
	}
}
