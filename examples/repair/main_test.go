// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/standin"
)

// repairIn runs the command on a folder and returns what it printed.
func repairIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, command(t.Context(), append([]string{"--dir", dir}, args...), &out))
	return out.String()
}

func newSession(t *testing.T) *session {
	t.Helper()
	return &session{
		Dir: t.TempDir(), N: 1, context: 32_000, testTime: time.Minute,
		budget: guards.CallBudgetOptions{Calls: 25, Tokens: 200_000, Time: 300 * time.Second},
	}
}

// opened is a session whose repository is there.
func opened(t *testing.T) *session {
	t.Helper()
	s := newSession(t)
	var err error
	s.repo, err = s.open()
	require.NoError(t, err)
	return s
}

func (s *session) run(t *testing.T, llm model.LLM) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, s.repair(t.Context(), llm, &out))
	return out.String()
}

func (s *session) file(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(s.At(name))
	require.NoError(t, err)
	return string(content)
}

func call(name string, args map[string]any) callbackstest.Turn { return callbackstest.Call(name, args) }

func read(path string) callbackstest.Turn { return call("read", map[string]any{"Path": path}) }

func write(path, content string) callbackstest.Turn {
	return call("write", map[string]any{"Path": path, "Content": content})
}

// script is a model under a name that has a price.
func script(turns ...callbackstest.Turn) *callbackstest.Model {
	return callbackstest.Script(turns...).Named("gemini-2.5-flash")
}

// results are what a model reads of its calls, in order.
func results(req *model.LLMRequest) (all []map[string]any) {
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				all = append(all, p.FunctionResponse.Response)
			}
		}
	}
	return all
}

func last(m *callbackstest.Model) *model.LLMRequest { return m.Requests()[m.Calls()-1] }

func TestFourFailingTestsAreMended(t *testing.T) {
	out := repairIn(t, t.TempDir())
	for _, line := range []string{
		"before      4 failed, 2 passed\n", "after       6 passed\n", "status      done\n", "turns       10\n",
		`tool calls  3 "list" 4 "read" 3 "run" 4 "search" 4 "write"` + "\n", "undo        cd ",
	} {
		assert.Contains(t, out, line)
	}
}

func TestARealModelOfEitherProtocolMendsThem(t *testing.T) {
	gemini := standin.Gemini(t, offline(4), nil)
	openai := standin.OpenAI(t, offline(4), nil)
	t.Setenv("GEMINI_API_KEY", standin.Key)
	t.Setenv("OPENAI_API_KEY", standin.Key)
	for _, args := range [][]string{
		{"--model", "gemini-2.5-flash", "--base-url", gemini.URL},
		{"--model", "openai:gpt-5-mini", "--base-url", openai.URL},
	} {
		t.Run(args[1], func(t *testing.T) {
			out := repairIn(t, t.TempDir(), args...)
			assert.Contains(t, out, "before      4 failed, 2 passed\n")
			assert.Contains(t, out, "after       6 passed\n")
			assert.Contains(t, out, "status      done\n")
			assert.NotContains(t, out, standin.Key)
		})
	}
}

func TestTheHelpExplainsEachFlag(t *testing.T) {
	var out bytes.Buffer
	require.Error(t, command(t.Context(), []string{"--help"}, &out))
	for _, name := range []string{"dir", "runs", "model", "base-url", "turns", "tokens", "time"} {
		assert.Contains(t, out.String(), "  -"+name+" ")
	}
}

