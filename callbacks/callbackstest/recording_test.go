// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// said is what an agent with a tool says under m, chunk by chunk.
func said(t *testing.T, m model.LLM, mode agent.StreamingMode) []string {
	t.Helper()
	a, err := llmagent.New(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	r, err := runner.NewInMemory("recording", a)
	require.NoError(t, err)
	var out []string
	for ev, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{StreamingMode: mode}) {
		if err != nil {
			return append(out, err.Error())
		}
		for _, p := range ev.Content.Parts {
			out = append(out, p.Text)
		}
	}
	return out
}

func TestAReplayGoesAsTheRecordedRun(t *testing.T) {
	for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		var file bytes.Buffer
		script := callbackstest.Script(
			callbackstest.Call("lookup", map[string]any{"supplier": "A"}).WithUsage(10, 2), callbackstest.Stream("an", "swer"),
		)
		live := said(t, callbackstest.Record(script, &file), mode)
		require.Equal(t, "answer", live[len(live)-1])
		replayed, err := callbackstest.Replay(&file)
		require.NoError(t, err)
		require.Equal(t, "scripted", replayed.Name())
		require.Equal(t, 2, replayed.Left())
		require.Equal(t, live, said(t, replayed, mode), "other ids of calls, the same run")
		require.Zero(t, replayed.Left())
		again := said(t, replayed, mode)
		require.Contains(t, strings.Join(again, "\n"), callbackstest.ErrNotRecorded.Error())
	}
}

func TestARecordingKeepsErrorsAndEarlyEnds(t *testing.T) {
	var file bytes.Buffer
	m := callbackstest.Record(callbackstest.Script(callbackstest.Turn{Chunks: []string{"a", "b"}}, callbackstest.Fail(errors.New("503"))), &file)
	ask := func(m model.LLM, text string, most int) (n int, err error) {
		req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)}}
		for _, e := range m.GenerateContent(t.Context(), req, true) {
			if n, err = n+1, e; n == most {
				break
			}
		}
		return n, err
	}
	_, _ = ask(m, "one", 1)
	_, err := ask(m, "two", 9)
	require.EqualError(t, err, "503")
	p, err := callbackstest.Replay(&file)
	require.NoError(t, err)
	_, err = ask(p, "two", 9)
	require.EqualError(t, err, "503")
	n, err := ask(p, "one", 9)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = ask(p, "three", 9)
	require.ErrorIs(t, err, callbackstest.ErrNotRecorded)

	for _, bad := range []string{"{", "{}", "\n[]\n"} {
		_, err := callbackstest.Replay(strings.NewReader(bad))
		require.Error(t, err, bad)
	}
	_, err = ask(callbackstest.Record(callbackstest.Script(callbackstest.Say("x")), full{}), "one", 9)
	require.ErrorIs(t, err, errFull)
}

var errFull = errors.New("no space left on device")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// Side by side, each caller gets the answer to its own request.
func TestAReplayInParallel(t *testing.T) {
	var file bytes.Buffer
	m := callbackstest.Record(callbackstest.Script(callbackstest.Say("0"), callbackstest.Say("1"), callbackstest.Say("2"), callbackstest.Say("3")), &file)
	ask := func(m model.LLM, i int) string {
		req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText(string(rune('a'+i)), genai.RoleUser)}}
		for resp, err := range m.GenerateContent(t.Context(), req, false) {
			if err != nil {
				return err.Error()
			}
			return resp.Content.Parts[0].Text
		}
		return ""
	}
	for i := range 4 {
		ask(m, i)
	}
	p, err := callbackstest.Replay(&file)
	require.NoError(t, err)
	var wg sync.WaitGroup
	got := make([]string, 4)
	for i := range got {
		wg.Go(func() { got[3-i] = ask(p, 3-i) })
	}
	wg.Wait()
	require.Equal(t, []string{"0", "1", "2", "3"}, got)
}
