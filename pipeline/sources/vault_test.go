// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

func TestReplayRepeatsARecordingByteForByte(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/", SampleHandler())
	mux.Handle("GET /api/v2/doc/doc", redirect("https://elsewhere.example/"))
	mux.Handle("GET "+gleifPath, cutShort())
	mux.Handle("GET /taxation_customs/", limited("0"))
	server := httptest.NewServer(mux)
	dir := filepath.Join(t.TempDir(), "recording")
	options := Options{Mode: ModeRecord, Dir: dir, BaseURLs: allBases(server.URL), AllowPrivateHosts: true, RetryWait: time.Millisecond}
	record, err := New(options)
	require.NoError(t, err)
	names := []string{"Transports Kervalec", "Horlogerie du Léguer", "Atelier Nordet", "Phare du Raz Négoce", "nobody at all"}
	run := func(c *Client) (out []string) {
		for _, n := range names {
			r := c.Resolve(t.Context(), n)
			out = append(out, jsonText(t, r))
			if r.Status == supplier.StatusResolved {
				out = append(out, jsonText(t, research(t, c, r.Subject)))
			}
		}
		return append(out, c.AsOf().String())
	}
	first := run(record)
	require.NoError(t, record.StoreError())
	require.NoError(t, record.Close())
	server.Close()

	options.Mode, options.Clock = ModeReplay, func() time.Time { return SampleDate.AddDate(9, 0, 0) }
	replay, err := New(options)
	require.NoError(t, err)
	require.Equal(t, first, run(replay))
	require.Empty(t, replay.Hosts())
	f := replay.Registry(t.Context(), supplier.Subject{SIREN: "999991045"})
	require.Equal(t, FailNotRecorded, f.Company.Error.Code)
	require.NoError(t, replay.Close())

	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if info, err := d.Info(); err == nil && !d.IsDir() {
			require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
			require.NotContains(t, strings.ToLower(d.Name()), "kervalec")
		}
		return nil
	}))
}

func TestReplayNeedsARecording(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		_, err := New(Options{Mode: ModeReplay, Dir: dir})
		require.Error(t, err)
	}
}

// cachedClient counts the requests that reach the network.
func cachedClient(t *testing.T, dir string, now *time.Time, h http.Handler) (*Client, *atomic.Int32) {
	t.Helper()
	asked := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	// The port is part of the request: one transport address for all clients.
	c, err := New(Options{
		Mode: ModeLive, CacheDir: dir, AllowPrivateHosts: true, BaseURLs: allBases("http://sources.example"),
		Transport: toServer(server.URL), RetryWait: time.Millisecond, Clock: func() time.Time { return *now },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c, asked
}

// toServer sends every request to one address.
func toServer(address string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Host = strings.TrimPrefix(address, "http://")
		return http.DefaultTransport.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCacheAnswersUntilItIsOld(t *testing.T) {
	dir, now := t.TempDir(), SampleDate
	good := answering(200, "application/json", payload(t, "recherche_entreprises.search.one.json"))
	c, asked := cachedClient(t, dir, &now, good)
	first := c.company(t.Context(), brumeval)
	now = now.Add(23 * time.Hour)
	again := c.company(t.Context(), brumeval)
	require.Equal(t, first, again, "with the time at which it was retrieved")
	require.EqualValues(t, 1, asked.Load())
	other, alsoAsked := cachedClient(t, dir, &now, good)
	require.Equal(t, first, other.company(t.Context(), brumeval), "another run reads it too")
	require.Zero(t, alsoAsked.Load())
	require.Empty(t, other.Hosts())
	now = now.Add(2 * time.Hour)
	require.Equal(t, now, c.company(t.Context(), brumeval).RetrievedAt)
	require.EqualValues(t, 2, asked.Load())
}

func TestCacheBelievesNothingDoubtful(t *testing.T) { // hostile case 40
	good := answering(200, "application/json", payload(t, "recherche_entreprises.search.one.json"))
	for name, spoil := range map[string]func(t *testing.T, file string){
		"edited": func(t *testing.T, file string) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), "ATELIER", "SABOTEUR", 1)), 0o600))
		},
		"other version": func(t *testing.T, file string) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), `"version":1`, `"version":9`, 1)), 0o600))
		},
		"empty": func(t *testing.T, file string) { require.NoError(t, os.WriteFile(file, nil, 0o600)) },
		"symlink": func(t *testing.T, file string) {
			require.NoError(t, os.Rename(file, file+".real"))
			require.NoError(t, os.Symlink(filepath.Base(file)+".real", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), SampleDate
			c, asked := cachedClient(t, dir, &now, good)
			require.Equal(t, StatusOK, c.company(t.Context(), brumeval).Status)
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			spoil(t, files[0])
			require.Equal(t, "ATELIER BRUMEVAL", c.company(t.Context(), brumeval).Items[0].LegalName)
			require.EqualValues(t, 2, asked.Load(), "asked again")
		})
	}
	for name, bad := range map[string]http.Handler{
		"login page": answering(200, "application/json", "<html>"), "torn": answering(200, "application/json", `{"results":`), "error": answering(503, "text/plain", ""),
	} {
		dir, now := t.TempDir(), SampleDate
		c, _ := cachedClient(t, dir, &now, bad)
		require.NotEqual(t, StatusOK, c.company(t.Context(), brumeval).Status)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Empty(t, files, name)
	}
}