func TestEachStopHasItsStatus(t *testing.T) {
	endless := func() model.LLM { // reads on for ever, never the same twice
		n := 0
		return script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
			n++
			return call("search", map[string]any{"Text": fmt.Sprint(n)}).WithUsage(1000, 10)
		}}).Repeat()
	}
	for status, tc := range map[callbacks.Status]struct {
		llm    model.LLM
		limit  func(*session)
		reason string
		turns  int
	}{
		callbacks.StatusCallsExhausted:  {endless(), func(*session) {}, "calls: 25/25", 25},
		callbacks.StatusTokensExhausted: {endless(), func(s *session) { s.budget.Tokens = 3000 }, "tokens: 3030/3000", 3},
		callbacks.StatusTimeExhausted: {
			script(callbackstest.Turn{Do: func(ctx context.Context, _ *model.LLMRequest) callbackstest.Turn {
				<-ctx.Done() // a model that never answers
				return callbackstest.Fail(ctx.Err())
			}}), func(s *session) { s.budget.Time = 50 * time.Millisecond }, "", 1,
		},
		callbacks.StatusLoopDetected:    {script(read("sum.go")).Repeat(), func(*session) {}, "read: identical call 3", 3},
		callbacks.StatusDenied:          {callbackstest.Script(read("sum.go")).Named("no-such-price"), func(*session) {}, "", 0},
		callbacks.StatusBudgetExhausted: {script(read("sum.go").WithUsage(1000, 500_000)).Repeat(), func(s *session) { s.budget.Tokens = 10_000_000 }, "", 0},
		callbacks.StatusFailed:          {script(callbackstest.Fail(errors.New("no such model"))), func(*session) {}, "", 1},
		callbacks.StatusDone:            {script(callbackstest.Say("I give up.")), func(*session) {}, "", 1},
	} {
		t.Run(string(status), func(t *testing.T) {
			s := newSession(t)
			tc.limit(s)
			out := s.run(t, tc.llm)
			assert.Equal(t, status, s.End.Status, "%+v", s.End)
			assert.Contains(t, s.End.Reason, tc.reason)
			assert.Contains(t, out, "status      "+string(status))
			assert.Contains(t, out, "after       4 failed, 2 passed\n")
			if tc.turns > 0 {
				require.Len(t, s.Stats.Agents, 1)
				assert.Equal(t, tc.turns, s.Stats.Agents[0].Calls)
			}
		})
	}
}

func TestCtrlCEndsItAsInterrupted(t *testing.T) {
	s := newSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	llm := script(read("sum.go"), callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
		cancel()
		return call("run", map[string]any{"Match": ""})
	}})
	var out bytes.Buffer
	require.ErrorIs(t, s.repair(ctx, llm, &out), context.Canceled)
	assert.Contains(t, out.String(), "status      interrupted")
	s.run(t, offline(4)) // a call that was not answered is no hindrance
	assert.Equal(t, callbacks.StatusDone, s.End.Status)
	assert.Equal(t, 6, s.After.Passed)
}

func TestTheApprovalIsAskedForAllButCode(t *testing.T) {
	paths := []string{"figures_test.go", "FIGURES_TEST.GO", "./figures_test.go", "go.mod", "sub/a.go", "../a.go", "/tmp/a.go", ".a.go", "figures_te\u017ft.go", "a.go\n"}
	var turns []callbackstest.Turn
	for _, path := range paths {
		turns = append(turns, write(path, "package figures").WithUsage(100, 100))
	}
	s := newSession(t)
	llm := script(append(turns, callbackstest.Say("So be it."))...)
	s.run(t, llm)
	for i, result := range results(last(llm)) {
		assert.Contains(t, result, "error", paths[i])
	}
	assert.Equal(t, []string{"--- FAIL: TestSum", "--- FAIL: TestMean", "--- FAIL: TestLargest", "--- FAIL: TestSorted"}, s.After.Failing)
	assert.Empty(t, s.points(t), "what is refused takes no restore point")
	assert.Equal(t, callbacks.StatusDone, s.End.Status, "a refusal is not the end")
}

// A key that differs in case alone means the same to encoding/json.
func TestAnotherSpellingOfAnArgumentIsRefused(t *testing.T) {
	s := newSession(t)
	llm := script(call("write", map[string]any{"Path": "sum.go", "PATH": "figures_test.go", "Content": "package figures"}), callbackstest.Say("So be it."))
	s.run(t, llm)
	assert.Contains(t, results(last(llm))[0], "error")
	assert.Len(t, s.After.Failing, 4)
}

func (s *session) points(t *testing.T) []string {
	t.Helper()
	points, err := filepath.Glob(s.At("points/*"))
	require.NoError(t, err)
	return points
}

func run(t *testing.T, tl tool.Tool, args map[string]any) (map[string]any, error) {
	t.Helper()
	return tl.(interface {
		Run(agent.Context, any) (map[string]any, error)
	}).Run(callbackstest.Context(t), args)
}

