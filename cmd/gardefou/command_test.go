// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/killswitch"
	"github.com/gardefou/gardefou/guards/killswitch/rediskillswitch"
	"github.com/gardefou/gardefou/internal/redistest"
)

// asCommand turns the test binary into the command, for tests that need a process of its own.
const asCommand = "GARDEFOU_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

type result struct {
	code      int
	out, errs string
}

// command runs the command in this process.
func command(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, &out, &errs)
	return result{code, out.String(), errs.String()}
}

// process runs the command as a process of its own.
func process(ctx context.Context, t *testing.T, args ...string) result {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func begun(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stops.json")
	require.Equal(t, exitOK, command(t, "allow", "--all", "--state", path).code)
	return path
}

// A run that would go on for ever ends within a second after the command in another process,
// whichever store the two share.
func TestTheCommandStopsARun(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (string, killswitch.Store){
		"file": func(t *testing.T) (string, killswitch.Store) {
			path := filepath.Join(t.TempDir(), "stops.json")
			return path, killswitch.File(path)
		},
		"redis": func(t *testing.T) (string, killswitch.Store) {
			url := "redis://" + redistest.Start(t).Addr
			store, shut, err := rediskillswitch.Dial(url)
			require.NoError(t, err)
			t.Cleanup(shut)
			return url, store
		},
	} {
		t.Run(name, func(t *testing.T) {
			state, store := open(t)
			require.Equal(t, exitOK, process(t.Context(), t, "allow", "--all", "--state", state).code)
			a := worker(t, store)
			_, run := callbacks.Start(t.Context())
			defer run.Close()
			ended := make(chan time.Time, 1)
			working := make(chan struct{})
			go func() {
				play(t, a, run, working)
				ended <- time.Now()
			}()
			<-working
			got := process(t.Context(), t, "stop", "--run", run.ID(), "--reason", "wrong prices", "--state", state)
			stopped := time.Now()
			require.Equal(t, exitOK, got.code, got.errs)
			require.Less(t, (<-ended).Sub(stopped), time.Second)
			require.Equal(t, codes.Killed, run.Outcome().Code)
			require.Contains(t, run.Outcome().Reason, "wrong prices")

			_, other := callbacks.Start(t.Context())
			defer other.Close()
			working = make(chan struct{})
			go func() {
				play(t, a, other, working)
				ended <- time.Now()
			}()
			<-working
			require.Equal(t, exitOK, process(t.Context(), t, "stop", "--agent", "worker", "--state", state).code)
			<-ended
			require.Equal(t, codes.Killed, other.Outcome().Code)
		})
	}
}

// Redis that is gone stops runs once its last answer is too old.
func TestARunEndsWithoutRedis(t *testing.T) {
	srv := redistest.Start(t)
	store, shut, err := rediskillswitch.Dial("redis://" + srv.Addr)
	require.NoError(t, err)
	defer shut()
	require.Equal(t, exitOK, command(t, "allow", "--all", "--state", "redis://"+srv.Addr).code)
	_, run := callbacks.Start(t.Context())
	defer run.Close()
	a := workerWith(t, guards.KillSwitchOptions{State: store, MaxAge: time.Second}.Guard())
	working, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		play(t, a, run, working)
	}()
	<-working
	srv.Stop()
	gone := time.Now()
	<-ended
	require.Equal(t, codes.KillSwitchFailed, run.Outcome().Code)
	require.Equal(t, callbacks.StatusFailed, run.Outcome().Status)
	require.Less(t, time.Since(gone), 3*time.Second)
}

func worker(t *testing.T, store killswitch.Store) agent.Agent {
	t.Helper()
	return workerWith(t, guards.KillSwitch(store))
}

// workerWith never ends by itself.
func workerWith(t *testing.T, g callbacks.Guard) agent.Agent {
	t.Helper()
	work := callbackstest.ToolFunc("work", func(agent.Context, map[string]any) (map[string]any, error) {
		<-time.After(20 * time.Millisecond) // the work
		return map[string]any{"result": "ok"}, nil
	})
	m := callbackstest.Script(callbackstest.Call("work", nil)).Repeat()
	a, err := callbacks.New(g).NewAgent(llmagent.Config{Name: "worker", Model: m, Tools: []tool.Tool{work}})
	require.NoError(t, err)
	return a
}

// play runs a to its end and closes working at its first event.
func play(t *testing.T, a agent.Agent, run *callbacks.Run, working chan struct{}) {
	r, err := runner.NewInMemory("test", a)
	if err != nil {
		t.Error(err)
		return
	}
	first := true
	for _, err := range run.Events(r.Run(run.Context(t.Context()), "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			t.Error(err)
		}
		if first {
			first = false
			close(working)
		}
	}
}

