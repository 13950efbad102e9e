// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// changing edits the n-th request of an agent.
func changing(edit func(n int, cfg *genai.GenerateContentConfig)) callbacks.Guard {
	n := 0
	return callbacks.Guard{Name: "changing", BeforeModel: func(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
		n++
		edit(n, req.Config)
		return nil, nil
	}}
}

func TestStablePrefixMatrix(t *testing.T) {
	system := func(s string) *genai.Content { return genai.NewContentFromText(s, genai.RoleUser) }
	for name, tc := range map[string]struct {
		edit func(n int, cfg *genai.GenerateContentConfig)
		want []guards.PrefixChange
	}{
		"stable": {func(int, *genai.GenerateContentConfig) {}, nil},
		"a clock in the instruction": {func(n int, cfg *genai.GenerateContentConfig) {
			cfg.SystemInstruction = system(fmt.Sprintf("Il est né à 12:0%d, dis-le.", n))
		}, []guards.PrefixChange{
			{Call: 2, Part: "instruction", At: 18, Before: "1, dis-le.", After: "2, dis-le."},
			{Call: 3, Part: "instruction", At: 18, Before: "2, dis-le.", After: "3, dis-le."},
		}},
		"between two bytes of a character": {func(n int, cfg *genai.GenerateContentConfig) {
			cfg.SystemInstruction = system("caf" + []string{"", "é", "è", "è"}[n])
		}, []guards.PrefixChange{{Call: 2, Part: "instruction", At: 3, Before: "é", After: "è"}}},
		"a tool that goes": {func(n int, cfg *genai.GenerateContentConfig) {
			if n == 3 {
				cfg.Tools = nil
			}
		}, []guards.PrefixChange{{Call: 3, Part: "tools", At: 0, Before: `{"description":"A fake tool.","name":"lo…`}}},
		"a declaration that changes": {func(n int, cfg *genai.GenerateContentConfig) {
			cfg.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "lookup", Description: fmt.Sprint("Looks up. ", n > 1)}}}}
		}, []guards.PrefixChange{{Call: 2, Part: "tools", Tool: "lookup", At: 26, Before: `false","name":"lookup"}`, After: `true","name":"lookup"}`}}},
		"a tool of the provider": {func(n int, cfg *genai.GenerateContentConfig) {
			if n == 2 || n == 3 {
				cfg.Tools = append(cfg.Tools, &genai.Tool{GoogleSearch: &genai.GoogleSearch{}})
			}
		}, []guards.PrefixChange{{Call: 2, Part: "tools", At: 0, After: `{"googleSearch":{}}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			var told []guards.PrefixChange
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					told = nil
					watch := guards.StablePrefixOptions{OnChange: func(_ context.Context, c guards.PrefixChange) { told = append(told, c) }}.Guard()
					return []callbacks.Guard{callbacks.ForAgents(changing(tc.edit), "guarded"), callbacks.ForAgents(watch, "guarded")}
				},
				Model: func() *callbackstest.Model {
					return callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
				},
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					got := guards.Records(callbackstest.InRun(t, tr.Run)).PrefixChanges()
					require.Equal(t, told, got)
					for i := range got {
						require.Equal(t, "guarded", got[i].Agent)
						got[i].Agent, got[i].Branch = "", ""
					}
					if tr.Form == callbackstest.FormPlugin && tr.Topology == callbackstest.TopologyAgentTool && name != "stable" {
						// Under the plugin and on the agent, the request is edited for each.
						require.NotEmpty(t, got)
						return
					}
					require.Equal(t, tc.want, got)
				},
			}.Run(t)
		})
	}
}

func TestStablePrefixInTheJournal(t *testing.T) {
	var out lines
	secret := changing(func(n int, cfg *genai.GenerateContentConfig) {
		cfg.SystemInstruction = genai.NewContentFromText("ask "+[]string{"", "jean@example.org", "jeanne@example.org"}[n], genai.RoleUser)
	})
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	require.NoError(t, play(t, newAgent(t, "a", m, lookupTools(), secret, guards.StablePrefix(), guards.Journal(&out))).err)
	said := out.byKind(t)["prefix"]
	require.Len(t, said, 1)
	require.Equal(t, "instruction", said[0]["part"])
	require.InDelta(t, 8, said[0]["at"], 0)
	require.NotContains(t, out.String(), "jeanne@")
}

func ExampleStablePrefix() {
	clock := 0
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
	chain := callbacks.New(guards.StablePrefixOptions{OnChange: func(_ context.Context, c guards.PrefixChange) {
		fmt.Printf("call %d: %s differs at byte %d: %.14q is now %.14q\n", c.Call, c.Part, c.At, c.Before, c.After)
	}}.Guard())
	ask(chain.NewAgent(llmagent.Config{
		Name: "researcher", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")},
		InstructionProvider: func(agent.ReadonlyContext) (string, error) {
			clock++
			return fmt.Sprintf("It is 12:0%d. Look it up.", clock), nil
		},
	}))
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// call 2: instruction differs at byte 10: "1. Look it up." is now "2. Look it up."
	// model: answer
}
