// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command people shows a person at the terminal who decides about payments above 100 EUR,
// and a restore point before each payment. A scripted model stands in for a real one.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
)

func main() { buy(os.Stdin, os.Stdout) }

func buy(in io.Reader, out io.Writer) {
	pay := func(n float64) callbackstest.Turn { return callbackstest.Call("pay", map[string]any{"amount": n}) }
	dear := func(s callbacks.Step) bool { amount, ok := s.Arg("amount").(float64); return !ok || amount > 100 }
	save := func(_ context.Context, s callbacks.Step) error {
		_, err := fmt.Fprintln(out, "restore point before", s.Tool, s.Arg("amount"))
		return err
	}
	buyer, err := callbacks.New(
		guards.ConfirmOptions{Approver: approvers.Terminal(in, out, "jeanne"), Tools: []string{"pay"}, When: dear}.Guard(),
		guards.Checkpoint(save, "pay"),
	).NewAgent(llmagent.Config{
		Name: "buyer", Tools: []tool.Tool{callbackstest.Tool("pay")},
		Model: callbackstest.Script(pay(80), pay(900), pay(90_000), callbackstest.Say("Two of three are paid.")),
	})
	fail(err)
	r, err := runner.NewInMemory("people", buyer)
	fail(err)
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText("Pay them.", genai.RoleUser), agent.RunConfig{})) {
		fail(err)
	}
	for _, d := range guards.Records(ctx).Decisions() {
		fmt.Fprintln(out, d.By, d.Outcome)
	}
}

func fail(err error) {
	if err != nil {
		panic(err)
	}
}
