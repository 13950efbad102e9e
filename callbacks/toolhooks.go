// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/internal/text"
)

// setModelResponse is the tool through which ADK takes a structured answer.
const setModelResponse = "set_model_response"

// toolHooks are the chain's tool callbacks for ADK. They serve the calls that no
// wrapper of this chain sees: tools ADK adds itself (transfer_to_agent,
// set_model_response, single-turn sub-agents), unknown names, and calls resumed
// after a confirmation under a plugin. The tool of such a call runs with the
// arguments as the model made them: changes that hooks make are not carried over.
type toolHooks struct {
	c      *Chain
	saveAs string
}

type toolStepID struct {
	c            *Chain
	inv, agent   string
	callID, tool string
}

func (t toolHooks) id(ctx agent.Context, tl tool.Tool) toolStepID {
	return toolStepID{t.c.identity(), ctx.InvocationID(), ctx.AgentName(), ctx.FunctionCallID(), tl.Name()}
}

func (t toolHooks) before(ctx agent.Context, tl tool.Tool, args map[string]any) (map[string]any, error) {
	if t.c.wraps(tl) {
		return nil, nil
	}
	if t.open(ctx, tl) != nil {
		// The same chain stands here as a plugin and has taken the call.
		return nil, nil
	}
	s := t.c.newToolStep(ctx, tl, args)
	res := s.before()
	s.ev.Called = res == nil
	if s.run != nil {
		s.run.values.Store(t.id(ctx, tl), s)
	}
	return res, nil
}

func (t toolHooks) onError(ctx agent.Context, tl tool.Tool, args map[string]any, err error) (map[string]any, error) {
	if t.c.wraps(tl) {
		return nil, nil
	}
	s := t.open(ctx, tl)
	if s == nil {
		return t.unknown(ctx, tl, args, err), nil
	}
	if s.ev.Outcome != OutcomeAllowed {
		return nil, nil
	}
	res, err := s.failed(err)
	if err != nil && !isConfirmation(err) {
		res = map[string]any{"error": s.errorText(err)}
	}
	return res, nil
}

// unknown answers a call of a tool that does not exist. The hooks that decide by
// name still have their say: ADK runs no other hook for such a call.
func (t toolHooks) unknown(ctx agent.Context, tl tool.Tool, args map[string]any, cause error) map[string]any {
	s := t.c.newToolStep(ctx, tl, args)
	if s.run != nil {
		if st := s.run.stopped.Load(); st != nil {
			res := s.refuse(st.guard, st.refusal, nil)
			s.tell(res)
			return res
		}
	}
	res, _ := s.failed(cause)
	if s.ev.Outcome == OutcomeFailed {
		s.ev.Outcome, s.ev.Code, s.ev.Err = OutcomeUnknownTool, CodeUnknownTool, nil
		s.ev.Reason = text.Get(langOf(s.run), text.ToolUnknown, tl.Name())
		res = map[string]any{"error": s.ev.Reason}
	}
	s.tell(res)
	return res
}

func (t toolHooks) after(ctx agent.Context, tl tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
	if t.c.wraps(tl) {
		return nil, nil
	}
	s := t.open(ctx, tl)
	if s == nil {
		return nil, nil
	}
	s.run.values.Delete(t.id(ctx, tl))
	if isConfirmation(err) {
		s.tell(nil)
		return nil, nil
	}
	res := s.after(result, err)
	s.tell(res)
	t.save(ctx, tl, res)
	if err == nil && maps.EqualFunc(res, result, equalJSON) {
		return nil, nil
	}
	return res, nil
}

func (t toolHooks) open(ctx agent.Context, tl tool.Tool) *toolStep {
	run := runOrNil(ctx)
	if run == nil {
		return nil
	}
	s, _ := run.values.Load(t.id(ctx, tl))
	ts, _ := s.(*toolStep)
	return ts
}

// save stores a structured answer under the agent's output key, which the chain
// took over from ADK.
func (t toolHooks) save(ctx agent.Context, tl tool.Tool, res map[string]any) {
	if t.saveAs == "" || tl.Name() != setModelResponse || res == nil || res["error"] != nil {
		return
	}
	if b, err := json.Marshal(res); err == nil {
		_ = ctx.State().Set(t.saveAs, string(b))
	}
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && slices.Equal(x, y)
}