func TestAStoreThatFailsIsTold(t *testing.T) {
	dir, now := t.TempDir(), SampleDate
	c, _ := cachedClient(t, dir, &now, answering(200, "application/json", payload(t, "recherche_entreprises.search.one.json")))
	require.NoError(t, os.RemoveAll(dir))
	require.Equal(t, StatusOK, c.company(t.Context(), brumeval).Status, "the look-up itself goes on")
	require.Error(t, c.StoreError())
}

func TestParseMode(t *testing.T) {
	for in, want := range map[string][2]string{"sample": {"sample", ""}, "live": {"live", ""}, "record:a/b": {"record", "a/b"}, "replay:c:d": {"replay", "c:d"}} {
		m, dir, err := ParseMode(in)
		require.NoError(t, err)
		require.Equal(t, want, [2]string{string(m), dir})
	}
	for _, in := range []string{"", "record", "record:", "replay", "live:x", "sample:", "other"} {
		_, _, err := ParseMode(in)
		require.ErrorIs(t, err, ErrOptions, in)
	}
}

// A closed client keeps no connection open, whatever stands between it and the
// network.
func TestCloseLetsGoOfConnections(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"live": func(*Options) {}, "record": func(o *Options) { o.Mode, o.Dir = ModeRecord, t.TempDir() }, "cache": func(o *Options) { o.CacheDir = t.TempDir() },
	} {
		var open atomic.Int32
		server := httptest.NewUnstartedServer(SampleHandler())
		server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Add(-1)
			}
		}
		server.Start()
		o := Options{Mode: ModeLive, AllowPrivateHosts: true, BaseURLs: allBases(server.URL)}
		change(&o)
		c, err := New(o)
		require.NoError(t, err)
		require.Equal(t, StatusOK, c.company(t.Context(), "999991011").Status)
		require.Positive(t, open.Load(), name)
		require.NoError(t, c.Close())
		require.Eventually(t, func() bool { return open.Load() == 0 }, 5*time.Second, time.Millisecond, name)
		server.Close()
	}
}

// A recording that was edited by hand is not believed, and there is nobody to ask
// again: the check is not done. (Hostile case 40.)
func TestAnEditedRecordingIsNotBelieved(t *testing.T) {
	server := httptest.NewServer(SampleHandler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	options := Options{Mode: ModeRecord, Dir: dir, BaseURLs: allBases(server.URL), AllowPrivateHosts: true, RetryWait: time.Millisecond, Clock: func() time.Time { return SampleDate }}
	record, err := New(options)
	require.NoError(t, err)
	research(t, record, record.Resolve(t.Context(), "Bâtisseurs du Menhir").Subject)
	require.NoError(t, record.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		edited := strings.ReplaceAll(string(data), "liquidation", "sauvegarde_")
		require.NoError(t, os.WriteFile(file, []byte(edited), 0o600))
	}
	options.Mode = ModeReplay
	replay, err := New(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, replay.Close()) })
	f := research(t, replay, replay.Resolve(t.Context(), "Bâtisseurs du Menhir").Subject)
	require.Equal(t, StatusUnavailable, f.Registry.Procedures.Status)
	require.Equal(t, FailNotRecorded, f.Registry.Procedures.Error.Code)
	require.NotEqual(t, risk.RatingLow, risk.Score(f.Risk(nil), replay.AsOf()).Rating)
}