func TestStopsAreListed(t *testing.T) {
	state := begun(t)
	t.Setenv(stateVariable, state)
	for _, flag := range []string{"run", "session", "user", "agent", "app"} {
		require.Equal(t, exitOK, command(t, "stop", "--"+flag, "a", "--reason", "why <"+flag+">", "--by", "desk", "--for", "1h").code)
	}
	got := command(t, "state")
	require.Equal(t, exitOK, got.code)
	for _, flag := range []string{"run", "session", "user", "agent", "app"} {
		require.Regexp(t, `(?m)^`+flag+` +"a" +20\S+Z +20\S+Z +desk +why <`+flag+`>$`, got.out)
	}
	var listed killswitch.State
	got = command(t, "state", "--json")
	require.NoError(t, json.Unmarshal([]byte(got.out), &listed))
	require.Len(t, listed.Stops, 5)
	require.Equal(t, time.Hour, listed.Stops[0].Until.Sub(listed.Stops[0].Since))

	require.Contains(t, command(t, "allow", "--user", "b").out, `There was no stop of user "b".`)
	for _, flag := range []string{"run", "session", "user", "agent", "app"} {
		require.Contains(t, command(t, "allow", "--"+flag, "a").out, "Allowed: "+flag+` "a".`)
	}
	require.Equal(t, "Nothing is stopped.\n", command(t, "state").out)
	require.Contains(t, command(t, "stop", "--all").out, "Stopped: everything.")
	require.Contains(t, command(t, "stop", "--agent", "\x1b[2J").out, `"\x1b[2J"`)
}

func TestARefusedCommandLine(t *testing.T) {
	state := begun(t)
	before, err := os.ReadFile(state)
	require.NoError(t, err)
	t.Setenv(stateVariable, state)
	for _, args := range [][]string{
		{"stop"},
		{"allow"},
		{"stpo"},
		{"state", "x"},
		{"stop", "--all", "x"},
		{"stop", "--all", "--run", "x"},
		{"stop", "--user", ""},
		{"stop", "--all=false"},
		{"stop", "--all", "--for", "0s"},
		{"stop", "--all", "--for", "-1m"},
		{"stop", "--all", "--for", "soon"},
		{"stop", "--all", "--reason", "a\nb"},
		{"state", "--state", "http://u:hunter2@host"},
	} {
		got := command(t, args...)
		require.Equal(t, exitRefused, got.code, "%v", args)
		require.Contains(t, got.errs, "Try: gardefou --help")
		require.NotContains(t, got.errs, "hunter2")
		require.Empty(t, got.out)
	}
	after, err := os.ReadFile(state)
	require.NoError(t, err)
	require.Equal(t, before, after)
	t.Setenv(stateVariable, "")
	got := command(t, "state")
	require.Equal(t, exitRefused, got.code)
	require.Contains(t, got.errs, stateVariable)
}

// What can't be read is said with how to mend it, which works.
func TestAStateIsMended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stops.json")
	got := command(t, "stop", "--agent", "clerk", "--state", path)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.errs, `"gardefou stop --all"`)
	require.Equal(t, exitOK, command(t, "stop", "--all", "--state", path).code)

	require.NoError(t, os.Truncate(path, 10))
	got = command(t, "state", "--state", path)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.errs, "remove it")
	require.NoError(t, os.Remove(path))
	require.Equal(t, exitOK, command(t, "allow", "--all", "--state", path).code)

	srv := redistest.Start(t)
	url := "redis://" + srv.Addr
	got = command(t, "state", "--state", url)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.errs, `"gardefou stop --all"`)
	srv.Stop()
	got = command(t, "stop", "--all", "--state", "redis://u:hunter2@"+srv.Addr)
	require.Equal(t, exitFailed, got.code)
	require.NotContains(t, got.errs, "hunter2")

	out := filepath.Join(t.TempDir(), "missing", "stops.json")
	require.Equal(t, exitFailed, command(t, "stop", "--all", "--state", out).code)
}

// Every command and flag has its help, in English.
func TestHelp(t *testing.T) {
	for _, cmd := range append(newRootCommand().Commands(), newRootCommand()) {
		require.NotEmpty(t, cmd.Short, cmd.Name())
		require.NotEmpty(t, cmd.Long, cmd.Name())
	}
	require.Contains(t, command(t).out, "gardefou allow --all")
	require.Equal(t, exitOK, command(t, "stop", "--help").code)
}
