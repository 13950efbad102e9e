// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// allowedTools are the tools that AllowTools lets through, inScope the values of Scope, wellFormed
// those of Args.
var (
	allowedTools = []string{"lookup", "pay", "stream", "helper"}
	inScope      = []string{"acme", mail}
	wellFormed   = []string{"acme", "kervalec"}
)

// spendLimit pays for about ten answers of 100 tokens.
const spendLimit = ledger.Nano(300_000_000)

// programPrices are those of the model that programs call: 0.0299 USD for 100 tokens.
var programPrices = func() *prices.Table {
	table, err := prices.New("test", "2026-11-01", prices.Row{
		Backend: "gemini", Model: "dear", Rates: prices.Rates{Input: 1_000_000, Output: 299_000_000}, MaxInput: 1_000_000, MaxOutput: 100,
		Source: []string{"test"}, AsOf: "2026-11-01",
	})
	if err != nil {
		panic(err)
	}
	return table
}()

// guardMakers are the kinds of guard, with what their numbers mean.
var guardMakers = map[string]func(*world, programGuard) callbacks.Guard{
	"call_budget": func(_ *world, g programGuard) callbacks.Guard {
		return guards.CallBudgetOptions{Calls: g.N, ToolCalls: g.M, Tokens: guards.Unlimited, Time: time.Hour}.Guard()
	},
	"run_call_budget": func(_ *world, g programGuard) callbacks.Guard {
		return guards.CallBudgetOptions{Calls: g.N, PerTool: map[string]int{"lookup": g.M}, Scope: guards.ScopeRun}.Guard()
	},
	"allow_tools": func(*world, programGuard) callbacks.Guard { return guards.AllowTools(allowedTools...) },
	"args": func(*world, programGuard) callbacks.Guard {
		return guards.Args("lookup", guards.Arg{Name: "who", Required: true, OneOf: wellFormed})
	},
	"scope":  func(*world, programGuard) callbacks.Guard { return guards.Scope("who", inScope...) },
	"redact": func(*world, programGuard) callbacks.Guard { return guards.Redact() },
	"journal": func(w *world, g programGuard) callbacks.Guard {
		w.journal = newProgramJournal(g.N)
		return guards.Journal(w.journal)
	},
	"stash": func(*world, programGuard) callbacks.Guard { return guards.Stash("look") },
	"loop":  func(_ *world, g programGuard) callbacks.Guard { return guards.LoopOptions{Repeats: 1 + g.N}.Guard() },
	"truncate": func(*world, programGuard) callbacks.Guard {
		return guards.TruncateOptions{Characters: 200}.Guard()
	},
	"deadline": func(_ *world, g programGuard) callbacks.Guard {
		return guards.DeadlineOptions{Agent: time.Duration(g.N) * time.Second, ModelCall: time.Second, ToolCall: time.Duration(g.M) * 200 * time.Millisecond}.Guard()
	},
	"retry": func(_ *world, g programGuard) callbacks.Guard {
		return guards.RetryOptions{Attempts: g.N, ToolFailures: g.M}.Guard()
	},
	"rate_limit": func(_ *world, g programGuard) callbacks.Guard {
		return guards.RateLimitOptions{Calls: g.N, Every: time.Second, Per: guards.PerAll, Wait: time.Duration(g.M-1) * time.Second}.Guard()
	},
	"model_rate": func(_ *world, g programGuard) callbacks.Guard {
		return guards.RateLimitOptions{Calls: g.N, Every: time.Minute, Models: true, Wait: time.Duration(g.M-1) * time.Second}.Guard()
	},
	"confirm": func(w *world, _ programGuard) callbacks.Guard { return guards.Confirm(programApprover{w}, "pay") },
	"spend": func(w *world, _ programGuard) callbacks.Guard {
		return guards.Spend(guards.SpendOptions{
			Ledger: w.ledger, Prices: programPrices, Limits: ledger.Limits{Hard: spendLimit}, MinOutput: 10, MaxOutput: 100,
			Account: func(*callbacks.Run) ledger.AccountID { return "task" },
		})
	},
	"contain": func(_ *world, g programGuard) callbacks.Guard { return guards.ContainOptions{Attempts: g.N}.Guard() },
	"finish":  func(*world, programGuard) callbacks.Guard { return guards.Finish("pay", nil) },
	"landing": func(*world, programGuard) callbacks.Guard { return guards.Landing() },
	"window":  func(_ *world, g programGuard) callbacks.Guard { return guards.Window(g.N) },
	"reask":   func(*world, programGuard) callbacks.Guard { return guards.Reask() },
	"route": func(w *world, g programGuard) callbacks.Guard {
		return guards.RouteOptions{Fallback: []model.LLM{&programModel{w: w}}, FirstChunk: time.Duration(g.N) * 300 * time.Millisecond}.Guard()
	},
	"foreign": func(_ *world, g programGuard) callbacks.Guard { return foreignGuard(g) },
}

// programApprover answers in turn as people and systems do.
type programApprover struct{ w *world }

// Ask implements guards.Approver.
func (a programApprover) Ask(ctx context.Context, q guards.Question) (guards.Answer, error) {
	switch a.w.asked.Add(1) % 7 {
	case 1, 2:
		a.w.approved.Add(1)
		return q.Answer(true, "somebody"), nil
	case 3:
		time.Sleep(900 * time.Millisecond) // a stop may come meanwhile
		a.w.approved.Add(1)
		return q.Answer(true, "somebody"), nil
	case 4:
		return approvers.Never(ctx, q)
	case 5:
		return guards.Answer{Question: "another", Call: q.Call, Approved: true}, nil
	case 6:
		panic("the approver breaks")
	default:
		return q.Answer(false, "somebody"), nil
	}
}

// build makes one guard with its combination.
func (w *world) build(g programGuard) callbacks.Guard {
	made := guardMakers[g.Kind](w, g)
	switch g.Comb {
	case "when":
		return callbacks.When(func(s callbacks.Step) bool { return s.Agent == agentNameOf(0) }, made)
	case "tools":
		return callbacks.ForTools(made, someTools...)
	case "agents":
		return callbacks.ForAgents(made, agentNameOf(0))
	case "monitor":
		return callbacks.Monitor(made)
	}
	return made
}

// hook counts the hooks of the program and stops the run at one of them.
func (w *world) hook(ctx agent.Context) {
	if n := w.hooks.Add(1); w.spec.Stop.From == "hook" && int(n) == w.spec.Stop.At {
		w.stop(callbacks.RunOf(ctx))
	}
}

func (w *world) stopper() callbacks.Guard {
	return callbacks.Guard{
		Name:        "stopper",
		BeforeAgent: func(ctx agent.Context) (*genai.Content, error) { w.hook(ctx); return nil, nil },
		BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) { w.hook(ctx); return nil, nil },
		AfterModel: func(ctx agent.Context, _ *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			w.hook(ctx)
			return nil, nil
		},
		BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			w.hook(ctx)
			return nil, nil
		},
		AfterTool: func(ctx agent.Context, _ tool.Tool, _, _ map[string]any, _ error) (map[string]any, error) {
			w.hook(ctx)
			return nil, nil
		},
	}
}

// chain is that of the program, with what looks on.
func (w *world) chain() *callbacks.Chain {
	var gs []callbacks.Guard
	for _, g := range w.spec.Guards {
		gs = append(gs, w.build(g))
	}
	if w.spec.Stop.From == "hook" {
		gs = append(gs, w.stopper())
	}
	return callbacks.New(append(gs, w.recorder())...)
}
