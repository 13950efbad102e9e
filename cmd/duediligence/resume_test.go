// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/internal/redistest"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
)

// start starts the command in a process of its own.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, out *strings.Builder) {
	t.Helper()
	out = &strings.Builder{}
	cmd = process(t, args...)
	cmd.Env = append(cmd.Env, "GEMINI_API_KEY="+standin.Key)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	return cmd, out
}

func file(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

// requests counts what a stand-in was asked, by what it was asked.
type requests struct {
	mu    sync.Mutex
	seen  map[[32]byte]int
	total int
}

// callIDs are random, and differ in nothing else.
var callIDs = regexp.MustCompile(`adk-[0-9a-f-]+`)

func (r *requests) add(body []byte) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[sha256.Sum256(callIDs.ReplaceAll(body, nil))]++
	r.total++
	return r.total
}

func newRequests() *requests { return &requests{seen: make(map[[32]byte]int)} }

func (r *requests) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.seen)
	r.total = 0
}

func (r *requests) all() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// again is how many requests were made that had been made before.
func (r *requests) again() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, times := range r.seen {
		n += times - 1
	}
	return n
}

// different is how many different requests were made.
func (r *requests) different() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

func runArgs(url, dir string, more ...string) []string {
	return append([]string{"Transports Kervalec", "--model", "gemini-2.5-flash", "--base-url", url, "-o", dir, "--as-of", "2026-11-15"}, more...)
}

// resumeArgs resume a run of runArgs; no host is taken from a folder.
func resumeArgs(url, dir string, more ...string) []string {
	return append([]string{"resume", dir, "--base-url", url}, more...)
}

// A run that its budget stopped goes on with more: no answer is paid for twice, and the
// report is that of a run that was never stopped.
func TestResumeAfterTheBudget(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	asked := newRequests()
	s := standin.Gemini(t, offline.Model{}, func(_ int, _ http.ResponseWriter, _ *http.Request, body []byte) bool {
		asked.add(body)
		return false
	})
	whole := t.TempDir()
	require.Equal(t, exitOK, command(t, runArgs(s.URL, whole)...).code)
	calls := asked.all()

	asked.reset()
	s.Dear = true
	dir := t.TempDir()
	stopped := command(t, runArgs(s.URL, dir, "--budget", "0.01")...)
	require.Equal(t, exitExhausted, stopped.code, stopped.stderr)
	require.Contains(t, stopped.stderr, "go on with: duediligence resume "+dir+" --base-url "+s.URL+" --budget +0.01")
	require.Regexp(t, `account run-\w+(/research)?: limit \$0\.0\d+, \$\S+ spent, \$\S+ held; at least \$\S+ more is needed`, stopped.stderr)
	require.Contains(t, html.UnescapeString(file(t, dir, runpage.IndexFile)), "duediligence resume "+dir+" --base-url "+s.URL+" --budget +0.01", "the page says so too")
	require.NotContains(t, file(t, dir, runpage.IndexFile), "Run it again", "which would pay for everything twice")
	require.NotEqual(t, file(t, whole, "report.json"), file(t, dir, "report.json"))
	first := asked.all()
	require.Positive(t, first)

	for name, args := range map[string][]string{
		"nothing there": resumeArgs(s.URL, t.TempDir()),
		"nonsense":      resumeArgs(s.URL, dir, "--budget", "+much"),
		"negative":      resumeArgs(s.URL, dir, "--budget", "-1"),
	} {
		require.Equal(t, exitRefused, command(t, args...).code, name)
	}
	still := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitExhausted, still.code, "no more money, no more calls: "+still.stderr)
	s.Dear = false
	resumed := command(t, resumeArgs(s.URL, dir, "--budget", "+1")...)
	require.Equal(t, exitOK, resumed.code, resumed.stderr)
	require.Contains(t, resumed.stderr, "answers of models are there already")
	require.Equal(t, file(t, whole, "report.json"), file(t, dir, "report.json"))
	require.Equal(t, calls, asked.all(), "each answer is paid for once")
	require.Zero(t, asked.again())
	bill, err := s.Bill("gemini", "gemini-2.5-flash")
	require.NoError(t, err)
	require.LessOrEqual(t, bill.USD(), 1.02)

	require.Equal(t, exitOK, command(t, "journal", "verify", dir).code)
	require.NoError(t, os.Remove(filepath.Join(dir, "report.json")))
	again := command(t, resumeArgs(s.URL, dir)...)
	require.Equal(t, exitOK, again.code, "a report that is gone is made again, at no cost: "+again.stderr)
	require.Equal(t, file(t, whole, "report.json"), file(t, dir, "report.json"))
	require.Equal(t, calls, asked.all())

	unbudgeted := t.TempDir()
	require.Equal(t, exitExhausted, command(t, runArgs(s.URL, unbudgeted, "--max-calls", "3")...).code)
	r := command(t, resumeArgs(s.URL, unbudgeted, "--budget", "+1")...)
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "begun without one")
}

