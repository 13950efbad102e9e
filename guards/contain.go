// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"fmt"
	"iter"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
)

// A Gap is a branch that gave no answer.
type Gap struct {
	Agent string
	// Attempts is how often the agent was run.
	Attempts int
	// Err is why the last attempt failed, for people and journals, never for a model.
	Err error
}

var gapsKey = callbacks.NewKey(func() *records[Gap] { return &records[Gap]{} })

// Gaps returns the branches of ctx's Run that [Contain] caught, in the order they
// failed.
func (r RunRecords) Gaps() []Gap { return gapsKey.In(r.run).list() }

// ContainOptions are the options of [Contain].
type ContainOptions struct {
	// Attempts is how often an agent that fails is run in all. Zero means once. A further
	// attempt goes on from the history the last one left, at once, and draws on the same
	// budgets; a stopped Run gets none.
	Attempts int
}

// Contain turns the failure of an agent, an error, a panic or a last response of its model
// that is no answer ([answer.Check]), into a recorded gap: under ADK's parallel agent
// an error would cancel the siblings. What the siblings and
// followers do goes on; [RunRecords.Gaps] and the observers tell what is missing.
//
// It needs an agent built by Chain.NewAgent as a child of a workflow agent. A
// cancelled or expired context is not contained: the whole run is over then. It fails open:
// what an agent did not do is a gap, and the run goes on without it.
//
// Use it when the other branches of a run are worth having without this one; leave it out
// where the run is worth nothing without it.
func Contain() callbacks.Guard { return ContainOptions{}.Guard() }

// Guard returns the guard that [Contain] describes, with these options.
func (o ContainOptions) Guard() callbacks.Guard {
	attempts := max(1, o.Attempts)
	g := callbacks.Guard{
		Name:      "contain",
		WrapAgent: func(a agent.Agent) agent.Agent { return contained(a, attempts) },
		Info: func() callbacks.Info {
			info := callbacks.Info{Fails: "open: the branch becomes a gap"}
			if attempts > 1 {
				info.Limits = []string{fmt.Sprintf("%d attempts", attempts)}
			}
			return info
		},
	}
	if o.Attempts < 0 {
		g.Err = fmt.Errorf("guards: Contain: %d attempts", o.Attempts)
	}
	return g
}

func contained(a agent.Agent, attempts int) agent.Agent {
	return callbacks.AroundAgent(a, func(
		ctx agent.InvocationContext, next func(agent.InvocationContext) iter.Seq2[*session.Event, error],
	) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			for attempt := 1; ; attempt++ {
				failure := attemptOf(ctx, a.Name(), next(ctx), yield)
				if failure == nil {
					return
				}
				if run := callbacks.RunOf(ctx); attempt < attempts && (run == nil || run.Stopped() == nil) {
					continue
				}
				gapsKey.Of(ctx).add(Gap{Agent: a.Name(), Attempts: attempt, Err: failure})
				return
			}
		}
	})
}

// attemptOf hands on one attempt's events and returns why it failed. A consumer that went
// away is no failure; a response that is no answer is one, which ADK ends the agent with as
// with any other.
func attemptOf(
	ctx agent.InvocationContext, name string, events iter.Seq2[*session.Event, error], yield func(*session.Event, error) bool,
) error {
	for ev, err := range events {
		if err != nil && ctx.Err() == nil {
			return err
		}
		if !yield(ev, err) {
			return nil
		}
	}
	return callbacks.RunOf(ctx).TakeNoAnswer(ctx, name)
}
