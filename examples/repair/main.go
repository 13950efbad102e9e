// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Command repair is a loop that mends a small Go repository with five tools. Each call is
// allowed, saved, bounded and counted; rules stand in for a model unless --model names one.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"time"

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

//go:embed repository.txt report.tmpl
var files embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout)
	if stop(); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

// A session is one repair, in a folder of its own: repository, restore points, records.
type session struct {
	Dir, Backend  string
	N             int // of several sessions, from 1
	budget        guards.CallBudgetOptions
	context       int
	testTime      time.Duration
	repo          *os.Root   // no path leads out of it
	mu            sync.Mutex // no restore point while a file is written
	Before, After tested
	End           callbacks.Result
	Stats         journal.Stats
}

func command(ctx context.Context, args []string, out io.Writer) error {
	s := &session{context: 32_000, testTime: time.Minute}
	f := flag.NewFlagSet("repair", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&s.Dir, "dir", filepath.Join(os.TempDir(), fmt.Sprint("repair-", time.Now().UnixMilli())), "`folder` of the sessions; those that were stopped go on")
	runs := f.Int("runs", 1, "sessions, to see how many turns they take")
	name := f.String("model", "", "`NAME` of a model that has a price, gemini-NAME or openai:NAME, in place of rules")
	url := f.String("base-url", "", "`URL` of the model's server")
	f.IntVar(&s.budget.Calls, "turns", guards.DefaultRunCalls, "most calls of the model until it stops")
	f.IntVar(&s.budget.Tokens, "tokens", 200_000, "most tokens of a session")
	f.DurationVar(&s.budget.Time, "time", guards.DefaultRunTime, "most time until it stops")
	err := f.Parse(args)
	for s.N = 1; s.N <= *runs && err == nil; s.N++ {
		llm := offline([]int{4, 2, 1}[s.N%3])
		if s.Backend = fmt.Sprintf("%.6s", *name); *name != "" { // gemini or openai
			llm, err = models.New(ctx, models.Options{Name: *name, BaseURL: *url})
		}
		if err == nil {
			err = s.repair(ctx, llm, out)
		}
	}
	if err == nil && *runs > 1 {
		s.Stats, err = journal.Count(journal.FileEntries(must(filepath.Glob(filepath.Join(s.Dir, "*", "journal")))...))
		err = errors.Join(err, timeline.WriteStats(out, s.Stats, "en"))
	}
	return err
}

