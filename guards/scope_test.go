// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func TestScopeArguments(t *testing.T) {
	own := guards.Scope("doc", "doc-09", "doc-10")
	required := guards.ScopeOptions{Arg: "doc", Values: []string{"doc-09", "doc-10"}, Tools: []string{"read"}}.Guard()
	folding := guards.ScopeOptions{Arg: "doc", Values: []string{"doc-09"}, Match: strings.EqualFold}.Guard()
	numbers := guards.Scope("doc", "9", "10")
	outside := "doc is outside your scope, which is: doc-09, doc-10"
	for name, tc := range map[string]struct {
		guard callbacks.Guard
		tool  string
		args  map[string]any
		want  string
	}{
		"assigned":                      {own, "read", map[string]any{"doc": "doc-10"}, ""},
		"another's":                     {own, "read", map[string]any{"doc": "doc-11"}, outside},
		"close is not equal":            {own, "read", map[string]any{"doc": "doc-1"}, outside},
		"spaces are not equal":          {own, "read", map[string]any{"doc": "doc-10 "}, outside},
		"a list of its own":             {own, "read", map[string]any{"doc": []any{"doc-09", "doc-10"}}, ""},
		"a list with another's":         {own, "read", map[string]any{"doc": []any{"doc-09", "doc-11"}}, outside},
		"an empty list":                 {own, "read", map[string]any{"doc": []any{}}, outside},
		"an object":                     {own, "read", map[string]any{"doc": map[string]any{"$ne": ""}}, outside},
		"true":                          {own, "read", map[string]any{"doc": true}, outside},
		"in other case":                 {own, "read", map[string]any{"DOC": "doc-11"}, outside},
		"an alias in other case":        {own, "read", map[string]any{"doc": "doc-10", "DOC": "doc-11"}, "two argument names differ in case alone: give each argument once, under its declared name"},
		"absent":                        {own, "read", map[string]any{}, ""},
		"no arguments":                  {own, "read", nil, ""},
		"absent where it is required":   {required, "read", map[string]any{"doc": nil}, "doc is required"},
		"any tool":                      {own, "other", map[string]any{"doc": "doc-11"}, outside},
		"another tool":                  {required, "other", map[string]any{"doc": "doc-11"}, ""},
		"matched":                       {folding, "read", map[string]any{"doc": "DOC-09"}, ""},
		"not matched":                   {folding, "read", map[string]any{"doc": "DOC-10"}, "doc is outside your scope, which is: doc-09"},
		"a number":                      {numbers, "read", map[string]any{"doc": 9.0}, ""},
		"another number":                {numbers, "read", map[string]any{"doc": 9.5}, "doc is outside your scope, which is: 9, 10"},
		"a number of the other Go type": {numbers, "read", map[string]any{"doc": json.Number("10")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := callbackstest.BeforeTool(t, tc.guard, callbackstest.Tool(tc.tool), tc.args)
			if tc.want == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, map[string]any{"error": tc.want}, got)
		})
	}
}

// More than ten values are not read out, and nothing of what others have ever is.
func TestScopeNamesAtMostTen(t *testing.T) {
	many := make([]string, 11)
	for i := range many {
		many[i] = fmt.Sprint("doc-", i)
	}
	got := callbackstest.BeforeTool(t, guards.Scope("doc", many...), callbackstest.Tool("read"), map[string]any{"doc": "doc-99"})
	require.Equal(t, map[string]any{"error": "doc is outside your scope"}, got)
	got = callbackstest.BeforeTool(t, guards.Scope("doc", many[:10]...), callbackstest.Tool("read"), map[string]any{"doc": "secret"})
	require.Contains(t, got["error"], "doc-9")
	require.NotContains(t, got["error"], "secret")
}

type hit struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func TestScopeFiltersSearches(t *testing.T) {
	byID := guards.ScopeOptions{Arg: "doc", Values: []string{"a", "b"}, Searches: []guards.ScopeSearch{{Tool: "search", List: "hits", Field: "id"}}}.Guard()
	plain := guards.ScopeOptions{Arg: "doc", Values: []string{"a", "b"}, Searches: []guards.ScopeSearch{{Tool: "search", List: "hits"}}}.Guard()
	for name, tc := range map[string]struct {
		guard        callbacks.Guard
		result, want map[string]any
	}{
		"entries":                 {byID, map[string]any{"hits": []any{map[string]any{"id": "a"}, map[string]any{"id": "x"}, map[string]any{}, "b"}}, map[string]any{"hits": []any{map[string]any{"id": "a"}}}},
		"Go structs":              {byID, map[string]any{"hits": []hit{{"x", "X"}, {"b", "B"}}}, map[string]any{"hits": []any{map[string]any{"id": "b", "title": "B"}}}},
		"values":                  {plain, map[string]any{"hits": []string{"x", "a"}}, map[string]any{"hits": []any{"a"}}},
		"a list of nothing, JSON": {byID, map[string]any{"hits": nil}, map[string]any{"hits": []any{}}},
		"a list of nothing, Go":   {byID, map[string]any{"hits": []hit(nil)}, map[string]any{"hits": []any{}}},
		"nothing left":            {plain, map[string]any{"hits": []any{"x"}}, map[string]any{"hits": []any{}}},
		"an error":                {plain, map[string]any{"error": "index down"}, map[string]any{"error": "index down"}},
		"an error and a list":     {plain, map[string]any{"error": "index old", "hits": []any{"x", "a"}}, map[string]any{"error": "index old", "hits": []any{"a"}}},
		"no error and a list":     {plain, map[string]any{"error": "", "hits": []string{"x", "a"}}, map[string]any{"error": "", "hits": []any{"a"}}},
		"an error, an empty list": {plain, map[string]any{"error": "index down", "hits": nil}, map[string]any{"error": "index down", "hits": nil}},
		"no error and no list":    {plain, map[string]any{"error": "", "documents": []any{"x"}}, map[string]any{"error": "refused: the result can't be limited to your scope"}},
		"another shape":           {plain, map[string]any{"documents": []any{"x"}}, map[string]any{"error": "refused: the result can't be limited to your scope"}},
		"not even a list":         {plain, map[string]any{"hits": "x"}, map[string]any{"error": "refused: the result can't be limited to your scope"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, callbackstest.AfterTool(t, tc.guard, callbackstest.Tool("search"), nil, tc.result, nil))
			other := map[string]any{"hits": []any{"x"}}
			require.Equal(t, other, callbackstest.AfterTool(t, tc.guard, callbackstest.Tool("read"), nil, other, nil))
		})
	}
}

