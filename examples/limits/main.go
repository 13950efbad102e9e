// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command limits shows an agent that would look things up for ever and has four calls:
// the last is kept for its answer. A scripted model stands in for a real one.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

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
	page := func(n int) callbackstest.Turn { return callbackstest.Call("read_page", map[string]any{"page": n}) }
	model := callbackstest.Script(page(1), page(2), page(3), callbackstest.Say("Pages 1 to 3 say it is solvent; the rest is unread."))

	chain := callbacks.New(
		guards.CallBudgetOptions{Calls: 4, Tokens: 20_000, Time: time.Minute}.Guard(),
		guards.Landing(),
	)
	reader, err := chain.NewAgent(llmagent.Config{
		Name: "reader", Model: model, Tools: []tool.Tool{callbackstest.Tool("read_page")},
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.NewInMemory("limits", reader)
	if err != nil {
		log.Fatal(err)
	}
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	question := genai.NewContentFromText("Is it solvent?", genai.RoleUser)
	for ev, err := range run.Events(r.Run(ctx, "user", "session", question, agent.RunConfig{})) {
		if err != nil {
			log.Print(err)
			break
		}
		if ev.IsFinalResponse() {
			fmt.Println(ev.Content.Parts[0].Text)
		}
	}
	fmt.Println("calls:", model.Calls(), "- status:", run.Outcome().Status)
}
