// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"fmt"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/internal/text"
)

// Plugin returns the chain as a plugin for a whole runner. Put it first: a plugin
// before it that answers a hook switches it off for that step. A plugin does not
// reach the model calls of an agent used as a tool; attach the chain to that
// agent as well.
func (c *Chain) Plugin(name string) (*plugin.Plugin, error) {
	if c == nil {
		c = New()
	}
	var errs []error
	if name == "" {
		errs = append(errs, errors.New("callbacks: a plugin needs a name"))
	}
	guards := c.Guards()
	for i, g := range guards {
		if g.ForPlugin != nil {
			guards[i] = g.ForPlugin()
		}
	}
	if err := errors.Join(append(errs, c.Err(), checkForm(guards, formPlugin))...); err != nil {
		return nil, fmt.Errorf("plugin %q: %w", name, err)
	}
	// The hooks below belong to c, so that c on an agent knows that it stands
	// aside; the guards are the plugin's own.
	if err := checkGuards(guards); err != nil {
		return nil, fmt.Errorf("plugin %q: %w", name, err)
	}
	pc := &Chain{guards: guards, h: sortHooks(guards), as: c}

	p := &places{
		plugin:     plugin.Config{Name: name},
		modelHooks: modelHooks{c: pc, asPlugin: true}, toolHooks: toolHooks{c: pc, asPlugin: true},
		agentHooks: agentHooks{c: pc, asPlugin: true}, runHooks: runHooks{c: pc},
	}
	for _, r := range p.table() {
		r.onPlugin()
	}
	return plugin.New(p.plugin)
}

// swapTools puts the tool wrapper into the request, where ADK looks a called tool
// up afterwards: every tool as a plugin, and on an agent the ones ADK adds by itself.
func (c *Chain) swapTools(req *model.LLMRequest) {
	if req == nil {
		return
	}
	for name, t := range req.Tools {
		if tl, ok := t.(tool.Tool); ok {
			req.Tools[name] = c.wrapTool(tl)
		}
	}
}

// runHooks are the run-level callbacks, which only a plugin has.
type runHooks struct{ c *Chain }

// onUserMessage returns nil where no guard changed the message: any other answer
// switches off the plugins that come later.
func (r runHooks) onUserMessage(ctx agent.InvocationContext, msg *genai.Content) (*genai.Content, error) {
	var changed *genai.Content
	for _, h := range r.c.h.onUserMessage {
		content, err := safely(func() (*genai.Content, error) { return h.f(ctx, msg) })
		if err != nil {
			return nil, r.stop(ctx, h.guard, err)
		}
		if content != nil {
			// Several guards may each have something to mask: the next one sees what
			// this one made of the message.
			msg, changed = content, content
		}
	}
	return changed, nil
}

// stop ends a run before it began. ADK ends with the error; the text is safe.
func (r runHooks) stop(ctx agent.InvocationContext, guard string, err error) error {
	run := RunOf(ctx)
	refusal := refusalOf(langOf(run), err)
	if run != nil {
		run.stop("", guard, refusal)
	}
	return refusal
}

// errLive is the error with which a live run under a chain's plugin ends before it
// begins.
var errLive = errors.New("callbacks: live mode skips the hooks around the model, so a chain refuses it")

// beforeRun never answers ADK itself. ADK drops the content of an early end and
// stores the user's message once more in its place, as it was before any plugin
// masked it: the first agent of the run hands the answer out instead.
func (r runHooks) beforeRun(ctx agent.InvocationContext) (*genai.Content, error) {
	if ctx.RunConfig() == nil {
		// ADK gives every run a configuration but a live one.
		return nil, errLive
	}
	if run := RunOf(ctx); run != nil {
		run.store(wholeOf(ctx.InvocationID()), pluginID{r.c.identity()}, true)
	}
	for _, h := range r.c.h.beforeRun {
		content, err := safely(func() (*genai.Content, error) { return h.f(ctx) })
		if content == nil && err == nil {
			continue
		}
		run := RunOf(ctx)
		if run == nil {
			return content, err
		}
		run.store(wholeOf(ctx.InvocationID()), earlyEndID(r), &earlyEnd{h.guard, content, err})
		return nil, nil
	}
	return nil, nil
}

