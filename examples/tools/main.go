// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command tools shows what stands between a model and its tools: which it may call, with
// which arguments, what it reads of their errors and results, and how it must finish.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func main() {
	read := callbackstest.ToolReturning("read", map[string]any{"text": strings.Repeat("Accounts. ", 500)}, nil)
	model := callbackstest.Script(
		callbackstest.Call("read", map[string]any{"doc": "doc-99"}), // not its own
		callbackstest.Call("read", map[string]any{"doc": "doc-1"}),
		callbackstest.Say("It is solvent."), // no finish
		callbackstest.Call("report", map[string]any{"summary": "It is solvent."}))
	chain := callbacks.New(
		guards.Finish("report", map[string]any{"required": []string{"summary"}}),
		guards.AllowTools("read", "report"), guards.Scope("doc", "doc-1", "doc-2"), guards.BusinessErrors(), guards.CallBudget(6),
		guards.TruncateOptions{Characters: 200}.Guard(),
	)
	a, err := chain.NewAgent(llmagent.Config{Name: "reader", Model: model, Tools: []tool.Tool{read, callbackstest.Tool("report")}})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.NewInMemory("tools", a)
	if err != nil {
		log.Fatal(err)
	}
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for ev, err := range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText("Solvent?", genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			log.Print(err)
			break
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionResponse != nil {
				fmt.Println(p.FunctionResponse.Name, p.FunctionResponse.Response)
			}
		}
	}
}