func TestNoToolLeavesTheRepository(t *testing.T) {
	s := opened(t)
	outside := filepath.Join(s.At(""), "secret.txt")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(outside, s.At("repository/link.go")))
	for _, path := range []string{"../secret.txt", outside, "link.go", "a/../../secret.txt"} {
		got, err := run(t, s.tools()[1], map[string]any{"Path": path})
		require.Error(t, err, path)
		assert.NotContains(t, fmt.Sprint(got, err), "secret.txt: secret")
		_, err = run(t, s.tools()[3], map[string]any{"Path": path, "Content": "x"})
		require.Error(t, err, path)
	}
	content, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "secret", string(content))
}

func TestTheModelReadsWhyAToolFailed(t *testing.T) {
	llm := script(read("nothing.go"), callbackstest.Say("So be it."))
	newSession(t).run(t, llm)
	assert.Contains(t, results(last(llm))[0]["error"], "no such file")
}

func TestAnAnswerHasOneResultForEachCallWithItsID(t *testing.T) {
	calls := callbackstest.Calls(read("sum.go"), read("nothing.go"), read("mean.go"))
	for i, p := range calls.Parts {
		p.FunctionCall.ID = fmt.Sprint("id-", i)
	}
	llm := script(calls, callbackstest.Say("Thank you."))
	newSession(t).run(t, llm)
	contents := last(llm).Contents
	answer := contents[len(contents)-1]
	require.Len(t, answer.Parts, 3)
	for i, p := range answer.Parts {
		assert.Equal(t, fmt.Sprint("id-", i), p.FunctionResponse.ID)
	}
}

func TestTheAnswerGoesBackAsItCame(t *testing.T) {
	turn := read("sum.go")
	turn.Parts[0].ThoughtSignature = []byte("signed")
	turn.Parts = append([]*genai.Part{{Text: "First the sum.", Thought: true}}, turn.Parts...)
	llm := script(turn, callbackstest.Say("Thank you."))
	newSession(t).run(t, llm)
	back := last(llm).Contents[1]
	require.Len(t, back.Parts, 2)
	assert.True(t, back.Parts[0].Thought)
	assert.Equal(t, []byte("signed"), back.Parts[1].ThoughtSignature)
}

func TestThinkingCostsWhatOutputCosts(t *testing.T) {
	cost := func(out, thinking int32) string {
		turn := callbackstest.Say("I give up.")
		turn.Usage = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 100, CandidatesTokenCount: out, ThoughtsTokenCount: thinking, TotalTokenCount: 100 + out + thinking}
		_, line, _ := strings.Cut(newSession(t).run(t, script(turn)), "cost        $")
		line, _, _ = strings.Cut(line, ",")
		return line
	}
	assert.Equal(t, cost(1000, 0), cost(400, 600))
	assert.NotEqual(t, cost(400, 0), cost(400, 600))
}

func TestThinkingCountsTowardsTheTokens(t *testing.T) {
	turn := read("sum.go")
	turn.Usage = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, ThoughtsTokenCount: 90, TotalTokenCount: 100}
	s := newSession(t)
	s.budget.Tokens = 100
	s.run(t, script(turn, read("mean.go")))
	assert.Equal(t, callbacks.StatusTokensExhausted, s.End.Status)
	assert.Equal(t, 1, s.Stats.Agents[0].Calls)
}

func TestAResultHasAtMost4000Characters(t *testing.T) {
	s := opened(t)
	require.NoError(t, os.WriteFile(s.At("repository/long.go"), bytes.Repeat([]byte("// long\n"), 10_000), 0o600))
	llm := script(read("long.go"), callbackstest.Say("Long."))
	s.run(t, llm)
	raw, err := json.Marshal(results(last(llm))[0])
	require.NoError(t, err)
	assert.InDelta(t, 4000, utf8.RuneCount(raw), 100)
	assert.LessOrEqual(t, utf8.RuneCount(raw), 4000)
}