// Calls and time that ran out are given more of, in either language.
func TestTheRunPageNamesResume(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, func(n int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if n < 3 {
			return false
		}
		<-r.Context().Done()
		return true
	})
	for lang, tc := range map[string]struct {
		more []string
		want string
	}{
		"en": {[]string{"--max-calls", "3"}, " --max-calls 6"},
		"fr": {[]string{"--timeout", "1s"}, " --timeout 2s"},
	} {
		dir := t.TempDir()
		r := command(t, runArgs(s.URL, dir, slices.Concat(tc.more, []string{"--lang", lang})...)...)
		require.Equal(t, exitExhausted, r.code, r.stderr)
		want := "duediligence resume " + dir + " --base-url " + s.URL + tc.want
		require.Contains(t, r.stderr, want)
		require.Contains(t, html.UnescapeString(file(t, dir, runpage.IndexFile)), want)
	}
}

// redisPassword makes a Redis ask for a password.
func redisPassword(t *testing.T, addr, password string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "CONFIG SET requirepass %s\r\n", password)
	require.NoError(t, err)
	reply, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n", reply)
}

// A ledger with a password: the run in the folder knows where it is and not the password,
// and goes on with that ledger only.
func TestResumeWithALedgerThatAsksForAPassword(t *testing.T) {
	const password = "hunter2hunter2"
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	s.Dear = true
	redis := redistest.StartWith(t, "--appendonly", "yes", "--appendfsync", "always")
	other := redistest.StartWith(t, "--appendonly", "yes", "--appendfsync", "always")
	redisPassword(t, redis.Addr, password)

	dir := t.TempDir()
	address := "redis://default:" + password + "@" + redis.Addr
	stopped := command(t, runArgs(s.URL, dir, "--budget", "0.01", "--ledger", address)...)
	require.Equal(t, exitExhausted, stopped.code, stopped.stderr)
	require.NotContains(t, contents(t, stopped, dir), password)
	require.Contains(t, file(t, dir, store.Folder, store.RunFile), "redis://"+redis.Addr)

	s.Dear = false
	forgotten := command(t, resumeArgs(s.URL, dir, "--budget", "+1")...)
	require.Equal(t, exitRefused, forgotten.code)
	require.Contains(t, forgotten.stderr, "--ledger")
	for _, wrong := range []string{"redis://default:" + password + "@" + other.Addr, "memory", ""} {
		r := command(t, resumeArgs(s.URL, dir, "--budget", "+1", "--ledger", wrong)...)
		require.Equal(t, exitRefused, r.code, "another ledger knows nothing of what was spent")
		require.NotContains(t, r.stderr, password)
	}
	require.Equal(t, exitExhausted, command(t, resumeArgs(s.URL, dir, "--ledger", address)...).code, "what was spent stays spent")
	resumed := command(t, resumeArgs(s.URL, dir, "--budget", "+1", "--ledger", address)...)
	require.Equal(t, exitOK, resumed.code, resumed.stderr)
	require.NotContains(t, contents(t, resumed, dir), password)
}

