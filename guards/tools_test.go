// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func TestAllowToolsRefusesWhatIsNotListed(t *testing.T) {
	guard := guards.AllowTools("lookup")
	require.Equal(t, map[string]any{"error": "tool not allowed: delete_supplier"},
		callbackstest.BeforeTool(t, guard, callbackstest.Tool("delete_supplier"), nil))
	require.Nil(t, callbackstest.BeforeTool(t, guard, callbackstest.Tool("lookup"), nil))
	require.Nil(t, callbackstest.BeforeTool(t, guard, callbackstest.Tool("transfer_to_agent"), nil))

	_, err := guard.BeforeTool(nil, callbackstest.Tool("Lookup"), nil)
	require.ErrorIs(t, err, callbacks.ErrDenied, "the hook alone, without a context")
	require.NotErrorIs(t, err, callbacks.ErrStopped)

	strict := guards.AllowToolsOptions{Tools: []string{"lookup"}, RefuseADKTools: true}.Guard()
	require.NotNil(t, callbackstest.BeforeTool(t, strict, callbackstest.Tool("exit_loop"), nil))
}

func TestAllowToolsMatrix(t *testing.T) {
	for name, called := range map[string]string{"a tool that exists": "delete_supplier", "a tool that does not": "no_such_tool"} {
		t.Run(name, func(t *testing.T) {
			deleting := callbackstest.Tool("delete_supplier")
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					return []callbacks.Guard{callbacks.ForAgents(guards.AllowTools("lookup"), "guarded")}
				},
				Tools: func() []tool.Tool { return []tool.Tool{callbackstest.Tool("lookup"), deleting} },
				Model: func() *callbackstest.Model {
					return callbackstest.Script(callbackstest.Calls(callbackstest.Call(called, nil), callbackstest.Call("lookup", nil)), callbackstest.Say("ok"))
				},
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					require.Empty(t, deleting.Calls())
					require.Len(t, tr.Tools[0].(*callbackstest.FakeTool).Calls(), 1)
					turn := tr.Model.Requests()[1].Contents
					last := turn[len(turn)-1]
					require.Equal(t, map[string]any{"error": "tool not allowed: " + called}, last.Parts[0].FunctionResponse.Response)
					require.Equal(t, map[string]any{"result": "ok"}, last.Parts[1].FunctionResponse.Response)
				},
			}.Run(t)
		})
	}
}

