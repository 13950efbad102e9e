// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/killswitch"
	"github.com/gardefou/gardefou/guards/ledger"
)

func ExampleLanding() {
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("What I found so far; the accounts are missing."))
	chain := callbacks.New(guards.CallBudget(2), guards.Landing())
	run := ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	fmt.Println(run.Outcome().Status)
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// model: What I found so far; the accounts are missing.
	// landed
}

func ExampleFinish() {
	schema := map[string]any{"type": "object", "required": []string{"summary"}}
	m := callbackstest.Script(
		callbackstest.Call("report", map[string]any{}),
		callbackstest.Call("report", map[string]any{"summary": "solvent"}))
	chain := callbacks.New(guards.Finish("report", schema), guards.CallBudget(6))
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("report")}}))
	// Output:
	// calls: report
	// reads: map[error:report refused, correct it and call it again: /: required: missing properties: ["summary"]]
	// calls: report
	// reads: map[result:ok]
}

func ExampleBusinessErrors() {
	lookup := callbackstest.ToolReturning("lookup", nil, guards.Business(errors.New("no such supplier")))
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("There is none."))
	chain := callbacks.New(guards.BusinessErrors())
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{lookup}}))
	// Output:
	// calls: lookup
	// reads: map[error:no such supplier]
	// model: There is none.
}

func ExampleContainOptions() {
	m := callbackstest.Script(callbackstest.Fail(errors.New("503")), callbackstest.Say("my part"))
	a, err := callbacks.New(guards.ContainOptions{Attempts: 2}.Guard(), guards.CallBudget(6)).NewAgent(llmagent.Config{Name: "one", Model: m})
	if err != nil {
		panic(err)
	}
	run := ask(sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "all", SubAgents: []agent.Agent{a}}}))
	fmt.Println("gaps:", len(guards.Records(run.Context(context.Background())).Gaps()))
	// Output:
	// model: my part
	// gaps: 0
}

func ExampleLoop() {
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"page": 1})).Repeat()
	chain := callbacks.New(guards.Loop())
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[error:refused: this very call was made 2 times with the same result; do something else or answer]
	// calls: lookup
	// reads: map[error:Loop detected: agent ended.]
}

func ExampleScope() {
	m := callbackstest.Script(callbackstest.Call("read", map[string]any{"doc": "doc-10"}), callbackstest.Call("read", map[string]any{"doc": "doc-09"}), callbackstest.Say("Read."))
	chain := callbacks.New(guards.Scope("doc", "doc-09"))
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("read")}}))
	// Output:
	// calls: read
	// reads: map[error:doc is outside your scope, which is: doc-09]
	// calls: read
	// reads: map[result:ok]
	// model: Read.
}

func ExampleTruncate() {
	read := callbackstest.ToolReturning("read", map[string]any{"title": "Accounts", "text": strings.Repeat("a", 1000)}, nil)
	m := callbackstest.Script(callbackstest.Call("read", nil), callbackstest.Say("Long."))
	chain := callbacks.New(guards.TruncateOptions{Characters: 200}.Guard())
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{read}}))
	// Output:
	// calls: read
	// reads: map[text:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… [853 more characters] title:Accounts]
	// model: Long.
}

func ExampleDeadline() {
	slow := callbackstest.ToolFunc("lookup", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
		<-ctx.Done() // a tool that heeds its context ends at once
		return nil, ctx.Err()
	})
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("The register does not answer."))
	chain := callbacks.New(guards.DeadlineOptions{Agent: time.Minute, ToolCall: 100 * time.Millisecond}.Guard())
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{slow}}))
	// Output:
	// calls: lookup
	// reads: map[error:lookup took longer than 0.1 s]
	// model: The register does not answer.
}

func ExampleReask() {
	malformed := callbackstest.Fail(fmt.Errorf("arguments are cut off: %w", guards.ErrMalformedCall))
	m := callbackstest.Script(malformed, callbackstest.Call("lookup", nil), callbackstest.Say("found"))
	chain := callbacks.New(guards.Reask(), guards.CallBudget(6)) // the budget counts the second attempt
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	fmt.Println("calls:", m.Calls())
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// model: found
	// calls: 3
}

func ExampleSpend() {
	accounts, err := ledger.NewMemory(ledger.MemoryOptions{}) // redisledger.New for several processes
	if err != nil {
		panic(err)
	}
	hard, err := ledger.ParseUSD("0.002")
	if err != nil {
		panic(err)
	}
	m := callbackstest.Script(callbackstest.Call("lookup", nil).WithUsage(150, 120)).Repeat().Named("gemini-2.5-flash")
	chain := callbacks.New(guards.Spend(guards.SpendOptions{Ledger: accounts, Limits: ledger.Limits{Hard: hard}}))
	run := ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	for _, line := range guards.Records(run.Context(context.Background())).Spent() {
		fmt.Println(line.What, "charged", line.Charged, "of", hard, "- refused:", line.Refused)
	}
	fmt.Println(run.Outcome().Status)
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// model: [guard] Spend limit reached: run stopped.
	// gemini-2.5-flash charged $0.00138 of $0.002 - refused: 1
	// budget_exhausted
}

// In another process: gardefou stop --agent researcher --reason "wrong figures" --state FILE
func ExampleKillSwitch() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	state := killswitch.File(filepath.Join(dir, "stops.json"))
	if _, _, err := killswitch.Lift(context.Background(), state, killswitch.Selector{Scope: killswitch.ScopeAll}); err != nil {
		panic(err) // the state begins with nothing stopped
	}
	chain := callbacks.New(guards.KillSwitch(state))
	agent := llmagent.Config{Name: "researcher", Model: callbackstest.Script(callbackstest.Say("solvent"))}
	fmt.Println(ask(chain.NewAgent(agent)).Outcome().Status)

	stop := killswitch.Stop{
		Selector: killswitch.Selector{Scope: killswitch.ScopeAgent, Name: "researcher"},
		Since:    time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC), Reason: "wrong figures",
	}
	if _, err := killswitch.Put(context.Background(), state, stop); err != nil {
		panic(err)
	}
	fmt.Println(ask(chain.NewAgent(agent)).Outcome().Code)
	// Output:
	// model: solvent
	// done
	// model: [guard] Stopped by a person (agent "researcher", since 2026-03-02T09:30:00Z): wrong figures
	// killed
}