// What is kept on disk is masked, whatever a model writes, and nobody else may read it. The
// run can be resumed all the same.
func TestKeptRunHoldsNoPersonalData(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, indiscreet{}, nil)
	dir := t.TempDir()
	r := command(t, runArgs(s.URL, dir, "--budget", "1")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	calls := len(s.Bodies())
	before := file(t, dir, "report.json")
	for range 2 {
		for _, name := range []string{store.RunFile, store.SessionFile, store.LedgerFile, journalName} {
			data := file(t, dir, store.Folder, name)
			require.NotContains(t, data, standin.Key, name)
			require.NotContains(t, data, "jean.dupont", name)
			require.NotContains(t, data, "FR7630006000011234567890189", name)
		}
		require.NoError(t, os.Remove(filepath.Join(dir, "report.json"))) // else there is nothing to resume
		resumed := command(t, resumeArgs(s.URL, dir)...)
		require.Equal(t, exitOK, resumed.code, resumed.stderr)
		require.Equal(t, before, file(t, dir, "report.json"))
	}
	require.Len(t, s.Bodies(), calls, "what is masked is replayed as it is")
	info, err := os.Stat(filepath.Join(dir, store.Folder))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
}

// indiscreet writes personal data into whatever the offline model says.
type indiscreet struct{ offline.Model }

