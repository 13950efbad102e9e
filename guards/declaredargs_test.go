// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// Whatever a model makes of the arguments of one of ADK's function tools, it reads what is
// wrong and goes on; the tool runs with arguments that fit only.
func TestDeclaredArgsLetsAModelCorrectItsCall(t *testing.T) {
	type forecast struct {
		City string `json:"city"`
		Days int    `json:"days"`
		Unit string `json:"unit,omitempty"`
	}
	schema, err := jsonschema.For[forecast](nil)
	require.NoError(t, err)
	least, most := 1.0, 14.0
	schema.Properties["days"].Minimum, schema.Properties["days"].Maximum = &least, &most
	schema.Properties["unit"].Enum = []any{"celsius", "fahrenheit"}
	for name, tc := range map[string]struct {
		args map[string]any
		want string // what is refused; empty where the tool runs
	}{
		"fits":          {map[string]any{"city": "Brest", "days": 3.0}, ""},
		"all of it":     {map[string]any{"city": "Brest", "days": 14, "unit": "celsius"}, ""},
		"missing":       {map[string]any{"city": "Brest"}, `days`},
		"none":          {nil, `city`},
		"wrong type":    {map[string]any{"city": "Brest", "days": "three"}, `/days`},
		"null":          {map[string]any{"city": nil, "days": 3}, `/city`},
		"not whole":     {map[string]any{"city": "Brest", "days": 2.5}, `/days`},
		"out of range":  {map[string]any{"city": "Brest", "days": 99}, `/days`},
		"below range":   {map[string]any{"city": "Brest", "days": 0}, `/days`},
		"invented unit": {map[string]any{"city": "Brest", "days": 3, "unit": "kelvin"}, `/unit`},
		"unknown":       {map[string]any{"city": "Brest", "days": 3, "colour": "blue"}, `colour`},
		"several":       {map[string]any{"city": 1, "days": 99, "unit": "kelvin"}, `/unit`},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			tl, err := functiontool.New(functiontool.Config{Name: "forecast", InputSchema: schema}, func(agent.Context, forecast) (map[string]any, error) {
				runs++
				return map[string]any{"sky": "clear"}, nil
			})
			require.NoError(t, err)
			m := callbackstest.Script(callbackstest.Call("forecast", tc.args), callbackstest.Say("done"))
			a, err := callbacks.New(guards.DeclaredArgs(), guards.BusinessErrors()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{tl}})
			require.NoError(t, err)
			res, err := callbackstest.Play(io.Discard, a, "x")
			require.NoError(t, err)
			require.Equal(t, callbacks.StatusDone, res.Status)
			turn := m.Requests()[1].Contents
			read := turn[len(turn)-1].Parts[0].FunctionResponse.Response
			if tc.want == "" {
				require.Equal(t, map[string]any{"sky": "clear"}, read)
				require.Equal(t, 1, runs)
				return
			}
			require.Zero(t, runs)
			require.Contains(t, read["error"], "invalid arguments: ")
			require.Contains(t, read["error"], tc.want)
		})
	}
}

func TestDeclaredArgsReadsEitherFormOfASchema(t *testing.T) {
	yes := true
	most := 14.0
	tl := callbackstest.Tool("forecast").Declared(&genai.FunctionDeclaration{Name: "forecast", Parameters: &genai.Schema{
		Type: genai.TypeObject, Required: []string{"days"},
		Properties: map[string]*genai.Schema{"days": {Type: genai.TypeInteger, Maximum: &most}, "unit": {Type: genai.TypeString, Nullable: &yes}},
	}})
	guard := guards.DeclaredArgs()
	require.Nil(t, callbackstest.BeforeTool(t, guard, tl, map[string]any{"days": 3, "unit": nil}))
	for _, args := range []map[string]any{nil, {"days": "3"}, {"days": 15}, {"days": 3, "unit": 1}} {
		require.Contains(t, callbackstest.BeforeTool(t, guard, tl, args)["error"], "invalid arguments", fmt.Sprint(args))
	}
	// No declaration of parameters, no rule; one that can't be read, no call.
	require.Nil(t, callbackstest.BeforeTool(t, guard, callbackstest.Tool("free"), map[string]any{"x": 1}))
	broken := callbackstest.Tool("broken").Declared(&genai.FunctionDeclaration{Name: "broken", ParametersJsonSchema: map[string]any{"$ref": "#/nowhere"}})
	require.NotNil(t, callbackstest.BeforeTool(t, guard, broken, nil))
	_, err := guard.BeforeTool(nil, tl, nil)
	require.ErrorIs(t, err, callbacks.ErrDenied, "the hook alone, without a context")
	var refusal *callbacks.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, codes.InvalidArgument, refusal.Code)
}

// What Redact put a token for is judged as it is and quoted as no value.
func TestDeclaredArgsQuotesNoValueOfAToken(t *testing.T) {
	tl := callbackstest.Tool("send").Declared(&genai.FunctionDeclaration{Name: "send", ParametersJsonSchema: map[string]any{
		"type": "object", "properties": map[string]any{"to": map[string]any{"type": "string", "enum": []any{"bob@example.com"}}},
	}})
	for to, runs := range map[string]int{"bob@example.com": 1, "alice@example.com": 0} {
		before := len(tl.Calls())
		m := callbackstest.Script(callbackstest.Call("send", map[string]any{"to": to}), callbackstest.Say("done"))
		a, err := callbacks.New(guards.Redact(), guards.DeclaredArgs()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{tl}})
		require.NoError(t, err)
		_, err = callbackstest.Play(io.Discard, a, "x")
		require.NoError(t, err)
		require.Len(t, tl.Calls(), before+runs)
		turn := m.Requests()[1].Contents
		require.NotContains(t, fmt.Sprint(turn[len(turn)-1].Parts[0].FunctionResponse.Response), to)
	}
}
