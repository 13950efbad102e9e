// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command data shows what is kept of personal data: nothing in the session, what a
// model reads, the journal or the state, whichever way it came. The tool itself gets
// what it needs. A scripted model stands in for a real one.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/sinks"
)

func main() { run(os.Stderr) }

func run(journal io.Writer) {
	lookup := callbackstest.ToolReturning("lookup_registry", map[string]any{"contact": "alice@example.com", "siren": "552081317"}, nil)
	m := callbackstest.Script(callbackstest.Call("lookup_registry", nil), callbackstest.Say("Pay FR76 3000 6000 0112 3456 7890 189."))
	chain := callbacks.New(guards.Redact(), guards.Stash("lookup_"), guards.Journal(journal))
	a, err := chain.NewAgent(llmagent.Config{Name: "clerk", Model: m, Tools: []tool.Tool{lookup}})
	if err != nil {
		log.Fatal(err)
	}
	cfg, err := sinks.Wrap(runner.Config{AppName: "data", Agent: a, SessionService: session.InMemoryService(), AutoCreateSession: true})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for ev, err := range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText("Ask bob@example.com", genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			log.Print(err)
			return
		}
		if ev.IsFinalResponse() {
			fmt.Println(ev.Content.Parts[0].Text)
		}
	}
	fmt.Println("the model read:", m.Requests()[0].Contents[0].Parts[0].Text)
	fmt.Println("stashed:", guards.Records(ctx).Stashed())
}