func (m indiscreet) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		const secret = " Write to jean.dupont@kervalec.fr, IBAN FR7630006000011234567890189."
		for resp, err := range m.Model.GenerateContent(ctx, req, stream) {
			if resp != nil && resp.Content != nil {
				for _, p := range resp.Content.Parts {
					if summary, ok := callArg(p, "summary"); ok {
						p.FunctionCall.Args["summary"] = summary + secret
					}
				}
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

func callArg(p *genai.Part, name string) (string, bool) {
	if p.FunctionCall == nil {
		return "", false
	}
	s, ok := p.FunctionCall.Args[name].(string)
	return s, ok
}

// A run is killed at a random moment, twice, and resumed: the report is that of a run that
// was never killed, no call is paid for twice but those under way, and what was paid is on
// the account. GARDEFOU_SOAK is how many runs are killed; 6 where it is not set.
func TestResumeAfterKill(t *testing.T) {
	if testing.Short() && os.Getenv("GARDEFOU_SOAK") == "" {
		t.Skip("starts processes")
	}
	t.Setenv("GEMINI_API_KEY", standin.Key)
	rounds, err := strconv.Atoi(os.Getenv("GARDEFOU_SOAK"))
	if err != nil {
		rounds = 6
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test

	asked := newRequests()
	arrived := make(chan int, 1000)
	s := standin.Gemini(t, offline.Model{}, func(_ int, _ http.ResponseWriter, _ *http.Request, body []byte) bool {
		arrived <- asked.add(body)
		time.Sleep(10 * time.Millisecond) // a model takes its time
		return false
	})
	whole := t.TempDir()
	cmd, out := start(t, runArgs(s.URL, whole, "--budget", "20")...)
	require.NoError(t, cmd.Wait(), out.String())
	calls := asked.all()

	killed, repeated := 0, 0
	for range rounds {
		asked.reset()
		for len(arrived) > 0 {
			<-arrived
		}
		dir := t.TempDir()
		args := runArgs(s.URL, dir, "--budget", "20") // what killed calls may have cost stays on the account
		underWay := 0                                 // when the process was killed: asked, and no answer stored
		for range 2 {
			cmd, out := start(t, args...)
			at, delay := 1+random.IntN(calls), time.Duration(random.IntN(20_000))*time.Microsecond
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for n := 0; n < at; {
				select {
				case <-arrived:
					n++
					continue
				case err := <-ended:
					require.NoError(t, err, out.String())
					ended <- nil
				}
				break
			}
			time.Sleep(delay)
			if cmd.Process.Kill() == nil {
				killed++
			}
			<-ended
			time.Sleep(20 * time.Millisecond) // what it had sent arrives
			args = resumeArgs(s.URL, dir)
			kept, err := store.Open(filepath.Join(dir, store.Folder))
			if err != nil {
				require.ErrorIs(t, err, store.ErrNoRun)
				args = runArgs(s.URL, dir, "--budget", "20") // it had not begun
				continue
			}
			_, recorded, err := kept.Begin(t.Context(), pipeline.AppName, pipeline.UserID)
			require.NoError(t, err)
			require.NoError(t, kept.Close())
			lost := asked.different() - recorded.Answers()
			require.LessOrEqual(t, lost, 3, "an answer is stored before the next call")
			underWay += lost
		}
		cmd, out := start(t, args...)
		require.NoError(t, cmd.Wait(), out.String())
		require.Equal(t, file(t, whole, "report.json"), file(t, dir, "report.json"))
		require.LessOrEqual(t, asked.again(), underWay)
		repeated += asked.again()
		for _, times := range asked.seen {
			require.LessOrEqual(t, times, 3, "once, and once more for each time it was under way")
		}
		require.Equal(t, exitOK, command(t, "journal", "verify", dir).code)

		var kept store.Run
		require.NoError(t, json.Unmarshal([]byte(file(t, dir, store.Folder, store.RunFile)), &kept))
		require.Equal(t, "done", kept.Status)
		l, err := ledger.OpenFile(filepath.Join(dir, store.Folder, store.LedgerFile), ledger.FileOptions{})
		require.NoError(t, err)
		b, err := l.Balance(t.Context(), ledger.AccountID("run-"+kept.ID))
		require.NoError(t, err)
		require.NoError(t, l.CloseFile())
		require.Positive(t, b.Spent)
		require.LessOrEqual(t, b.Used(), b.Limits.Hard)
	}
	t.Logf("%d runs, %d kills, %d calls each, %d calls paid again", rounds, killed, calls, repeated)
}

// However often a run was stopped or killed, its page and its figures tell what all attempts
// cost, each agent once, and count the run as one.
func TestThePageSumsTheAttempts(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	undisturbed := t.TempDir()
	free := standin.Gemini(t, offline.Model{}, nil)
	require.Equal(t, exitOK, command(t, runArgs(free.URL, undisturbed, "--budget", "1")...).code)

	var killed atomic.Bool
	reached := make(chan struct{})
	s := standin.Gemini(t, offline.Model{}, func(n int, _ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if n == 6 && killed.CompareAndSwap(false, true) {
			close(reached)
			<-r.Context().Done()
			return true
		}
		return false
	})
	dir := t.TempDir()
	cmd, out := start(t, runArgs(s.URL, dir, "--budget", "1")...)
	<-reached
	require.Eventually(t, func() bool { // until the journal tells of the answers before
		return strings.Count(file(t, dir, store.Folder, journalName), `"charged":`) >= 6
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), out)

	stopped := command(t, resumeArgs(s.URL, dir, "--max-calls", "1")...)
	require.Equal(t, exitExhausted, stopped.code, stopped.stderr)
	done := command(t, resumeArgs(s.URL, dir, "--max-calls", "25")...)
	require.Equal(t, exitOK, done.code, done.stderr)

	stats := func(dir string) journal.Stats {
		s, err := journal.Count(journal.FileEntries(filepath.Join(dir, journalName)))
		require.NoError(t, err)
		return s
	}
	got, want := stats(dir), stats(undisturbed)
	require.Equal(t, map[string]int{"done": 1}, got.Runs.ByStatus)
	bill, err := s.Bill("gemini", "gemini-2.5-flash")
	require.NoError(t, err)
	require.InDelta(t, bill.USD(), float64(got.Charged)/1e9, 1e-8, "the call that was under way was not answered, nor billed")
	for i, a := range got.Agents {
		require.Equal(t, want.Agents[i].Suggested, a.Suggested, a.Agent)
	}
	page := file(t, dir, runpage.IndexFile)
	require.Contains(t, page, `<th>total</th><td class="n">8</td>`)
	require.Contains(t, page, `<td class="n">`+got.Charged.String()+"</td></tr></tfoot>")
	for _, a := range got.Agents {
		require.Equal(t, 1, strings.Count(page, "<tr><td>"+a.Agent+"</td>"))
	}
	require.Regexp(t, `(?s)s: unfinished<.*s: calls exhausted<.*s: done<`, page)
}
