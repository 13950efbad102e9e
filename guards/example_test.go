// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// ask runs one agent and returns its Run.
func ask(root agent.Agent, err error) *callbacks.Run {
	if err != nil {
		panic(err)
	}
	r, err := runner.NewInMemory("example", root)
	if err != nil {
		panic(err)
	}
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for ev, err := range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			fmt.Println("error:", err)
			break
		}
		show(ev.Content)
	}
	return run
}

func show(c *genai.Content) {
	if c == nil {
		return
	}
	for _, p := range c.Parts {
		switch {
		case p.Text != "":
			fmt.Println("model:", p.Text)
		case p.FunctionCall != nil:
			fmt.Println("calls:", p.FunctionCall.Name)
		case p.FunctionResponse != nil:
			fmt.Println("reads:", p.FunctionResponse.Response)
		}
	}
}

func ExampleCallBudget() {
	m := callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat() // never ends by itself
	chain := callbacks.New(guards.CallBudget(2))
	run := ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	fmt.Println(run.Outcome().Status)
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// model: [guard] Model call budget exceeded: agent ended.
	// calls_exhausted
}

func ExampleCallBudgetOptions() {
	m := callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat()
	chain := callbacks.New(guards.CallBudgetOptions{Calls: 1, Scope: guards.ScopeRun}.Guard())
	run := ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	fmt.Println(run.Outcome().Status, "-", run.Outcome().Reason)
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// model: [guard] Model call budget exceeded: run stopped.
	// calls_exhausted - calls: 1/1
}

func ExampleAllowTools() {
	m := callbackstest.Script(callbackstest.Call("delete_supplier", nil), callbackstest.Say("I may not delete."))
	chain := callbacks.New(guards.AllowTools("lookup"))
	ask(chain.NewAgent(llmagent.Config{
		Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup"), callbackstest.Tool("delete_supplier")},
	}))
	// Output:
	// calls: delete_supplier
	// reads: map[error:tool not allowed: delete_supplier]
	// model: I may not delete.
}

func ExampleArgs() {
	guard := guards.Args("lookup", guards.Arg{Name: "supplier", Required: true, NotBlank: true, MaxLen: 80})
	for _, args := range []map[string]any{{"supplier": "Transports Kervalec"}, {"supplier": " "}, {}, {"supplier": strings.Repeat("x", 100)}} {
		_, err := guard.BeforeTool(nil, callbackstest.Tool("lookup"), args) // the hook alone, no model
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// invalid supplier: must not be blank
	// invalid supplier: required
	// invalid supplier: at most 80 characters expected, got 100: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
}

func ExampleRedact() {
	lookup := callbackstest.ToolReturning("lookup", map[string]any{"contact": "alice@example.com", "siren": "552081317"}, nil)
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("Write to alice@example.com."))
	chain := callbacks.New(guards.Redact())
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{lookup}}))
	// Output:
	// calls: lookup
	// reads: map[contact:[email redacted] siren:552081317]
	// model: Write to [email redacted].
}

func ExampleStash() {
	lookup := callbackstest.ToolReturning("lookup_registry", map[string]any{"active": true}, nil)
	m := callbackstest.Script(callbackstest.Call("lookup_registry", nil), callbackstest.Say("It is active."))
	chain := callbacks.New(guards.Redact(), guards.Stash("lookup_"))
	run := ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{lookup}}))
	fmt.Println("stashed:", guards.Records(run.Context(context.Background())).Stashed())
	// Output:
	// calls: lookup_registry
	// reads: map[active:true]
	// model: It is active.
	// stashed: map[registry:map[active:true]]
}

func ExampleIsolate() {
	m := callbackstest.Script(callbackstest.Turn{Do: func(_ context.Context, req *model.LLMRequest) callbackstest.Turn {
		return callbackstest.Say("I was asked: " + req.Contents[0].Parts[0].Text)
	}})
	chain := callbacks.New(guards.Isolate("Is Acme solvent?"))
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m}))
	// Output:
	// model: I was asked: Is Acme solvent?
}

