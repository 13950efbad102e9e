// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/gardefou/gardefou/callbacks/answer"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// ErrNotFinished is the sentinel of [NotFinishedError].
var ErrNotFinished = errors.New("the agent did not finish with its tool")

// A NotFinishedError is how an agent ends that does not make the call [Finish] wants, or
// makes it wrong twice.
type NotFinishedError struct{ Agent, Tool string }

// Error implements error.
func (e *NotFinishedError) Error() string {
	return fmt.Sprintf("guards: agent %q did not finish with %s", e.Agent, e.Tool)
}

// Is reports whether target is ErrNotFinished.
func (e *NotFinishedError) Is(target error) bool { return target == ErrNotFinished }

// Finish makes the call of one tool the only end of an agent, so that an answer has a
// schema. The model must call some tool at every turn (mode ANY). Text without a call
// is answered once with a reminder; the second time the agent fails with a
// [NotFinishedError]. A call of the tool that schema refuses is returned once, with at
// most three errors; the second time the agent fails with an error that is
// [callbacks.ErrFailed] and [ErrNotFinished] and has the code "not_finished". On the last
// call a [Landing] leaves, nothing is corrected, and an answer without the call fails the
// agent likewise. A call that the tool accepts ends the agent. Put [Contain] on the agent,
// and a failure becomes a gap.
//
// schema is a JSON Schema: anything that encoding/json writes as one. Nil leaves the
// check to the tool, whose refusals then count the same.
//
// The reminder is a model call like any other: put Finish before CallBudget, which then
// counts it. It works on an agent only: a plugin wraps no model. It fails closed.
//
// Use it when code reads the answer; use [Reask] where only calls that can't be read are to be
// repaired.
func Finish(toolName string, schema any) callbacks.Guard {
	check, err := compileSchema(schema)
	f := &finish{tool: toolName, check: check}
	g := callbacks.Guard{
		Name:        finishName,
		Err:         err,
		BeforeModel: f.before,
		WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return f.wrapModel(next)
		},
		BeforeTool: f.beforeTool,
		AfterTool:  f.afterTool,
		Observe:    forgetting(finishersKey),
		Info: func() callbacks.Info {
			return callbacks.Info{OnlyJudges: true, Limits: []string{"ends with " + toolName}, Tools: []string{toolName}, After: []string{reaskName}}
		},
	}
	if strings.TrimSpace(toolName) == "" {
		g.Err = errors.Join(g.Err, errors.New("guards: Finish without a tool"))
	}
	return g
}

// A finisher is an agent that must finish with a tool.
type finisher struct {
	mu                  sync.Mutex
	tool                string // "" before the agent's first call
	reminded, corrected bool
}

var finishersKey = callbacks.NewPlaceKey(func() *finisher { return &finisher{} })

func (f *finisher) begin(toolName string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tool == "" {
		f.tool = toolName
	}
}

func (f *finisher) tools() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tool == "" {
		return nil
	}
	return []string{f.tool}
}

// first reports whether seen, a field of f, is set for the first time.
func (f *finisher) first(seen *bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := *seen
	*seen = true
	return !was
}

type finish struct {
	tool  string
	check schemaCheck
}

// before makes the model call some tool.
func (f *finish) before(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	finishersKey.At(contextOf(ctx), callbacks.PlaceOf(ctx)).begin(f.tool)
	if len(req.Tools) == 0 {
		return nil, nil
	}
	cfg := genai.GenerateContentConfig{}
	if req.Config != nil {
		cfg = *req.Config
	}
	calling := genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}
	if cfg.ToolConfig != nil && cfg.ToolConfig.FunctionCallingConfig != nil {
		calling.AllowedFunctionNames = cfg.ToolConfig.FunctionCallingConfig.AllowedFunctionNames
	}
	cfg.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &calling}
	req.Config = &cfg
	return nil, nil
}

func (f *finish) beforeTool(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
	if t.Name() != f.tool || f.check == nil {
		return nil, nil
	}
	said, detail, err := misfit(ctx, f.check, args)
	if err != nil || said == "" {
		return nil, err
	}
	if !f.mayCorrect(ctx) {
		return nil, notFinished(ctx, f.tool, nil).WithDetail(detail)
	}
	return nil, callbacks.Deny(codes.InvalidFinish, say(ctx, text.FinishInvalid, f.tool, said)).WithDetail(detail)
}

// notFinished fails an agent that does not end through toolName; cause may be nil.
func notFinished(ctx agent.Context, toolName string, cause error) *callbacks.Refusal {
	missing := &NotFinishedError{Tool: toolName}
	if ctx != nil {
		missing.Agent = ctx.AgentName()
	}
	return callbacks.Fail(codes.NotFinished, say(ctx, text.FinishMissing, toolName)).WithCause(errors.Join(missing, cause))
}

// mayCorrect reports whether a refused finish is the agent's first and has a call left
// in which to correct it.
func (f *finish) mayCorrect(ctx agent.Context) bool {
	plain, p := contextOf(ctx), callbacks.PlaceOf(ctx)
	_, last := landersKey.At(plain, p).landing()
	v := finishersKey.At(plain, p)
	return v.first(&v.corrected) && !last
}

func (f *finish) afterTool(ctx agent.Context, t tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
	switch {
	case t.Name() != f.tool:
	case succeeded(result, err):
		endAgent(ctx)
	case result != nil || err != nil: // nil, nil is a tool that answers later
		if !f.mayCorrect(ctx) {
			return nil, notFinished(ctx, f.tool, err).WithDetail("refused by the tool")
		}
	}
	return nil, nil
}

// wrapModel asks again, once, where the model answered without a call.
func (f *finish) wrapModel(next model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			cs, _ := callbacks.CurrentStep(ctx)
			v := finishersKey.At(ctx, cs.Place())
			for {
				var prose *genai.Content
				again := false
				for resp, err := range next.GenerateContent(ctx, req, stream) {
					if isProse(resp, err) {
						prose, again = resp.Content, true
						break
					}
					if !yield(resp, err) {
						return
					}
				}
				if !again {
					return
				}
				_, last := landersKey.At(ctx, cs.Place()).landing()
				if !v.first(&v.reminded) || last {
					yield(nil, &NotFinishedError{Agent: cs.Agent, Tool: f.tool})
					return
				}
				req = f.reminded(ctx, req, prose)
			}
		}
	})
}

// isProse reports whether a final answer calls nothing. One that was blocked or cut is a
// failure of another kind; an empty one is worth the reminder.
func isProse(resp *model.LLMResponse, err error) bool {
	if fault := answer.Check(resp); err != nil || resp == nil || resp.Partial || fault != nil && !errors.Is(fault, answer.ErrNone) {
		return false
	}
	return resp.Content == nil || !slices.ContainsFunc(resp.Content.Parts, func(p *genai.Part) bool { return p != nil && p.FunctionCall != nil })
}

func (f *finish) reminded(ctx context.Context, req *model.LLMRequest, prose *genai.Content) *model.LLMRequest {
	c := *req
	c.Contents = slices.Clip(req.Contents)
	if prose != nil && len(prose.Parts) > 0 {
		c.Contents = append(c.Contents, prose)
	}
	c.Contents = append(c.Contents, genai.NewContentFromText(text.Get(langOf(ctx), text.FinishReminder, f.tool), genai.RoleUser))
	return &c
}
