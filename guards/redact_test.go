// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

const (
	mail = "comptabilite@kervalec.example"
	iban = "FR76 3000 6000 0112 3456 7890 189"
)

func TestRedactAfterModel(t *testing.T) {
	resp := callbackstest.AfterModel(t, guards.Redact(), &model.LLMResponse{Content: genai.NewContentFromText("write to "+mail+" or pay "+iban+", SIREN 552081317", genai.RoleModel)})
	require.Equal(t, "write to [email redacted] or pay [IBAN redacted], SIREN 552081317", resp.Content.Parts[0].Text)
}

func TestRedactFindsAValueCutOverParts(t *testing.T) {
	resp := callbackstest.AfterModel(t, guards.Redact(), &model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{
		{Text: "write to compta"}, {Text: "bilite@kervalec.exa"}, {Text: "mple now"},
	}, genai.RoleModel)})
	var all string
	for _, p := range resp.Content.Parts {
		all += p.Text
	}
	require.Equal(t, "write to [email redacted] now", all)
}

func TestRedactAfterTool(t *testing.T) {
	nested := map[string]any{"contact": mail}
	result := map[string]any{"text": iban, "deep": []any{nested}, mail: 1}
	got := callbackstest.AfterTool(t, guards.Redact(), callbackstest.Tool("lookup"), nil, result, nil)
	require.Equal(t, map[string]any{"text": "[IBAN redacted]", "deep": []any{map[string]any{"contact": "[email redacted]"}}, "[email redacted]": 1}, got)
	require.Equal(t, mail, nested["contact"], "what the tool shares with others is not edited")

	got = callbackstest.AfterTool(t, guards.Redact(), callbackstest.Tool("lookup"), nil, nil, safe("ask "+mail))
	require.Equal(t, map[string]any{"error": "ask [email redacted]"}, got)
	got = callbackstest.AfterTool(t, guards.Redact(), callbackstest.Tool("lookup"), nil, nil, errors.New("ask "+mail))
	require.Equal(t, map[string]any{"error": "tool failed: lookup"}, got)
}

// Nothing that the model says or a tool returns is stored, streamed, journalled or
// put into state with a value in it, in any form and topology.
// The user's message is masked in a copy: whoever sent it keeps the original.
func TestRedactUserMessage(t *testing.T) {
	msg := genai.NewContentFromText("write to "+mail, genai.RoleUser)
	msg.Parts = append(msg.Parts, nil)
	got, err := guards.Redact().ForPlugin().OnUserMessage(nil, msg)
	require.NoError(t, err)
	require.Equal(t, "write to [email redacted]", got.Parts[0].Text)
	require.Nil(t, got.Parts[1])
	require.Equal(t, "write to "+mail, msg.Parts[0].Text)
}

func TestRedactMatrix(t *testing.T) {
	var journal lines
	callbackstest.Matrix{
		OutputKey: "out",
		Guards: func() []callbacks.Guard {
			journal.reset()
			return []callbacks.Guard{callbacks.ForAgents(guards.Redact(), "guarded"), guards.Stash("lookup"), guards.Journal(&journal)}
		},
		Tools: func() []tool.Tool {
			return []tool.Tool{callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
				return map[string]any{"text": "call " + mail, "list": []any{map[string]any{"iban": iban}}}, nil
			})}
		},
		Model: func() *callbackstest.Model {
			var chunks []string
			for _, r := range "Write to " + mail + " and pay " + iban + " today, or later to " + mail {
				chunks = append(chunks, string(r))
			}
			return callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Stream(chunks...))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			var all bytes.Buffer
			enc := json.NewEncoder(&all)
			enc.SetEscapeHTML(false)
			require.NoError(t, enc.Encode(tr.Events))
			require.NoError(t, enc.Encode(tr.Stored))
			require.NoError(t, enc.Encode(tr.State))
			require.NoError(t, enc.Encode(tr.Model.Requests()[1].Contents))
			all.WriteString(journal.String())
			var streamed strings.Builder
			for _, ev := range tr.Events {
				if ev.Partial && ev.Author == "guarded" {
					for _, p := range ev.Content.Parts {
						streamed.WriteString(p.Text)
					}
				}
			}
			all.WriteString(streamed.String())
			for _, secret := range []string{mail, iban, "kervalec.example", "3000 6000", "7890 189"} {
				require.NotContains(t, all.String(), secret)
			}
			want := "Write to [email redacted] and pay [IBAN redacted] today, or later to [email redacted]"
			if tr.Topology != callbackstest.TopologyAgentTool {
				require.Equal(t, want, tr.State["out"])
				if tr.Streaming && tr.Form == callbackstest.FormAgent {
					require.Equal(t, want, streamed.String(), "the stream ends with what was held back")
				}
				if tr.Streaming {
					require.True(t, strings.HasPrefix(want, streamed.String()))
				}
			}
		},
	}.Run(t)
}