func TestALongHistoryIsSummarised(t *testing.T) {
	s := newSession(t)
	s.context = 2000
	llm := offline(1).(*callbackstest.Model)
	s.run(t, llm)
	assert.Equal(t, 6, s.After.Passed)
	var summaries, summarised int
	for _, req := range llm.Requests() {
		if len(req.Config.Tools) == 0 {
			summaries++
			continue
		}
		for _, c := range req.Contents {
			if strings.Contains(c.Parts[0].Text, "as the earlier calls left them") {
				summarised++
			}
		}
	}
	assert.Positive(t, summaries)
	assert.Positive(t, summarised)
	assert.Empty(t, llm.Faults())
}

func TestEachWriteHasARestorePointToGoBackTo(t *testing.T) {
	s := newSession(t)
	first, second := "package figures\n\nfunc Sum([]int) int { return 6 }\n", "package figures\n\nfunc Sum([]int) int { return 7 }\n"
	opened := opened(t)
	before := opened.file(t, "repository/sum.go")
	out := s.run(t, script(write("sum.go", first), write("sum.go", second), callbackstest.Say("Done.")))
	require.Len(t, s.points(t), 2)
	undo := undoOf(t, out)
	require.NoError(t, exec.CommandContext(t.Context(), "sh", "-c", undo).Run())
	assert.Equal(t, first, s.file(t, "repository/sum.go"))
	assert.Equal(t, second, s.file(t, "undone-"+s.Point+"/sum.go"), "what is undone is kept")
	assert.Len(t, s.points(t), 1)

	require.Error(t, exec.CommandContext(t.Context(), "sh", "-c", undo).Run(), "the same line once more does nothing")
	assert.Equal(t, first, s.file(t, "repository/sum.go"))
	assert.Equal(t, second, s.file(t, "undone-"+s.Point+"/sum.go"))

	undo = undoOf(t, s.run(t, script(callbackstest.Say("Nothing to do.")))) // one point is left
	require.NoError(t, exec.CommandContext(t.Context(), "sh", "-c", undo).Run())
	assert.Equal(t, before, s.file(t, "repository/sum.go"))
	assert.NotContains(t, s.run(t, script(callbackstest.Say("Nothing to do."))), "undo", "no point is left")
}

func undoOf(t *testing.T, out string) string {
	t.Helper()
	_, undo, found := strings.Cut(out, "undo        ")
	require.True(t, found, out)
	require.NotContains(t, undo, "rm ")
	return undo
}

// Whatever the folder is called, a session that wrote nothing has no line that undoes, and one
// that wrote has one that loses nothing.
func TestUndoLosesNothing(t *testing.T) {
	for _, writes := range []bool{false, true} {
		s := newSession(t)
		s.Dir = filepath.Join(s.Dir, "it's a `$(folder)`")
		turns := []callbackstest.Turn{callbackstest.Say("Done.")}
		if writes {
			turns = append([]callbackstest.Turn{write("sum.go", "package figures\n")}, turns...)
		}
		out := s.run(t, script(turns...))
		if !writes {
			require.NotContains(t, out, "undo")
			require.NotContains(t, out, "rm -r repository")
			continue
		}
		require.NoError(t, exec.CommandContext(t.Context(), "sh", "-c", undoOf(t, out)).Run())
		assert.Contains(t, s.file(t, "repository/sum.go"), "func Sum")
		assert.Equal(t, "package figures\n", s.file(t, "undone-"+s.Point+"/sum.go"))
	}
}

// The line that goes on names the model and its server; another model is refused.
func TestASessionGoesOnWithItsModel(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", standin.Key)
	server := standin.OpenAI(t, offline(4), func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		if n == 1 {
			_, _ = w.Write([]byte(`{"hello": "world"}`)) // another protocol
		}
		return n == 1
	})
	var out bytes.Buffer
	dir := t.TempDir()
	flags := []string{"--model", "openai:gpt-5-mini", "--base-url", server.URL}
	require.ErrorContains(t, command(t.Context(), append([]string{"--dir", dir}, flags...), &out), "session 1 is not mended: failed, 4 tests fail")
	goOn := fmt.Sprintf("go on       go run ./examples/repair --dir '%s' --model 'openai:gpt-5-mini' --base-url '%s'\n", dir, server.URL)
	assert.Contains(t, out.String(), goOn)
	assert.NotContains(t, out.String(), "gemini")

	calls := len(server.Bodies())
	err := command(t.Context(), []string{"--dir", dir}, &out)
	require.ErrorContains(t, err, "is one with --model openai:gpt-5-mini, not offline")
	require.Len(t, server.Bodies(), calls)
	assert.Contains(t, repairIn(t, dir, flags...), "after       6 passed\n")

	offlineDir := t.TempDir()
	repairIn(t, offlineDir)
	err = command(t.Context(), append([]string{"--dir", offlineDir}, flags...), &out)
	require.ErrorContains(t, err, "is one with --model offline, not openai:gpt-5-mini")
}

