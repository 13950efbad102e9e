// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// An effect is a call that reached a model or a tool.
type effect struct {
	n       int // in the order they began
	agent   string
	tool    string // "" is the model
	args    map[string]any
	at      time.Duration
	gaveUp  bool // its context ended while it worked
	request error
}

// A world is what one program's models and tools really do.
type world struct {
	spec    programSpec
	begin   time.Time
	ledger  ledger.Ledger
	journal *programJournal

	stopped, waiting atomic.Bool
	hooks            atomic.Int64
	asked, approved  atomic.Int64

	mu      sync.Mutex
	effects []*effect
	late    []string // effects that began after Stop had returned
	billed  map[string]ledger.Nano
	run     *callbacks.Run
	seen    []callbacks.Event
}

func newWorld(spec programSpec) *world {
	books, err := ledger.NewMemory(ledger.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	return &world{spec: spec, begin: time.Now(), ledger: books, billed: make(map[string]ledger.Nano)}
}

// recorder is an observer that keeps what it gets, and the Run.
func (w *world) recorder() callbacks.Guard {
	return callbacks.Guard{Name: "recorder", Observe: func(ctx context.Context, ev callbacks.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, ev)
		if w.run == nil {
			w.run = callbacks.RunOf(ctx)
		}
	}}
}

func (w *world) effect(agentName, toolName string, args map[string]any) *effect {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &effect{n: len(w.effects), agent: agentName, tool: toolName, args: maps.Clone(args), at: time.Since(w.begin)}
	w.effects = append(w.effects, e)
	if w.stopped.Load() {
		w.late = append(w.late, fmt.Sprintf("effect %d (%s %s) at %v", e.n, agentName, toolName, e.at))
	}
	return e
}

// work takes its time and reports how it ended.
func (e *effect) work(ctx context.Context, takes time.Duration, deaf bool) error {
	if deaf {
		time.Sleep(takes)
		return nil
	}
	select {
	case <-time.After(takes):
		return nil
	case <-ctx.Done():
		e.gaveUp = true
		return context.Cause(ctx)
	}
}

// stop stops the run where nothing else moves, so that no effect is about to begin.
func (w *world) stop(run *callbacks.Run) {
	if run == nil || !w.waiting.CompareAndSwap(false, true) {
		return
	}
	synctest.Wait()
	w.stopped.Store(run.Stop(callbacks.Stop("enough", "enough")))
	w.waiting.Store(false)
}

// programModel is the model of one agent, or a fallback where its name is "".
type programModel struct {
	w     *world
	agent string
	turns []programTurn
	next  atomic.Int64
}

// Name is the one that the price table knows.
func (*programModel) Name() string { return "dear" }

func (m *programModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		name := m.agent
		if s, ok := callbacks.CurrentStep(ctx); ok && name == "" {
			name = s.Agent
		}
		e := m.w.effect(name, "", nil)
		e.request = callbackstest.CheckRequest(req)
		turn := programTurn{}
		if n := int(m.next.Add(1)) - 1; n < len(m.turns) {
			turn = m.turns[n]
		}
		if turn.Fault == "503" {
			yield(nil, genai.APIError{Code: 503, Status: "UNAVAILABLE"})
			return
		}
		usage := m.w.bill(name, req)
		if err := e.work(ctx, time.Duration(turn.Takes)*time.Millisecond, turn.Deaf); err != nil {
			yield(nil, err)
			return
		}
		turn.play(stream, usage, yield)
	}
}

// bill is the worst that a request allows, from the moment it arrives.
func (w *world) bill(agentName string, req *model.LLMRequest) *genai.GenerateContentResponseUsageMetadata {
	out := int32(100)
	if req.Config != nil && req.Config.MaxOutputTokens > 0 {
		out = req.Config.MaxOutputTokens
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.billed[agentName] += ledger.NanoOf(prices.Pico(int64(out)*299_000_000 + 10*1_000_000))
	return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: out, TotalTokenCount: 10 + out}
}

func (t programTurn) play(stream bool, usage *genai.GenerateContentResponseUsageMetadata, yield func(*model.LLMResponse, error) bool) {
	text := "done"
	if t.Leak {
		text = "write to " + mail + " or pay " + iban + ", please"
	}
	if stream && len(t.Calls) == 0 {
		for i := 0; i < len(text); i += 7 {
			chunk := &model.LLMResponse{Content: genai.NewContentFromText(text[i:min(i+7, len(text))], genai.RoleModel), Partial: true}
			if !yield(chunk, nil) {
				return
			}
		}
	}
	resp := &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), UsageMetadata: usage, FinishReason: genai.FinishReasonStop, TurnComplete: true}
	for i, c := range t.Calls {
		part := genai.NewPartFromFunctionCall(c.Tool, map[string]any{"who": c.Who, "do": c.Do, "request": c.Who})
		part.FunctionCall.ID = fmt.Sprintf("call-%d", i)
		if t.Fault == "same ids" {
			part.FunctionCall.ID = "call-0"
		} else if i%2 == 0 {
			part.FunctionCall.ID = ""
		}
		resp.Content.Parts = append(resp.Content.Parts, part)
	}
	switch t.Fault {
	case "error":
		yield(nil, errors.New("the model is down"))
	case "empty":
		yield(&model.LLMResponse{UsageMetadata: usage, FinishReason: genai.FinishReasonStop}, nil)
	case "blocked":
		yield(&model.LLMResponse{UsageMetadata: usage, FinishReason: genai.FinishReasonSafety, ErrorCode: "SAFETY", ErrorMessage: "blocked"}, nil)
	case "full":
		resp.FinishReason = genai.FinishReasonMaxTokens
		yield(resp, nil)
	case "cut", "nothing":
	case "nil":
		yield(nil, nil)
	case "panic":
		panic("the model breaks")
	default:
		yield(resp, nil)
	}
}

// use is what a tool does.
func (w *world) use(ctx agent.Context, name string, args map[string]any) (map[string]any, error) {
	e := w.effect(ctx.AgentName(), name, args)
	result := map[string]any{"result": "ok"}
	switch args["do"] {
	case "echo":
		result["who"] = args["who"]
	case "leak":
		result["contacts"] = []any{map[string]any{"mail": mail, "text": "pay " + iban}}
	case "state":
		return result, ctx.State().Set("seen", map[string]any{"by": mail})
	case "error":
		return nil, errors.New("no answer from " + mail)
	case "panic":
		panic("the tool breaks at " + mail)
	case "slow", "deaf":
		if err := e.work(ctx, 700*time.Millisecond, args["do"] == "deaf"); err != nil {
			return nil, err
		}
	case "nil":
		return nil, nil
	case "long":
		for i := range 60 {
			result[fmt.Sprintf("key%d", i)] = "a longer text, of which there is plenty"
		}
	}
	return result, nil
}
