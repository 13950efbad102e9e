// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolconfirmation"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/redact"
)

// Whatever kind of part holds a value, and whatever a call is named by, in every form and
// topology: neither the history, nor state and its keys, nor the journal has it.
func TestRedactEveryPart(t *testing.T) {
	var journal lines
	callbackstest.Matrix{
		OutputKey: "out",
		Guards: func() []callbacks.Guard {
			journal.reset()
			return []callbacks.Guard{
				callbacks.ForAgents(guards.AllowTools("lookup"), "guarded"),
				guards.Args("lookup", guards.Arg{Name: "q", Check: func(any) error { return safe("ask " + mail + " for another") }}),
				callbacks.ForAgents(guards.Redact(), "guarded"), guards.Journal(&journal),
			}
		},
		Tools: func() []tool.Tool {
			return []tool.Tool{callbackstest.ToolFunc("lookup", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
				return map[string]any{"ok": true}, ctx.State().Set("of "+mail, []any{mail})
			})}
		},
		Model: func() *callbackstest.Model {
			unknown := genai.NewPartFromFunctionCall("mail "+mail, nil)
			unknown.FunctionCall.ID = "call of " + mail
			refused := genai.NewPartFromFunctionCall("lookup", map[string]any{"q": "x"})
			refused.FunctionCall.ID = iban
			return callbackstest.Script(
				callbackstest.Turn{Parts: []*genai.Part{
					unknown, refused, genai.NewPartFromFunctionCall("lookup", nil),
					{ExecutableCode: &genai.ExecutableCode{Code: "send('" + mail + "')"}},
					{CodeExecutionResult: &genai.CodeExecutionResult{Output: "sent to " + mail}},
					genai.NewPartFromBytes([]byte("from "+mail), "text/plain"), genai.NewPartFromURI("https://files.example/"+mail, "text/plain"),
				}},
				callbackstest.Turn{Parts: []*genai.Part{{Text: "write to comptabilite@kerv"}, {Text: "thinking of comp", Thought: true}, {Text: "alec.example now"}, {Text: "tabilite@kervalec.example", Thought: true}}},
			)
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			var all bytes.Buffer
			enc := json.NewEncoder(&all)
			enc.SetEscapeHTML(false)
			for _, v := range []any{tr.Events, tr.Stored, tr.State} {
				require.NoError(t, enc.Encode(v))
			}
			for _, req := range tr.Model.Requests()[1:] {
				require.NoError(t, enc.Encode(req.Contents))
			}
			all.WriteString(journal.String())
			for _, secret := range []string{mail, iban, "kervalec.example", "ZnJvbSBjb21wdGE"} { // the last is base64
				require.NotContains(t, all.String(), secret)
			}
			if tr.Topology != callbackstest.TopologyAgentTool {
				require.Equal(t, "write to [email redacted] now", tr.State["out"])
				require.Contains(t, tr.State, "of [email redacted]")
			}
			require.Contains(t, all.String(), "ask [email redacted] for another")
		},
	}.Run(t)
}

// A scope that is named in a refusal is masked where Redact stands, and only there.
func TestRedactMasksWhatARefusalSays(t *testing.T) {
	_, told, _ := sent(t, "x", guards.Scope("to", mail))
	require.Contains(t, told, mail)
	for _, gs := range [][]callbacks.Guard{{guards.Scope("to", mail), guards.Redact()}, {guards.Redact(), guards.Scope("to", mail)}} {
		_, told, stored := sent(t, "x", gs...)
		require.Contains(t, told, "[email redacted]")
		require.NotContains(t, stored, mail)
	}
}

