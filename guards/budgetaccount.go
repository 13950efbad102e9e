// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"

	"google.golang.org/adk/v2/agent"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/counters"
)

// An account is what the forms of one budget guard share.
type account struct {
	key *callbacks.Key[*budgetRun]
	at  *callbacks.PlaceKey[*budgetAt]
	// lasting outlives a Run: counts of sessions and users.
	lasting counters.Store
}

// budgetRun is an account's part of one Run.
type budgetRun struct {
	// mu is held while a slot is taken, the store's part included: what is kept for
	// landing agents must not change in between.
	mu    sync.Mutex
	local *counters.Memory
	begin time.Time
	// estimated says that a model reported no usage.
	estimated bool
	who       *identity
}

// budgetAt is an account's part of one agent at work. The mutex of the Run's part guards it.
type budgetAt struct {
	// draws says that the agent draws on the account, last that it took what was left.
	draws, last bool
	// held says that a slot is taken for a call that has not begun; heldTools are those of
	// tool calls.
	held      bool
	heldTools map[heldTool]bool
	// wrapped says that a wrapper charges the present call; others are charged when told.
	wrapped bool
}

func newAccount(lasting counters.Store) *account {
	return &account{
		key: callbacks.NewKey(func() *budgetRun {
			return &budgetRun{local: counters.NewMemoryWith(counters.MemoryOptions{TTL: -1})}
		}),
		at:      callbacks.NewPlaceKey(func() *budgetAt { return &budgetAt{heldTools: make(map[heldTool]bool)} }),
		lasting: lasting,
	}
}

// A toolCall names a call of one agent at work.
type toolCall struct{ id, tool string }

// A heldTool is one tool call and no other, where a model gives several the same id: each
// has actions of its own.
type heldTool struct {
	toolCall
	actions *session.EventActions
}

func newHeldTool(ctx context.Context, id, tool string) heldTool {
	h := heldTool{toolCall: toolCall{id, tool}}
	if c, ok := ctx.(agent.Context); ok && c != nil {
		h.actions = c.Actions()
	}
	return h
}

// An identity is whose Run it is: an agent used as a tool has a session of its own, so
// the first one seen is kept.
type identity struct{ app, user, session string }

func (r *budgetRun) identity(ctx context.Context) identity {
	if r.who == nil {
		if who, ok := identityOf(ctx); ok {
			r.who = &who
		} else {
			return identity{}
		}
	}
	return *r.who
}

func identityOf(ctx context.Context) (identity, bool) {
	switch c := ctx.(type) {
	case interface {
		AppName() string
		UserID() string
		SessionID() string
	}:
		return identity{c.AppName(), c.UserID(), c.SessionID()}, true
	case interface{ Session() session.Session }:
		if s := c.Session(); s != nil {
			return identity{s.AppName(), s.UserID(), s.ID()}, true
		}
	}
	return identity{}, false
}

// A meter is one counter with its limit.
type meter struct {
	store counters.Store
	key   string
	limit int64
}

// modelMeters are the counters a model call is taken from; the first is the account's own.
func (b *budget) modelMeters(ctx context.Context, r *budgetRun) ([]meter, error) {
	store, key, err := b.runCounters(ctx, r)
	if err != nil {
		return nil, err
	}
	meters := append(make([]meter, 0, 3), meter{store, key + "calls", int64(b.Calls)})
	if b.SessionCalls > 0 {
		who := r.identity(ctx)
		meters = append(meters, meter{b.lasting, fmt.Sprintf("session:%q/%q/%q:calls", who.app, who.user, who.session), int64(b.SessionCalls)})
	}
	if b.UserCalls > 0 {
		who := r.identity(ctx)
		meters = append(meters, meter{b.lasting, fmt.Sprintf("user:%q/%q:calls", who.app, who.user), int64(b.UserCalls)})
	}
	return meters, nil
}

// runCounters says where the Run's own counts are and what their keys begin with.
func (b *budget) runCounters(ctx context.Context, r *budgetRun) (counters.Store, string, error) {
	if b.Store == nil {
		return r.local, "", nil
	}
	id := "none"
	if run := callbacks.RunOf(ctx); run != nil {
		id = run.ID()
	}
	if b.RunKey != nil {
		var err error
		if id, err = b.RunKey(ctx); err != nil {
			return nil, "", fmt.Errorf("guards: CallBudget: naming the run: %w", err)
		}
	}
	return b.Store, "run:" + id + ":" + b.name + ":", nil
}

// takeAll takes one from each meter, kept staying untouched in the first, or nothing.
// It returns the meter that has none left, and what is left in the tightest one.
func takeAll(ctx context.Context, meters []meter, kept int64) (full *meter, used, left int64, err error) {
	left = Unlimited
	for i := range meters {
		m := &meters[i]
		limit := m.limit
		if i == 0 {
			limit -= kept
		}
		used, ok, err := m.store.Take(ctx, m.key, 1, limit)
		if err != nil || !ok {
			giveBack(ctx, meters[:i])
			return m, used, 0, err
		}
		left = min(left, limit-used)
	}
	return nil, 0, left, nil
}

// giveBack returns what was taken and not used. The call it was for may have been
// cancelled; the counter must not be. A store that fails now errs downwards: less is
// allowed than the limit.
func giveBack(ctx context.Context, meters []meter) {
	for _, m := range meters {
		_, _ = m.store.Add(withoutCancel(ctx), m.key, -1)
	}
}

// withoutCancel outlives the call: a cancelled run must still say what it cost. How long
// settling may take is the store's to bound.
func withoutCancel(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return context.WithoutCancel(ctx)
}
