// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/internal/standin"
)

// A row is a line of the table at the end.
type row struct{ calls, changes, charged, status string }

// loop runs the program with a conversation of its own.
func loop(t *testing.T, in string, args ...string) (out string, rows map[string]row) {
	t.Helper()
	return loopWith(t.Context(), in, append([]string{"--sessions", filepath.Join(t.TempDir(), "sessions.db")}, args...)...)
}

func loopWith(ctx context.Context, in string, args ...string) (out string, rows map[string]row) {
	var b bytes.Buffer
	_ = run(ctx, args, strings.NewReader(in), &b) // the rows say it
	rows = map[string]row{}
	for line := range strings.Lines(b.String()) {
		if f := regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1); len(f) == 8 {
			rows[f[0]] = row{f[1], f[5], f[6], f[7]}
		}
	}
	return b.String(), rows
}

// A kind of server, as the flags name it.
type kind struct {
	prefix, path string
	serve        func(testing.TB, model.LLM, standin.Fault) *standin.Server
	// unreadable answers with a call whose arguments are no JSON.
	unreadable func(w http.ResponseWriter, r *http.Request, body []byte)
}

var chat = kind{"chat:", "/v1", standin.Chat, func(w http.ResponseWriter, _ *http.Request, body []byte) {
	standin.ChatAnswer(w, body, "x", map[string]any{"tool_calls": []any{standin.ChatCall("call_x", "get_weather", `{"city": "Quimper", "days": `)}}, nil)
}}

var kinds = []kind{
	chat,
	{"openai:", "/v1", standin.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		standin.OpenAIAnswer(w, false, "x", []map[string]any{{"type": "function_call", "id": "fc_0", "call_id": "call_x", "name": "get_weather", "arguments": `{"city": "Quimper", "days": `}}, nil)
	}},
	{"gemini-", "", standin.Gemini, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		standin.GeminiAnswer(w, r, map[string]any{"finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}, nil)
	}},
}

// served follows the rules behind a server, as two models, and counts what they cost.
type served struct {
	mu            sync.Mutex
	better, cheap rules
	// cost is in USD, exact, by question.
	cost map[string]*big.Rat
}

func (*served) Name() string { return "served" }

