// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// connectable is a model that ADK's live mode would take.
type connectable struct{ model.LLM }

func (connectable) Client() *genai.Client { return &genai.Client{} }

// Fact 11: live mode runs on Client() alone and skips every model hook.
func TestTrap11LiveModeIsRefusedInBothForms(t *testing.T) {
	chain := callbacks.New(allow("a"))
	t.Run("agent", func(t *testing.T) {
		l := launch(t, build(t, chain, llmagent.Config{Model: connectable{callbackstest.Script(callbackstest.Say("answer"))}}), agent.StreamingModeNone)
		_, _, err := l.runner.RunLive(t.Context(), "u", "s", agent.LiveRunConfig{})
		require.ErrorContains(t, err, "live")
	})
	t.Run("plugin", func(t *testing.T) {
		p, err := chain.Plugin("p")
		require.NoError(t, err)
		l := launch(t, plainAgent(t, llmagent.Config{Model: connectable{callbackstest.Script(callbackstest.Say("answer"))}}), agent.StreamingModeNone, p)
		require.Equal(t, []string{"answer"}, texts(l.events), "a run that is not live goes on")
		_, _, err = l.runner.RunLive(t.Context(), "u", "s", agent.LiveRunConfig{})
		require.ErrorContains(t, err, "live mode skips the hooks")
	})
}

// P6 and P6b: what before_run answers is dropped by ADK, which stores the user's
// message a second time in its place, as it was before any plugin masked it.
func TestP06BeforeRunEndsTheRunAndStoresNothingUnmasked(t *testing.T) {
	for name, tc := range map[string]struct {
		content *genai.Content
		err     error
		want    string
		status  callbacks.Status
	}{
		"content": {content: genai.NewContentFromText("closed today", genai.RoleModel), want: "closed today", status: callbacks.StatusDone},
		"refusal": {err: callbacks.Deny("closed", "no runs today"), want: "[guard] no runs today", status: callbacks.StatusDenied},
		"error":   {err: errors.New("dsn postgres://secret"), want: "[guard] refused: a guard failed", status: callbacks.StatusDenied},
	} {
		t.Run(name, func(t *testing.T) {
			gate := callbacks.Guard{
				Name:      "gate",
				BeforeRun: func(agent.InvocationContext) (*genai.Content, error) { return tc.content, tc.err },
				OnUserMessage: func(agent.InvocationContext, *genai.Content) (*genai.Content, error) {
					return genai.NewContentFromText("masked", genai.RoleUser), nil
				},
			}
			for root, mk := range roots(t) {
				t.Run(root, func(t *testing.T) {
					p, err := callbacks.New(gate).Plugin("p")
					require.NoError(t, err)
					m := callbackstest.Script(callbackstest.Say("answer")).Repeat()
					l := launch(t, mk(plainAgent(t, llmagent.Config{Model: m})), agent.StreamingModeNone, p)
					require.Empty(t, l.errs)
					require.Equal(t, []string{tc.want}, texts(l.events))
					require.Equal(t, []string{"masked", tc.want}, texts(l.stored(t)), "the message is stored once, and masked")
					require.Zero(t, m.Calls())

					out := play(t, mk(plainAgent(t, llmagent.Config{Model: m})), agent.StreamingModeNone, p)
					require.Equal(t, tc.status, out.run.Outcome().Status)
				})
			}
		})
	}
}
