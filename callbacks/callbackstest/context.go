// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
)

// Names that contexts made by [Context] carry.
const (
	AgentName = "agent_under_test"
	CallID    = "call-1"
	User      = "user"
	Session   = "session"
)

// Context returns a tool and callback context of an empty in-memory session with
// a Run of its own, closed when the test ends. Hooks called with the same context
// share the Run.
func Context(t testing.TB) agent.Context {
	t.Helper()
	ctx, run := callbacks.Start(t.Context())
	t.Cleanup(run.Close)
	return ContextFrom(ctx, t)
}

// ContextFrom is [Context] on top of ctx, for a Run that the test started itself.
func ContextFrom(ctx context.Context, t testing.TB) agent.Context {
	t.Helper()
	svc := session.InMemoryService()
	made, err := svc.Create(ctx, &session.CreateRequest{AppName: "callbackstest", UserID: User, SessionID: Session})
	if err != nil {
		t.Fatalf("creating a session: %v", err)
	}
	a, err := agent.New(agent.Config{Name: AgentName})
	if err != nil {
		t.Fatalf("creating an agent: %v", err)
	}
	ic := &invocation{Context: ctx, agent: a, session: made.Session}
	return agent.NewToolContext(ic, CallID, nil, nil)
}

// invocation is the least an ADK context can stand on.
type invocation struct {
	context.Context
	agent   agent.Agent
	session session.Session
	ended   bool
}

func (i *invocation) Agent() agent.Agent              { return i.agent }
func (i *invocation) Artifacts() agent.Artifacts      { return nil }
func (i *invocation) Memory() agent.Memory            { return nil }
func (i *invocation) Session() session.Session        { return i.session }
func (i *invocation) InvocationID() string            { return "invocation-1" }
func (i *invocation) Branch() string                  { return "" }
func (i *invocation) IsolationScope() string          { return "" }
func (i *invocation) UserContent() *genai.Content     { return nil }
func (i *invocation) RunConfig() *agent.RunConfig     { return &agent.RunConfig{} }
func (i *invocation) EndInvocation()                  { i.ended = true }
func (i *invocation) Ended() bool                     { return i.ended }
func (i *invocation) ResumedInput(string) (any, bool) { return nil, false }

func (i *invocation) WithContext(ctx context.Context) agent.InvocationContext {
	c := *i
	c.Context = ctx
	return &c
}

func (i *invocation) WithICDelta(d *agent.InvocationContextDelta) agent.InvocationContext {
	c := *i
	if d != nil && d.Context != nil {
		c.Context = *d.Context
	}
	if d != nil && d.Agent != nil {
		c.agent = *d.Agent
	}
	return &c
}

// InRun returns a plain context that carries run, to read a guard's records with
// after the run.
func InRun(t testing.TB, run *callbacks.Run) context.Context {
	t.Helper()
	return run.Context(t.Context())
}
