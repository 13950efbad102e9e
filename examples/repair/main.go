// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Command repair is a loop that mends a small Go repository with five tools. Each call is
// allowed, saved, bounded and counted; rules stand in for a model unless --model names one.
package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"time"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/glebarez/sqlite"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/timeline"
	"github.com/gardefou/gardefou/guards/ledger"
)

//go:embed *.txt report.tmpl
var files embed.FS

var errUsage = errors.New("wrong arguments, see --help")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout)
	if stop(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(map[bool]int{false: 1, true: 2}[errors.Is(err, errUsage)])
	}
}

// A session is one repair, in a folder of its own: repository, restore points, records.
type session struct {
	Dir, Point          string // the newest restore point
	N                   int    // of several sessions, from 1
	Model, URL, Backend string // Backend bills: none for the rules
	budget              guards.CallBudgetOptions
	context             int
	testTime            time.Duration
	repo                *os.Root   // no path leads out of it
	mu                  sync.Mutex // no restore point while a file is written
	Before, After       tested
	End                 callbacks.Result
	Stats               journal.Stats
}

func command(ctx context.Context, args []string, out io.Writer) (unmended error) {
	s := &session{context: 32_000, testTime: time.Minute, Dir: filepath.Join(os.TempDir(), fmt.Sprint("repair-", time.Now().UnixMilli()))}
	f := flag.NewFlagSet("repair", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&s.Dir, "dir", s.Dir, "`folder` of the sessions; those that were stopped go on")
	runs := f.Int("runs", 1, "sessions, to see how many turns they take")
	f.StringVar(&s.Model, "model", models.Offline, "`NAME`: offline, which is rules; gemini-NAME or openai:NAME that has a price")
	f.StringVar(&s.URL, "base-url", "", "`URL` of the model's server")
	f.IntVar(&s.budget.Calls, "turns", guards.DefaultRunCalls, "most calls of the model until it stops")
	f.IntVar(&s.budget.Tokens, "tokens", 200_000, "most tokens of a session")
	f.DurationVar(&s.budget.Time, "time", guards.DefaultRunTime, "most time until it stops")
	if err := f.Parse(args); err != nil || f.NArg() > 0 || *runs < 1 {
		return errors.Join(err, fmt.Errorf("%w: %q", errUsage, args))
	}
	dir, err := filepath.Abs(s.Dir)
	for s.Dir, s.N = dir, 1; s.N <= *runs && err == nil; s.N++ {
		llm := offline([]int{4, 2, 1}[s.N%3])
		if s.Model != models.Offline || s.URL != "" {
			s.Backend = map[bool]string{false: "gemini", true: "openai"}[models.SpeaksOpenAI(s.Model)]
			llm, err = models.New(ctx, models.Options{Name: s.Model, BaseURL: s.URL})
		}
		if err == nil {
			err = s.repair(ctx, llm, out)
		}
		if s.End.Status != callbacks.StatusDone || s.After.Passed == 0 || s.After.Failing != nil {
			unmended = errors.Join(unmended, fmt.Errorf("session %d is not mended: %s, %d tests fail", s.N, s.End.Status, len(s.After.Failing)))
		}
	}
	if err == nil && *runs > 1 {
		s.Stats, err = journal.Count(journal.FileEntries(must(filepath.Glob(filepath.Join(s.Dir, "*", "journal")))...))
		err = errors.Join(err, timeline.WriteStats(out, s.Stats, "en"))
	}
	return cmp.Or(err, unmended)
}