func TestAllowToolsNonsense(t *testing.T) {
	for name, g := range map[string]callbacks.Guard{
		"nothing": guards.AllowTools(), "empty name": guards.AllowTools("a", ""), "spaces": guards.AllowTools(" lookup"),
	} {
		require.Error(t, callbacks.New(g).Err(), name)
	}
	_, err := callbacks.New(guards.AllowTools("lookup", "lokup")).NewAgent(llmagent.Config{Name: "a", Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.ErrorIs(t, err, callbacks.ErrNoSuchTool)
	require.ErrorContains(t, err, `"lokup"`)
}

func TestArgs(t *testing.T) {
	long := strings.Repeat("é", 81)
	supplier := guards.Args("lookup", guards.Arg{Name: "supplier", Label: "supplier name", Required: true, NotBlank: true, MaxLen: 80})
	for _, tc := range []struct {
		name  string
		guard callbacks.Guard
		args  map[string]any
		want  string // empty: let through
	}{
		{"fine", supplier, map[string]any{"supplier": "Transports Kervalec"}, ""},
		{"eighty characters and blanks around", supplier, map[string]any{"supplier": "  " + strings.Repeat("é", 80) + "\n"}, ""},
		{"eighty-one", supplier, map[string]any{"supplier": long}, "invalid supplier name: at most 80 characters expected, got 81: " + strings.Repeat("é", 60) + "…"},
		{"absent", supplier, map[string]any{}, "invalid supplier name: required"},
		{"no arguments at all", supplier, nil, "invalid supplier name: required"},
		{"null", supplier, map[string]any{"supplier": nil}, "invalid supplier name: required"},
		{"empty", supplier, map[string]any{"supplier": ""}, "invalid supplier name: must not be blank"},
		{"blank", supplier, map[string]any{"supplier": " \t\u00a0"}, "invalid supplier name: must not be blank"},
		{"a number", supplier, map[string]any{"supplier": 12.0}, "invalid supplier name: text expected, got number"},
		{"a list", supplier, map[string]any{"supplier": []any{"a"}}, "invalid supplier name: text expected, got array"},
		{"optional and absent", guards.Args("lookup", guards.Arg{Name: "x", NotBlank: true}), map[string]any{}, ""},
		{"one of", guards.Args("lookup", guards.Arg{Name: "x", OneOf: []string{"a", "b"}}), map[string]any{"x": "b"}, ""},
		{"none of", guards.Args("lookup", guards.Arg{Name: "x", OneOf: []string{"a", "b"}}), map[string]any{"x": "c"}, "invalid x: one of a, b expected, got c"},
		{"pattern", guards.Args("lookup", guards.Arg{Name: "x", Pattern: `^\d{9}$`}), map[string]any{"x": "123456789"}, ""},
		{"no match", guards.Args("lookup", guards.Arg{Name: "x", Pattern: `^\d{9}$`}), map[string]any{"x": "12"}, `invalid x: must match ^\d{9}$, got 12`},
		{"look-ahead", guards.Args("lookup", guards.Arg{Name: "x", Pattern: `^(?!test)\w+$`}), map[string]any{"x": "test1"}, `invalid x: must match ^(?!test)\w+$, got test1`},
		{"look-ahead matches", guards.Args("lookup", guards.Arg{Name: "x", Pattern: `^(?!test)\w+$`}), map[string]any{"x": "best"}, ""},
		{"custom", guards.Args("lookup", guards.Arg{Name: "x", Check: func(any) error { return errors.New("secret reason") }}), map[string]any{"x": 1}, "invalid x: not valid, got 1"},
		{"custom with a safe text", guards.Args("lookup", guards.Arg{Name: "x", Check: func(any) error { return safe("must be even") }}), map[string]any{"x": 1}, "invalid x: must be even, got 1"},
		{"another tool", guards.Args("other", guards.Arg{Name: "x", Required: true}), nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := callbackstest.BeforeTool(t, tc.guard, callbackstest.Tool("lookup"), tc.args)
			if tc.want == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, map[string]any{"error": tc.want}, got)
		})
	}
}

type safe string

func (s safe) Error() string     { return string(s) }
func (s safe) ModelText() string { return string(s) }

func TestArgsPatternTimeOutRefuses(t *testing.T) {
	g := guards.Args("lookup", guards.Arg{Name: "x", Pattern: `^(?=a)(a+)+$`})
	_, err := g.BeforeTool(nil, callbackstest.Tool("lookup"), map[string]any{"x": strings.Repeat("a", 40) + "!"})
	require.ErrorIs(t, err, callbacks.ErrDenied)
}

func TestArgsNonsense(t *testing.T) {
	for name, g := range map[string]callbacks.Guard{
		"no tool":         guards.Args("", guards.Arg{Name: "x"}),
		"no rule":         guards.Args("lookup"),
		"no name":         guards.Args("lookup", guards.Arg{}),
		"negative length": guards.Args("lookup", guards.Arg{Name: "x", MaxLen: -1}),
		"bad pattern":     guards.Args("lookup", guards.Arg{Name: "x", Pattern: "("}),
	} {
		require.Error(t, callbacks.New(g).Err(), name)
	}
}

// Callbacks on the agent's own configuration run last; what they make of the
// arguments is validated again.
func TestArgsLooksAgainAfterTheConfigurationsOwnCallbacks(t *testing.T) {
	fake := callbackstest.Tool("lookup")
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"x": "fine"}), callbackstest.Say("ok"))
	a, err := callbacks.New(guards.Args("lookup", guards.Arg{Name: "x", MaxLen: 10})).NewAgent(llmagent.Config{
		Name: "a", Model: m, Tools: []tool.Tool{fake},
		BeforeToolCallbacks: []llmagent.BeforeToolCallback{func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
			args["x"] = "far too long for it"
			return nil, nil
		}},
	})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Empty(t, fake.Calls())
	require.Equal(t, []map[string]any{{"error": "invalid x: at most 10 characters expected, got 19: far too long for it"}}, responses(out.events))
	for _, ev := range out.events {
		for _, p := range ev.Content.Parts {
			if p.FunctionCall != nil {
				require.Equal(t, "fine", p.FunctionCall.Args["x"], "the stored call stays as the model made it")
			}
		}
	}
}