func TestMain(m *testing.M) {
	if os.Getenv("REPAIR_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// exit runs the program in a process of its own.
func exit(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "REPAIR_MAIN=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code says it
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestTheExitCodeSaysWhetherTheTestsPass(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", standin.Key)
	wrong := standin.OpenAI(t, offline(4), func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		_, _ = w.Write([]byte(`{"hello": "world"}`))
		return true
	})
	code, out, stderr := exit(t, "--dir", t.TempDir(), "--model", "openai:gpt-5-mini", "--base-url", wrong.URL)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, `"openai: call failed: `)
	assert.Contains(t, stderr, "session 1 is not mended: failed, 4 tests fail")
	code, _, stderr = exit(t, "--dir", t.TempDir(), "--turns", "3")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "calls_exhausted")
	for _, args := range [][]string{{"bogus"}, {"--turns", "3", "bogus"}, {"--bogus"}, {"--runs", "0"}} {
		dir := t.TempDir()
		code, _, stderr = exit(t, append([]string{"--dir", dir}, args...)...)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, stderr, "see --help")
		made, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, made)
	}
	code, out, _ = exit(t, "--help")
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "-base-url")
	code, _, stderr = exit(t, "--dir", t.TempDir())
	assert.Equal(t, 0, code, stderr)
}

func TestNoRestorePointNoWrite(t *testing.T) {
	s := opened(t)
	before := s.file(t, "repository/sum.go")
	require.NoError(t, os.WriteFile(s.At("points"), nil, 0o600)) // in its way
	llm := script(write("sum.go", "package figures"), callbackstest.Say("So be it."))
	s.run(t, llm)
	assert.Contains(t, results(last(llm))[0], "error")
	assert.Equal(t, before, s.file(t, "repository/sum.go"))
}

func TestAStoppedSessionGoesOn(t *testing.T) {
	dir := t.TempDir()
	var stopped bytes.Buffer
	require.ErrorContains(t, command(t.Context(), []string{"--dir", dir, "--turns", "3"}, &stopped), "calls_exhausted")
	assert.Contains(t, stopped.String(), "status      calls_exhausted (calls: 3/3)\n")
	out := repairIn(t, dir)
	assert.Contains(t, out, "after       6 passed\n")
	assert.Contains(t, out, "status      done\n")

	s := newSession(t)
	s.budget.Calls = 1
	s.run(t, script(read("sum.go"), read("mean.go")))
	llm := script(callbackstest.Say("I have read it."))
	s.run(t, llm)
	assert.Contains(t, results(last(llm))[0]["Content"], "func Sum", "it knows what it has read")
	assert.Equal(t, 2, s.Stats.Agents[0].Calls, "the turns of both attempts")
	assert.Equal(t, 1, s.Stats.Runs.Total)
}

func TestASessionHasItsTokensOnce(t *testing.T) {
	s := newSession(t)
	s.budget.Tokens = 1000
	s.run(t, script(read("sum.go").WithUsage(600, 100), callbackstest.Say("Enough.").WithUsage(600, 0)))
	llm := script(callbackstest.Say("Once more."))
	s.run(t, llm)
	assert.Equal(t, callbacks.StatusTokensExhausted, s.End.Status)
	assert.Zero(t, llm.Calls())
	s.budget.Tokens = 2000
	s.run(t, llm)
	assert.Equal(t, callbacks.StatusDone, s.End.Status)
}

