// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolconfirmation"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// cutModel says parts and then ends as it is told to; the next time it says ok.
type cutModel struct {
	parts    []*genai.Part
	end      model.LLMResponse
	err      error
	noFinal  bool
	requests []*model.LLMRequest
}

func (*cutModel) Name() string { return "cut" }

func (m *cutModel) GenerateContent(_ context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.requests = append(m.requests, &model.LLMRequest{Contents: slices.Clone(req.Contents)})
		if len(m.requests) > 1 {
			yield(&model.LLMResponse{Content: genai.NewContentFromText("ok", genai.RoleModel), FinishReason: genai.FinishReasonStop}, nil)
			return
		}
		if stream {
			for _, p := range m.parts {
				for _, r := range p.Text {
					chunk := &genai.Part{Text: string(r), Thought: p.Thought}
					if !yield(&model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{chunk}, genai.RoleModel), Partial: true}, nil) {
						return
					}
				}
			}
		}
		if m.err != nil {
			yield(nil, m.err)
			return
		}
		if m.noFinal {
			return
		}
		resp := m.end
		resp.Content = genai.NewContentFromParts(m.parts, genai.RoleModel)
		yield(&resp, nil)
	}
}

// What is cut off may end in half a value: no half is left in events, state, session or
// the next request, plain or streamed, on an agent or as a plugin, however it was cut.
func TestRedactKeepsNoHalfValue(t *testing.T) {
	type ending struct {
		end     model.LLMResponse
		err     error
		noFinal bool
	}
	endings := map[string]ending{
		"no reason": {}, "interrupted": {end: model.LLMResponse{FinishReason: genai.FinishReasonStop, Interrupted: true}},
		"error code": {end: model.LLMResponse{ErrorCode: "RESOURCE_EXHAUSTED", ErrorMessage: "at " + "zcutoff.jean.dupont@exem"}},
		"error":      {err: errors.New("connection reset")}, "cancelled": {err: context.Canceled}, "no end": {noFinal: true},
	}
	for _, reason := range []genai.FinishReason{
		genai.FinishReasonMaxTokens, genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonLanguage, genai.FinishReasonOther,
		genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonMalformedFunctionCall, "A_NEW_ONE",
	} {
		endings[string(reason)] = ending{end: model.LLMResponse{FinishReason: reason}}
	}
	for name, e := range endings {
		for _, half := range []string{"FR76 3000 6000 0112 3456 78", "zcutoff.jean.dupont@exem", "zcutoff.jean.dupont@"} {
			for _, form := range []string{"agent", "plugin", "both"} {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%s/%v", name, half[:4], form, streaming), func(t *testing.T) {
						m := &cutModel{parts: []*genai.Part{{Text: "thinking of " + half, Thought: true}, {Text: "write to " + half[:9]}, {Text: half[9:]}}, end: e.end, err: e.err, noFinal: e.noFinal}
						all := playCut(t, m, form, streaming)
						for _, part := range []string{half, half[:9], "zcutoff", "3000 6000", "@exem"} {
							require.NotContains(t, all, part)
						}
					})
				}
			}
		}
	}
}

// playCut plays a model twice in one session and returns all that is seen or stored.
func playCut(t *testing.T, m *cutModel, form string, streaming bool) string {
	t.Helper()
	cfg := llmagent.Config{Name: "a", Model: m, OutputKey: "out"}
	chain := callbacks.New(guards.Redact())
	a, err := llmagent.New(cfg)
	if form != "plugin" {
		a, err = chain.NewAgent(cfg)
	}
	require.NoError(t, err)
	rc := runnerConfig(a, nil)
	if form != "agent" {
		p, err := chain.Plugin("redact")
		require.NoError(t, err)
		rc = runnerConfig(a, p)
	}
	r, err := runner.New(rc)
	require.NoError(t, err)
	mode := agent.StreamingModeNone
	if streaming {
		mode = agent.StreamingModeSSE
	}
	var all, streamed strings.Builder
	enc := json.NewEncoder(&all)
	enc.SetEscapeHTML(false)
	for range 2 {
		ctx, run := callbacks.Start(t.Context())
		for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{StreamingMode: mode})) {
			if err != nil {
				continue
			}
			if !ev.Partial {
				require.NoError(t, enc.Encode(ev))
				continue
			}
			// The deltas of a chunk are those of the step, which goes on: to read them races.
			require.NoError(t, enc.Encode(ev.LLMResponse))
			if ev.Content != nil {
				for _, p := range ev.Content.Parts {
					streamed.WriteString(p.Text)
				}
			}
		}
		run.Close()
	}
	got, err := rc.SessionService.Get(t.Context(), &session.GetRequest{AppName: "test", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	for ev := range got.Session.Events().All() {
		require.NoError(t, enc.Encode(ev))
	}
	for k, v := range got.Session.State().All() {
		require.NoError(t, enc.Encode(map[string]any{k: v}))
	}
	require.Len(t, m.requests, 2)
	require.NoError(t, enc.Encode(m.requests[1].Contents))
	return all.String() + streamed.String()
}

// What is all there keeps what is no value: the end of a text is no reason to mask it.
func TestRedactLeavesTheEndOfAWholeAnswer(t *testing.T) {
	const said = "log in with ssh root@localhost"
	for _, streaming := range []bool{false, true} {
		for _, form := range []string{"agent", "plugin", "both"} {
			m := &cutModel{parts: []*genai.Part{{Text: said}}, end: model.LLMResponse{FinishReason: genai.FinishReasonStop}}
			require.Contains(t, playCut(t, m, form, streaming), said)
		}
	}
	ev := &session.Event{LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(said, genai.RoleUser)}}
	require.NoError(t, guards.MaskEvent(nil, ev))
	require.Equal(t, said, ev.Content.Parts[0].Text, "what people say is all there")
}

