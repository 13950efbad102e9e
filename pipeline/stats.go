// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"maps"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
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
}

func statsOf(ctx context.Context) Stats {
	st := statsKey.Of(ctx)
	st.mu.Lock()
	defer st.mu.Unlock()
	out := st.s
	out.Guards = maps.Clone(st.s.Guards)
	return out
}

// observer counts and passes on.
func observer(next func(callbacks.Event)) callbacks.Guard {
	return callbacks.Guard{Name: "progress", Observe: func(ctx context.Context, ev callbacks.Event) {
		st := statsKey.Of(ctx)
		st.mu.Lock()
		switch ev.Step {
		case callbacks.StepModel:
			st.s.ModelCalls += ev.Attempt
			if u := ev.Usage; u != nil {
				st.s.TokensIn += int(u.PromptTokenCount)
				st.s.TokensOut += int(u.CandidatesTokenCount + u.ThoughtsTokenCount)
			}
		case callbacks.StepTool:
			st.s.ToolCalls++
		}
		if ev.Guard != "" {
			st.s.Guards[ev.Guard]++
		}
		st.mu.Unlock()
		if next != nil {
			next(ev)
		}
	}}
}
