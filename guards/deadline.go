// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

const deadlineName = "deadline"

// ErrDeadline is the sentinel of [DeadlineError].
var ErrDeadline = errors.New("deadline passed")

// A DeadlineError is the failure of a model call that took too long. It is a
// context.DeadlineExceeded too.
type DeadlineError struct{ Limit time.Duration }

// Error implements error.
func (e *DeadlineError) Error() string {
	return fmt.Sprintf("guards: the model did not answer within %v", e.Limit)
}

// Is reports whether target is ErrDeadline or context.DeadlineExceeded.
func (e *DeadlineError) Is(target error) bool {
	return target == ErrDeadline || target == context.DeadlineExceeded
}

// DeadlineOptions are the options of [Deadline]. Zero means no limit; all zero, or
// a negative limit, is an error.
type DeadlineOptions struct {
	// Agent is how long an agent may take in all, from its first step on. Afterwards no
	// call begins, a call in flight is ended, and the agent with it.
	Agent time.Duration
	// ModelCall is how long one model call may take, its stream included. A longer one
	// fails with a [DeadlineError], which a retry outside this guard may try again.
	ModelCall time.Duration
	// ToolCall is how long one tool call may take. Of a longer one the model reads so,
	// and goes on.
	ToolCall time.Duration
}

// Deadline gives an agent a time by which it is done. It is soft between calls and hard
// inside them: the context of a model or tool call is cancelled, and a call that does not
// heed it is abandoned. What an abandoned tool still does to state and artifacts of its
// own call is thrown away, but its goroutine goes on until it returns by itself, and so
// do its effects on the world: Deadline does not undo anything.
//
// Limits of agents and model calls work on an agent only, since a plugin wraps no
// model; a limit of tool calls works in both forms. It fails closed.
//
// Use it when a single call may hang; [CallBudget] looks at its time between calls only.
func Deadline(limit time.Duration) callbacks.Guard {
	return DeadlineOptions{Agent: limit}.Guard()
}

func (o DeadlineOptions) check() error {
	if o == (DeadlineOptions{}) {
		return errNoLimit("Deadline", "Agent, ModelCall or ToolCall")
	}
	return errors.Join(notNegative("Deadline", "Agent", o.Agent), notNegative("Deadline", "ModelCall", o.ModelCall), notNegative("Deadline", "ToolCall", o.ToolCall))
}

// Guard returns the guard that [Deadline] describes, with these options.
func (o DeadlineOptions) Guard() callbacks.Guard {
	d := &deadline{o: o, begin: callbacks.NewPlaceKey(time.Now)}
	g := callbacks.Guard{Name: deadlineName, Info: d.info}
	if g.Err = o.check(); g.Err != nil {
		return g
	}
	if o.Agent > 0 || o.ModelCall > 0 {
		g.WrapModel = func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return d.wrapModel(next) }
	}
	if o.Agent > 0 || o.ToolCall > 0 {
		g.WrapTool = d.wrapTool
	}
	if o.Agent > 0 {
		g.BeforeModel = func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			return nil, d.soft(ctx)
		}
		g.BeforeTool = func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			return nil, d.soft(ctx)
		}
		g.Observe = forgetting(d.begin)
	}
	return g
}

type deadline struct {
	o DeadlineOptions
	// begin is when an agent began, which is when it is first asked for.
	begin *callbacks.PlaceKey[time.Time]
}

func (d *deadline) info() callbacks.Info {
	var limits []string
	for _, l := range []struct {
		limit time.Duration
		per   string
	}{{d.o.Agent, "agent"}, {d.o.ModelCall, "model call"}, {d.o.ToolCall, "tool call"}} {
		if l.limit > 0 {
			limits = append(limits, seconds(l.limit)+" per "+l.per)
		}
	}
	return callbacks.Info{OnlyJudges: true, Limits: limits}
}

func (d *deadline) soft(ctx agent.Context) error {
	if plain := contextOf(ctx); time.Since(d.begin.At(plain, callbacks.PlaceOf(ctx))) >= d.o.Agent {
		return d.over(plain)
	}
	return nil
}

// over is the refusal that ends an agent whose time is up.
func (d *deadline) over(ctx context.Context) *callbacks.Refusal {
	return callbacks.End(codes.TimeExhausted, text.Get(langOf(ctx), text.DeadlineAgent)).
		WithDetail(fmt.Sprintf("time: %s elapsed", seconds(d.o.Agent))).By(deadlineName)
}

// limit is how long a call at p may take; byAgent says that it is the agent's time that
// limits it.
func (d *deadline) limit(ctx context.Context, p callbacks.Place, call time.Duration) (limit time.Duration, byAgent bool) {
	limit = call
	if d.o.Agent > 0 {
		if left := d.o.Agent - time.Since(d.begin.At(ctx, p)); limit == 0 || left < limit {
			return left, true
		}
	}
	return limit, false
}
