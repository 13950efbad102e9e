// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/serve"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// start serves on a free port until the test ends.
func start(t *testing.T, o serve.Options) (address string, s *serve.Server) {
	t.Helper()
	var err error
	if o.Pipeline.Sources == nil {
		o.Pipeline.Sources, err = sources.New(sources.Options{})
		require.NoError(t, err)
	}
	if o.Pipeline.Model == nil {
		o.Pipeline.Model = offline.Model{}
	}
	s, err = serve.New(o)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := s.HTTPServer()
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		s.Close()
	})
	return "http://" + l.Addr().String(), s
}

const token = "0123456789abcdef-token"

func get(t *testing.T, url string, edit func(*http.Request)) (int, string) {
	t.Helper()
	return do(t, http.MethodGet, url, "", edit)
}

func do(t *testing.T, method, url, body string, edit func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if edit != nil {
		edit(req)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

func TestWhoIsLetIn(t *testing.T) {
	open, _ := start(t, serve.Options{})
	closed, _ := start(t, serve.Options{Token: token})
	bearer := func(v string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+v) }
	}
	host := func(v string) func(*http.Request) { return func(r *http.Request) { r.Host = v } }
	for name, tc := range map[string]struct {
		address string
		edit    func(*http.Request)
		want    int
	}{
		"loopback, no token":      {open, nil, http.StatusOK},
		"localhost":               {open, host("localhost:1"), http.StatusOK},
		"IPv6 loopback":           {open, host("[::1]:1"), http.StatusOK},
		"a name that points here": {open, host("evil.example"), http.StatusForbidden},
		"an address of the net":   {open, host("192.168.1.5:8080"), http.StatusForbidden},
		"no token shown":          {closed, nil, http.StatusUnauthorized},
		"a wrong one":             {closed, bearer(token + "x"), http.StatusUnauthorized},
		"the token":               {closed, bearer(token), http.StatusOK},
		"the token, any name":     {closed, func(r *http.Request) { bearer(token)(r); r.Host = "dd.example" }, http.StatusOK},
		"cookie": {closed, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: "duediligence_token", Value: token}) //nolint:gosec // a request's cookie
		}, http.StatusOK},
	} {
		code, _ := get(t, tc.address+"/api/list-apps", tc.edit)
		require.Equal(t, tc.want, code, name)
	}
	resp, err := http.Get(open + "/ui/")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Contains(t, resp.Header.Get("Content-Security-Policy"), "default-src 'self'", "nothing is fetched from elsewhere")
	code, _ := get(t, closed+"/?token=wrong", nil)
	require.Equal(t, http.StatusUnauthorized, code)
	code, _ = get(t, closed+"/?token="+token, nil)
	require.Equal(t, http.StatusSeeOther, code)
	code, _ = do(t, http.MethodPost, open+"/api/apps/duediligence/users/u/sessions/s", "{}", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	require.Equal(t, http.StatusForbidden, code, "another site's page")
	for _, tc := range []struct{ blanks, want int }{{0, http.StatusOK}, {1 << 19, http.StatusOK}, {2 << 20, http.StatusBadRequest}} {
		code, _ = do(t, http.MethodPost, fmt.Sprintf("%s/api/apps/duediligence/users/u/sessions/s%d", open, tc.blanks), strings.Repeat(" ", tc.blanks)+"{}", nil)
		require.Equal(t, tc.want, code, "%d bytes before a body that is right", tc.blanks)
	}
}

// A token is what an address and a cookie carry as it is: + would come back as a blank, and
// a cookie drops what is no part of it.
func TestTokens(t *testing.T) {
	c, err := sources.New(sources.Options{})
	require.NoError(t, err)
	build := func(token string) error {
		s, err := serve.New(serve.Options{Token: token, Pipeline: pipeline.Options{Setup: agents.Setup{Model: offline.Model{}}, Sources: c}})
		if err == nil {
			s.Close()
		}
		return err
	}
	for _, bad := range []string{
		"short", "0123456789abcde", "0123456789abcdef+", "0123456789abcdef;", "0123456789abcdef\"", "0123456789abcdef\\",
		"0123456789abcdefé", "0123456789 abcdef", " 0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef=", "0123456789abcdef/",
	} {
		err := build(bad)
		require.ErrorIs(t, err, serve.ErrToken, "%q", bad)
		require.ErrorContains(t, err, "openssl rand -hex 24")
		require.NotContains(t, err.Error(), bad)
	}

	const good = "aZ09.._~~--aZ09.."
	require.NoError(t, build(good))
	address, _ := start(t, serve.Options{Token: good})
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar}
	for _, path := range []string{"/?token=" + good, "/api/list-apps"} {
		resp, err := client.Get(address + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, "who logs in with the link is known by the cookie")
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "LocalHost:8080": true, "127.0.0.1": true, "127.9.9.9:1": true, "::1": true, "[::1]": true, "[::1]:1": true,
		"": false, ":8080": false, "0.0.0.0": false, "::": false, "192.168.1.5": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "2130706433": false,
	} {
		require.Equal(t, want, serve.Loopback(host), host)
	}
}

// ask runs one research over REST and returns the last event's text.
func ask(t *testing.T, address, sessionID, typed string) (int, string) {
	t.Helper()
	code, body := do(t, http.MethodPost, address+"/api/apps/duediligence/users/u/sessions/"+sessionID, "{}", nil)
	require.Equal(t, http.StatusOK, code, body)
	msg, err := json.Marshal(map[string]any{
		"appName": "duediligence", "userId": "u", "sessionId": sessionID,
		"newMessage": map[string]any{"role": "user", "parts": []any{map[string]any{"text": typed}}},
	})
	require.NoError(t, err)
	code, body = do(t, http.MethodPost, address+"/api/run", string(msg), nil)
	var events []struct {
		Author  string `json:"author"`
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
	}
	if code != http.StatusOK {
		return code, body
	}
	require.NoError(t, json.Unmarshal([]byte(body), &events), body)
	last := events[len(events)-1]
	require.Equal(t, "duediligence", last.Author)
	return code, last.Content.Parts[0].Text
}

