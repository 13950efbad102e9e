// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
	"github.com/gardefou/gardefou/guards/ledger"
)

// unending are results that hold themselves, or nearly.
func unending() map[string]map[string]any {
	self := map[string]any{"ok": true}
	self["again"], self["twice"] = self, self
	list := []any{1, nil}
	list[1] = list
	deep := map[string]any{}
	for range 6_000 {
		deep = map[string]any{"in": []any{deep}}
	}
	type node struct {
		M map[string]any
		N *node
	}
	typed := &node{M: map[string]any{}}
	typed.N, typed.M["up"] = typed, typed
	return map[string]map[string]any{
		"a map": self, "a list": {"list": list}, "deep": deep, "typed": {"node": typed}, "typed map": {"m": map[string]map[string]any{"x": self}}, "typed list": {"l": [][]any{list}},
	}
}

// A result that holds itself is withheld or refused: no guard goes down it without end,
// which no recover would catch.
func TestEndlessResults(t *testing.T) {
	for name, result := range unending() {
		for guard, g := range map[string]callbacks.Guard{
			"Truncate": guards.Truncate(), "Loop": guards.Loop(), "Stash": guards.Stash("lookup"), "Journal": guards.Journal(io.Discard), "Redact": guards.Redact(),
			"Scope":   guards.ScopeOptions{Arg: "q", Values: []string{"x"}, Searches: []guards.ScopeSearch{{Tool: "lookup", List: "list"}}}.Guard(),
			"Landing": guards.Landing(),
			"Spend":   guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t)}),
			"Window":  guards.WindowOptions{Tokens: 1000}.Guard(),
		} {
			t.Run(name+"/"+guard, func(t *testing.T) {
				lookup := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) { return result, nil })
				m := &billing{says: []callbackstest.Turn{callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil)}}
				a, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{lookup}})
				require.NoError(t, err)
				out := play(t, a)
				out.run.Close()
				require.NotEmpty(t, out.run.Outcome().Status)
			})
		}
	}
	got := callbackstest.AfterTool(t, guards.Truncate(), callbackstest.Tool("lookup"), nil, unending()["a map"], nil)
	require.Equal(t, map[string]any{guards.TruncatedKey: "the result is nested too deep to be shown, or holds itself"}, got)
}

// Arguments that hold themselves, which a hook may put there, are refused unasked.
func TestEndlessArguments(t *testing.T) {
	for name, args := range unending() {
		if name == "typed" || name == "typed map" || name == "typed list" {
			continue // those of a model are JSON
		}
		for guard, g := range map[string]callbacks.Guard{
			"Args": guards.Args("send", guards.Arg{Name: "x"}), "Scope": guards.Scope("x", "y"), "Loop": guards.Loop(), "Confirm": guards.Confirm(approvers.NewScript(), "send"),
			"Journal": guards.Journal(io.Discard), "Redact": guards.Redact(),
		} {
			t.Run(name+"/"+guard, func(t *testing.T) {
				put := callbacks.Guard{Name: "put", BeforeTool: func(_ agent.Context, _ tool.Tool, given map[string]any) (map[string]any, error) {
					for k, v := range args {
						given[k] = v
					}
					return nil, nil
				}}
				_, told, _ := sent(t, "x", put, g)
				require.NotEmpty(t, told)
			})
		}
	}
}
