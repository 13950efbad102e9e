// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

const landingName = "landing"

// adkFinishers are the tools through which ADK itself takes an answer: the structured
// one of an agent with an output schema, and that of an agent in task mode.
var adkFinishers = []string{"set_model_response", "finish_task"}

// LandingOptions are the options of [Landing].
type LandingOptions struct {
	// Tools are the names of the tools an answer may be given through. That of [Finish],
	// set_model_response and finish_task belong to them where the agent has them. None
	// at all means that the answer is plain text.
	Tools []string
	// Empty is the answer where the model's own is empty or holds only thoughts. Empty
	// means a sentence of the catalogue that says so.
	Empty string
}

// Landing keeps the last call that a [CallBudget] allows for the answer: the agent ends
// with what it has instead of being cut off. On that call only the finishing tools are
// declared and one must be called, or, where there are none, no tool is declared; the
// model is told so at the end of the request; calls of other tools are taken out of
// the answer; and an answer without text gets one, or, of an agent that ends by [Finish]
// alone, fails it.
//
// The last call is kept: other agents on a shared budget are refused before they take
// it, from the agent's first call on. An agent that begins when one call is left lands
// at once. Observers find Landed in the model step, and the Run's status is "landed".
//
// Without a CallBudget before it in the chain, or in the plugin of the run, it does
// nothing; tokens and time run out without a landing. It fails closed.
//
// Use it when a partial answer is worth more than none; leave it out where an agent that runs
// out of calls should fail.
func Landing(tools ...string) callbacks.Guard { return LandingOptions{Tools: tools}.Guard() }

// Guard returns the guard that [Landing] describes, with these options.
func (o LandingOptions) Guard() callbacks.Guard {
	l := &landing{o: o}
	l.o.Tools = slices.Clone(o.Tools)
	g := callbacks.Guard{
		Name:        landingName,
		BeforeModel: l.before,
		AfterModel:  l.after,
		AfterTool:   l.afterTool,
		Observe:     forgetting(landersKey),
		Info: func() callbacks.Info {
			limit := "last call is for the answer"
			if len(l.o.Tools) > 0 {
				limit += " through " + strings.Join(l.o.Tools, " or ")
			}
			return callbacks.Info{Limits: []string{limit}, Tools: l.o.Tools, After: []string{callBudgetName, runCallBudgetName, finishName}, Wants: []string{callBudgetName, runCallBudgetName}}
		},
	}
	if slices.Contains(o.Tools, "") {
		g.Err = errors.New("guards: Landing: a tool without a name")
	}
	return g
}

type landing struct{ o LandingOptions }

func (l *landing) before(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	plain, p := contextOf(ctx), callbacks.PlaceOf(ctx)
	if !lastCall(plain, p) {
		landersKey.At(plain, p).set(false, nil)
		callbacks.RunOf(ctx).MarkLanded(ctx, false)
		return nil, nil
	}
	var tools []string
	for _, name := range slices.Concat(l.o.Tools, finishersKey.At(plain, p).tools(), adkFinishers) {
		if _, ok := req.Tools[name]; ok && !slices.Contains(tools, name) {
			tools = append(tools, name)
		}
	}
	landersKey.At(plain, p).set(true, tools)
	callbacks.RunOf(ctx).MarkLanded(ctx, true)
	allowOnly(req, tools)
	told := text.Get(langOf(plain), text.LandingTold)
	if len(tools) > 0 {
		told = text.Get(langOf(plain), text.LandingTool, strings.Join(tools, ", "))
	}
	req.Contents = append(slices.Clip(req.Contents), genai.NewContentFromText(told, genai.RoleUser))
	return nil, nil
}

// allowOnly leaves only the named tools in a request and makes the model call one. What
// the request shares with the agent's configuration is replaced, not changed.
func allowOnly(req *model.LLMRequest, names []string) {
	maps.DeleteFunc(cloneTools(req), func(name string, _ any) bool { return !slices.Contains(names, name) })
	if req.Config == nil {
		return
	}
	cfg := *req.Config
	cfg.Tools, cfg.ToolConfig = nil, nil
	for _, t := range req.Config.Tools {
		if t == nil {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(t.FunctionDeclarations), func(d *genai.FunctionDeclaration) bool {
			return d == nil || !slices.Contains(names, d.Name)
		})
		if len(kept) > 0 {
			cfg.Tools = append(cfg.Tools, &genai.Tool{FunctionDeclarations: kept})
		}
	}
	if len(cfg.Tools) > 0 {
		cfg.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{
			Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: slices.Clone(names),
		}}
	}
	req.Config = &cfg
}

func cloneTools(req *model.LLMRequest) map[string]any {
	req.Tools = maps.Clone(req.Tools)
	return req.Tools
}

// after takes stray calls out of the answer and makes sure that there is one.
func (l *landing) after(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
	plain := contextOf(ctx)
	tools, ok := landersKey.At(plain, callbacks.PlaceOf(ctx)).landing()
	if !ok || resp.ErrorCode != "" {
		return nil, nil
	}
	answered := false
	if resp.Content == nil {
		resp.Content = &genai.Content{Role: genai.RoleModel}
	}
	resp.Content.Parts = slices.DeleteFunc(resp.Content.Parts, func(p *genai.Part) bool {
		stray := p == nil || p.FunctionCall != nil && !slices.Contains(tools, p.FunctionCall.Name)
		answered = answered || !stray && (p.FunctionCall != nil || !p.Thought && strings.TrimSpace(p.Text) != "")
		return stray
	})
	if resp.Partial {
		return nil, nil
	}
	if finish := finishersKey.At(plain, callbacks.PlaceOf(ctx)).tools(); finish != nil && !calls(resp.Content, finish) {
		return nil, notFinished(ctx, finish[0], nil)
	}
	if answered {
		return nil, nil
	}
	empty := l.o.Empty
	if empty == "" {
		empty = text.Get(langOf(plain), text.LandingNothing)
	}
	resp.Content.Parts = append(resp.Content.Parts, genai.NewPartFromText(empty))
	return nil, nil
}

func calls(c *genai.Content, tools []string) bool {
	return slices.ContainsFunc(c.Parts, func(p *genai.Part) bool { return p.FunctionCall != nil && slices.Contains(tools, p.FunctionCall.Name) })
}

// afterTool ends an agent that landed through a tool: there is no call left in which to
// read its result.
func (l *landing) afterTool(ctx agent.Context, t tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
	tools, ok := landersKey.At(contextOf(ctx), callbacks.PlaceOf(ctx)).landing()
	if ok && succeeded(result, err) && slices.Contains(tools, t.Name()) {
		endAgent(ctx)
	}
	return nil, nil
}

// endAgent makes the result of this tool call the agent's last event.
func endAgent(ctx agent.Context) {
	if ctx == nil {
		return
	}
	if actions := ctx.Actions(); actions != nil {
		actions.SkipSummarization = true
	}
}
