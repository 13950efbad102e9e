// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/codes"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/artifactname"
	"github.com/gardefou/gardefou/redact"
)

const redactName = "redact"

// RedactOptions are the options of [Redact].
type RedactOptions struct {
	// Options say what is found and what takes its place. The zero value finds e-mail
	// addresses and IBANs; an empty Language is that of the Run.
	redact.Options
	// KeepArgs leaves the arguments of calls as the model made them.
	KeepArgs bool
}

// Redact masks e-mail addresses and IBANs in what a model says and in what tools
// return, before either reaches the history, an output key, session state or the
// next guard. SIREN and SIRET numbers are never masked.
//
// In the arguments of a call a value is replaced by a token, so that history, spans,
// events and observers carry tokens; just before the tool runs, after its hooks, the
// token is turned back, from a vault that the Run keeps in memory. A token whose
// vault is gone, after a restart say, refuses the call: the tool never runs with it. Nor
// does it run with one that the model wrote in another form, see [redact.Vault.Reveal].
// The guards of this package judge, and show to people, the values; other hooks see
// tokens and look behind them with [RevealArgs]. The condition of a [callbacks.When] sees
// tokens and can't.
//
// What a tool does beside its result is masked too: what it writes into state and the
// confirmations it asks for. Where an answer breaks off, at a limit of tokens say, what may
// be the beginning of a value at its end is masked like one; an answer that doesn't say that
// it is complete (the reason STOP) counts as broken off.
//
// On an agent it stands in the model wrapper and masks streams without waiting for
// their end; the tail it holds back comes as one more chunk. As a plugin it also
// masks the user's message and every event before it is stored, but the tail of a
// stream then comes with the final response only. What hooks can't reach, artifacts
// and span exporters, package sinks closes.
//
// It fails closed: what can't be looked into is withheld.
//
// Use it wherever people's data may pass, with package sinks or as a plugin where the user's
// message counts; leave it out where an agent must tell one address from another.
func Redact() callbacks.Guard { return RedactOptions{}.Guard() }

// Guard returns the guard that [Redact] describes, with these options.
func (o RedactOptions) Guard() callbacks.Guard {
	m, err := newMasker(o)
	if err != nil {
		return callbacks.Guard{Name: redactName, Err: err}
	}
	info := func() callbacks.Info {
		needs := []inspect.Hook{inspect.AfterTool}
		if !o.KeepArgs {
			needs = append(needs, inspect.WrapTool)
		}
		return callbacks.Info{Limits: []string{"masks e-mail addresses and IBANs"}, Needs: needs}
	}
	g := callbacks.Guard{
		Name:      redactName,
		LastPass:  true,
		AfterTool: m.afterTool,
		AfterModel: func(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			return nil, m.afterModel(ctx, resp)
		},
		WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return m.wrapModel(next)
		},
		Info: info,
	}
	if !o.KeepArgs {
		g.WrapTool = revealingTool
	}
	g.ForPlugin = func() callbacks.Guard { return m.plugin(g, info) }
	return g
}

// plugin is the guard in the form that sees no model but every event.
func (m *masker) plugin(onAgent callbacks.Guard, info func() callbacks.Info) callbacks.Guard {
	streams := callbacks.NewPlaceKey(func() *atomic.Pointer[chunkMasker] { return &atomic.Pointer[chunkMasker]{} })
	return callbacks.Guard{
		Name:          redactName,
		LastPass:      true,
		AfterTool:     m.afterTool,
		WrapTool:      onAgent.WrapTool,
		OnUserMessage: m.onUserMessage,
		OnEvent:       m.onEvent,
		BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			streams.At(contextOf(ctx), callbacks.PlaceOf(ctx)).Store(nil)
			return nil, nil
		},
		AfterModel: func(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			stream := streams.At(contextOf(ctx), callbacks.PlaceOf(ctx))
			if resp.Partial {
				c := stream.Load()
				if c == nil {
					c = newChunkMasker(m.redactor(contextOf(ctx)))
					stream.Store(c)
				}
				c.chunk(resp)
				return nil, m.response(contextOf(ctx), resp)
			}
			stream.Store(nil)
			return nil, m.response(contextOf(ctx), resp)
		},
		Info: info,
	}
}

// redactEN masks journals.
var redactEN = redact.Must(redact.New(redact.Options{Language: "en"}))

// afterTool changes the copy of the result it was handed, key by key, so that the
// next guard sees it masked.
func (m *masker) afterTool(ctx agent.Context, _ tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
	r := m.redactor(contextOf(ctx))
	if maskErr := maskActionsOf(ctx, r); maskErr != nil {
		return nil, maskErr
	}
	if err != nil {
		return nil, m.errorText(r, err)
	}
	clean, err := r.Map(result)
	if err != nil || reflect.ValueOf(clean).Pointer() == reflect.ValueOf(result).Pointer() {
		return nil, err
	}
	clear(result)
	for k, v := range clean {
		result[k] = v
	}
	return nil, nil
}

// maskActionsOf masks what the tool did beside its result: state, confirmations that it
// asks for, names of artifacts. The actions are those of this call.
func maskActionsOf(ctx agent.Context, r *redact.Redactor) error {
	if ctx == nil || ctx.Actions() == nil {
		return nil
	}
	return maskActions(r, artifactname.Of(ctx), ctx.Actions())
}

// errorText refuses an error whose text for the model holds a value.
func (m *masker) errorText(r *redact.Redactor, err error) error {
	var safe interface{ ModelText() string }
	if !errors.As(err, &safe) {
		return nil
	}
	txt := safe.ModelText()
	if masked := r.String(txt); masked != txt {
		return callbacks.Deny(codes.ToolFailed, masked).WithCause(err)
	}
	return nil
}

// afterModel masks a response on an agent. The text of a chunk has passed the wrapper; another hook may have written it anew.
func (m *masker) afterModel(ctx agent.Context, resp *model.LLMResponse) error {
	r := m.redactor(contextOf(ctx))
	if !resp.Partial {
		return m.response(contextOf(ctx), resp)
	}
	if err := maskResponse(r, m.calls(contextOf(ctx), resp), resp); err != nil {
		return err
	}
	if resp.Content != nil {
		for i, p := range resp.Content.Parts {
			if isText(p) {
				masked := *p
				masked.Text = r.String(p.Text)
				resp.Content.Parts[i] = &masked
			}
		}
	}
	return nil
}

// response masks a response whose text has not been masked chunk by chunk; the chain owns it.
func (m *masker) response(ctx context.Context, resp *model.LLMResponse) error {
	return maskResponse(m.redactor(ctx), m.calls(ctx, resp), resp)
}

// onUserMessage returns a masked copy, or nil where there is nothing to mask: after an
// answer ADK asks no further plugin.
func (m *masker) onUserMessage(ctx agent.InvocationContext, msg *genai.Content) (*genai.Content, error) {
	if msg == nil {
		return nil, nil
	}
	r := m.redactor(ctx)
	masked, err := maskedContent(&fieldMask{r: r, calls: callMask{args: r.Map, id: r.String}}, msg)
	if err != nil {
		return nil, err
	}
	maskContent(r, r, masked)
	if reflect.DeepEqual(masked, msg) {
		return nil, nil
	}
	return masked, nil
}

// onEvent masks an event before it is stored.
func (m *masker) onEvent(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	return nil, MaskEvent(m.redactor(ctx), ev)
}