// What hangs on a response beside its content, and on an event beside its response.
func TestRedactMasksWhatHangsOnAnEvent(t *testing.T) {
	beside := func() model.LLMResponse {
		return model.LLMResponse{
			Content: genai.NewContentFromParts([]*genai.Part{
				{Text: "ask " + mail},
				nil,
				{PartMetadata: map[string]any{"of": mail}},
				{ToolCall: &genai.ToolCall{Args: map[string]any{"q": mail}}},
				{ToolResponse: &genai.ToolResponse{Response: map[string]any{"a": mail}}},
				{AudioTranscription: &genai.Transcription{Text: mail}},
				{FunctionResponse: &genai.FunctionResponse{ID: mail, Name: mail, Response: map[string]any{"a": mail}}},
				{FunctionCall: &genai.FunctionCall{ID: mail, Name: "send", PartialArgs: []*genai.PartialArg{{StringValue: mail}}}},
			}, genai.RoleModel),
			CitationMetadata:   &genai.CitationMetadata{Citations: []*genai.Citation{{Title: "by " + mail, EndIndex: 7}}},
			GroundingMetadata:  &genai.GroundingMetadata{WebSearchQueries: []string{"who is " + mail}},
			CustomMetadata:     map[string]any{"by": mail},
			LogprobsResult:     &genai.LogprobsResult{ChosenCandidates: []*genai.LogprobsResultCandidate{{Token: mail}}},
			InputTranscription: &genai.Transcription{Text: mail}, OutputTranscription: &genai.Transcription{Text: mail}, ErrorMessage: "no " + mail,
		}
	}
	resp := beside()
	got := callbackstest.AfterModel(t, guards.Redact(), &resp)
	enc, err := json.Marshal(got)
	require.NoError(t, err)
	require.NotContains(t, string(enc), mail)
	require.Equal(t, "by [email redacted]", got.CitationMetadata.Citations[0].Title)
	require.EqualValues(t, 7, got.CitationMetadata.Citations[0].EndIndex)

	original := beside()
	ev := &session.Event{
		LLMResponse: original, LongRunningToolIDs: []string{mail}, Output: mail, RequestedInput: &session.RequestInput{Message: mail, Payload: mail},
		Actions: session.EventActions{
			StateDelta: map[string]any{mail: mail}, ArtifactDelta: map[string]int64{mail: 1, "x" + mail: 2},
			RequestedToolConfirmations: map[string]toolconfirmation.ToolConfirmation{mail: {Hint: mail, Payload: mail}},
		},
	}
	ids := ev.LongRunningToolIDs
	require.NoError(t, guards.MaskEvent(nil, ev))
	enc, err = json.Marshal(ev)
	require.NoError(t, err)
	require.NotContains(t, string(enc), mail)
	require.Equal(t, ev.Content.Parts[7].FunctionCall.ID, ev.LongRunningToolIDs[0], "ids still fit")
	require.Len(t, ev.Actions.ArtifactDelta, 2)
	require.Equal(t, mail, original.Content.Parts[7].FunctionCall.ID, "what ADK shares is not edited")
	require.Equal(t, mail, ids[0])
}

// A chunk of a stream carries more than text.
func TestRedactMasksTheRestOfAChunk(t *testing.T) {
	m := &chunks{list: []*model.LLMResponse{
		{Partial: true, Content: genai.NewContentFromParts([]*genai.Part{{ExecutableCode: &genai.ExecutableCode{Code: mail}}, genai.NewPartFromFunctionCall("x", map[string]any{"a": mail})}, genai.RoleModel), CustomMetadata: map[string]any{"by": mail}},
		{Content: genai.NewContentFromText("done", genai.RoleModel), TurnComplete: true},
	}}
	events, _ := run(t, agentOf(t, llmagent.Config{Name: "a", Model: m}, guards.Redact()), agent.StreamingModeSSE)
	enc, err := json.Marshal(events)
	require.NoError(t, err)
	require.Contains(t, string(enc), "[email redacted]")
	require.NotContains(t, string(enc), mail)
}

// ADK asks no plugin after one that answers: where nothing is masked there is no answer.
func TestRedactLeavesAUserMessageToOthers(t *testing.T) {
	hook := guards.RedactOptions{Options: redact.Options{}}.Guard().ForPlugin().OnUserMessage
	for _, msg := range []*genai.Content{nil, {}, {Parts: []*genai.Part{nil, {}, {Text: "hello"}}}, genai.NewContentFromParts([]*genai.Part{
		genai.NewPartFromBytes(nil, "x"), genai.NewPartFromBytes([]byte("plain"), "text/plain"), genai.NewPartFromFunctionResponse("f", map[string]any{"a": []any{1}}),
		genai.NewPartFromFunctionCall("f", map[string]any{"a": "b"}),
		{ExecutableCode: &genai.ExecutableCode{Code: "x"}},
		{FileData: &genai.FileData{FileURI: "u"}},
	}, genai.RoleUser)} {
		got, err := hook(nil, msg)
		require.NoError(t, err)
		require.Nil(t, got)
	}
	for name, p := range map[string]*genai.Part{"text": {Text: mail}, "file": genai.NewPartFromBytes([]byte(mail), "text/plain"), "answer": genai.NewPartFromFunctionResponse("f", map[string]any{"a": mail})} {
		got, err := hook(nil, genai.NewContentFromParts([]*genai.Part{p}, genai.RoleUser))
		require.NoError(t, err)
		enc, err := json.Marshal(got)
		require.NoError(t, err)
		require.NotContains(t, string(enc), mail, name)
		require.NotContains(t, string(enc), "Y29tcHRhYmlsaXRlQGtlcnZhbGVjLmV4YW1wbGU", name)
	}
}

// chunks is a model that yields what it is given.
type chunks struct{ list []*model.LLMResponse }

func (*chunks) Name() string { return "chunks" }

func (c *chunks) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for _, resp := range c.list {
			if !yield(resp, nil) {
				return
			}
		}
	}
}