func ExampleIsolateFunc() {
	m := callbackstest.Script(callbackstest.Turn{Do: func(_ context.Context, req *model.LLMRequest) callbackstest.Turn {
		return callbackstest.Say("I was asked: " + req.Contents[0].Parts[0].Text)
	}})
	chain := callbacks.New(guards.IsolateFunc(func(context.Context) (string, error) { return "Is Acme solvent today?", nil }))
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m}))
	// Output:
	// model: I was asked: Is Acme solvent today?
}

// A front end is asked, and the tool waits for its answer.
func ExampleConfirmByADK() {
	chain := callbacks.New(guards.ConfirmByADK("pay"))
	if _, err := chain.Attach(llmagent.Config{Name: "buyer", Tools: []tool.Tool{callbackstest.Tool("pay")}}); err != nil {
		fmt.Println("on an agent:", err)
	}
	p, err := chain.Plugin("approvals")
	fmt.Println("on a runner:", p.Name(), err)
	// Output:
	// on an agent: agent "buyer": callbacks: guard "confirm" needs before_run, which does not exist in this form (agent): attach it with Chain.Plugin
	// on a runner: approvals <nil>
}

func ExampleDeclaredArgs() {
	forecast := callbackstest.Tool("forecast").Declared(&genai.FunctionDeclaration{Name: "forecast", Parameters: &genai.Schema{
		Type: genai.TypeObject, Required: []string{"days"}, Properties: map[string]*genai.Schema{"days": {Type: genai.TypeInteger}},
	}})
	m := callbackstest.Script(callbackstest.Call("forecast", map[string]any{"days": "three"}), callbackstest.Say("I see."))
	chain := callbacks.New(guards.DeclaredArgs())
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{forecast}}))
	// Output:
	// calls: forecast
	// reads: map[error:invalid arguments: /days: type: three has type "string", want "integer"]
	// model: I see.
}

func ExampleContain() {
	failing := callbackstest.Script(callbackstest.Fail(fmt.Errorf("503")))
	one, err := callbacks.New(guards.Contain()).NewAgent(llmagent.Config{Name: "one", Model: failing})
	if err != nil {
		panic(err)
	}
	two, err := callbacks.New(guards.Contain()).NewAgent(llmagent.Config{Name: "two", Model: callbackstest.Script(callbackstest.Say("my part"))})
	if err != nil {
		panic(err)
	}
	run := ask(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: []agent.Agent{one, two}}}))
	for _, g := range guards.Records(run.Context(context.Background())).Gaps() {
		fmt.Println("gap:", g.Agent, "-", g.Err)
	}
	// Output:
	// model: my part
	// gap: one - 503
}

func ExampleJournal() {
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"to": "alice@example.com"}), callbackstest.Say("ok"))
	chain := callbacks.New(guards.Journal(toolLines{os.Stdout}))
	a, err := chain.NewAgent(llmagent.Config{Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	if err != nil {
		panic(err)
	}
	r, err := runner.NewInMemory("example", a)
	if err != nil {
		panic(err)
	}
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
	}
	// Output:
	// "agent":"researcher","tool":"lookup"
	// "args":{"to":"[email redacted]"},"error":false,"outcome":"allowed"
}

// toolLines shows the part of tool lines that is the same in every run.
type toolLines struct{ w io.Writer }

func (t toolLines) Write(p []byte) (int, error) {
	line := string(p)
	if !strings.Contains(line, `"kind":"tool"`) {
		return len(p), nil
	}
	_, rest, _ := strings.Cut(line, `"agent"`)
	head, _, _ := strings.Cut(`"agent"`+rest, `,"call_id"`)
	_, tail, _ := strings.Cut(rest, `"args"`)
	tail, _, _ = strings.Cut(`"args"`+tail, `,"ms"`)
	fmt.Fprintln(t.w, head)
	fmt.Fprintln(t.w, tail)
	return len(p), nil
}