// Half a value in the arguments of a call that was cut off goes behind a token, too.
func TestRedactHidesHalfAValueInArguments(t *testing.T) {
	m := &chunks{list: []*model.LLMResponse{{
		Content:      genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionCall("send", map[string]any{"to": "zcutoff.jean.dupont@exem"})}, genai.RoleModel),
		FinishReason: genai.FinishReasonMaxTokens,
	}}}
	resp := callbackstest.AfterModel(t, guards.Redact(), callbacks.CopyResponse(m.list[0]))
	require.Regexp(t, `^\[EMAIL:tok-[a-z2-7]{8}-1\]$`, resp.Content.Parts[0].FunctionCall.Args["to"])
}

// A confirmation that a tool asks for is masked wherever it is stored or shown, and the
// call that is resumed runs with its values.
func TestRedactMasksConfirmationsAndResumesThem(t *testing.T) {
	for _, form := range []string{"agent", "plugin", "both"} {
		for _, confirmed := range []bool{true, false} {
			t.Run(fmt.Sprint(form, confirmed), func(t *testing.T) {
				var paid []map[string]any
				pay := callbackstest.ToolFunc("pay", func(ctx agent.Context, args map[string]any) (map[string]any, error) {
					switch c := ctx.ToolConfirmation(); {
					case c == nil:
						require.NoError(t, ctx.RequestConfirmation("pay "+mail+"?", map[string]any{"iban": iban, "by": []any{mail}}))
						return map[string]any{"status": "waiting for " + mail}, nil
					case c.Confirmed:
						paid = append(paid, args)
					}
					return map[string]any{"ok": ctx.ToolConfirmation().Confirmed}, nil
				})
				m := callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": mail, "iban": iban}), callbackstest.Say("done")).Repeat()
				cfg := llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{pay}}
				chain := callbacks.New(guards.Redact())
				a, err := llmagent.New(cfg)
				if form != "plugin" {
					a, err = chain.NewAgent(cfg)
				}
				require.NoError(t, err)
				rc := runnerConfig(a, nil)
				if form != "agent" {
					p, err := chain.Plugin("redact")
					require.NoError(t, err)
					rc = runnerConfig(a, p)
				}
				r, err := runner.New(rc)
				require.NoError(t, err)
				ctx, run := callbacks.Start(t.Context())
				defer run.Close()
				var all strings.Builder
				var question *genai.FunctionCall
				play := func(msg *genai.Content) {
					for ev, err := range r.Run(ctx, "u", "s", msg, agent.RunConfig{}) {
						require.NoError(t, err)
						require.NoError(t, json.NewEncoder(&all).Encode(ev))
						for _, fc := range functionCalls(ev) {
							if fc.Name == toolconfirmation.FunctionCallName {
								question = fc
							}
						}
					}
				}
				play(genai.NewContentFromText("go", genai.RoleUser))
				require.NotNil(t, question)
				asked, err := json.Marshal(question.Args["toolConfirmation"])
				require.NoError(t, err)
				require.JSONEq(t, `{"hint":"pay [email redacted]?","confirmed":false,"payload":{"iban":"[IBAN redacted]","by":["[email redacted]"]}}`, string(asked))
				answer := genai.NewPartFromFunctionResponse(toolconfirmation.FunctionCallName, map[string]any{"confirmed": confirmed})
				answer.FunctionResponse.ID = question.ID
				play(&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{answer}})

				if confirmed {
					require.Equal(t, []map[string]any{{"to": mail, "iban": iban}}, paid)
				} else {
					require.Empty(t, paid)
				}
				got, err := rc.SessionService.Get(t.Context(), &session.GetRequest{AppName: "test", UserID: "u", SessionID: "s"})
				require.NoError(t, err)
				for ev := range got.Session.Events().All() {
					require.NoError(t, json.NewEncoder(&all).Encode(ev))
				}
				require.Contains(t, all.String(), "requestedToolConfirmations")
				for _, secret := range []string{mail, iban, "3000 6000"} {
					require.NotContains(t, all.String(), secret)
				}
			})
		}
	}
}