// repair runs the loop until it is done or stopped, and reports.
func (s *session) repair(ctx context.Context, llm model.LLM, out io.Writer) (err error) {
	s.repo, err = s.open()
	record, err2 := journal.OpenFile(s.At("journal"), journal.FileOptions{})
	money, err3 := ledger.OpenFile(s.At("ledger"), ledger.FileOptions{})
	db, err4 := database.NewSessionService(sqlite.Open(s.At("session.db")), &gorm.Config{Logger: logger.Discard})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return err
	}
	defer func() { _ = errors.Join(record.Close(), money.CloseFile()) }()
	if kept, none := os.ReadFile(s.At("model")); none == nil && string(kept) != s.Model {
		return fmt.Errorf("the session in %s is one with --model %s, not %s: go on with that, or give another --dir", s.At(""), kept, s.Model)
	}
	s.Stats, err = journal.Count(journal.FileEntries(s.At("journal")))
	budget, left := s.budget, s.budget.Tokens
	for _, a := range s.Stats.Agents {
		left -= int(a.In + a.Out + a.Thinking) // what earlier attempts used
	}
	budget.Scope, budget.Tokens = guards.ScopeRun, max(1, left)
	code := regexp.MustCompile(`^[a-z0-9]+\.go$`) // no test
	asks := func(c callbacks.Step) bool { return c.Tool == "write" && !code.MatchString(fmt.Sprint(c.Args["Path"])) }
	account := func(*callbacks.Run) ledger.AccountID { return "session" }
	mender, err2 := callbacks.New(
		guards.JournalOptions{Writer: record, AttemptOf: s.At("")}.Guard(),
		guards.LoopOptions{Strict: true, Scope: guards.ScopeRun}.Guard(), guards.Deadline(budget.Time),
		guards.ConfirmOptions{Tools: []string{"write", "run"}, When: asks, Approver: approvers.NewScript()}.Guard(), // to all: no
		guards.Truncate(), guards.WindowOptions{Tokens: s.context, Summarise: llm}.Guard(), budget.Guard(),
		guards.Spend(guards.SpendOptions{Ledger: money, Limits: ledger.Limits{Hard: 1e9}, Backend: s.Backend, Account: account}),
		guards.Checkpoint(s.save, "write"),
	).NewAgent(llmagent.Config{
		Name: "mender", Model: llm, Tools: s.tools(),
		Instruction: "You mend a Go repository: run its tests, find out why they fail, write the wrong files anew. Leave the tests alone.",
	})
	r, err3 := runner.New(runner.Config{AppName: "repair", Agent: mender, SessionService: db, AutoCreateSession: true})
	s.Before, err4 = s.test(ctx, "")
	if err := errors.Join(err, err2, err3, err4, os.WriteFile(s.At("model"), []byte(s.Model), 0o600), database.AutoMigrate(db)); err != nil {
		return err
	}
	inRun, run := callbacks.Start(ctx)
	if left <= 0 {
		run.Stop(callbacks.Stop(codes.TokensExhausted, "the session has used its tokens"))
	}
	for _, err = range run.Events(r.Run(inRun, "user", "session", genai.Text("Make all tests pass.")[0], agent.RunConfig{})) {
	}
	s.End = run.Outcome() // says what err does
	run.Close()
	s.After, err = s.test(ctx, "")
	s.Stats, err2 = journal.Count(journal.FileEntries(s.At("journal")))
	s.Point = slices.Max(append(must(fs.Glob(os.DirFS(s.At("points")), "*[0-9]")), ""))
	return errors.Join(err, err2, template.Must(template.ParseFS(files, "*.tmpl")).Execute(out, s))
}

func (s *session) At(name string) string { return filepath.Join(s.Dir, fmt.Sprint(s.N), name) }
func (s *session) ShellQuoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// open opens the repository, which in a new folder is the sample.
func (s *session) open() (*os.Root, error) {
	_, fresh := os.Stat(s.At("repository/go.mod")) // it is written last
	err := os.MkdirAll(s.At("repository"), 0o700)
	for _, f := range strings.Split(string(must(files.ReadFile("repository.txt"))), "-- ")[1:] {
		if name, content, _ := strings.Cut(f, " --\n"); fresh != nil {
			err = errors.Join(err, os.WriteFile(s.At("repository/"+name), []byte(content), 0o600))
		}
	}
	root, err2 := os.OpenRoot(s.At("repository"))
	return root, errors.Join(err, err2)
}

// save makes a restore point: a copy of the repository, whole or not at all.
func (s *session) save(context.Context, callbacks.Step) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	point := s.At(time.Now().UTC().Format("points/20060102T150405.000000000"))
	if err := os.CopyFS(point+".part", s.repo.FS()); err != nil {
		return err
	}
	return os.Rename(point+".part", point)
}

type tested struct {
	Passed  int
	Failing []string
	Output  string
}