func TestASessionHasItsMoneyOnce(t *testing.T) {
	s := newSession(t)
	s.budget.Tokens = 10_000_000
	s.run(t, script(read("sum.go").WithUsage(1000, 500_000)).Repeat())
	require.Equal(t, callbacks.StatusBudgetExhausted, s.End.Status)
	llm := script(callbackstest.Say("Once more."))
	s.run(t, llm)
	assert.Equal(t, callbacks.StatusBudgetExhausted, s.End.Status)
	assert.Zero(t, llm.Calls())
}

func TestOneProcessAtATimeHasASession(t *testing.T) {
	s, other := newSession(t), newSession(t)
	other.Dir = s.Dir
	var inUse error
	s.run(t, script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
		inUse = other.repair(t.Context(), script(), new(bytes.Buffer))
		return callbackstest.Say("Mine.")
	}}))
	require.ErrorIs(t, inUse, journal.ErrInUse)
}

func TestTheTurnsOfManySessionsAreCounted(t *testing.T) {
	out := repairIn(t, t.TempDir(), "--runs", "3")
	assert.Contains(t, out, "Runs: 3; ended otherwise than done: 0 %")
	for _, line := range []string{"  6 turns: 1 times", " 10 turns: 1 times", " 18 turns: 1 times"} {
		assert.Contains(t, out, line)
	}
}

// with puts a test of the session's own in place of the sample's.
func (s *session) with(t *testing.T, body string) {
	t.Helper()
	require.NoError(t, os.WriteFile(s.At("repository/figures_test.go"), []byte("package figures\n\nimport (\n\t\"fmt\"\n\t\"net\"\n\t\"os\"\n\t\"os/exec\"\n\t\"testing\"\n)\n\nvar _, _, _, _ = fmt.Print, net.Dial, os.Exit, exec.Command\n\n"+body), 0o600))
}

func TestTheTestsSeeNothingOfTheEnvironment(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := opened(t)
	s.with(t, "func TestX(t *testing.T) { fmt.Println(os.Environ()) }\n")
	got, err := s.test(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, 1, got.Passed, got.Output)
	assert.Contains(t, got.Output, "PATH=")
	assert.NotContains(t, got.Output, standin.Key)
}

func TestTheOutputHasALimit(t *testing.T) {
	s := opened(t)
	s.with(t, "func TestX(t *testing.T) { for { fmt.Println(\"and so on\") } }\n")
	got, err := s.test(t.Context(), "")
	require.NoError(t, err)
	assert.Len(t, got.Output, 1<<20)
	require.Len(t, got.Failing, 1)
	assert.Contains(t, got.Failing[0], "killed")
}

func TestTheTimeHasALimit(t *testing.T) {
	s := opened(t)
	s.testTime = time.Millisecond
	got, err := s.test(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, got.Failing, 1)
	assert.Contains(t, got.Failing[0], "the limits are 1ms and a megabyte")
}

// The children of a test hold a connection to this one, which ends with them.
func TestChildrenEndWithTheTests(t *testing.T) {
	for name, body := range map[string]string{
		"that are stopped": "cmd.Wait()",
		"that are over":    "",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			s := opened(t)
			s.with(t, fmt.Sprintf(`func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		conn, err := net.Dial("tcp", %[1]q)
		if err != nil {
			panic(err)
		}
		conn.Read(make([]byte, 1))
		return
	}
	cmd := exec.Command(os.Args[0], "child")
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	%[2]s
}
`, l.Addr(), body))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := s.test(ctx, "")
				done <- err
			}()
			conn, err := l.Accept()
			require.NoError(t, err)
			if body != "" {
				cancel()
			}
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
			_, err = conn.Read(make([]byte, 1))
			require.Error(t, err)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the child is still there")
			<-done
		})
	}
}

func TestWhatIsNotBuiltFails(t *testing.T) {
	s := opened(t)
	s.with(t, "func TestX(t *testing.T) { nonsense }\n")
	got, err := s.test(t.Context(), "")
	require.NoError(t, err)
	assert.Zero(t, got.Passed)
	assert.Len(t, got.Failing, 1)
	assert.Contains(t, got.Output, "undefined: nonsense")
}
