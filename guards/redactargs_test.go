// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
	"github.com/gardefou/gardefou/redact"
)

// sent plays an agent that sends to an address under guards, and returns what the tool
// saw, what the model was told and everything that is stored.
func sent(t *testing.T, to any, gs ...callbacks.Guard) (saw []map[string]any, told, stored string) {
	t.Helper()
	send := callbackstest.Tool("send")
	m := callbackstest.Script(callbackstest.Call("send", map[string]any{"to": to}), callbackstest.Say("done")).Repeat()
	a, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{send}})
	require.NoError(t, err)
	out := play(t, a)
	enc, err := json.Marshal(out.events)
	require.NoError(t, err)
	return send.Calls(), fmt.Sprint(responses(out.events)), string(enc)
}

// What a rule refuses it refuses behind a token too, and what it allows it allows: the
// guards judge what the tool will see, wherever Redact stands.
func TestRulesJudgeWhatRedactHides(t *testing.T) {
	const bad, good = "bob@evil.example", "jean.dupont@example.com"
	long := strings.Repeat("a", 60) + "@" + strings.Repeat("b", 60) + "." + strings.Repeat("c", 60) + ".example"
	inExample := func(v any) error {
		if !strings.HasSuffix(fmt.Sprint(v), "@example.com") {
			return errors.New("not one of ours")
		}
		return nil
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"to": map[string]any{"type": "string", "pattern": `^[^@]+@example\.com$`}}}
	rule := func(r guards.Arg) callbacks.Guard { r.Name = "to"; return guards.Args("send", r) }
	for name, tc := range map[string]struct {
		to    any
		guard callbacks.Guard
		code  codes.Code // "" lets the call pass
	}{
		"pattern that forbids":  {bad, rule(guards.Arg{Pattern: `^(?!.*@evil\.example)`}), codes.InvalidArgument},
		"check":                 {bad, rule(guards.Arg{Check: inExample}), codes.InvalidArgument},
		"length":                {long, rule(guards.Arg{MaxLen: 80}), codes.InvalidArgument},
		"one of":                {bad, rule(guards.Arg{OneOf: []string{good}}), codes.InvalidArgument},
		"scope":                 {bad, guards.Scope("to", good), codes.OutOfScope},
		"scope, in a list":      {[]any{good, bad}, guards.Scope("to", good), codes.OutOfScope},
		"finish":                {bad, guards.Finish("send", schema), codes.InvalidFinish},
		"pattern that allows":   {good, rule(guards.Arg{Pattern: `^[^@]+@example\.com$`}), ""},
		"check that allows":     {good, rule(guards.Arg{Check: inExample}), ""},
		"one of, allowed":       {good, rule(guards.Arg{OneOf: []string{good}}), ""},
		"length that is enough": {good, rule(guards.Arg{MaxLen: len(good)}), ""},
		"scope that allows":     {good, guards.Scope("to", good), ""},
		"list that is allowed":  {[]any{good}, guards.Scope("to", good), ""},
		"finish that allows":    {good, guards.Finish("send", schema), ""},
	} {
		for order, gs := range map[string][]callbacks.Guard{"before Redact": {tc.guard, guards.Redact()}, "after Redact": {guards.Redact(), tc.guard}} {
			t.Run(name+", "+order, func(t *testing.T) {
				var got []codes.Code
				gs = append(gs, callbacks.Guard{Name: "listen", Observe: func(_ context.Context, ev callbacks.Event) {
					if ev.Step == callbacks.StepTool && ev.Code != "" {
						got = append(got, ev.Code)
					}
				}})
				saw, told, stored := sent(t, tc.to, gs...)
				require.NotContains(t, stored+told, fmt.Sprint(tc.to), "the session has tokens")
				if tc.code == "" {
					require.NotEmpty(t, saw, told)
					require.Equal(t, tc.to, saw[0]["to"])
					return
				}
				require.Empty(t, saw)
				require.Equal(t, tc.code, got[0])
			})
		}
	}
}

// A token without a value is refused as that, and judged by nobody.
func TestRulesRefuseATokenWithoutItsValue(t *testing.T) {
	const token = "[EMAIL:tok-aaaaaaaa-1]"
	approver := approvers.NewScript()
	for name, g := range map[string]callbacks.Guard{
		"Args": guards.Args("send", guards.Arg{Name: "to", MaxLen: 80}), "Scope": guards.Scope("to", token), "Confirm": guards.Confirm(approver, "send"),
		"Checkpoint": guards.Checkpoint(func(context.Context, callbacks.Step) error { panic("asked") }, "send"),
		"Finish":     guards.Finish("send", map[string]any{"type": "object"}),
	} {
		t.Run(name, func(t *testing.T) {
			saw, told, _ := sent(t, token, g, guards.Redact())
			require.Empty(t, saw)
			require.Contains(t, told, "value no longer available, ask again")
		})
	}
	require.Empty(t, approver.Questions())
}

// A person reads the address that is approved, in either order, and so do the conditions
// of Confirm and what takes a restore point; the session does not.
func TestPeopleSeeWhatRedactHides(t *testing.T) {
	const address = "jean.dupont@example.com"
	for order, reversed := range map[string]bool{"Confirm first": false, "Redact first": true} {
		t.Run(order, func(t *testing.T) {
			approver := approvers.NewScript(approvers.Yes)
			var condition, restore any
			confirm := guards.ConfirmOptions{Approver: approver, Tools: []string{"send"}, When: func(s callbacks.Step) bool {
				condition = s.Args["to"]
				return true
			}}.Guard()
			checkpoint := guards.Checkpoint(func(_ context.Context, s callbacks.Step) error {
				restore = s.Args["to"]
				return nil
			}, "send")
			gs := []callbacks.Guard{confirm, checkpoint, guards.Redact()}
			if reversed {
				gs = []callbacks.Guard{guards.Redact(), confirm, checkpoint}
			}
			saw, _, stored := sent(t, address, gs...)
			require.Equal(t, []map[string]any{{"to": address}}, saw)
			require.Equal(t, map[string]any{"to": address}, approver.Questions()[0].Args)
			require.Equal(t, map[string]any{"to": address}, approver.Questions()[0].Always)
			require.Equal(t, address, condition)
			require.Equal(t, address, restore)
			require.NotContains(t, stored, address)
		})
	}
}

// A hook of somebody else sees tokens and looks behind them.
func TestRevealArgs(t *testing.T) {
	var seen, behind any
	look := callbacks.Guard{Name: "look", BeforeTool: func(ctx agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		plain, err := guards.RevealArgs(ctx, args)
		if err != nil {
			return nil, err
		}
		seen, behind = args["to"], plain["to"]
		return nil, nil
	}}
	saw, _, _ := sent(t, mail, guards.Redact(), look)
	require.Equal(t, mail, saw[0]["to"])
	require.Contains(t, seen, ":tok-")
	require.Equal(t, mail, behind)

	got, err := guards.RevealArgs(t.Context(), nil)
	require.NoError(t, err)
	require.Nil(t, got)
	_, err = guards.RevealArgs(t.Context(), map[string]any{"to": "[EMAIL:tok-aaaaaaaa-1]"})
	require.ErrorIs(t, err, redact.ErrUnknownToken)
	require.ErrorIs(t, err, callbacks.ErrDenied)
}
