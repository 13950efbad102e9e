// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// heard is a test that remembers what it was told instead of failing.
type heard struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (h *heard) Errorf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, fmt.Sprintf(format, args...))
}

func (h *heard) Helper() {}

// Every law has at least one guard that breaks it, and AssertContract says which.
func TestBrokenGuardsAreCaught(t *testing.T) {
	var count, left atomic.Int64
	left.Store(3)
	var once sync.Once
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	ctx := t.Context()
	for name, tc := range map[string]struct {
		law   string
		guard callbacks.Guard
	}{
		"needs a hook it has not": {"info", callbacks.Guard{Observe: func(context.Context, callbacks.Event) {}, Info: func() callbacks.Info {
			return callbacks.Info{Needs: []inspect.Hook{inspect.BeforeTool}}
		}}},
		"says one thing and then another": {"info", callbacks.Guard{Info: func() callbacks.Info {
			return callbacks.Info{Limits: []string{fmt.Sprint(count.Add(1))}}
		}}},
		"takes a configuration for granted": {"nil", callbacks.Guard{BeforeModel: func(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
			req.Config.MaxOutputTokens = 5
			return nil, nil
		}}},
		"edits nested arguments": {"shared", callbacks.Guard{BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
			if contact, ok := args["contact"].(map[string]any); ok {
				contact["mail"] = "[email]"
			}
			return nil, nil
		}}},
		"edits a nested result": {"shared", callbacks.Guard{AfterTool: func(_ agent.Context, _ tool.Tool, _, result map[string]any, _ error) (map[string]any, error) {
			if accounts, ok := result["accounts"].([]any); ok {
				accounts[0] = "[iban]"
			}
			return nil, nil
		}}},
		"edits the history": {"shared", callbacks.Guard{BeforeModel: func(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
			for _, c := range req.Contents {
				c.Parts[0].Text = strings.ToUpper(c.Parts[0].Text)
			}
			return nil, nil
		}}},
		"appends to the history": {"shared", callbacks.Guard{BeforeModel: func(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
			req.Contents = append(req.Contents, genai.NewContentFromText("Hurry up.", genai.RoleUser))
			return nil, nil
		}}},
		"edits what it observes": {"shared", callbacks.Guard{Observe: func(_ context.Context, ev callbacks.Event) { delete(ev.Args, "contact") }}},
		"returns the arguments": {"args", callbacks.Guard{BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
			return args, nil
		}}},
		"tells the model what went wrong": {"secret", callbacks.Guard{OnToolError: func(_ agent.Context, _ tool.Tool, _ map[string]any, err error) (map[string]any, error) {
			return map[string]any{"error": err.Error()}, nil
		}}},
		"renames a tool": {"wrapper", callbacks.Guard{WrapTool: func(t tool.Tool) tool.Tool { return callbackstest.Tool("safe_" + t.Name()) }}},
		"answers for a long-running tool": {"wrapper", callbacks.Guard{WrapTool: func(t tool.Tool) tool.Tool {
			return callbackstest.Tool(t.Name()).LongRunning()
		}}},
		"goes on when its caller stops": {"wrapper", callbacks.Guard{WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return restless{next} }}},
		"does not come back":            {"parallel", callbacks.Guard{BeforeTool: secondTime(func() { <-stuck })}},
		"remembers the last run":        {"run", callbacks.Guard{BeforeTool: secondTime(nil)}},
		"has three calls for all runs": {"run", callbacks.Guard{BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			if left.Add(-1) < 0 {
				return nil, callbacks.Deny("used_up", "no calls left")
			}
			return nil, nil
		}}},
		"needs somebody to call Start": {"launched", callbacks.Guard{BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			if callbacks.RunOf(context.WithoutCancel(ctx)) == nil { // hides the invocation id
				return nil, callbacks.Deny("no_run", "no run")
			}
			return nil, nil
		}}},
		"settles what a monitored guard would refuse": {"monitored", oneCall()},
		"leaves a goroutine behind": {"leak", callbacks.Guard{BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			go func() { <-ctx.Done() }()
			return nil, nil
		}}},
		"leaves one behind in all": {"leak", callbacks.Guard{BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			once.Do(func() { go func() { <-ctx.Done() }() })
			return nil, nil
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.guard.Name = "broken"
			h := &heard{TB: t}
			timeout := time.Minute
			if tc.law == "parallel" || tc.law == "leak" { // these wait until it is over
				timeout = 2 * time.Second
			}
			callbackstest.Contract{Guard: tc.guard, Timeout: timeout}.Assert(h)
			require.NotEmpty(t, h.said)
			for _, s := range h.said {
				require.Contains(t, s, fmt.Sprintf("breaks the law %q", tc.law))
			}
		})
	}
}

// oneCall allows one tool call a Run, and gives it back where somebody else only would refuse.
func oneCall() callbacks.Guard {
	key := callbacks.NewKey(func() *atomic.Int64 { return &atomic.Int64{} })
	return callbacks.Guard{
		BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			if key.Of(ctx).Add(1) > 1 {
				return nil, callbacks.Deny("used_up", "no calls left")
			}
			return nil, nil
		},
		ObserveMonitored: func(ctx context.Context, ev callbacks.Event) {
			if ev.Step == callbacks.StepTool {
				key.Of(ctx).Store(0)
			}
		},
	}
}

// secondTime is a before_tool hook that refuses from its seventh call on, whatever the run, or
// does something else then.
func secondTime(do func()) func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
	var mu sync.Mutex
	var calls int
	return func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		mu.Lock()
		calls++
		late := calls > 6
		mu.Unlock()
		switch {
		case !late:
		case do != nil:
			do()
		default:
			return nil, callbacks.Deny("tired", "enough")
		}
		return nil, nil
	}
}

// restless yields although its caller has stopped.
type restless struct{ model.LLM }

func (r restless) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range r.LLM.GenerateContent(ctx, req, stream) {
			yield(resp, err)
		}
	}
}

// A guard with a race is found under the race detector. It runs in a process of its own,
// which the detector ends.
func TestARaceIsCaught(t *testing.T) {
	if os.Getenv("RACY_GUARD") != "" {
		var calls int
		callbackstest.AssertContract(t, callbacks.Guard{Name: "racy", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			calls++
			return nil, nil
		}})
		return
	}
	if !raceDetector {
		t.Skip("needs the race detector")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestARaceIsCaught$")
	cmd.Env = append(os.Environ(), "RACY_GUARD=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "DATA RACE")
}
