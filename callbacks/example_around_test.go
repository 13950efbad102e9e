// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// A guard that looks things up once, whether the tool is a function or streams.
func ExampleAroundTool() {
	once := callbacks.Guard{Name: "once", WrapTool: func(t tool.Tool) tool.Tool {
		seen := callbacks.NewKey(func() *sync.Map { return new(sync.Map) }) // for each Run
		return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
			if result, ok := seen.Of(ctx).Load(fmt.Sprint(args)); ok {
				return result.(map[string]any), nil
			}
			result, err := next(ctx, args)
			if err == nil {
				seen.Of(ctx).Store(fmt.Sprint(args), result)
			}
			return result, err
		})
	}}
	lookup := callbackstest.StreamingTool("lookup", "it is ", "solvent")
	a, err := callbacks.New(once).NewAgent(llmagent.Config{Name: "researcher", Tools: []tool.Tool{lookup}, Model: callbackstest.Script(
		callbackstest.Call("lookup", map[string]any{"name": "Acme"}),
		callbackstest.Call("lookup", map[string]any{"name": "Acme"}),
		callbackstest.Say("Acme is solvent."),
	)})
	if err == nil {
		_, err = callbackstest.Play(os.Stdout, a, "Is Acme solvent?")
	}
	fmt.Println(len(lookup.Calls()), err)
	// Output:
	// researcher calls lookup {"name":"Acme"}
	// lookup returns {"result":"it is solvent"}
	// researcher calls lookup {"name":"Acme"}
	// lookup returns {"result":"it is solvent"}
	// researcher says "Acme is solvent."
	// status: done
	// 1 <nil>
}

// A guard that asks once more where a model fails.
func ExampleAroundModel() {
	again := callbacks.Guard{Name: "again", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
		return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
			return func(yield func(*model.LLMResponse, error) bool) {
				for resp, err := range next.GenerateContent(ctx, req, stream) {
					if err != nil {
						next.GenerateContent(ctx, req, stream)(yield)
						return
					}
					if !yield(resp, nil) {
						return
					}
				}
			}
		})
	}}
	a, err := callbacks.New(again).NewAgent(llmagent.Config{Name: "researcher", Model: callbackstest.Script(
		callbackstest.Fail(errors.New("busy")), callbackstest.Say("Acme is solvent."),
	)})
	if err == nil {
		_, err = callbackstest.Play(os.Stdout, a, "Is Acme solvent?")
	}
	fmt.Println(err)
	// Output:
	// researcher says "Acme is solvent."
	// status: done
	// <nil>
}

// A guard that writes down what each agent began and ended with.
func ExampleAroundAgent() {
	written := callbacks.Guard{Name: "written", WrapAgent: func(a agent.Agent) agent.Agent {
		return callbacks.AroundAgent(a, func(
			ctx agent.InvocationContext, next func(agent.InvocationContext) iter.Seq2[*session.Event, error],
		) iter.Seq2[*session.Event, error] {
			return func(yield func(*session.Event, error) bool) {
				fmt.Println(a.Name(), "begins")
				defer fmt.Println(a.Name(), "ends")
				next(ctx)(yield)
			}
		})
	}}
	a, err := callbacks.New(written).NewAgent(llmagent.Config{Name: "researcher", Model: callbackstest.Script(callbackstest.Say("Acme is solvent."))})
	if err == nil {
		_, err = callbackstest.Play(os.Stdout, a, "Is Acme solvent?")
	}
	fmt.Println(err)
	// Output:
	// researcher begins
	// researcher says "Acme is solvent."
	// researcher ends
	// status: done
	// <nil>
}
