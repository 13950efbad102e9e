// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package killswitch_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gardefou/gardefou/guards/killswitch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func agentNamed(name string) killswitch.Selector {
	return killswitch.Selector{Scope: killswitch.ScopeAgent, Name: name}
}

var everything = killswitch.Selector{Scope: killswitch.ScopeAll}

// begun returns the path of a file in which nothing is stopped.
func begun(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stops.json")
	lifted, state, err := killswitch.Lift(t.Context(), killswitch.File(path), everything)
	require.NoError(t, err)
	require.Empty(t, lifted)
	require.Empty(t, state.Stops)
	return path
}

// A state that was lost is not taken for one in which nothing is stopped.
func TestOnlyEverythingBeginsAState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stops.json")
	store := killswitch.File(path)
	_, err := killswitch.Read(t.Context(), store)
	require.ErrorIs(t, err, killswitch.ErrNoState)
	_, err = killswitch.Put(t.Context(), store, killswitch.Stop{Selector: agentNamed("clerk")})
	require.ErrorIs(t, err, killswitch.ErrNoState)
	_, _, err = killswitch.Lift(t.Context(), store, agentNamed("clerk"))
	require.ErrorIs(t, err, killswitch.ErrNoState)
	require.NoFileExists(t, path)

	state, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: everything})
	require.NoError(t, err)
	require.Len(t, state.Stops, 1)
	got, err := killswitch.Read(t.Context(), store)
	require.NoError(t, err)
	require.Equal(t, state, got)
}

func TestAStopIsLiftedByItsSelectorOnly(t *testing.T) {
	store := killswitch.File(begun(t))
	for _, sel := range []killswitch.Selector{everything, agentNamed("clerk"), {Scope: killswitch.ScopeApp, Name: "clerk"}} {
		_, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: sel, Reason: "why", By: "desk"})
		require.NoError(t, err)
	}
	lifted, left, err := killswitch.Lift(t.Context(), store, agentNamed("clerk"))
	require.NoError(t, err)
	require.Len(t, lifted, 1)
	require.Equal(t, "why", lifted[0].Reason)
	require.Len(t, left.Stops, 2)
	lifted, left, err = killswitch.Lift(t.Context(), store, everything)
	require.NoError(t, err)
	require.Len(t, lifted, 1)
	require.Equal(t, killswitch.ScopeApp, left.Stops[0].Scope)
}

// A shorter stop of the same does not end a longer one; the same stop again is one.
func TestStopsOfTheSameStayApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := killswitch.File(begun(t))
		put := func(length time.Duration) killswitch.State {
			stop := killswitch.Stop{Selector: agentNamed("clerk")}
			if length > 0 {
				stop.Until = time.Now().Add(length)
			}
			state, err := killswitch.Put(t.Context(), store, stop)
			require.NoError(t, err)
			return state
		}
		first := put(0)
		second := put(time.Minute)
		require.True(t, second.Changed.After(first.Changed), "also where the clock does not move")
		require.Len(t, second.Stops, 2)
		require.Len(t, put(0).Stops, 2)
		require.Len(t, put(time.Hour).Stops, 3)

		time.Sleep(time.Minute)
		state, err := killswitch.Read(t.Context(), store)
		require.NoError(t, err)
		require.Len(t, state.At(time.Now()), 2, "one is over")
		require.Len(t, put(0).Stops, 2, "and gone with the next change")
	})
}

func TestNonsenseIsRefused(t *testing.T) {
	path := begun(t)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	now := time.Now()
	for _, stop := range []killswitch.Stop{
		{},
		{Selector: killswitch.Selector{Scope: "planet", Name: "earth"}},
		{Selector: killswitch.Selector{Scope: killswitch.ScopeAll, Name: "x"}},
		{Selector: agentNamed("")},
		{Selector: agentNamed("\xff")},
		{Selector: agentNamed(strings.Repeat("x", 1025))},
		{Selector: everything, Since: now, Until: now},
		{Selector: everything, Reason: "two\nlines"},
		{Selector: everything, Reason: "\x1b[2J"},
		{Selector: everything, Reason: "a\u202eb"},
		{Selector: everything, Reason: strings.Repeat("é", 301)},
		{Selector: everything, By: "\x00"},
	} {
		_, err := killswitch.Put(t.Context(), killswitch.File(path), stop)
		require.ErrorIs(t, err, killswitch.ErrInvalid, "%v", stop)
		require.NotContains(t, err.Error(), "xxxx")
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// What is cut or foreign is no state, and no change replaces it.
func TestAForeignDocumentIsRefused(t *testing.T) {
	path := begun(t)
	store := killswitch.File(path)
	_, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: agentNamed("clerk"), Reason: "é"})
	require.NoError(t, err)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	foreign := [][]byte{
		append(bytes.Clone(whole), '{'), append(bytes.Clone(whole), whole...),
		bytes.ReplaceAll(whole, []byte("switch 1"), []byte("switch 2")),
		bytes.ReplaceAll(whole, []byte(`"agent"`), []byte(`"agents"`)),
		bytes.ReplaceAll(whole, []byte(`"reason"`), []byte(`"because"`)),
		bytes.ReplaceAll(whole, []byte("é"), []byte("\xe9")),
		[]byte(`{"format":"gardefou kill switch 1","changed":"2026-01-01T00:00:00Z"}`),
		[]byte(`{"format":"gardefou kill switch 1","stops":[]}`),
		[]byte("null"), []byte("[]"), bytes.Repeat([]byte(" "), 3<<20),
	}
	for i := range bytes.TrimSpace(whole) {
		foreign = append(foreign, whole[:i])
	}
	for _, data := range foreign {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err := killswitch.Read(t.Context(), store)
		require.ErrorIs(t, err, killswitch.ErrForeign, "%.80q", data)
		_, err = killswitch.Put(t.Context(), store, killswitch.Stop{Selector: everything})
		require.ErrorIs(t, err, killswitch.ErrForeign)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, data, kept)
	}
}

