// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command hello is the README's first program: an agent that is stopped at its limit,
// refused a tool and spared an address.
package main

import (
	"log"
	"os"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func main() {
	lookup := callbackstest.ToolReturning("lookup", map[string]any{"contact": "alice@example.com"}, nil)
	remove := callbackstest.Tool("delete")
	model := callbackstest.Script(callbackstest.Call("delete", nil), callbackstest.Call("lookup", nil)).Repeat() // in place of a real one

	chain := callbacks.New(guards.CallBudget(3), guards.AllowTools("lookup"), guards.Redact())
	clerk, err := chain.NewAgent(llmagent.Config{Name: "clerk", Model: model, Tools: []tool.Tool{lookup, remove}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := callbackstest.Play(os.Stdout, clerk, "Who is our contact?"); err != nil {
		log.Fatal(err)
	}
}