func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	address, _ := start(t, serve.Options{Dir: dir})
	_, said := ask(t, address, "one", "Transports Kervalec")
	require.Contains(t, said, "# Supplier due diligence: TRANSPORTS KERVALEC")
	path := regexp.MustCompile(`/runs/\w+/`).FindString(said)
	code, page := get(t, address+path+"index.html", nil)
	if code == http.StatusMovedPermanently { // the file server's name for a folder
		code, page = get(t, address+path, nil)
	}
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, page, "What to do next")
	_, said = ask(t, address, "two", "Atelier Nordet")
	require.Contains(t, said, "999991086")
	_, said = ask(t, address, "three", "Zorglub International")
	require.Equal(t, "No agent was started: no company bears this name or a similar one. Type the name or the SIREN of one company.", said)
	_, said = ask(t, address, "four", "ab\x1b[2J")
	require.Contains(t, said, "control characters")
	require.NotContains(t, said, "\x1b")
	// Names that leave the folder, and hidden files, are not there.
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".secret"), []byte("x"), 0o600))
	for _, p := range []string{"/runs/../go.mod", "/runs/%2e%2e/%2e%2e/etc/passwd", "/runs/.secret"} {
		code, _ := get(t, address+p, nil)
		require.NotEqual(t, http.StatusOK, code, p)
	}
}

// Why no agent was started is said as the command and a batch say it, in the language of the
// desk and of no other.
func TestWhyNobodyIsMeantIsSaidInTheLanguage(t *testing.T) {
	address, _ := start(t, serve.Options{Pipeline: pipeline.Options{Lang: "fr"}})
	for typed, want := range map[string]string{
		"Zorglub International": "aucune entreprise ne porte ce nom ou un nom proche. Saisir le nom",
		"999 991 012":           "Aucun agent n'a été lancé : ",
		"ab":                    "au moins 3 caractères",
		"Phare du Raz Négoce":   "la source ne répond pas",
		"Atelier Nordet":        "plusieurs entreprises actives portent ce nom. Saisir l'un de ces numéros :\n- ATELIER NORDET, 999991",
	} {
		_, said := ask(t, address, strings.ReplaceAll(typed, " ", "-"), typed)
		require.Contains(t, said, want, typed)
		for _, english := range []string{"not_found", "refused", "unavailable", "wanted", "company"} {
			require.NotContains(t, said, english, typed)
		}
	}
}

// Twenty runs at once, several times over: every line is in the journal, every run has
// its folder, and the memory that stays does not grow with the runs.
func TestTwentyAtOnce(t *testing.T) {
	dir := t.TempDir()
	file, err := journal.OpenFile(filepath.Join(dir, "journal.jsonl"), journal.FileOptions{MaxBytes: 100_000})
	require.NoError(t, err)
	var failures []error
	address, _ := start(t, serve.Options{Dir: dir, Journal: file, MaxSessions: 30, OnError: func(err error) { failures = append(failures, err) }})
	suppliers := []string{"Transports Kervalec", "Bâtisseurs du Menhir", "Conserverie des Embruns"}
	rounds := 6
	switch {
	case os.Getenv("GARDEFOU_SOAK") != "":
		rounds = 60
	case testing.Short():
		rounds = 3
	}
	live := make([]uint64, rounds)
	for round := range rounds {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				code, said := ask(t, address, fmt.Sprintf("s%d-%d", round, i), suppliers[i%len(suppliers)])
				if code != http.StatusOK || !strings.Contains(said, "# Supplier due diligence") {
					t.Errorf("%d: %.300s", code, said)
				}
			})
		}
		wg.Wait()
		live[round] = liveMemory()
	}
	require.NoError(t, file.Close())
	require.Empty(t, failures)
	t.Logf("live memory after each 20 runs: %v", live)
	// The first rounds fill what is kept: 30 sessions and the traces of ADK's page.
	require.Less(t, live[rounds-1], live[1]+live[1]/2+4<<20)

	r, err := journal.VerifyFiles(journal.VerifyOptions{}, journal.Files(filepath.Join(dir, "journal.jsonl"))...)
	require.NoError(t, err)
	require.True(t, r.OK(), r.Faults)
	all := map[string]int{}
	s, err := journal.Count(counted(all, journal.FileEntries(journal.Files(filepath.Join(dir, "journal.jsonl"))...)))
	require.NoError(t, err)
	require.Equal(t, 20*rounds, s.Runs.ByStatus["done"], s.Runs)
	for run, lines := range all {
		own := map[string]int{}
		path := filepath.Join(dir, run, "journal.jsonl")
		v, err := journal.VerifyFiles(journal.VerifyOptions{}, path)
		require.NoError(t, err)
		require.True(t, v.OK())
		_, err = journal.Count(counted(own, journal.FileEntries(path)))
		require.NoError(t, err)
		require.Equal(t, lines, own[run], "no line lost between the two journals")
	}
	require.Len(t, all, 20*rounds)
}

func counted(lines map[string]int, entries iter.Seq2[line.Line, error]) iter.Seq2[line.Line, error] {
	return func(yield func(line.Line, error) bool) {
		for e, err := range entries {
			if e.Run != "" {
				lines[e.Run]++
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func liveMemory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