// repair runs the loop until it is done or stopped, and reports.
func (s *session) repair(ctx context.Context, llm model.LLM, out io.Writer) (err error) {
	s.repo, err = s.open()
	record, err2 := journal.OpenFile(s.at("journal"), journal.FileOptions{})
	money, err3 := ledger.OpenFile(s.at("ledger"), ledger.FileOptions{})
	db, err4 := database.NewSessionService(sqlite.Open(s.at("session.db")), &gorm.Config{Logger: logger.Discard})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return err
	}
	defer func() { _ = errors.Join(record.Close(), money.CloseFile()) }()
	s.Stats, err = journal.Count(journal.FileEntries(s.at("journal")))
	budget, left := s.budget, s.budget.Tokens
	for _, a := range s.Stats.Agents {
		left -= int(a.In + a.Out + a.Thinking) // what earlier attempts used
	}
	budget.Scope, budget.Tokens = guards.ScopeRun, max(1, left)
	asks := func(c callbacks.Step) bool { // a write of anything but code that is no test
		return c.Tool == "write" && !regexp.MustCompile(`^[a-z0-9]+\.go$`).MatchString(fmt.Sprint(c.Args["Path"]))
	}
	mender, err2 := callbacks.New(
		guards.JournalWith(guards.JournalOptions{Writer: record, AttemptOf: s.at("")}),
		guards.LoopWith(guards.LoopOptions{Strict: true, Scope: guards.ScopeRun}), guards.Deadline(budget.Time),
		guards.ConfirmWith(guards.ConfirmOptions{Tools: []string{"write", "run"}, When: asks, Approver: approvers.NewScript()}), // it approves nothing
		guards.Truncate(), guards.WindowWith(guards.WindowOptions{Tokens: s.context, Summarise: llm}), guards.CallBudgetWith(budget),
		guards.Spend(guards.SpendOptions{Ledger: money, Limits: ledger.Limits{Hard: 1e9}, Backend: s.Backend, Account: func(*callbacks.Run) ledger.AccountID { return "session" }}),
		guards.Checkpoint(s.save, "write"),
	).NewAgent(llmagent.Config{
		Name: "mender", Model: llm, Tools: s.tools(),
		Instruction: "You mend a Go repository. Run its tests, find out why they fail, write the files that are wrong anew, run the tests again. Leave the tests as they are.",
	})
	r, err3 := runner.New(runner.Config{AppName: "repair", Agent: mender, SessionService: db, AutoCreateSession: true})
	s.Before, err4 = s.test(ctx, "")
	if err := errors.Join(err, err2, err3, err4, database.AutoMigrate(db)); err != nil {
		return err
	}
	inRun, run := callbacks.Start(ctx)
	if left <= 0 {
		run.Stop(callbacks.Stop(guards.CodeTokensExhausted, "the session has used its tokens"))
	}
	for _, err = range run.Events(r.Run(inRun, "user", "session", genai.NewContentFromText("Make all tests pass.", genai.RoleUser), agent.RunConfig{})) {
	}
	s.End = run.Outcome() // says what err does
	run.Close()
	s.After, err = s.test(ctx, "")
	s.Stats, err2 = journal.Count(journal.FileEntries(s.at("journal")))
	return errors.Join(err, err2, template.Must(template.ParseFS(files, "*.tmpl")).Execute(out, s))
}

func (s *session) at(name string) string { return filepath.Join(s.Dir, fmt.Sprint(s.N), name) }

// open opens the repository, which in a new folder is the sample.
func (s *session) open() (*os.Root, error) {
	_, fresh := os.Stat(s.at("repository/go.mod")) // it is written last
	err := os.MkdirAll(s.at("repository"), 0o700)
	for _, f := range strings.Split(string(must(files.ReadFile("repository.txt"))), "-- ")[1:] {
		if name, content, _ := strings.Cut(f, " --\n"); fresh != nil {
			err = errors.Join(err, os.WriteFile(s.at("repository/"+name), []byte(content), 0o600))
		}
	}
	root, err2 := os.OpenRoot(s.at("repository"))
	return root, errors.Join(err, err2)
}

// save makes a restore point: a copy of the repository, whole or not at all.
func (s *session) save(context.Context, callbacks.Step) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	point := s.at(time.Now().UTC().Format("points/20060102T150405.000000000"))
	if err := os.CopyFS(point+".part", s.repo.FS()); err != nil {
		return err
	}
	return os.Rename(point+".part", point)
}

type file struct{ Path, Content string }

type tested struct {
	Passed  int
	Failing []string
	Output  string
}

