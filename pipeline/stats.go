// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
)

// Stats are the figures of one run.
type Stats struct {
	ModelCalls, ToolCalls int
	TokensIn, TokensOut   int
	// Guards counts the steps each guard decided, by the guard's name.
	Guards map[string]int
}

var statsKey = callbacks.NewKey(func() *stats { return &stats{s: Stats{Guards: make(map[string]int)}} })

type stats struct {
	mu sync.Mutex
	s  Stats
	// unanswered are the agents whose last model call failed, in the order they did.
	unanswered []guards.Gap
}

func statsOf(ctx context.Context) Stats {
	st := statsKey.Of(ctx)
	st.mu.Lock()
	defer st.mu.Unlock()
	out := st.s
	out.Guards = maps.Clone(st.s.Guards)
	return out
}

// unanswered returns the agents whose last model call failed, a blocked answer included,
// which is no error to ADK.
func unanswered(ctx context.Context) []guards.Gap {
	st := statsKey.Of(ctx)
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.unanswered)
}

func (st *stats) answered(ev callbacks.Event) {
	worked := ev.Outcome == callbacks.OutcomeAllowed || ev.Outcome == callbacks.OutcomeReplaced
	failed := ev.Outcome == callbacks.OutcomeFailed || ev.Outcome == callbacks.OutcomePanicked
	if worked || failed {
		st.unanswered = slices.DeleteFunc(st.unanswered, func(g guards.Gap) bool { return g.Agent == ev.Agent })
	}
	if failed {
		st.unanswered = append(st.unanswered, guards.Gap{Agent: ev.Agent, Attempts: ev.Attempt, Err: ev.Err})
	}
}

// observer counts and passes on.
func observer(next func(callbacks.Event)) callbacks.Guard {
	if next == nil {
		next = func(callbacks.Event) {}
	}
	monitored := func(ctx context.Context, ev callbacks.Event) {
		statsKey.Of(ctx).decided(ev.Guard)
		next(ev)
	}
	return callbacks.Guard{Name: "progress", ObserveMonitored: monitored, Observe: func(ctx context.Context, ev callbacks.Event) {
		st := statsKey.Of(ctx)
		st.mu.Lock()
		switch ev.Step {
		case callbacks.StepModel:
			st.s.ModelCalls += ev.Attempt
			st.answered(ev)
			if u := ev.Usage; u != nil {
				st.s.TokensIn += int(u.PromptTokenCount)
				st.s.TokensOut += int(u.CandidatesTokenCount + u.ThoughtsTokenCount)
			}
		case callbacks.StepTool:
			st.s.ToolCalls++
		}
		st.mu.Unlock()
		st.decided(ev.Guard)
		next(ev)
	}}
}

// decided counts a step that a guard decided, or would have.
func (st *stats) decided(guard string) {
	if guard == "" {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.s.Guards[guard]++
}
