// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// A program is a random agent tree on one budget, with what it wanted and what got
// through.
type program struct {
	calls, toolCalls, perTool int
	wanted                    int
	reached, issued, issuedA  atomic.Int64
	ran, ranA                 atomic.Int64
	stops                     bool
	parallel                  bool
	agents                    []agent.Agent
}

// TestCallBudgetIsExactInRandomPrograms: whatever agents, parallel tool calls and limits
// there are, no call gets through beyond a limit and none is refused that fits.
func TestCallBudgetIsExactInRandomPrograms(t *testing.T) {
	programs := uint64(1000)
	if testing.Short() || raceDetector {
		programs = 200 // the detector makes each ten times as slow
	}
	for seed := range programs {
		p := newProgram(t, rand.New(rand.NewPCG(seed, 1)))
		var root agent.Agent
		var err error
		base := agent.Config{Name: "root", SubAgents: p.agents}
		if p.parallel {
			root, err = parallelagent.New(parallelagent.Config{AgentConfig: base})
		} else {
			root, err = sequentialagent.New(sequentialagent.Config{AgentConfig: base})
		}
		require.NoError(t, err)
		out := playWith(t, root, nil, seed%3 == 0)
		require.NoError(t, out.err)
		require.EqualValues(t, min(p.wanted, p.calls), p.reached.Load(), "seed %d: model calls", seed)
		require.LessOrEqual(t, p.ran.Load(), int64(p.toolCalls), "seed %d", seed)
		require.LessOrEqual(t, p.ranA.Load(), int64(p.perTool), "seed %d", seed)
		if p.stops {
			continue // a stopped Run refuses calls whatever is left
		}
		full := p.ran.Load() == int64(p.toolCalls)
		if p.ranA.Load() < p.issuedA.Load() {
			require.True(t, full || p.ranA.Load() == int64(p.perTool), "seed %d: a call of tool a was refused that fits", seed)
		}
		if p.ran.Load()-p.ranA.Load() < p.issued.Load()-p.issuedA.Load() {
			require.True(t, full, "seed %d: a call of tool b was refused that fits", seed)
		}
	}
}

func newProgram(t *testing.T, rnd *rand.Rand) *program {
	p := &program{calls: 1 + rnd.IntN(12), toolCalls: 1 + rnd.IntN(15), perTool: 1 + rnd.IntN(10), stops: rnd.IntN(2) == 0, parallel: rnd.IntN(3) > 0}
	o := guards.CallBudgetOptions{Calls: p.calls, ToolCalls: p.toolCalls, PerTool: map[string]int{"a": p.perTool}, Tokens: guards.Unlimited}
	if p.stops {
		o.Scope = guards.ScopeRun
	}
	budget := o.Guard()
	count := func(name string) tool.Tool {
		return callbackstest.ToolFunc(name, func(agent.Context, map[string]any) (map[string]any, error) {
			p.ran.Add(1)
			if name == "a" {
				p.ranA.Add(1)
			}
			return map[string]any{"result": "ok"}, nil
		})
	}
	refuse := rnd.IntN(4) // a guard before the budget refuses some calls, which take no slot
	picky := callbacks.Guard{Name: "picky", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		if refuse > 0 && args["refuse"] == true {
			return nil, callbacks.Deny("picky", "not this one")
		}
		return nil, nil
	}}
	for i := range 1 + rnd.IntN(5) {
		m := &countingModel{p: p, turns: rnd.IntN(6), calls: 1 + rnd.IntN(4), refuse: refuse}
		p.wanted += m.turns + 1
		a, err := callbacks.New(picky, budget).NewAgent(llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: m, Tools: []tool.Tool{count("a"), count("b")}})
		require.NoError(t, err)
		p.agents = append(p.agents, a)
	}
	return p
}

// countingModel calls two tools several times a turn for some turns, then answers.
type countingModel struct {
	p             *program
	turns, calls  int
	refuse, calln int
	mu            sync.Mutex
}

func (*countingModel) Name() string { return "counting" }

func (m *countingModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.p.reached.Add(1)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.turns--; m.turns < 0 {
			yield(&model.LLMResponse{Content: genai.NewContentFromText("done", genai.RoleModel)}, nil)
			return
		}
		var parts []*genai.Part
		for range m.calls {
			m.calln++
			name, args := "b", map[string]any{}
			if m.calln%2 == 0 {
				name = "a"
			}
			if m.refuse > 0 && m.calln%(m.refuse+1) == 0 {
				args["refuse"] = true
			} else {
				m.p.issued.Add(1)
				if name == "a" {
					m.p.issuedA.Add(1)
				}
			}
			parts = append(parts, genai.NewPartFromFunctionCall(name, args))
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel)}, nil)
	}
}
