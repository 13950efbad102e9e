// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"maps"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
)

// A lastHook is an after hook of a guard with a last pass.
type lastHook[F any] struct {
	named[F]
	index int // among all after hooks of its kind
	// again says that a hook after it may change the value.
	again bool
}

// missed reports whether the hook has not seen the value of a step in which the first n after
// hooks did.
func (h *lastHook[F]) missed(n int) bool { return h.again || n <= h.index }

// order notes what a guard is to the guards before it. It is called for each guard in the
// order of the chain, after its hooks were sorted.
func (h *hooks) order(g Guard) {
	if g.monitored {
		return
	}
	info := g.info()
	if !info.OnlyJudges && !g.LastPass {
		h.mayChange(g)
	}
	if g.BeforeTool != nil && info.Rechecks {
		h.recheck = append(h.recheck, named[beforeTool]{guard: g.Name, f: g.BeforeTool})
	}
	if g.LastPass && g.AfterTool != nil {
		h.lastTool = append(h.lastTool, lastHook[afterTool]{named[afterTool]{guard: g.Name, f: g.AfterTool}, len(h.afterTool) - 1, false})
	}
	if g.LastPass && g.AfterModel != nil {
		h.lastModel = append(h.lastModel, lastHook[afterModel]{named[afterModel]{guard: g.Name, f: g.AfterModel}, len(h.afterModel) - 1, false})
	}
}

// mayChange notes that a guard may change what those before it have seen.
func (h *hooks) mayChange(g Guard) {
	for i := range h.lastTool {
		h.lastTool[i].again = h.lastTool[i].again || g.AfterTool != nil
	}
	for i := range h.lastModel {
		h.lastModel[i].again = h.lastModel[i].again || g.AfterModel != nil
	}
	h.argsWrapped = h.argsWrapped || g.WrapTool != nil
	h.argsLate = h.argsLate || g.BeforeTool != nil && len(h.recheck) > 0
}

// close takes the result that was decided through the last pass and reports it to the
// observers. Every result leaves the step here.
func (s *toolStep) close(res map[string]any) map[string]any {
	owned := false
	for i := range s.c.h.lastTool {
		h := &s.c.h.lastTool[i]
		if !h.missed(s.seen) {
			continue
		}
		if !owned {
			res, owned = maps.Clone(res), true
		}
		got, err := s.callAfter(h.f, res, nil)
		switch {
		case err != nil:
			res = s.refuse(h.guard, nil, err)
		case got != nil:
			res = got
		}
	}
	s.tell(res)
	return res
}

// lastPass takes a response that was decided, and which the chain owns, through the last
// pass. The chunks of a plugin's step are left to on_event, which sees what is stored.
func (s *modelStep) lastPass(ctx agent.Context, resp *model.LLMResponse) *model.LLMResponse {
	if s.plugin && resp.Partial {
		return resp
	}
	for i := range s.c.h.lastModel {
		h := &s.c.h.lastModel[i]
		if !h.missed(s.seen) {
			continue
		}
		partial := resp.Partial
		got, err := callAfterModel(h.f, ctx, resp)
		switch {
		case err != nil:
			resp = s.refuse(h.guard, nil, err)
		case got != nil && got != resp:
			resp = CopyResponse(got)
		}
		resp.Partial = partial
	}
	return resp
}

// lastPass takes what an agent hook answered through the last pass.
func (a agentHooks) lastPass(ctx agent.Context, content *genai.Content) (*genai.Content, error) {
	if len(a.c.h.lastModel) == 0 {
		return content, nil
	}
	resp := CopyResponse(&model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop})
	for i := range a.c.h.lastModel {
		got, err := callAfterModel(a.c.h.lastModel[i].f, ctx, resp)
		switch {
		case err != nil:
			return nil, err
		case got != nil:
			resp = CopyResponse(got)
		}
	}
	return resp.Content, nil
}
