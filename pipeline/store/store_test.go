// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

const (
	app  = "app"
	user = "user"
)

// attempt runs an agent that looks something up and says what it found, on the next
// attempt of a store, and returns how it ended.
func attempt(t *testing.T, s *store.Store, m model.LLM, lookup tool.Tool, more ...callbacks.Guard) (recorded int, outcome callbacks.Result) {
	t.Helper()
	id, rec, err := s.Begin(t.Context(), app, user)
	require.NoError(t, err)
	recorded = rec.Answers()
	a, err := callbacks.New(append([]callbacks.Guard{rec.Replay("lookup")}, more...)...).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{lookup}})
	require.NoError(t, err)
	r, err := runner.New(runner.Config{AppName: app, Agent: a, SessionService: s.Sessions(), AutoCreateSession: true})
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, user, id, genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
		require.NoError(t, err)
	}
	return recorded, run.Outcome()
}

func create(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Create(dir, store.Run{ID: "R1", Query: "Kervalec", Subject: supplier.Subject{LegalName: "KERVALEC"}, Settings: []byte(`{"a":1}`)})
	require.NoError(t, err)
	return s
}

// reopen closes a store and opens it as another process would.
func reopen(t *testing.T, dir string, s *store.Store) *store.Store {
	t.Helper()
	require.NoError(t, s.Close())
	s, err := store.Open(dir)
	require.NoError(t, err)
	return s
}

// stopAt refuses the n-th call.
func stopAt(n int) callbacks.Guard {
	return callbacks.Guard{Name: "stop_at", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		if n--; n < 0 {
			return nil, callbacks.Stop("enough", "enough")
		}
		return nil, nil
	}}
}

// A run stopped after its first answer goes on with its second: neither the model nor the
// tool is asked for what they answered.
func TestResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := create(t, dir)
	first := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"q": "x"}))
	lookup := callbackstest.Tool("lookup")
	recorded, out := attempt(t, s, first, lookup, stopAt(1))
	require.Zero(t, recorded)
	require.Equal(t, callbacks.StatusDenied, out.Status)
	require.Len(t, lookup.Calls(), 1)
	require.NoError(t, s.Finish("denied"))

	s = reopen(t, dir, s)
	require.Equal(t, "denied", s.Run().Status)
	require.Equal(t, "KERVALEC", s.Run().Subject.LegalName)
	require.JSONEq(t, `{"a":1}`, string(s.Run().Settings))
	// A second attempt that ends before it has got as far as the first: nothing is lost.
	recorded, _ = attempt(t, s, callbackstest.Script(), lookup, stopAt(0))
	require.Equal(t, 1, recorded)

	s = reopen(t, dir, s)
	second := callbackstest.Script(callbackstest.Say("found"))
	recorded, out = attempt(t, s, second, lookup)
	require.Equal(t, 1, recorded)
	require.Equal(t, callbacks.StatusDone, out.Status)
	require.Equal(t, 1, second.Calls())
	require.Len(t, lookup.Calls(), 1)
	require.Equal(t, 3, s.Run().Attempts)

	s = reopen(t, dir, s)
	recorded, out = attempt(t, s, callbackstest.Script(), lookup)
	require.Equal(t, 2, recorded)
	require.Equal(t, callbacks.StatusDone, out.Status, "all of it is there")
	require.NoError(t, s.Close())
}

// A server that numbers the calls of each answer anew: each call gets its own result again,
// and one of a new answer is made.
func TestCallIDsThatRepeat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := create(t, dir)
	lookupOf := func(q string) callbackstest.Turn {
		turn := callbackstest.Call("lookup", map[string]any{"q": q})
		turn.Parts[0].FunctionCall.ID = "call_0"
		return turn
	}
	lookup := func() *callbackstest.FakeTool {
		return callbackstest.ToolFunc("lookup", func(_ agent.Context, args map[string]any) (map[string]any, error) {
			return map[string]any{"about": args["q"]}, nil
		})
	}
	first := lookup()
	attempt(t, s, callbackstest.Script(lookupOf("a"), lookupOf("b")), first, stopAt(2))
	require.Len(t, first.Calls(), 2)

	s = reopen(t, dir, s)
	again := lookup()
	var told []any
	hear := callbacks.Guard{Name: "hear", AfterTool: func(_ agent.Context, _ tool.Tool, _, result map[string]any, err error) (map[string]any, error) {
		told = append(told, result["about"])
		return nil, err
	}}
	recorded, out := attempt(t, s, callbackstest.Script(lookupOf("c"), callbackstest.Say("found")), again, hear)
	require.Equal(t, 2, recorded)
	require.Equal(t, callbacks.StatusDone, out.Status)
	require.Equal(t, []any{"a", "b", "c"}, told)
	require.Len(t, again.Calls(), 1, "only the new one is made")
	require.NoError(t, s.Close())
}

func TestOneProcessAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	_, err := store.Open(dir)
	require.ErrorIs(t, err, store.ErrNoRun)
	s := create(t, dir)
	_, err = store.Open(dir)
	require.ErrorIs(t, err, store.ErrInUse)
	_, err = store.Create(dir, store.Run{ID: "R2"})
	require.ErrorIs(t, err, store.ErrInUse)
	require.NoError(t, s.Close())
	s, err = store.Create(dir, store.Run{ID: "R2"})
	require.NoError(t, err, "a new run takes the place of one that nobody has open")
	require.Equal(t, "R2", s.Run().ID)
	require.NoError(t, s.Close())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
}

func TestDamagedRun(t *testing.T) {
	for name, data := range map[string]string{"no JSON": "{", "another version": `{"version":99,"id":"x"}`, "no id": `{"version":1}`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, store.RunFile), []byte(data), 0o600))
			_, err := store.Open(dir)
			require.Error(t, err)
			s, err := store.Create(dir, store.Run{ID: "R2"})
			require.NoError(t, err, "the folder was let go of")
			require.NoError(t, s.Close())
		})
	}
	t.Run("no database", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "run")
		require.NoError(t, create(t, dir).Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, store.SessionFile), []byte("this is no database, whatever it may be"), 0o600))
		_, err := store.Open(dir)
		require.Error(t, err)
		s, err := store.Create(dir, store.Run{ID: "R2"})
		require.NoError(t, err, "a new run needs nothing of it")
		require.NoError(t, s.Close())
	})
}

// Where events can't be stored any longer the run goes on, and says so.
func TestARunGoesOnThatCannotBeStored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := create(t, dir)
	m := callbackstest.Script(
		callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
			require.NoError(t, s.Close())
			return callbackstest.Call("lookup", nil)
		}},
		callbackstest.Say("found"),
	)
	_, out := attempt(t, s, m, callbackstest.Tool("lookup"))
	require.Equal(t, callbacks.StatusDone, out.Status)
	require.Equal(t, 2, m.Calls())
	require.Error(t, s.Err())
}
