// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"fmt"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/workflow"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// A graph in which an agent's answer becomes the arguments of a tool that only one supplier may
// be paid with.
func ExampleChain_Edges() {
	chain := callbacks.New(callbacks.Guard{Name: "known", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		if args["supplier"] != "Acme" {
			return nil, callbacks.Stop("unknown_supplier", "only Acme is paid")
		}
		return nil, nil
	}})
	pay := callbackstest.Tool("pay")
	graph, err := payingGraph(chain, pay, callbackstest.Script(callbackstest.Say("Bolt")))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = callbackstest.Play(os.Stdout, graph, "Whom do we pay?")
	fmt.Println(len(pay.Calls()), errors.Is(err, callbacks.ErrStopped), err)
	// Output:
	// clerk says "Bolt"
	// 0 true node "pay": only Acme is paid
}

func payingGraph(chain *callbacks.Chain, pay tool.Tool, m *callbackstest.Model) (agent.Agent, error) {
	clerk, err := chain.NewAgent(llmagent.Config{Name: "clerk", Model: m})
	if err != nil {
		return nil, err
	}
	ask, err := workflow.NewAgentNode(clerk, workflow.NodeConfig{})
	if err != nil {
		return nil, err
	}
	guarded, err := chain.Tool(pay)
	if err != nil {
		return nil, err
	}
	paid, err := workflow.NewToolNode(guarded, workflow.NodeConfig{})
	if err != nil {
		return nil, err
	}
	args := workflow.NewFunctionNode("args", func(_ agent.Context, supplier string) (map[string]any, error) {
		return map[string]any{"supplier": supplier}, nil
	}, workflow.NodeConfig{})
	edges, err := chain.Edges(workflow.Chain(workflow.Start, ask, args, paid))
	if err != nil {
		return nil, err
	}
	return workflowagent.New(workflowagent.Config{Name: "payments", Edges: edges})
}