// A full state refuses further stops, but not that of everything.
func TestAFullState(t *testing.T) {
	path := begun(t)
	store := killswitch.File(path)
	long := strings.Repeat("x", 1000)
	var stops []string
	for i := range 1100 {
		stops = append(stops, fmt.Sprintf(`{"scope":"agent","name":"%d%s","since":"2026-01-01T00:00:00Z"}`, i, long))
	}
	data := `{"format":"gardefou kill switch 1","changed":"2026-01-01T00:00:00Z","stops":[` + strings.Join(stops, ",") + `]}`
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	_, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: agentNamed("clerk")})
	require.ErrorIs(t, err, killswitch.ErrFull)
	_, err = killswitch.Put(t.Context(), store, killswitch.Stop{Selector: everything})
	require.NoError(t, err)
	_, _, err = killswitch.Lift(t.Context(), store, agentNamed("0"+long))
	require.NoError(t, err)
}

const childEnv = "GARDEFOU_TEST_STATE"

// Processes that stop at once lose nothing of each other.
func TestProcessesThatStopAtOnceLoseNothing(t *testing.T) {
	const processes, each = 4, 20
	if path := os.Getenv(childEnv); path != "" {
		for i := range each {
			sel := killswitch.Selector{Scope: killswitch.ScopeRun, Name: fmt.Sprint(os.Getpid(), " ", i)}
			_, err := killswitch.Put(t.Context(), killswitch.File(path), killswitch.Stop{Selector: sel})
			require.NoError(t, err)
		}
		return
	}
	path := begun(t)
	var children []*exec.Cmd
	for range processes {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessesThatStopAtOnceLoseNothing$")
		child.Env = append(os.Environ(), childEnv+"="+path)
		require.NoError(t, child.Start())
		children = append(children, child)
	}
	for _, child := range children {
		require.NoError(t, child.Wait())
	}
	state, err := killswitch.Read(t.Context(), killswitch.File(path))
	require.NoError(t, err)
	require.Len(t, state.Stops, processes*each)
	for _, child := range children {
		for i := range each {
			name := strconv.Itoa(child.Process.Pid) + " " + strconv.Itoa(i)
			require.True(t, contains(state, killswitch.Selector{Scope: killswitch.ScopeRun, Name: name}), name)
		}
	}
}

func contains(state killswitch.State, sel killswitch.Selector) bool {
	for _, stop := range state.Stops {
		if stop.Selector == sel {
			return true
		}
	}
	return false
}

// A memory is a store in this process, which fuzzing can afford to write to.
type memory struct{ data []byte }

func (m *memory) Load(context.Context) ([]byte, error) { return m.data, nil }

func (m *memory) Swap(_ context.Context, last, next []byte) (bool, error) {
	if !bytes.Equal(m.data, last) {
		return false, nil
	}
	m.data = next
	return true, nil
}

// What is read is written and read again as it was.
func FuzzState(f *testing.F) {
	path := begun(f)
	_, err := killswitch.Put(f.Context(), killswitch.File(path), killswitch.Stop{Selector: agentNamed("clerk"), Until: time.Now().Add(time.Hour), Reason: "why", By: "desk"})
	require.NoError(f, err)
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(whole)
	f.Add([]byte(`{"format":"gardefou kill switch 1","changed":"9999-12-31T23:59:59.999999999Z","stops":[{"scope":"all","since":"2026-01-01T00:00:00+23:59"}]}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		store := &memory{append([]byte{}, data...)}
		state, err := killswitch.Read(t.Context(), store)
		if err != nil {
			require.ErrorIs(t, err, killswitch.ErrForeign)
			return
		}
		left, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: everything})
		if err != nil {
			return // a time that JSON can't hold
		}
		again, err := killswitch.Read(t.Context(), store)
		require.NoError(t, err)
		require.True(t, left.Changed.Equal(again.Changed))
		require.Len(t, again.Stops, len(left.Stops))
		for _, stop := range state.At(time.Now()) {
			require.True(t, contains(again, stop.Selector))
		}
	})
}