// test runs "go test" and nothing else, with the environment that go needs, for testTime and a
// megabyte of output; its children end with it. It is no container for the code under test.
func (s *session) test(ctx context.Context, match string) (t tested, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-v", "-trimpath", "-run="+match, "./...")
	cmd.Env = append(strings.Fields("GOENV=off GOPROXY=off GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0"),
		"PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"), "GOCACHE="+os.Getenv("GOCACHE"))
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out := must(cmd.StdoutPipe()).(*os.File)
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = s.At("repository"), cmd.Stdout, &syscall.SysProcAttr{Setpgid: true}
	if err := errors.Join(out.SetReadDeadline(time.Now().Add(s.testTime)), cmd.Start()); err != nil {
		return t, err
	}
	raw, late := io.ReadAll(io.LimitReader(out, 1<<20))
	_ = cmd.Cancel() // it is over, but for what it left running
	exit := cmd.Wait()
	t.Output, t.Passed = string(raw), strings.Count("\n"+string(raw), "\n--- PASS: ")
	t.Failing = regexp.MustCompile(`(?m)^--- FAIL: \w+`).FindAllString(t.Output, -1)
	if late != nil || len(raw) == 1<<20 || exit != nil && t.Failing == nil {
		t.Failing = append(t.Failing, fmt.Sprintf("go test: %v; the limits are %v and a megabyte", exit, s.testTime))
	}
	return t, ctx.Err()
}

// tools are what the model can call. It reads their errors.
func (s *session) tools() []tool.Tool {
	type file struct{ Path, Content string }
	return []tool.Tool{
		must(functiontool.New(functiontool.Config{Name: "list", Description: "Lists the files."},
			func(agent.Context, struct{}) ([]string, error) { return fs.Glob(s.repo.FS(), "*.*") })),
		must(functiontool.New(functiontool.Config{Name: "read", Description: "Reads a file."},
			func(_ agent.Context, in struct{ Path string }) (file, error) {
				content, err := s.repo.ReadFile(in.Path)
				return file{in.Path, string(content)}, guards.Business(err)
			})),
		must(functiontool.New(functiontool.Config{Name: "search", Description: "Finds the lines that hold a text."},
			func(_ agent.Context, in struct{ Text string }) (map[string][]string, error) {
				found, line := []string{}, regexp.MustCompile("(?m)^.*"+regexp.QuoteMeta(in.Text)+".*$")
				for _, path := range must(fs.Glob(s.repo.FS(), "*.*")) {
					for _, text := range line.FindAllString(string(must(s.repo.ReadFile(path))), -1) {
						found = append(found, path+" "+text)
					}
				}
				return map[string][]string{"Found": found}, nil
			})),
		must(functiontool.New(functiontool.Config{Name: "write", Description: "Writes a file as a whole."},
			func(_ agent.Context, in file) (map[string]string, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				return map[string]string{"Written": in.Path}, guards.Business(s.repo.WriteFile(in.Path, []byte(in.Content), 0o600))
			})),
		must(functiontool.New(functiontool.Config{Name: "run", Description: "Runs the tests that Match matches, all where it is empty."},
			func(ctx agent.Context, in struct{ Match string }) (tested, error) { return s.test(ctx, in.Match) })),
	}
}

// offline is a model of rules, with a real one's name and price.
func offline(width int) model.LLM {
	return callbackstest.Script(callbackstest.Turn{Do: func(_ context.Context, req *model.LLMRequest) callbackstest.Turn {
		turn := callbackstest.Say("The files are as the earlier calls left them.") // a summary
		if req.Config != nil && req.Config.Tools != nil {
			turn = decide(req.Contents[len(req.Contents)-1], width)
		}
		in, out := must(json.Marshal(req.Contents)), must(json.Marshal(turn.Parts))
		return turn.WithUsage(int32(len(in)/4), int32(len(out)/4)) //nolint:gosec // far below 2^31
	}}).Repeat().Named("gemini-2.5-flash")
}

// decide goes by what came back last, with rules.txt: tool | what its JSON looks like | arguments, for up to width matches.
func decide(last *genai.Content, width int) callbackstest.Turn {
	var calls []callbackstest.Turn
	for _, p := range last.Parts {
		result := string(must(json.Marshal(cmp.Or(p.FunctionResponse, &genai.FunctionResponse{}).Response)))
		for rule := range strings.Lines(string(must(files.ReadFile("rules.txt")))) {
			f := strings.Split(strings.TrimSpace(rule), " | ")
			looks := regexp.MustCompile(f[1])
			for _, match := range looks.FindAllStringSubmatchIndex(result, width) {
				if f[0] == "end" {
					return callbackstest.Say("That is all.")
				}
				var args map[string]any
				must(0, json.Unmarshal(looks.ExpandString(nil, f[2], result, match), &args))
				calls = append(calls, callbackstest.Call(f[0], args))
			}
		}
	}
	if calls == nil {
		calls = []callbackstest.Turn{callbackstest.Call("list", nil), callbackstest.Call("run", map[string]any{"Match": ""})}
	}
	return callbackstest.Calls(calls...)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