func TestScopeMatrix(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{callbacks.ForAgents(guards.ScopeOptions{
				Arg: "doc", ValuesFunc: func(context.Context) ([]string, error) { return []string{"doc-09", "doc-10"}, nil },
				Tools: []string{"lookup"}, Searches: []guards.ScopeSearch{{Tool: "lookup", List: "hits"}},
			}.Guard(), "guarded")}
		},
		Tools: func() []tool.Tool {
			return []tool.Tool{callbackstest.ToolReturning("lookup", map[string]any{"hits": []any{"doc-09", "doc-11"}}, nil)}
		},
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("lookup", map[string]any{"doc": "doc-11"}), callbackstest.Call("lookup", map[string]any{"doc": "doc-10"}), callbackstest.Say("ok"))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, []map[string]any{{"doc": "doc-10"}}, tr.Tools[0].(*callbackstest.FakeTool).Calls())
			reqs := tr.Model.Requests()
			require.Len(t, reqs, 3)
			for _, req := range reqs {
				parts := req.Contents[0].Parts
				require.Equal(t, "Your scope for doc:\n- doc-09\n- doc-10", parts[len(parts)-1].Text)
				require.NotContains(t, fmt.Sprint(req.Contents[1:]), "Your scope")
			}
			require.Equal(t, map[string]any{"error": "doc is outside your scope, which is: doc-09, doc-10"}, reqs[1].Contents[2].Parts[0].FunctionResponse.Response)
			require.Equal(t, map[string]any{"hits": []any{"doc-09"}}, reqs[2].Contents[4].Parts[0].FunctionResponse.Response)
			require.NotContains(t, fmt.Sprint(texts(tr.Stored)), "Your scope")
		},
	}.Run(t)
}

// The values are told in the first prompt, wherever that stands.
func TestScopeTellsTheFirstPrompt(t *testing.T) {
	req := &model.LLMRequest{Contents: []*genai.Content{nil, genai.NewContentFromText("hello", genai.RoleModel), genai.NewContentFromText("which?", genai.RoleUser)}}
	require.Nil(t, callbackstest.BeforeModel(t, guards.Scope("doc", "doc-09"), req))
	require.Len(t, req.Contents[1].Parts, 1)
	require.Equal(t, "Your scope for doc:\n- doc-09", req.Contents[2].Parts[1].Text)
}

func TestScopeFailsClosed(t *testing.T) {
	broken := guards.ScopeOptions{Arg: "doc", ValuesFunc: func(context.Context) ([]string, error) { return nil, errDSN }, Searches: []guards.ScopeSearch{{Tool: "search", List: "hits"}}}.Guard()
	require.Equal(t, map[string]any{"error": "refused: a guard failed"}, callbackstest.BeforeTool(t, broken, callbackstest.Tool("read"), map[string]any{"doc": "x"}))
	require.Equal(t, map[string]any{"error": "refused: a guard failed"}, callbackstest.AfterTool(t, broken, callbackstest.Tool("search"), nil, map[string]any{"hits": []any{"x"}}, nil))
	require.NotNil(t, callbackstest.BeforeModel(t, broken, request(genai.NewContentFromText("q", genai.RoleUser))))
	none := guards.ScopeOptions{Arg: "doc", Unlisted: true, ValuesFunc: func(context.Context) ([]string, error) { return nil, nil }}.Guard()
	require.Equal(t, map[string]any{"error": "doc is outside your scope"}, callbackstest.BeforeTool(t, none, callbackstest.Tool("read"), map[string]any{"doc": "x"}))
	require.Nil(t, none.BeforeModel)
}

func TestScopeNonsense(t *testing.T) {
	values := func(context.Context) ([]string, error) { return nil, nil }
	for name, o := range map[string]guards.ScopeOptions{
		"no argument": {Values: []string{"a"}}, "no values": {Arg: "doc"}, "both": {Arg: "doc", Values: []string{"a"}, ValuesFunc: values},
		"an empty value": {Arg: "doc", Values: []string{""}}, "an empty tool": {Arg: "doc", Values: []string{"a"}, Tools: []string{""}},
		"half a search": {Arg: "doc", Values: []string{"a"}, Searches: []guards.ScopeSearch{{Tool: "search"}}},
	} {
		require.Error(t, callbacks.New(o.Guard()).Err(), name)
	}
	require.ErrorIs(t, callbacks.New(guards.Scope("doc", "a"), guards.Isolate("q")).Err(), callbacks.ErrOrder)
	_, err := callbacks.New(guards.ScopeOptions{Arg: "doc", Values: []string{"a"}, Tools: []string{"raed"}}.Guard()).NewAgent(llmagent.Config{Name: "a"})
	require.ErrorIs(t, err, callbacks.ErrNoSuchTool)
}