func TestArgsMatrix(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{guards.Args("lookup", guards.Arg{Name: "supplier", NotBlank: true})}
		},
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("lookup", map[string]any{"supplier": " "}), callbackstest.Say("ok"))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Empty(t, tr.Tools[0].(*callbackstest.FakeTool).Calls())
			turn := tr.Model.Requests()[1].Contents
			require.Equal(t, map[string]any{"error": "invalid supplier: must not be blank"}, turn[len(turn)-1].Parts[0].FunctionResponse.Response)
		},
	}.Run(t)
}

func TestStashKeepsGoodResultsOnly(t *testing.T) {
	answers := []map[string]any{{"n": 1.0, "error": "", "deep": map[string]any{"k": "v"}}, {"error": "no"}, nil}
	i := 0
	mk := func() tool.Tool {
		i = 0
		return callbackstest.ToolFunc("lookup_registry", func(agent.Context, map[string]any) (map[string]any, error) {
			res := answers[i]
			i++
			if res == nil {
				return nil, errors.New("down")
			}
			return res, nil
		})
	}
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard { return []callbacks.Guard{guards.Redact(), guards.Stash("lookup_")} },
		Tools:  func() []tool.Tool { return []tool.Tool{mk()} },
		Model: func() *callbackstest.Model {
			c := callbackstest.Call("lookup_registry", nil)
			return callbackstest.Script(c, c, c, callbackstest.Say("ok"))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			want := map[string]any{"n": 1.0, "error": "", "deep": map[string]any{"k": "v"}}
			ctx := callbackstest.InRun(t, tr.Run)
			require.Equal(t, map[string]map[string]any{"registry": want}, guards.Records(ctx).Stashed())
			if tr.Topology != callbackstest.TopologyAgentTool { // ADK forwards no state out of an agent tool
				require.Equal(t, want, tr.State["data_registry"])
			}
		},
	}.Run(t)
}

func TestStashMustStandAfterRedact(t *testing.T) {
	_, err := callbacks.New(guards.Stash("lookup_"), guards.Redact()).NewAgent(llmagent.Config{Name: "a"})
	require.ErrorIs(t, err, callbacks.ErrOrder)
	require.ErrorContains(t, err, `"stash" must stand after "redact"`)
	require.NoError(t, callbacks.New(guards.Redact(), guards.Stash("lookup_")).Err())
	require.Error(t, callbacks.New(guards.Stash("")).Err())
}

func TestIsolate(t *testing.T) {
	user := genai.NewContentFromText
	call := genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionCall("lookup", nil)}, genai.RoleModel)
	resp := genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionResponse("lookup", nil)}, genai.RoleUser)
	for _, tc := range []struct {
		name string
		in   []*genai.Content
		want []*genai.Content
	}{
		{"first turn", []*genai.Content{user("global", genai.RoleUser)}, nil},
		{"own turns stay", []*genai.Content{user("global", genai.RoleUser), call, resp}, []*genai.Content{call, resp}},
		{"others' turns go", []*genai.Content{user("global", genai.RoleUser), user("For context: [b] said", genai.RoleUser), call, resp}, []*genai.Content{call, resp}},
		{"an earlier round goes", []*genai.Content{user("global", genai.RoleUser), user("draft", genai.RoleModel), user("[reviewer] said", genai.RoleUser)}, nil},
		{"own prose asks for nothing", []*genai.Content{user("global", genai.RoleUser), user("draft", genai.RoleModel)}, nil},
		{"nothing at all", nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := request(tc.in...)
			require.Nil(t, callbackstest.BeforeModel(t, guards.Isolate("my question"), req))
			require.Equal(t, append([]*genai.Content{user("my question", genai.RoleUser)}, tc.want...), req.Contents)
			require.NoError(t, callbackstest.CheckRequest(req))
		})
	}
	require.Error(t, callbacks.New(guards.Isolate("")).Err())
	require.Error(t, callbacks.New(guards.IsolateFunc(nil)).Err())
}

func TestIsolateMatrix(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{callbacks.ForAgents(guards.Isolate("my own question"), "guarded")}
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Len(t, tr.Model.Requests(), 2)
			for _, req := range tr.Model.Requests() {
				require.Equal(t, "my own question", req.Contents[0].Parts[0].Text)
				for _, c := range req.Contents[1:] {
					for _, p := range c.Parts {
						require.Empty(t, p.Text)
					}
				}
			}
		},
	}.Run(t)
}
