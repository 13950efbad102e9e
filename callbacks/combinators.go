// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
)

// errCombinator is the cause of a combinator put on a guard it can't work on.
var errCombinator = errors.New("combinator does not fit the guard")

// When returns guard with its hooks run only in steps for which pred holds. pred
// sees the arguments of tool hooks and must not change them. Run-level hooks,
// wrappers and observers are not steps; a guard that has one can't be made
// conditional and comes back with an error.
func When(pred func(Step) bool, guard Guard) Guard {
	for _, h := range guard.Hooks() {
		if !infoOf(h).part.ofStep() {
			guard.Err = errors.Join(guard.Err, fmt.Errorf("%w: %s does not belong to a step", errCombinator, h))
		}
	}
	if pred == nil {
		guard.Err = errors.Join(guard.Err, fmt.Errorf("%w: no predicate", errCombinator))
		return guard
	}
	g := when(pred, guard)
	if info := guard.Info; info != nil {
		g.Info = func() Info {
			i := info()
			i.MaxCalls, i.Only = 0, nil
			i.Limits = append(slices.Clone(i.Limits), "only in some steps")
			return i
		}
	}
	return g
}

func when(pred func(Step) bool, guard Guard) Guard {
	places := &places{guard: guard}
	for _, r := range places.table() {
		r.only(pred)
	}
	if p := guard.ForPlugin; p != nil {
		places.guard.ForPlugin = func() Guard { return when(pred, p()) }
	}
	return places.guard
}

func toolStepOf(ctx agent.Context, hook inspect.Hook, t tool.Tool, args map[string]any) Step {
	s := PlaceOf(ctx).step(hook)
	s.Tool, s.Args = t.Name(), args
	if ctx != nil {
		s.CallID = ctx.FunctionCallID()
	}
	return s
}

// ForTools returns guard limited to calls of the named tools. Only a guard with
// nothing but tool hooks can be limited so; any other comes back with an error.
func ForTools(guard Guard, names ...string) Guard {
	for _, h := range guard.Hooks() {
		if part := infoOf(h).part; part != ofTool && part != ofGate {
			guard.Err = errors.Join(guard.Err, fmt.Errorf("%w: ForTools takes tool hooks only, the guard has %s", errCombinator, h))
		}
	}
	if len(names) == 0 {
		guard.Err = errors.Join(guard.Err, fmt.Errorf("%w: ForTools without a tool", errCombinator))
	}
	names = slices.Clone(names)
	g := when(func(s Step) bool { return slices.Contains(names, s.Tool) }, guard)
	info := guard.Info
	g.Info = func() Info {
		i := Guard{Info: info}.infoOr(guard)
		i.Only = nil // other tools are left alone
		i.Limits = append(slices.Clone(i.Limits), fmt.Sprintf("only for tools %v", names))
		for _, n := range names {
			if !slices.Contains(i.Tools, n) {
				i.Tools = append(slices.Clone(i.Tools), n)
			}
		}
		return i
	}
	return g
}

// ForAgents returns guard limited to steps of the named agents. Observers are
// limited too; a guard that needs a run-level hook or wraps agents comes back with an
// error.
func ForAgents(guard Guard, names ...string) Guard {
	for _, h := range guard.Hooks() {
		if (infoOf(h).part == ofRun || h == inspect.WrapAgent) && slices.Contains(guard.info().Needs, h) {
			guard.Err = errors.Join(guard.Err, fmt.Errorf("%w: %s does not belong to an agent", errCombinator, h))
		}
	}
	if len(names) == 0 {
		guard.Err = errors.Join(guard.Err, fmt.Errorf("%w: ForAgents without an agent", errCombinator))
	}
	names = slices.Clone(names)
	g := when(func(s Step) bool { return slices.Contains(names, s.Agent) }, guard.without(ofRun))
	g.Observe, g.ObserveMonitored = observerOf(guard.Observe, names), observerOf(guard.ObserveMonitored, names)
	if w := guard.WrapTool; w != nil {
		g.WrapTool = func(t tool.Tool) tool.Tool {
			wrapped := runnableOf(wrapBy(toolWrapper{guard: guard.Name, f: w}, t))
			return AroundTool(t, func(ctx agent.Context, args map[string]any, next ToolCall) (map[string]any, error) {
				if ctx != nil && slices.Contains(names, ctx.AgentName()) {
					return wrapped.call(ctx, args)
				}
				return next(ctx, args)
			})
		}
	}
	if w := guard.WrapModel; w != nil {
		g.WrapModel = func(next model.LLM, inner func(model.LLM) model.LLM) model.LLM {
			wrapped := w(next, inner)
			if wrapped == nil {
				return nil
			}
			return AroundModel(wrapped, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
				if s, ok := CurrentStep(ctx); ok && slices.Contains(names, s.Agent) {
					return wrapped.GenerateContent(ctx, req, stream)
				}
				return next.GenerateContent(ctx, req, stream)
			})
		}
	}
	if p := guard.ForPlugin; p != nil {
		g.ForPlugin = func() Guard { return ForAgents(p(), names...) }
	}
	info := guard.Info
	g.Info = func() Info {
		i := Guard{Info: info}.infoOr(guard)
		i.Limits = append(slices.Clone(i.Limits), fmt.Sprintf("only for agents %v", names))
		i.Agents = slices.Clone(names)
		return i
	}
	return g
}

func observerOf(f func(context.Context, Event), agents []string) func(context.Context, Event) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, ev Event) {
		if slices.Contains(agents, ev.Agent) {
			f(ctx, ev)
		}
	}
}

// infoOr returns the guard's own info, with the needs of the guard it came from.
func (g Guard) infoOr(from Guard) Info {
	i := g.info()
	if g.Info == nil || len(i.Needs) == 0 {
		i.Needs = from.info().Needs
	}
	return i
}

// Monitor returns guard in watching mode: its hooks run on throw-away copies, what
// it would have refused or replaced is told to the chain's ObserveMonitored hooks as
// [OutcomeWouldRefuse], and the step goes on. Monitor covers the before and after
// hooks of models, tools and agents; a guard that needs a wrapper or a run-level
// hook can't be tried without effect and comes back with an error.
//
// The copies go down to the last nested value, and what a hook writes into session state or
// the step's actions is thrown away as well; tools, artifacts and memory are the real ones.
// What the guard counts or keeps in the [Run], it counts and keeps.
func Monitor(guard Guard) Guard {
	for _, h := range guard.info().Needs {
		if part := infoOf(h).part; part == ofRun || part == ofWrapping {
			guard.Err = errors.Join(guard.Err, fmt.Errorf("%w: Monitor can't watch %s", errCombinator, h))
		}
	}
	info := guard.info()
	guard = guard.without(ofRun, ofWrapping)
	guard.OnModelError, guard.OnToolError = nil, nil
	guard.monitored = true
	guard.Info = func() Info {
		i := info
		i.Limits = append(slices.Clone(i.Limits), "monitored: refuses nothing")
		i.MaxCalls, i.Only = 0, nil
		i.Fails = "open"
		i.Needs = guard.Hooks()
		return i
	}
	if p := guard.ForPlugin; p != nil {
		guard.ForPlugin = func() Guard { return Monitor(p()) }
	}
	return guard
}
