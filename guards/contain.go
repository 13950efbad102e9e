// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"iter"
	"slices"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
)

// A Gap is a branch that gave no answer.
type Gap struct {
	Agent string
	// Err is why, for people and journals, never for a model.
	Err error
}

var gapsKey = callbacks.NewKey(func() *gapList { return &gapList{} })

type gapList struct {
	mu   sync.Mutex
	gaps []Gap
}

// Gaps returns the branches of ctx's Run that [Contain] caught, in the order they
// failed.
func Gaps(ctx context.Context) []Gap {
	l := gapsKey.Of(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.gaps)
}

// Contain turns the failure of an agent, an error or a panic, into a recorded gap:
// under ADK's parallel agent it would cancel the siblings. What the siblings and
// followers do goes on; [Gaps] and the observers tell what is missing.
//
// It needs an agent built by Chain.NewAgent as a child of a workflow agent. A
// cancelled or expired context is not contained: the whole run is over then.
func Contain() callbacks.Guard {
	return callbacks.Guard{
		Name:      "contain",
		WrapAgent: func(a agent.Agent) agent.Agent { return &containedAgent{Agent: a} },
		Info:      func() callbacks.Info { return callbacks.Info{Fails: "open: the branch becomes a gap"} },
	}
}

type containedAgent struct{ agent.Agent }

// Run implements agent.Agent.
func (c *containedAgent) Run(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		for ev, err := range c.Agent.Run(ctx) {
			if err != nil && ctx.Err() == nil {
				l := gapsKey.Of(ctx)
				l.mu.Lock()
				l.gaps = append(l.gaps, Gap{Agent: c.Name(), Err: err})
				l.mu.Unlock()
				return
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}
