// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/fold"
	"github.com/gardefou/gardefou/internal/text"
)

type confirm struct {
	o   ConfirmOptions
	key *callbacks.Key[*standing]
}

// standing are the approvals that hold for the rest of a Run.
type standing struct {
	mu    sync.Mutex
	calls map[string]bool
}

func newStanding() *standing { return &standing{calls: make(map[string]bool)} }

func (s *standing) holds(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[call]
}

func (s *standing) add(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call] = true
}

func (c *confirm) wrapTool(t tool.Tool) tool.Tool {
	if len(c.o.Tools) > 0 && !slices.Contains(c.o.Tools, t.Name()) {
		return t
	}
	return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
		if err := c.approve(ctx, t.Name(), args); err != nil {
			return nil, err
		}
		return next(ctx, args)
	})
}

// approve returns nil where the call may be made, or the refusal. The person sees the
// values; what is remembered of the call has the tokens that Redact put, in either order.
func (c *confirm) approve(ctx agent.Context, name string, args map[string]any) error {
	plain, err := RevealArgs(ctx, args)
	if err != nil {
		return err
	}
	if c.o.When != nil && !c.o.When(wrappedStep(ctx, name, plain)) {
		return nil
	}
	if tooDeep(args) {
		return invalid(ctx, "arguments nobody can look into")
	}
	always := c.bound(args)
	held := fingerprint(name, always)
	d := Decision{Agent: ctx.AgentName(), Tool: name, CallID: ctx.FunctionCallID(), Call: fingerprint(name, args), Asked: time.Now()}
	if c.key.Of(ctx).holds(held) {
		d.Outcome, d.Always = DecisionStanding, always
		return d.settle(ctx, nil)
	}
	q := Question{
		ID: rand.Text(), Call: d.Call, Agent: d.Agent, Tool: name, CallID: d.CallID, Asked: d.Asked, Until: d.Asked.Add(c.o.Timeout),
		Args: cloneObject(plain), Always: cloneObject(c.bound(plain)), Lang: callbacks.RunOf(ctx).Lang(),
	}
	if run := callbacks.RunOf(ctx); run != nil {
		q.Run = run.ID()
	}
	a, err := c.ask(ctx, q)
	d.By = a.By
	switch {
	case err == errNoAnswerInTime: //nolint:errorlint // nobody wraps it
		d.Outcome = DecisionTimedOut
		return d.settle(ctx, callbacks.Deny(codes.ApprovalTimeout, say(ctx, text.ConfirmTimeout)).WithDetail(fmt.Sprintf("no answer within %v", c.o.Timeout)))
	case err != nil:
		d.Outcome = DecisionFailed
		return d.settle(ctx, callbacks.Deny(codes.ApprovalFailed, say(ctx, text.ConfirmFailed)).WithCause(err))
	case a.Question != q.ID || a.Call != q.Call:
		d.Outcome = DecisionInvalid
		return d.settle(ctx, invalid(ctx, "the answer is not to this question"))
	case !a.Approved:
		d.Outcome = DecisionRejected
		return d.settle(ctx, callbacks.Deny(codes.ApprovalRejected, say(ctx, text.ConfirmRejected)).WithDetail("rejected by "+cut(a.By)))
	case fingerprint(name, args) != q.Call:
		d.Outcome = DecisionInvalid
		return d.settle(ctx, invalid(ctx, "the arguments changed while a person was asked"))
	}
	d.Outcome = DecisionApproved
	if a.Always {
		d.Always = always
		c.key.Of(ctx).add(held)
	}
	return d.settle(ctx, nil)
}

// wrappedStep is the step of a tool's wrapper.
func wrappedStep(ctx agent.Context, name string, args map[string]any) callbacks.Step {
	p := callbacks.PlaceOf(ctx)
	return callbacks.Step{
		Hook: inspect.WrapTool, Invocation: p.Invocation, Agent: p.Agent, Branch: p.Branch,
		Tool: name, CallID: ctx.FunctionCallID(), Args: args,
	}
}

func invalid(ctx agent.Context, detail string) *callbacks.Refusal {
	return callbacks.Deny(codes.ApprovalInvalid, say(ctx, text.ConfirmInvalid)).WithDetail(detail)
}

var errNoAnswerInTime = fmt.Errorf("guards: Confirm: %w", context.DeadlineExceeded)

// ask waits for the approver no longer than it may, also where that does not heed its
// context.
func (c *confirm) ask(ctx context.Context, q Question) (Answer, error) {
	late := func() error { return errNoAnswerInTime }
	for a, err := range timed(ctx, c.o.Timeout, late, func() {}, nil, func(ctx context.Context) iter.Seq2[Answer, error] {
		return func(yield func(Answer, error) bool) { yield(c.o.Approver.Ask(ctx, q)) }
	}) {
		return a, err
	}
	return Answer{}, ctx.Err()
}

// bound is the part of the arguments that an Always is bound to. A key that differs from
// a name in case alone belongs to it: encoding/json takes them for the same.
func (c *confirm) bound(args map[string]any) map[string]any {
	if c.o.AlwaysArgs == nil {
		return args
	}
	part := maps.Clone(args)
	maps.DeleteFunc(part, func(key string, _ any) bool {
		return !slices.ContainsFunc(c.o.AlwaysArgs, func(name string) bool { return fold.Same(key, name) })
	})
	return part
}
