// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
)

// Defaults of [WindowOptions].
const (
	defaultWindowTrigger = 0.8
	defaultWindowTarget  = 0.5
	defaultSummaryTokens = 1024
)

// WindowOptions are the options of [Window]. Turns or Tokens is required.
type WindowOptions struct {
	// Turns is how many turns of history a request has at most. A turn is one answer of a
	// model with the results of its calls, or one message of anybody else. Zero is no limit.
	Turns int
	// Tokens is the context budget: what a prompt may have, instruction and tools included.
	// The history is cut where the prompt to come would pass Trigger of it. Zero is no limit.
	Tokens int
	// Trigger is the part of Tokens at which the history is cut. Zero is 0.8; it must not
	// be above 1.
	Trigger float64
	// Target is the part of Tokens, or of Turns, that a cut leaves. The smaller, the rarer
	// the cuts, and the longer a prompt cache holds. Zero is 0.5, or half a Trigger that is
	// not above it; it must be below Trigger.
	Target float64
	// Summarise is a model that puts what is cut off into words, which take its place. Nil
	// leaves it out.
	Summarise model.LLM
	// SummaryTokens bounds the summary. Zero is 1024.
	SummaryTokens int
}

// Window bounds the history that an agent's model is sent to the newest turns.
//
// The first message and the question of this run always stay. A call is never parted from
// its response; calls without a response and responses without a call, which a provider
// rejects, are left out. It cuts rarely and deep rather than a little each time: between
// two cuts each request begins with the bytes of the one before, so that a prompt cache
// holds. The newest turn stays whole whatever its size; bound results with [Truncate].
// The session keeps everything: carried over to a further run, it is cut there too.
//
// How full the context is says the last prompt's count, as the provider reports it, plus
// an estimate of what has come since, at four bytes a token. A count is never summed up.
//
// Put it before [Landing], which adds a message of its own, and after [Isolate]. It needs
// no state of its own for Turns; the place of a cut by Tokens is
// kept for the agent until its invocation ends. It fails
// closed: should it break, the call is refused.
//
// Use it when a conversation goes on over many turns; use [Isolate] where an agent needs none
// of it, [Truncate] where single results are too long.
func Window(turns int) callbacks.Guard { return WindowOptions{Turns: turns}.Guard() }

// Guard returns the guard that [Window] describes, with these options. A summariser is called inside the chain, so that
// the guards after this one count and pay for its calls; it works on an agent only. Where
// it fails, says nothing, or would take the call that is kept for the answer, the history
// is cut all the same.
func (o WindowOptions) Guard() callbacks.Guard {
	if err := o.check(); err != nil {
		return callbacks.Guard{Name: windowName, Err: err}
	}
	if o.Trigger == 0 {
		o.Trigger = defaultWindowTrigger
	}
	if o.Target == 0 {
		if o.Target = defaultWindowTarget; o.Target >= o.Trigger {
			o.Target = o.Trigger / 2
		}
	}
	if o.SummaryTokens == 0 {
		o.SummaryTokens = defaultSummaryTokens
	}
	w := &window{o: o, key: callbacks.NewPlaceKey(func() *windowAt { return &windowAt{} }).Lasting()}
	g := callbacks.Guard{
		Name:        windowName,
		BeforeModel: w.before,
		Info: func() callbacks.Info {
			return callbacks.Info{OnlyJudges: true, Limits: w.limits(), After: []string{isolateName}}
		},
	}
	if o.Tokens > 0 {
		g.AfterModel = w.after
	}
	if o.Summarise != nil {
		g.WrapModel = func(next model.LLM, inner func(model.LLM) model.LLM) model.LLM {
			return w.wrapModel(next, inner(o.Summarise))
		}
	}
	return g
}

func (o WindowOptions) check() error {
	switch {
	case o.Turns < 0 || o.Tokens < 0 || o.SummaryTokens < 0:
		return errors.Join(notNegative("Window", "Turns", o.Turns), notNegative("Window", "Tokens", o.Tokens), notNegative("Window", "SummaryTokens", o.SummaryTokens))
	case o.Turns == 0 && o.Tokens == 0:
		return errNoLimit("Window", "Turns or Tokens")
	case o.Trigger < 0 || o.Trigger > 1 || o.Target < 0 || o.Target > 1:
		return fmt.Errorf("guards: Window: Trigger is %v and Target %v, both must be from 0 to 1", o.Trigger, o.Target)
	case o.Trigger > 0 && o.Target >= o.Trigger || o.Trigger == 0 && o.Target >= defaultWindowTrigger:
		return fmt.Errorf("guards: Window: Target is %v, it must be below Trigger: a cut would be due again at once", o.Target)
	}
	return nil
}

type window struct {
	o   WindowOptions
	key *callbacks.PlaceKey[*windowAt]
}