func TestRedactSpeaksTheRunsLanguage(t *testing.T) {
	ctx, run := callbacks.StartOptions{Lang: "fr_FR.UTF-8"}.Start(t.Context())
	defer run.Close()
	resp := &model.LLMResponse{Content: genai.NewContentFromText(mail+" "+iban, genai.RoleModel)}
	_, err := guards.Redact().AfterModel(callbackstest.ContextFrom(ctx, t), resp, nil)
	require.NoError(t, err)
	require.Equal(t, "[e-mail masqué] [IBAN masqué]", resp.Content.Parts[0].Text)
}

// lines is a journal's writer that checks that every write is one whole line.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
		panic(fmt.Sprintf("not one whole line: %q", p))
	}
	return l.buf.Write(p)
}

func (l *lines) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Reset()
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) byKind(t *testing.T) map[string][]map[string]any {
	t.Helper()
	out := make(map[string][]map[string]any)
	for line := range strings.Lines(l.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		kind, _ := m["kind"].(string)
		out[kind] = append(out[kind], m)
	}
	return out
}

var errBroken = errors.New("no space left on device")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// A value in the arguments of a call reaches the tool and nothing else: history, the
// next request, events, observers and the journal hold a token.
func TestRedactHidesArgumentsFromAllButTheTool(t *testing.T) {
	for _, kind := range []string{"function", "streaming"} {
		t.Run(kind, func(t *testing.T) {
			var journal lines
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					journal.reset()
					return []callbacks.Guard{callbacks.ForAgents(guards.Redact(), "guarded"), guards.Journal(&journal)}
				},
				Tools: func() []tool.Tool {
					if kind == "streaming" {
						return []tool.Tool{callbackstest.StreamingTool("send", "sent")}
					}
					return []tool.Tool{callbackstest.Tool("send")}
				},
				Model: func() *callbackstest.Model {
					return callbackstest.Script(callbackstest.Call("send", map[string]any{"to": mail, "nested": map[string]any{"iban": []any{iban}}}), callbackstest.Say("ok"))
				},
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					got := tr.Tools[0].(interface{ Calls() []map[string]any }).Calls()
					require.Equal(t, []map[string]any{{"to": mail, "nested": map[string]any{"iban": []any{iban}}}}, got, "the tool gets the values")
					raw, err := json.Marshal([]any{tr.Events, tr.Stored, tr.State, tr.Model.Requests()[1].Contents})
					require.NoError(t, err)
					for _, secret := range []string{mail, "3000 6000"} {
						require.NotContains(t, string(raw), secret)
						require.NotContains(t, journal.String(), secret)
					}
					for _, ev := range tr.Told {
						require.NotContains(t, fmt.Sprint(ev.Args), mail)
					}
				},
			}.Run(t)
		})
	}
}

// What a chunk holds beside text comes through, also where its text is held back whole.
func TestRedactStreamKeepsSignatures(t *testing.T) {
	signed := chunkModel{[]*genai.Part{{Text: "jean.dup"}, {ThoughtSignature: []byte("s")}}, []*genai.Part{{Text: "ont@example.com"}}}
	r, err := runnerOf(newAgent(t, "a", signed, nil, guards.Redact()))
	require.NoError(t, err)
	var text string
	var signatures [][]byte
	for ev, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{StreamingMode: agent.StreamingModeSSE}) {
		require.NoError(t, err)
		for _, p := range ev.Content.Parts {
			if !ev.Partial {
				continue
			}
			text += p.Text
			if p.ThoughtSignature != nil {
				signatures = append(signatures, p.ThoughtSignature)
			}
		}
	}
	require.Equal(t, "[email redacted]", text)
	require.Equal(t, [][]byte{[]byte("s")}, signatures)
}

