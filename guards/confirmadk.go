// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// ErrNoLLMRoot is the cause of a run that [ConfirmByADK] refuses because its root, or an
// agent below it, is no LLM agent.
var ErrNoLLMRoot = errors.New("guards: ADK's confirmation loses the call unless every agent of the tree is an LLM agent; use Confirm with an approver")

// ConfirmByADK is [Confirm] through ADK's own confirmation: the run pauses at a call of
// the named tools, and a front end resumes it with the answer of a person. Use it where
// a front end already speaks it.
//
// The front end shows the call as it is stored. Where [Redact] has put tokens into it, the
// person reads tokens: use Confirm there, which shows the values.
//
// ADK finds the call again only where the root and all below it are LLM agents. The guard
// therefore works as a plugin only, where it sees the root: on an agent it is refused at
// construction; [callbacks.Check] finds any other tree, and a run of it ends before it begins,
// with the cause [ErrNoLLMRoot].
//
// An approval is good once, for the call that was asked about: ADK itself takes forged
// ones. What was asked is kept in the Run. ADK's launchers resume the Run of the paused
// invocation by themselves; a caller of callbacks.Start resumes it with Run.Context. A
// process that has started anew has forgotten it and refuses. It fails closed.
//
// Use it when the front end already speaks ADK's confirmation and the root is an LLM agent;
// use [Confirm] everywhere else.
func ConfirmByADK(tools ...string) callbacks.Guard {
	c := &adkConfirm{tools: slices.Clone(tools), key: callbacks.NewPlaceKey(newADKQuestions).Lasting()}
	g := callbacks.Guard{
		Name:       confirmName,
		BeforeRun:  c.beforeRun,
		BeforeTool: c.beforeTool,
		Info: func() callbacks.Info {
			return callbacks.Info{OnlyJudges: true, Limits: []string{"a person approves " + strings.Join(c.tools, ", ")}, Tools: c.tools, Root: checkLLMRoot}
		},
	}
	if len(tools) == 0 || slices.Contains(tools, "") {
		g.Err = errors.New("guards: ConfirmByADK without the name of a tool")
	}
	return g
}

type adkConfirm struct {
	tools []string
	key   *callbacks.PlaceKey[*adkQuestions]
}

// adkQuestions are the calls of one agent that wait for an answer.
type adkQuestions struct {
	mu    sync.Mutex
	asked map[toolCall]adkQuestion
}

func newADKQuestions() *adkQuestions { return &adkQuestions{asked: make(map[toolCall]adkQuestion)} }

type adkQuestion struct {
	call  string
	asked time.Time
}

func (c *adkConfirm) beforeRun(ctx agent.InvocationContext) (*genai.Content, error) {
	if err := checkLLMRoot(ctx.Agent()); err != nil {
		return nil, callbacks.Stop(codes.ApprovalFailed, text.Get(langOf(ctx), text.ConfirmFailed)).WithDetail(err.Error()).WithCause(err)
	}
	return nil, nil
}

var llmAgentPackage = reflect.TypeFor[llmagent.Config]().PkgPath()

func checkLLMRoot(root agent.Agent) error {
	if onlyLLMAgents(root) {
		return nil
	}
	return ErrNoLLMRoot
}

// onlyLLMAgents goes by the package an agent's type is of: ADK exports nothing else.
func onlyLLMAgents(a agent.Agent) bool {
	t := reflect.TypeOf(a)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().PkgPath() != llmAgentPackage {
		return false
	}
	for _, sub := range a.SubAgents() {
		if !onlyLLMAgents(sub) {
			return false
		}
	}
	return true
}

func (c *adkConfirm) beforeTool(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
	if !slices.Contains(c.tools, t.Name()) {
		return nil, nil
	}
	// ADK resumes a call with the id it had, in the invocation it had.
	q, id := c.key.At(ctx, callbacks.PlaceOf(ctx)), toolCall{ctx.FunctionCallID(), t.Name()}
	call := fingerprint(t.Name(), args)
	answer := ctx.ToolConfirmation()
	if answer == nil {
		q.mu.Lock()
		q.asked[id] = adkQuestion{call, time.Now()}
		q.mu.Unlock()
		if err := ctx.RequestConfirmation(say(ctx, text.ConfirmHint, t.Name()), nil); err != nil {
			return nil, fmt.Errorf("guards: ConfirmByADK: %w", err)
		}
		return map[string]any{"status": say(ctx, text.ConfirmWaiting)}, nil
	}
	q.mu.Lock()
	asked, ok := q.asked[id]
	delete(q.asked, id)
	q.mu.Unlock()
	d := Decision{Agent: ctx.AgentName(), Tool: t.Name(), CallID: id.id, Call: call, By: ctx.UserID(), Asked: asked.asked}
	switch {
	case !ok || asked.call != call:
		d.Outcome = DecisionInvalid
		return nil, d.settle(ctx, invalid(ctx, "nobody was asked about this call, or it was answered before"))
	case !answer.Confirmed:
		d.Outcome = DecisionRejected
		return nil, d.settle(ctx, callbacks.Deny(codes.ApprovalRejected, say(ctx, text.ConfirmRejected)).WithDetail("rejected by "+cut(d.By)))
	default:
		d.Outcome = DecisionApproved
		return nil, d.settle(ctx, nil)
	}
}