// windowAt is what the window knows of one agent: one that a loop runs again has its history
// behind it.
type windowAt struct {
	mu    sync.Mutex
	state windowState
}

type windowState struct {
	// first names the oldest turn that was kept, firstAt is where it stood; empty before any
	// cut.
	first   string
	firstAt int
	// prompt is what the provider counted last, estimated what was reckoned for the same
	// contents; sent is that for the contents of the call that is under way.
	prompt, estimated, sent int64
	// cutOff waits to be summarised; summary is what was said about all that came before.
	cutOff  []*genai.Content
	summary string
	// summaryAt is where the summary stands in a request.
	summaryAt int
}

func (w *windowAt) get() windowState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

func (w *windowAt) update(f func(*windowState)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.state)
}

func (w *window) before(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	plain := contextOf(ctx)
	at := w.key.At(plain, callbacks.PlaceOf(ctx))
	st := at.get()
	var question *genai.Content
	if ctx != nil {
		question = ctx.UserContent()
	}
	h := readHistory(req.Contents, question)
	before := h.find(st.first, st.firstAt)
	cut := max(before, w.byTurns(len(h.turns)), w.byTokens(h, req, st, before))
	cut = min(cut, max(0, len(h.turns)-1))
	kept, pinned := h.from(cut)
	req.Contents = whole(plain, kept)
	at.update(func(st *windowState) {
		st.sent = estimate(req.Contents...)
		switch {
		case cut == 0:
			st.first, st.cutOff, st.summary = "", nil, ""
			return
		case cut != before && w.o.Summarise != nil:
			if before == 0 {
				st.summary = ""
			}
			for _, turn := range h.turns[before:cut] {
				st.cutOff = append(st.cutOff, turn...)
			}
		}
		st.first, st.firstAt, st.summaryAt = nameOf(h.turns[cut]), cut, pinned
	})
	return nil, nil
}

// byTurns depends on the history alone, so that a further run cuts it at the same place.
func (w *window) byTurns(turns int) int {
	most := w.o.Turns
	if most == 0 || turns <= most {
		return 0
	}
	atOnce := max(1, most-max(1, int(float64(most)*w.o.Target)))
	return (turns - most + atOnce - 1) / atOnce * atOnce
}

// byTokens returns how many turns to leave out; before are out already.
func (w *window) byTokens(h history, req *model.LLMRequest, st windowState, before int) int {
	if w.o.Tokens == 0 {
		return 0
	}
	kept, _ := h.from(before)
	size := estimate(kept...)
	if st.prompt > 0 {
		size += st.prompt - st.estimated
	} else {
		size += overhead(req.Config)
	}
	if float64(size) <= w.o.Trigger*float64(w.o.Tokens) {
		return before
	}
	cut := before
	for cut < len(h.turns)-1 && float64(size) > w.o.Target*float64(w.o.Tokens) {
		size -= estimate(h.turns[cut]...)
		cut++
	}
	return cut
}

// overhead is a rough count of what a prompt has beside its contents.
func overhead(cfg *genai.GenerateContentConfig) int64 {
	if cfg == nil {
		return 0
	}
	n := estimate(cfg.SystemInstruction)
	if raw, err := json.Marshal(cfg.Tools); err == nil {
		n += int64(len(raw)) / 4
	}
	return n
}

// after notes what the provider counted.
func (w *window) after(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
	if resp == nil || resp.Partial || resp.UsageMetadata == nil || resp.UsageMetadata.PromptTokenCount <= 0 {
		return nil, nil
	}
	w.key.At(contextOf(ctx), callbacks.PlaceOf(ctx)).update(func(st *windowState) {
		st.prompt, st.estimated = int64(resp.UsageMetadata.PromptTokenCount), st.sent
	})
	return nil, nil
}

func (w *window) limits() []string {
	var limits []string
	if w.o.Turns > 0 {
		limits = append(limits, fmt.Sprintf("at most %d turns", w.o.Turns))
	}
	if w.o.Tokens > 0 {
		limits = append(limits, fmt.Sprintf("cut at %.0f %% of %d tokens", 100*w.o.Trigger, w.o.Tokens))
	}
	if w.o.Summarise != nil {
		limits = append(limits, "summarised by "+w.o.Summarise.Name())
	}
	return limits
}

// whole makes a history one a provider accepts: it begins and ends with a turn that is not
// the model's.
func whole(ctx context.Context, contents []*genai.Content) []*genai.Content {
	if len(contents) == 0 || contents[0].Role != genai.RoleUser {
		contents = append([]*genai.Content{goOn(ctx)}, contents...)
	}
	if contents[len(contents)-1].Role != genai.RoleUser {
		contents = append(contents, goOn(ctx))
	}
	return contents
}