func (s *served) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		m, in, out := &s.better, "2.55", "12.75"
		if strings.HasSuffix(req.Model, "cheap") {
			m, in, out = &s.cheap, "0.85", "4.25"
		}
		for resp, err := range m.GenerateContent(ctx, req, stream) {
			question := ""
			for _, c := range req.Contents {
				for _, p := range c.Parts {
					if c.Role == "user" && p.Text != "" && !strings.Contains(p.Text, "could not be read") {
						question = p.Text
					}
				}
			}
			if s.cost == nil {
				s.cost = map[string]*big.Rat{}
			}
			if s.cost[question] == nil {
				s.cost[question] = new(big.Rat)
			}
			for count, rate := range map[int32]string{resp.UsageMetadata.PromptTokenCount: in, resp.UsageMetadata.CandidatesTokenCount: out} {
				r, _ := new(big.Rat).SetString(rate)
				s.cost[question].Add(s.cost[question], r.Mul(r, big.NewRat(int64(count), 1_000_000)))
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// flags are those that point the program at a server.
func (k kind) flags(s *standin.Server, more ...string) []string {
	names := []string{k.prefix + "better", k.prefix + "cheap"}
	priced := strings.NewReplacer("chat:", "", "openai:", "").Replace(fmt.Sprintf("%s=2.55/12.75,%s=0.85/4.25", names[0], names[1]))
	return append([]string{"--model", names[0], "--cheap", names[1], "--base-url", s.URL + k.path, "--price", priced}, more...)
}

// slips makes the model's answer to its first refusal unreadable, once.
func (k kind) slips() standin.Fault {
	slipped := false
	return func(_ int, w http.ResponseWriter, r *http.Request, body []byte) bool {
		if slipped || !bytes.Contains(body, []byte("not allowed: get_wether")) {
			return false
		}
		slipped = true
		k.unreadable(w, r, body)
		return true
	}
}

// Offline and over each protocol the conversation goes the same way.
func TestEachSceneShowsItsGuard(t *testing.T) {
	check := func(t *testing.T, out string, rows map[string]row) {
		for question, want := range map[string]struct{ calls, status string }{
			scenes[0][0]: {"1 cheap, 1 better", "done"},
			scenes[1][0]: {"7 cheap, 1 better", "done"},
			scenes[2][0]: {"3 cheap, 1 better", "done"},
			scenes[3][0]: {"2 cheap, 1 better", "done"},
			scenes[4][0]: {"7 cheap, 1 better", "calls_exhausted"},
			scenes[5][0]: {"4 cheap", "budget_exhausted"},
			scenes[6][0]: {"1 cheap, 1 better", "done"},
		} {
			got := rows[question]
			require.NotEmpty(t, got, out)
			require.Equal(t, want.calls, strings.ReplaceAll(got.calls, "gemini-", ""), question)
			require.Equal(t, want.status, got.status, question)
			require.Equal(t, "0", got.changes, question)
		}
		last := -1
		for _, line := range []string{ // in this order
			`says "I know the weather and the trains, and can book a ticket."`,
			`{"error":"tool not allowed: get_wether"}`,
			`(2 model calls for this turn)`, // the first call could not be read
			`get_weather map[city:Quimper days:three] declared_args`,
			`{"error":"invalid arguments: /days: type:`,
			`get_weather map[city:Quimper days:99] declared_args`,
			`{"error":"invalid arguments: /days: maximum:`,
			`{"error":"no such town"}`,
			`{"city":"Quimper","sky":"clear"}`,
			`says "It will be clear in Quimper."`,
			`book_ticket map[euros:189 train:8700] confirm`,
			`{"error":"refused: a person said no to this call; do not make it again"}`,
			`{"booked":"8710"}`,
			`trains: 920 of 1000 entries left out`,
			`says "[guard] Model call budget exceeded: agent ended."`,
			`says "[guard] Spend limit reached: run stopped."`,
			`says "You asked: What can you do?"`,
		} {
			at := strings.Index(out[last+1:], line)
			require.GreaterOrEqual(t, at, 0, "%s\n%s", line, out)
			last += 1 + at
		}
	}
	t.Run("offline", func(t *testing.T) {
		out, rows := loop(t, "")
		check(t, out, rows)
	})
	for _, k := range kinds {
		t.Run(k.prefix, func(t *testing.T) {
			t.Setenv("OPENAI_API_KEY", standin.Key)
			t.Setenv("GEMINI_API_KEY", standin.Key)
			s := k.serve(t, &served{}, k.slips())
			out, rows := loop(t, "no\nyes\n", k.flags(s)...)
			check(t, out, rows)
			require.NotContains(t, out, standin.Key)
		})
	}
}

// The budget holds whatever it is, and what is charged is what the server counted, to the
// last digit.
func TestTheBudgetIsExactAndNeverPassed(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	for _, budget := range []string{"0.000001", "0.005", "0.0101", "0.05", "0.10", "0.2"} {
		m := &served{}
		s := standin.Chat(t, m, nil)
		_, rows := loop(t, "no\nyes\n", chat.flags(s, "--budget", budget)...)
		hard, _ := new(big.Rat).SetString(budget)
		for question, r := range rows {
			if question == "QUESTION" {
				continue
			}
			charged, ok := new(big.Rat).SetString(strings.TrimPrefix(r.charged, "$"))
			require.True(t, ok, r.charged)
			require.LessOrEqual(t, charged.Cmp(hard), 0, "%s of %s", r.charged, budget)
			cost := m.cost[question]
			if cost == nil {
				cost = new(big.Rat)
			}
			require.Zero(t, charged.Cmp(cost), "%s charged, %s counted", r.charged, cost.FloatString(12))
		}
		require.Equal(t, "budget_exhausted", rows[scenes[5][0]].status, budget)
	}
}

// Eight calls reach the server, not one more, and the loop says so.
func TestTheCapIsExact(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	for _, calls := range []int{1, 3, 8} {
		s := standin.Chat(t, &served{}, nil)
		out, rows := loop(t, "", chat.flags(s, "--calls", fmt.Sprint(calls), scenes[4][0])...)
		require.Len(t, s.Bodies(), calls)
		require.Equal(t, "calls_exhausted", rows[scenes[4][0]].status)
		require.Contains(t, out, fmt.Sprintf("calls: %d/%d", calls, calls))
	}
}

type sent struct {
	Model    string            `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
}

func sentTo(t *testing.T, s *standin.Server) []sent {
	t.Helper()
	var all []sent
	for _, body := range s.Bodies() {
		var one sent
		require.NoError(t, json.Unmarshal(body, &one))
		all = append(all, one)
	}
	return all
}

// Instruction and tools are the same bytes in every call of every question, also of another
// process: a cache can keep them.
func TestThePrefixIsStable(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	s := standin.Chat(t, &served{}, chat.slips())
	loop(t, "no\nyes\n", chat.flags(s)...)
	loop(t, "no\nyes\n", chat.flags(s)...)
	all := sentTo(t, s)
	require.Greater(t, len(all), 50)
	for _, one := range all {
		require.Equal(t, string(all[0].Tools), string(one.Tools))
		require.Equal(t, string(all[0].Messages[0]), string(one.Messages[0]))
	}
}

// The cheap model calls the tools, the better one answers; without a cheap one all is the
// better one's.
func TestToolsAreTheCheapModels(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	s := standin.Chat(t, &served{}, chat.slips())
	loop(t, "", chat.flags(s, scenes[1][0])...)
	var names []string
	for _, one := range sentTo(t, s) {
		names = append(names, one.Model)
	}
	require.Equal(t, "cheap cheap cheap cheap cheap cheap cheap better", strings.Join(names, " "))
	s = standin.Chat(t, &served{}, nil)
	_, rows := loop(t, "", "--model", "chat:any", "--base-url", s.URL, "--price", "any=free", scenes[3][0])
	require.Equal(t, row{"2 any", "0", "$0.00", "done"}, rows[scenes[3][0]])
}

// A result of a thousand rows reaches the model as four thousand characters, and stays JSON.
func TestAWallOfDataIsCut(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	s := standin.Chat(t, &served{}, nil)
	loop(t, "", chat.flags(s, scenes[3][0])...)
	all := sentTo(t, s)
	var result struct{ Content string }
	require.NoError(t, json.Unmarshal(all[1].Messages[3], &result))
	require.Less(t, len(result.Content), 4001)
	require.True(t, json.Valid([]byte(result.Content)))
}

// Another process goes on with the conversation, and what the model reads of it stays
// bounded however long it gets.
func TestTheConversationIsKeptAndBounded(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	file := filepath.Join(t.TempDir(), "sessions.db")
	s := standin.Chat(t, &served{}, nil)
	loopWith(t.Context(), "", append([]string{"--sessions", file}, chat.flags(s, "My name is Jeanne.")...)...)
	for range 3 {
		loopWith(t.Context(), "", append([]string{"--sessions", file}, chat.flags(s, scenes[3][0])...)...)
		loopWith(t.Context(), "", append([]string{"--sessions", file}, chat.flags(s, scenes[5][0])...)...)
	}
	out, rows := loopWith(t.Context(), "", append([]string{"--sessions", file}, chat.flags(s, scenes[6][0])...)...)
	require.Contains(t, out, `says "You asked: My name is Jeanne."`)
	require.Equal(t, "done", rows[scenes[6][0]].status)
	all := s.Bodies()
	require.Less(t, len(all[len(all)-1]), 8000*4)
}

// Nobody at the terminal, or a no: the card is not charged.
func TestNothingIsBookedWithoutAPerson(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	for in, booked := range map[string]bool{"": false, "no\nno\n": false, "perhaps\nperhaps\nperhaps\n": false, "no\nyes\n": true, "yes\n": true} {
		s := standin.Chat(t, &served{}, nil)
		out, _ := loop(t, in, chat.flags(s, "--calls", "4", scenes[2][0])...)
		require.Equal(t, booked, strings.Contains(out, `{"booked":`), "%q\n%s", in, out)
	}
}

// Ctrl-C ends the loop where it is; the conversation it leaves can be gone on with.
func TestCtrlCLeavesNothingHalfDone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	file := filepath.Join(t.TempDir(), "sessions.db")
	ctx, cancel := context.WithCancel(t.Context())
	s := standin.Chat(t, &served{}, func(n int, _ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if n == 2 {
			cancel()
			<-r.Context().Done()
		}
		return n == 2
	})
	flags := func(question ...string) []string {
		return append([]string{"--sessions", file}, chat.flags(s, question...)...)
	}
	_, rows := loopWith(ctx, "", flags()...)
	require.Equal(t, "interrupted", rows[scenes[1][0]].status)
	require.NotContains(t, rows, scenes[2][0], "no further question is asked")
	_, rows = loopWith(t.Context(), "", flags(scenes[0][0])...)
	require.Equal(t, "done", rows[scenes[0][0]].status)
}

// A model without a price is not called: its cost has no bound.
func TestAModelWithoutAPriceIsNotCalled(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	s := standin.Chat(t, &served{}, nil)
	_, rows := loop(t, "", "--model", "chat:unheard-of", "--base-url", s.URL, scenes[0][0])
	require.Equal(t, "denied", rows[scenes[0][0]].status)
	require.Empty(t, s.Bodies())
}

// What a server fails with does not count for an answer, and is charged unless the server is
// known not to bill it.
func TestAFailedCallEndsTheQuestion(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	s := standin.Chat(t, &served{}, func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		standin.OpenAIError(w, http.StatusServiceUnavailable, "overloaded")
		return true
	})
	out, rows := loop(t, "", chat.flags(s, "--price", "better=2.55/12.75,cheap=0.85/4.25", scenes[0][0])...)
	require.Equal(t, "failed", rows[scenes[0][0]].status)
	require.Regexp(t, `(?m)^= failed \n  ".*overloaded`, out, "it says why")
	require.NotEqual(t, "$0.00", rows[scenes[0][0]].charged)
	require.LessOrEqual(t, len(s.Bodies()), 2, "the cheap model and the one it falls back on")
}

// An answer that says nothing, or can't be read whoever is asked, is no answer: the question
// has failed.
func TestAnEmptyAnswerIsNoAnswer(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request, []byte){
		"empty": func(w http.ResponseWriter, _ *http.Request, body []byte) {
			standin.ChatAnswer(w, body, "x", map[string]any{}, nil)
		},
		"unreadable": chat.unreadable,
	} {
		s := standin.Chat(t, &served{}, func(_ int, w http.ResponseWriter, r *http.Request, body []byte) bool {
			answer(w, r, body)
			return true
		})
		_, rows := loop(t, "", chat.flags(s, scenes[0][0])...)
		require.Equal(t, "failed", rows[scenes[0][0]].status, name)
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("LOOP_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// exit runs the program in a process of its own.
func exit(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "LOOP_MAIN=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code says it
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// The program fails where a question did, and where none was answered; a guard rail that
// holds in the middle of the tour is no failure.
func TestExitCode(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	wrong := standin.Chat(t, &served{}, func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		_, _ = w.Write([]byte(`{"hello": "world"}`)) // another protocol
		return true
	})
	code, out, stderr := exit(t, chat.flags(wrong)...)
	require.Equal(t, 1, code)
	require.Len(t, regexp.MustCompile(`(?m)^= failed \n  "\w`).FindAllString(out, -1), 7, out)
	require.Contains(t, stderr, "of 7 questions 0 were answered: map[failed:7]")

	fails := standin.Chat(t, &served{}, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		if n > 2 {
			standin.OpenAIError(w, http.StatusServiceUnavailable, "overloaded")
		}
		return n > 2
	})
	code, _, stderr = exit(t, chat.flags(fails)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "of 7 questions 1 were answered: map[done:1 failed:6]")

	code, _, stderr = exit(t, "--calls", "1", scenes[4][0])
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "calls_exhausted:1")
	code, _, stderr = exit(t, "--model", "chat:unheard-of", "--base-url", wrong.URL, scenes[0][0])
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "denied:1")
	code, _, _ = exit(t, "--bogus")
	require.Equal(t, 2, code)
	code, _, _ = exit(t, "--help")
	require.Zero(t, code)
	code, _, stderr = exit(t, "--sessions", filepath.Join(t.TempDir(), "sessions.db"))
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
}