// earlyEnd is what a before_run hook answered, on its way to the first agent.
type earlyEnd struct {
	guard   string
	content *genai.Content
	err     error
}

type earlyEndID struct{ c *Chain }

// endedEarly answers for the first agent of a run that a before_run hook ended.
func (a agentHooks) endedEarly(ctx agent.Context, run *Run) *genai.Content {
	if run == nil {
		return nil
	}
	v, ok := run.take(PlaceOf(ctx).whole(), earlyEndID{a.c})
	if !ok {
		return nil
	}
	early := v.(*earlyEnd)
	if early.err == nil {
		return early.content
	}
	refusal := *refusalOf(langOf(run), early.err)
	refusal.scope = scopeRun
	return a.refuse(ctx, run, early.guard, &refusal)
}

func (r runHooks) afterRun(ctx agent.InvocationContext) {
	for _, h := range r.c.h.afterRun {
		quietly(func() { h.f(ctx) })
	}
	run := RunOf(ctx)
	if run == nil {
		return
	}
	r.flush(ctx, run)
	if run.pluginEnds(ctx.InvocationID(), r.c.identity()) {
		runs.end(ctx.InvocationID())
	}
}

// flush tells of model steps that were begun and never came back: a plugin sees no
// end of a call whose consumer went away.
func (r runHooks) flush(ctx agent.InvocationContext, run *Run) {
	for _, s := range run.modelSteps(ctx.InvocationID()) {
		if s.plugin && s.c == r.c {
			s.fx.begun.CompareAndSwap(0, 1)
			s.abandon(ctx)
		}
	}
}

// onEvent changes events in place and returns nil, so that no other plugin is cut
// off. A hook that returns an event has the last word, as in ADK.
func (r runHooks) onEvent(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	if ev == nil {
		return nil, nil
	}
	run := RunOf(ctx)
	if run.isStopped() {
		// Escalating is the only thing that ends an unbounded LoopAgent.
		ev.Actions.Escalate = true
	}
	ownDelta(ev)
	dropRefusedOutput(ev)
	for _, h := range r.c.h.onEvent {
		got, err := safely(func() (*session.Event, error) { return h.f(ctx, ev) })
		if err != nil {
			// ADK would drop the event and leave a call without its response.
			withhold(ev, refusalOf(langOf(run), err), langOf(run))
			return nil, nil
		}
		if got != nil {
			return got, nil
		}
	}
	return nil, nil
}

// ownDelta gives a partial event a state delta of its own. ADK has one for all events of a step
// and writes it while a consumer reads the chunks; it is stored with the whole answer only.
func ownDelta(ev *session.Event) {
	if ev != nil && ev.Partial {
		ev.Actions.StateDelta = map[string]any{}
	}
}

// dropRefusedOutput takes back what ADK saved under an output key of an agent
// that does not have the chain itself, where the text saved is a refusal. Partial events
// save nothing, and share their delta with the step that goes on.
func dropRefusedOutput(ev *session.Event) {
	if ev.Partial || !isRefusalEvent(ev) || ev.Content == nil || len(ev.Content.Parts) == 0 {
		return
	}
	for key, v := range ev.Actions.StateDelta {
		if v == ev.Content.Parts[0].Text {
			delete(ev.Actions.StateDelta, key)
		}
	}
}

// withhold empties an event that a guard could not check, keeping calls and
// responses paired.
func withhold(ev *session.Event, r *Refusal, lang text.Lang) {
	ev.Content = copyContent(ev.Content)
	ev.Actions.StateDelta = map[string]any{}
	if ev.Content == nil {
		return
	}
	for _, p := range ev.Content.Parts {
		switch {
		case p == nil:
		case p.FunctionResponse != nil:
			p.FunctionResponse.Response = refusalResult(r)
		case p.FunctionCall != nil:
			p.FunctionCall.Args = map[string]any{}
		case p.Text != "":
			p.Text = text.Get(lang, text.GuardPrefix) + r.Text
		}
	}
}
