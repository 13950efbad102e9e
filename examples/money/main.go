// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command money shows an agent with a fifth of a cent to spend: each call reserves its
// worst case before and is charged its real cost after. The call that could pass the
// limit is never made. A scripted model stands in for a real one.
package main

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

func main() {
	hard, err := ledger.ParseUSD("0.002")
	if err != nil {
		log.Fatal(err)
	}
	accounts, err := ledger.NewMemory(ledger.MemoryOptions{}) // redisledger.New for several processes
	if err != nil {
		log.Fatal(err)
	}
	chain := callbacks.New(guards.Spend(guards.SpendOptions{Ledger: accounts, Limits: ledger.Limits{Hard: hard}}))
	m := callbackstest.Script(callbackstest.Call("read_page", nil).WithUsage(150, 120)).Repeat().Named("gemini-2.5-flash")
	a, err := chain.NewAgent(llmagent.Config{Name: "reader", Model: m, Tools: []tool.Tool{callbackstest.Tool("read_page")}})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.NewInMemory("money", a)
	if err != nil {
		log.Fatal(err)
	}
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText("Is it solvent?", genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			break // the outcome says why
		}
	}
	for _, s := range guards.Records(ctx).Spent() {
		fmt.Printf("%s on %s: %d calls charged %v, %d refused\n", s.Agent, s.What, s.Calls, s.Charged, s.Refused)
	}
	fmt.Println("status:", run.Outcome().Status)
}