// chunkModel streams these parts, then all of them.
type chunkModel [][]*genai.Part

func (chunkModel) Name() string { return "chunks" }

func (m chunkModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		var all []*genai.Part
		for _, parts := range m {
			all = append(all, parts...)
			if !yield(&model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel), Partial: true}, nil) {
				return
			}
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromParts(all, genai.RoleModel), TurnComplete: true}, nil)
	}
}

// A token without its vault never reaches a tool, in whatever form.
func TestRedactRefusesATokenWithoutItsValue(t *testing.T) {
	for _, token := range []string{"[EMAIL:tok-aaaaaaaa-1]", `\[EMAIL:tok-aaaaaaaa-1\]`, "EMAIL: TOK-AAAAAAAA", "%5BEMAIL%3Atok-aaaaaaaa-1%5D"} {
		tl := callbackstest.Tool("send")
		m := callbackstest.Script(callbackstest.Call("send", map[string]any{"to": token}), callbackstest.Say("ok"))
		a, err := callbacks.New(guards.Redact()).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{tl}})
		require.NoError(t, err)
		out := play(t, a)
		require.NoError(t, out.err)
		require.Empty(t, tl.Calls(), token)
		require.Equal(t, []map[string]any{{"error": "value no longer available, ask again"}}, responses(out.events))
	}
}

// A model that copies a token of this Run badly is refused: the tool gets the value or
// does not run.
func TestRedactRefusesATokenThatTheModelRewrote(t *testing.T) {
	tl := callbackstest.Tool("send")
	var token string
	m := callbackstest.Script(callbackstest.Call("send", map[string]any{"to": mail}), callbackstest.Call("send", map[string]any{"to": "later"}), callbackstest.Say("ok"))
	rewrite := callbacks.Guard{Name: "rewrite", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		if to := args["to"].(string); to != "later" {
			token = to
			return nil, nil
		}
		args["to"] = strings.ToUpper(strings.Trim(token, "[]"))
		return nil, nil
	}}
	a, err := callbacks.New(guards.Redact(), rewrite).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{tl}})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Equal(t, []map[string]any{{"to": mail}}, tl.Calls())
	require.Equal(t, map[string]any{"error": "value no longer available, ask again"}, responses(out.events)[1])
}

func TestRedactPartsAreMaskedAloneAndTogether(t *testing.T) {
	for name, tc := range map[string]struct{ in, want []string }{
		"cut":                    {[]string{"write to compta", "bilite@kervalec.exa", "mple now"}, []string{"write to [email redacted]", "", " now"}},
		"whole, next part glued": {[]string{"pay DE62370400440532013001", "and go"}, []string{"pay [IBAN redacted]", "and go"}},
		"two and one cut":        {[]string{mail + " or al", "ice@example.com, " + mail}, []string{"[email redacted] or [email redacted]", ", [email redacted]"}},
		"nothing":                {[]string{"a", "b"}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []*genai.Part
			for _, s := range tc.in {
				parts = append(parts, &genai.Part{Text: s})
			}
			resp := callbackstest.AfterModel(t, guards.Redact(), &model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel)})
			var got []string
			for _, p := range resp.Content.Parts {
				got = append(got, p.Text)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

// Nothing to mask is no reason to panic, and no redactor is the one that finds most.
func TestMaskEventOfNothing(t *testing.T) {
	require.NoError(t, guards.MaskEvent(nil, nil))
	ev := &session.Event{LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("to "+mail, genai.RoleModel)}}
	require.NoError(t, guards.MaskEvent(nil, ev))
	require.Equal(t, "to [email redacted]", ev.Content.Parts[0].Text)
}