// test runs "go test" and nothing else, with the environment that go needs, for testTime and a
// megabyte of output; its children end with it. It is no container for the code under test.
func (s *session) test(ctx context.Context, match string) (t tested, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-v", "-trimpath", "-run="+match, "./...")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GOCACHE=" + os.Getenv("GOCACHE"), "GOENV=off", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "CGO_ENABLED=0"}
	cmd.Dir, cmd.SysProcAttr = s.at("repository"), &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out := must(cmd.StdoutPipe()).(*os.File)
	cmd.Stderr = cmd.Stdout
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
	return []tool.Tool{
		must(functiontool.New(functiontool.Config{Name: "list", Description: "Lists the files."},
			func(agent.Context, struct{}) (map[string][]string, error) {
				return map[string][]string{"Files": must(fs.Glob(s.repo.FS(), "*.*"))}, nil
			})),
		must(functiontool.New(functiontool.Config{Name: "read", Description: "Reads a file."}, func(_ agent.Context, in struct{ Path string }) (file, error) {
			content, err := s.repo.ReadFile(in.Path)
			return file{in.Path, string(content)}, guards.Business(err)
		})),
		must(functiontool.New(functiontool.Config{Name: "search", Description: "Finds the lines that hold a text."}, func(_ agent.Context, in struct{ Text string }) (map[string][]string, error) {
			found, line := []string{}, regexp.MustCompile("(?m)^.*"+regexp.QuoteMeta(in.Text)+".*$")
			for _, path := range must(fs.Glob(s.repo.FS(), "*.*")) {
				for _, text := range line.FindAllString(string(must(s.repo.ReadFile(path))), -1) {
					found = append(found, path+" "+text)
				}
			}
			return map[string][]string{"Found": found}, nil
		})),
		must(functiontool.New(functiontool.Config{Name: "write", Description: "Writes a file as a whole."}, func(_ agent.Context, in file) (map[string]string, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return map[string]string{"Written": in.Path}, guards.Business(s.repo.WriteFile(in.Path, []byte(in.Content), 0o600))
		})),
		must(functiontool.New(functiontool.Config{Name: "run", Description: "Runs the tests that Match matches, all where it is empty."},
			func(ctx agent.Context, in struct{ Match string }) (tested, error) { return s.test(ctx, in.Match) })),
	}
}

// mistakes are what the rules know: how one looks, and what is right, which looks like none.
var mistakes = [][2]string{
	{`(for _, \w+ := range \w+ \{\s+\w+ )(= \w+\n)`, "$1+$2"},                                    // not added up
	{`float64\((\w+) / (len\(\w+\))\)`, "float64($1) / float64($2)"},                             // a quotient of whole numbers
	{`(\w+ := )0(\n\s+for _, \w+ := range )(\w+)( \{\n\s+if \w+ > )`, "${1}${3}[0]${2}${3}${4}"}, // a maximum begins at zero
	{`(\{\n\s+)(slices\.Sort\()(\w+)\)`, "${1}${3} = slices.Clone(${3})\n\t${2}${3})"},           // the argument is sorted
}

// offline is a model of rules, with a real one's name and price. It goes by what came back
// last: it searches what width failing tests are about, reads, mends what it knows, runs again.
func offline(width int) model.LLM {
	return callbackstest.Script(callbackstest.Turn{Do: func(_ context.Context, req *model.LLMRequest) callbackstest.Turn {
		turn := callbackstest.Say("The files are as the earlier calls left them.") // a summary
		if req.Config != nil && req.Config.Tools != nil {
			turn = decide(req.Contents[len(req.Contents)-1], width)
		}
		return turn.WithUsage(int32(len(must(json.Marshal(req.Contents)))/4), int32(len(must(json.Marshal(turn.Parts)))/4)) //nolint:gosec // far below 2^31
	}}).Repeat().Named("gemini-2.5-flash")
}

func decide(last *genai.Content, width int) callbackstest.Turn {
	var calls []callbackstest.Turn
	for _, p := range last.Parts {
		var r struct {
			tested
			file
			Error string
			Found []string
		}
		if p.FunctionResponse == nil || json.Unmarshal(must(json.Marshal(p.FunctionResponse.Response)), &r) != nil {
			continue
		}
		if r.Error != "" || r.Passed > 0 && r.Failing == nil {
			return callbackstest.Say("That is all. " + r.Error)
		}
		for _, test := range r.Failing[:min(width, len(r.Failing))] {
			calls = append(calls, callbackstest.Call("search", map[string]any{"Text": "func " + strings.TrimPrefix(test, "--- FAIL: Test") + "("}))
		}
		for _, found := range r.Found {
			calls = append(calls, callbackstest.Call("read", map[string]any{"Path": strings.Fields(found)[0]}))
		}
		for _, m := range mistakes {
			if right := regexp.MustCompile(m[0]).ReplaceAllString(r.Content, m[1]); right != r.Content {
				calls = append(calls, callbackstest.Call("write", map[string]any{"Path": r.Path, "Content": right}))
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
