// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/sinks"
	"github.com/gardefou/gardefou/redact"
)

var people = []string{"jean.dupont@example.com.txt", "Jean.Dupont@example.com.txt", "user:marie.martin@example.com.txt", "plain.txt"}

func wrapped(t *testing.T, inner artifact.Service, o sinks.Options) artifact.Service {
	t.Helper()
	rc, err := sinks.WrapWith(runner.Config{SessionService: session.InMemoryService(), ArtifactService: inner}, o)
	require.NoError(t, err)
	return rc.ArtifactService
}

// Two files named after two people stay two files: each method finds what was saved
// under a name, by the name and by its pseudonym, and the store never holds the name.
func TestArtifactNames(t *testing.T) {
	ctx, inner := t.Context(), artifact.InMemoryService()
	s := wrapped(t, inner, sinks.Options{})
	for _, name := range people {
		got, err := s.Save(ctx, &artifact.SaveRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: name, Part: genai.NewPartFromText("about " + name[:4])})
		require.NoError(t, err)
		require.EqualValues(t, 1, got.Version, name)
	}
	list, err := s.List(ctx, &artifact.ListRequest{AppName: "a", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	require.Len(t, list.FileNames, len(people))
	stored, err := inner.List(ctx, &artifact.ListRequest{AppName: "a", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	require.ElementsMatch(t, stored.FileNames, list.FileNames)
	for _, name := range list.FileNames {
		require.NotContains(t, name, "@")
	}
	for _, name := range append(list.FileNames, people...) {
		loaded, err := s.Load(ctx, &artifact.LoadRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: name})
		require.NoError(t, err, name)
		require.Contains(t, loaded.Part.Text, "about ")
		versions, err := s.Versions(ctx, &artifact.VersionsRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: name})
		require.NoError(t, err, name)
		require.Equal(t, []int64{1}, versions.Versions)
		_, err = s.GetArtifactVersion(ctx, &artifact.GetArtifactVersionRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: name})
		require.NoError(t, err, name)
	}
	require.NoError(t, s.Delete(ctx, &artifact.DeleteRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: people[0]}))
	_, err = s.Load(ctx, &artifact.LoadRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: people[0]})
	require.Error(t, err)
	_, err = s.Load(ctx, &artifact.LoadRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: people[1]})
	require.NoError(t, err, "another's is still there")
	for _, nonsense := range []func() error{
		func() error { _, err := s.Load(ctx, &artifact.LoadRequest{}); return err },
		func() error { _, err := s.Save(ctx, &artifact.SaveRequest{}); return err },
	} {
		require.Error(t, nonsense())
	}
}

// With a key the next process finds what this one saved; without, or with another key, it
// doesn't, and nobody can try out names.
func TestArtifactNamesOutliveTheirProcess(t *testing.T) {
	key := []byte("sixteen bytes of secret")
	for name, tc := range map[string]struct {
		first, second []byte
		found         bool
	}{"the key": {key, key, true}, "another": {key, []byte("sixteen other bytes, as secret"), false}, "none": {nil, nil, false}} {
		t.Run(name, func(t *testing.T) {
			inner := artifact.InMemoryService()
			first := wrapped(t, inner, sinks.Options{Redact: redact.Options{Key: tc.first}})
			_, err := first.Save(t.Context(), &artifact.SaveRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: people[0], Part: genai.NewPartFromText("x")})
			require.NoError(t, err)
			// The labels' language and strategy are no part of a name.
			second := wrapped(t, inner, sinks.Options{Redact: redact.Options{Key: tc.second, Language: "fr", Strategy: redact.Mask}})
			_, err = second.Load(t.Context(), &artifact.LoadRequest{AppName: "a", UserID: "u", SessionID: "s", FileName: people[0]})
			require.Equal(t, tc.found, err == nil)
		})
	}
}

// The event says under which name an artifact can be loaded, and neither it nor the state
// has a key with a value in it: with sinks, also where Redact stands on the agent, and with
// Redact alone.
func TestEventsNameArtifactsByTheirPseudonyms(t *testing.T) {
	for form, has := range map[string]struct{ sinks, plugin, agent bool }{
		"sinks": {sinks: true}, "sinks and agent": {sinks: true, agent: true}, "plugin": {plugin: true}, "agent": {agent: true},
	} {
		save := callbackstest.ToolFunc("save", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
			for _, name := range people {
				if _, err := ctx.Artifacts().Save(ctx, name, genai.NewPartFromText("x")); err != nil {
					return nil, err
				}
				if err := ctx.State().Set("of "+name, name); err != nil {
					return nil, err
				}
			}
			return map[string]any{"ok": true}, nil
		})
		cfg := llmagent.Config{Name: "a", Model: callbackstest.Script(callbackstest.Call("save", nil), callbackstest.Say("done")), Tools: []tool.Tool{save}}
		a, err := llmagent.New(cfg)
		if has.agent {
			a, err = callbacks.New(guards.Redact()).NewAgent(cfg)
		}
		require.NoError(t, err)
		sessions, files := session.InMemoryService(), artifact.InMemoryService()
		rc := runner.Config{AppName: "app", Agent: a, SessionService: sessions, ArtifactService: files, AutoCreateSession: true}
		if has.plugin {
			p, err := callbacks.New(guards.Redact()).Plugin("redact")
			require.NoError(t, err)
			rc.PluginConfig.Plugins = append(rc.PluginConfig.Plugins, p)
		}
		if has.sinks {
			rc, err = sinks.Wrap(rc)
			require.NoError(t, err)
		}
		r, err := runner.New(rc)
		require.NoError(t, err)
		ctx, run := callbacks.Start(t.Context())
		for _, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("go", genai.RoleUser), agent.RunConfig{})) {
			require.NoError(t, err)
		}
		run.Close()
		got, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s"})
		require.NoError(t, err)
		delta, keys := map[string]int64{}, 0
		for ev := range got.Session.Events().All() {
			enc, err := json.Marshal(ev)
			require.NoError(t, err)
			require.NotContains(t, string(enc), "@example.com")
			for name, version := range ev.Actions.ArtifactDelta {
				delta[name] = version
			}
		}
		for k, v := range got.Session.State().All() {
			keys++
			require.NotContains(t, k, "@example.com")
			require.NotContains(t, v, "@example.com")
		}
		require.Len(t, delta, len(people), "%s: each file has its own name", form)
		require.Equal(t, len(people), keys, "each key stays one")
		if !has.sinks {
			continue // the store is another's
		}
		for name := range delta {
			_, err := rc.ArtifactService.Load(t.Context(), &artifact.LoadRequest{AppName: "app", UserID: "u", SessionID: "s", FileName: name})
			require.NoError(t, err, "%s: %s", form, name)
		}
	}
}
