// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/internal/standin"
)

func Example() {
	if err := run(context.Background(), nil, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// The committee asks: Should the bank move its assistants to Velmora Inference in 2027? The committee decides on 14 December and wants the licence, the cost, the support, the energy and the way out.
	//
	// SUB-AGENT   CALLS   TOKENS IN + OUT   FORCED LANDING   MONEY        RESULT
	// licence     3       937 + 159         no               $0.0006786   finding, gaps: 1
	// cost        6       2277 + 187        yes              $0.0011506   finding, gaps: 1
	// support     3       721 + 200         no               $0.0007163   finding, gaps: 0
	// energy      2       295 + 93          no               $0.000321    finding, gaps: 1
	// exit        1       55 + 29           no               $0.000089    no finding
	//
	// SUB-AGENT   ANSWER
	// licence     "From version 2.6 on, since 2 June 2026, the licence of our models is the Velmora Community Licence, which lets you run them in production on up to 50 GPUs without a fee. Versions up to 2.5 stay under Apache 2.0." (medium confidence; from ["doc-02"])
	//             MISSING: "doc-04: DocID is outside your scope, which is: doc-01, doc-02, doc-03"
	// cost        "The licences for use above 50 GPUs cost 9,600 EUR a year for each block of 10 GPUs. Prices hold for three years from the signature. Gold support costs 42,000 EUR a year over a term of three years. The quotation is valid for 60 days." (medium confidence; from ["doc-04" "doc-06"])
	//             MISSING: "doc-07: no call was left to read"
	// support     "This agreement replaces all earlier ones. Gold support answers critical incidents in production within one hour, day and night, and guarantees 99.9 % availability a month. Each further tenth of a percent gives a credit of 5 %." (high confidence; from ["doc-08"])
	// energy      "On windless nights the data centres take their energy from the grid like everyone else, says a former technician." (medium confidence; from ["doc-11"])
	//             MISSING: "only a forum post says so"
	// exit        none
	//             MISSING: "the archive has lost doc-13"
}

// recorder keeps what a model received and answered, by the sub-agent whose question it was.
type recorder struct {
	model.LLM
	mu    sync.Mutex
	turns map[string][]turn
}

type turn struct {
	req    *model.LLMRequest
	answer *genai.Content
}

// GenerateContent implements model.LLM.
func (r *recorder) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		seen := turn{req: &model.LLMRequest{Model: req.Model, Contents: copied(req.Contents), Config: copied(req.Config)}}
		for resp, err := range r.LLM.GenerateContent(ctx, req, stream) {
			if resp != nil {
				seen.answer = copied(resp.Content)
			}
			if !yield(resp, err) {
				break
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		name := asked(req).Name
		r.turns[name] = append(r.turns[name], seen)
	}
}

func copied[T any](v T) (c T) {
	must(0, json.Unmarshal(must(json.Marshal(v)), &c))
	return c
}

func load() (c *committee) {
	must(0, json.Unmarshal(must(files.ReadFile("dossier.json")), &c))
	return c
}

// asked is the sub-agent whose question stands in a request.
func asked(req *model.LLMRequest) *subAgent {
	for _, s := range load().SubAgents {
		if strings.Contains(req.Contents[0].Parts[0].Text, s.Question) {
			return s
		}
	}
	panic("a request without a question")
}

// only answers for one sub-agent in the offline model's place.
type only struct {
	model.LLM
	name string
	llm  model.LLM
}

// GenerateContent implements model.LLM.
func (o only) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	if asked(req).Name == o.name {
		return o.llm.GenerateContent(ctx, req, stream)
	}
	return o.LLM.GenerateContent(ctx, req, stream)
}

func scripted(turns ...callbackstest.Turn) *callbackstest.Model {
	for i := range turns {
		if turns[i].Usage == nil {
			turns[i] = turns[i].WithUsage(100, 10)
		}
	}
	return callbackstest.Script(turns...)
}

func spend() callbacks.Guard {
	return guards.Spend(guards.SpendOptions{Ledger: must(ledger.NewMemory(ledger.MemoryOptions{})), Limits: ledger.Limits{Hard: must(ledger.ParseUSD("0.50"))}})
}

// play asks the committee with llm in place of the offline model for the sub-agent named.
func play(t *testing.T, name string, llm model.LLM) (*subAgent, []turn, *committee) {
	t.Helper()
	rec := &recorder{LLM: offline(), turns: map[string][]turn{}}
	if llm != nil {
		rec.LLM = only{offline(), name, llm}
	}
	c, err := ask(t.Context(), rec, spend(), false)
	require.NoError(t, err)
	i := slices.IndexFunc(c.SubAgents, func(s *subAgent) bool { return s.Name == name })
	for _, s := range c.SubAgents {
		if s.Name != name && s.Name != "exit" {
			require.NotNil(t, s.Finding, "what one sub-agent does changes no other: %s", s.Name)
		}
	}
	rec.mu.Lock() // a call that was cut off may still come back
	defer rec.mu.Unlock()
	return c.SubAgents[i], rec.turns[name], c
}

func text(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	must(0, enc.Encode(v))
	return out.String()
}

var documentID = regexp.MustCompile(`doc-\d+`)

func isolated(t *testing.T, c *committee, s *subAgent, received string, may ...string) {
	t.Helper()
	require.Equal(t, 1, strings.Count(received, "Question: "), received)
	for _, other := range c.SubAgents {
		require.Equal(t, other.Name == s.Name, strings.Contains(received, other.Question), "the question of %s", other.Name)
	}
	require.NotContains(t, received, c.Request)
	require.NotContains(t, strings.ToLower(received), "committee decides")
	for _, id := range documentID.FindAllString(received, -1) {
		require.Contains(t, append(may, s.Scope...), id)
	}
}

// Each request of a sub-agent, in parallel and one after the other: exactly one question, no
// identifier of another scope, nothing of the committee's request, no tool beyond its own;
// and its own turns are there as it wrote them, thoughts and their signatures included.
func TestIsolation(t *testing.T) {
	for _, oneByOne := range []bool{false, true} {
		t.Run(fmt.Sprintf("one by one: %v", oneByOne), func(t *testing.T) {
			rec := &recorder{LLM: thinking{offline()}, turns: map[string][]turn{}}
			c, err := ask(t.Context(), rec, spend(), oneByOne)
			require.NoError(t, err)
			for _, s := range c.SubAgents {
				require.NotEmpty(t, rec.turns[s.Name])
				require.Len(t, rec.turns[s.Name], s.Spent.Calls)
				for i, turn := range rec.turns[s.Name] {
					var own, others []*genai.Content
					for _, content := range turn.req.Contents {
						if content.Role == genai.RoleModel {
							own = append(own, content)
						} else {
							others = append(others, content)
						}
					}
					isolated(t, c, s, text(others)+text(turn.req.Config))
					var wrote []*genai.Content
					for _, before := range rec.turns[s.Name][:i] {
						wrote = append(wrote, before.answer)
					}
					require.Equal(t, text(wrote), text(own))
					require.Len(t, own, i)
					for _, content := range own {
						require.Equal(t, []byte("signed"), content.Parts[len(content.Parts)-1].ThoughtSignature)
					}
				}
			}
		})
	}
}

// thinking is a model that thinks before it answers, and signs.
type thinking struct{ model.LLM }

// GenerateContent implements model.LLM.
func (m thinking) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range m.LLM.GenerateContent(ctx, req, stream) {
			if resp != nil {
				resp.Content = copied(resp.Content)
				resp.Content.Parts[len(resp.Content.Parts)-1].ThoughtSignature = []byte("signed")
				resp.Content.Parts = append([]*genai.Part{{Text: "let me think", Thought: true}}, resp.Content.Parts...)
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// Several reads stand in one answer, and their results in one message: two calls in all.
func TestReadsSeveralDocumentsInOneAnswer(t *testing.T) {
	s, turns, _ := play(t, "energy", nil)
	require.Equal(t, 2, s.Spent.Calls)
	require.Len(t, turns[0].answer.Parts, 2)
	require.Len(t, turns[1].req.Contents, 3)
	require.Len(t, turns[1].req.Contents[2].Parts, 2)
}

// The scope is the tool's: what is outside is refused unread, and a search does not find it.
func TestScopeIsImposedByTheTool(t *testing.T) {
	s, turns, c := play(t, "licence", nil)
	require.Equal(t, []string{"doc-04: DocID is outside your scope, which is: doc-01, doc-02, doc-03"}, s.Finding.Gaps)
	require.NotContains(t, text(turns), c.Documents[3].Text)
	_, turns, _ = play(t, "cost", nil)
	found := turns[1].req.Contents[2].Parts[0].FunctionResponse.Response["found"]
	require.Equal(t, []string{"doc-04", "doc-05"}, documentID.FindAllString(text(found), -1), "of five documents that hold the word")
	_, turns, _ = play(t, "energy", scripted(callbackstest.Call("search", map[string]any{"Word": "Antarctica"}), report(nil)))
	require.Equal(t, map[string]any{"found": []any{}}, turns[1].req.Contents[2].Parts[0].FunctionResponse.Response)
}

func report(change map[string]any) callbackstest.Turn {
	args := map[string]any{"answer": "I can't say.", "sources": []any{}, "gaps": []any{}, "confidence": "low"}
	for k, v := range change {
		args[k] = v
	}
	return callbackstest.Call("report_finding", args)
}

func searching(word string) callbackstest.Turn {
	return callbackstest.Call("search", map[string]any{"Word": word})
}

func allowed(turn turn) []string {
	return turn.req.Config.ToolConfig.FunctionCallingConfig.AllowedFunctionNames
}

func declared(turn turn) (names []string) {
	for _, d := range turn.req.Config.Tools[0].FunctionDeclarations {
		names = append(names, d.Name)
	}
	return names
}

// Six calls and not one more. A call is always asked for, and on the sixth it can only be
// report_finding: the finding has what was read, and what was not is a gap.
func TestCallBudgetLandsOnTheSixthCall(t *testing.T) {
	s, turns, _ := play(t, "cost", nil)
	require.Len(t, turns, 6)
	for i, turn := range turns {
		require.Equal(t, genai.FunctionCallingConfigModeAny, turn.req.Config.ToolConfig.FunctionCallingConfig.Mode)
		if i < 5 {
			require.Equal(t, []string{"read", "search", "report_finding"}, declared(turn))
			require.Empty(t, allowed(turn))
		}
	}
	require.Equal(t, []string{"report_finding"}, declared(turns[5]))
	require.Equal(t, []string{"report_finding"}, allowed(turns[5]))
	require.True(t, s.Landed)
	require.Equal(t, []string{"doc-04", "doc-06"}, s.Finding.Sources)
	require.Equal(t, []string{"doc-07: no call was left to read"}, s.Finding.Gaps)

	var endless []callbackstest.Turn
	for i := range 9 {
		endless = append(endless, searching(fmt.Sprint("word ", i)))
	}
	s, turns, _ = play(t, "energy", scripted(endless...))
	require.Len(t, turns, 6)
	require.Equal(t, 6, s.Spent.Calls)
	require.True(t, s.Landed)
	require.Nil(t, s.Finding)
	require.Contains(t, s.Gap, "did not finish with report_finding")
}

// Tokens are added up over the calls, input and output, and looked at before the next.
func TestTokenBudget(t *testing.T) {
	s, turns, _ := play(t, "energy", scripted(searching("a").WithUsage(19_000, 1_000), searching("b").WithUsage(19_000, 1_000), report(nil)))
	require.Len(t, turns, 2)
	require.Equal(t, "tokens: 40000/40000", s.Gap)
	require.Nil(t, s.Finding)
	require.EqualValues(t, 40_000, s.Spent.TokensIn+s.Spent.TokensOut)

	s, turns, _ = play(t, "energy", scripted(searching("a").WithUsage(19_000, 1_000), searching("b").WithUsage(19_000, 999), report(nil)))
	require.Len(t, turns, 3)
	require.NotNil(t, s.Finding)
}

// slow is a model that takes its time whatever its context says.
type slow struct {
	model.LLM
	takes time.Duration
}

// GenerateContent implements model.LLM.
func (m slow) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		<-time.After(m.takes)
		m.LLM.GenerateContent(ctx, req, stream)(yield)
	}
}

// No call begins after 90 seconds; one that hangs is cut off after 120.
func TestTimeBudgetAndHardStop(t *testing.T) {
	for name, tc := range map[string]struct {
		takes, ends time.Duration
		turns       int
		gap         string
	}{
		"soft": {45 * time.Second, 90 * time.Second, 2, "time: 90 s elapsed"},
		"hard": {10 * time.Minute, 120 * time.Second, 0, "time: 120 s elapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s, turns, _ := play(t, "energy", slow{scripted(searching("a"), searching("b"), report(nil)), tc.takes})
				require.Equal(t, tc.ends, time.Since(begin))
				require.Len(t, turns, tc.turns)
				require.Nil(t, s.Finding)
				require.Equal(t, tc.gap, s.Gap)
				time.Sleep(time.Hour) // what was cut off ends by itself
			})
		})
	}
}

// An invalid finding comes back once, with at most three errors; a second one fails the
// sub-agent, which is then a gap.
func TestFindingIsCorrectedOnce(t *testing.T) {
	s, turns, _ := play(t, "support", nil)
	require.Len(t, turns, 3)
	refused := turns[2].req.Contents[4].Parts[0].FunctionResponse.Response["error"].(string)
	require.Contains(t, refused, "/gaps")
	require.Empty(t, s.Finding.Gaps)

	broken := report(map[string]any{"answer": 1, "sources": "doc-10", "gaps": "none", "confidence": "sure"})
	s, turns, _ = play(t, "energy", scripted(broken, broken, report(nil)))
	require.Len(t, turns, 2)
	refused = turns[1].req.Contents[2].Parts[0].FunctionResponse.Response["error"].(string)
	require.Equal(t, 3, strings.Count(refused, "/"), refused)
	require.Nil(t, s.Finding)
	require.Contains(t, s.Gap, "report_finding")

	s, turns, _ = play(t, "energy", scripted(callbackstest.Say("green"), callbackstest.Say("green, I said"), report(nil)))
	require.Len(t, turns, 2, "text without a call is no end")
	require.Nil(t, s.Finding)
}

// What a model can mend it reads, word for word; anything else ends the sub-agent, and only
// people read the cause. The other four report.
func TestOnlyBusinessErrorsReachTheModel(t *testing.T) {
	invented := report(map[string]any{"sources": []any{"doc-10"}})
	s, turns, _ := play(t, "energy", scripted(invented, report(nil)))
	require.Equal(t, `"doc-10" is a source that you have not read`, turns[1].req.Contents[2].Parts[0].FunctionResponse.Response["error"])
	require.Empty(t, s.Finding.Sources)

	s, turns, _ = play(t, "energy", scripted(callbackstest.Call("read", nil), callbackstest.Call("search", map[string]any{"Word": 7}), callbackstest.Call("delete", nil), report(nil)))
	require.Len(t, turns, 4, "a missing argument, a wrong type, a tool that does not exist")
	require.NotNil(t, s.Finding)

	s, turns, c := play(t, "exit", nil)
	require.Len(t, turns, 1)
	require.Equal(t, "the archive has lost doc-13", s.Gap)
	findings := 0
	for _, s := range c.SubAgents {
		if s.Finding != nil {
			findings++
		}
	}
	require.Equal(t, 4, findings)
}

// A model that fails, or panics, is one gap.
func TestFailingModelIsAGap(t *testing.T) {
	s, _, _ := play(t, "energy", scripted(callbackstest.Fail(errors.New("503 no capacity"))))
	require.Nil(t, s.Finding)
	require.Contains(t, s.Gap, "503 no capacity")
	s, _, _ = play(t, "energy", scripted(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn { panic("broken") }}))
	require.Nil(t, s.Finding)
	require.Contains(t, s.Gap, "broken")
}

// Money is what the tokens cost: $0.30 and $2.50 for a million read and written.
func TestMoneyIsWhatTheTokensCost(t *testing.T) {
	_, _, c := play(t, "energy", nil)
	for _, s := range c.SubAgents {
		require.EqualValues(t, 300*s.Spent.TokensIn+2500*s.Spent.TokensOut, s.Spent.Charged, s.Name)
		require.Positive(t, s.Spent.Charged)
	}
}

// Both orders, and any interleaving of the branches, come to the same page.
func TestPageIsTheSameInEveryOrder(t *testing.T) {
	var first string
	for _, args := range [][]string{nil, nil, {"--one-by-one"}} {
		var out strings.Builder
		require.NoError(t, run(t.Context(), args, &out))
		if first == "" {
			first = out.String()
		}
		require.Equal(t, first, out.String())
	}
}

// The page holds nothing that a terminal obeys.
func TestPageQuotesWhatAModelWrote(t *testing.T) {
	s, _, c := play(t, "energy", scripted(report(map[string]any{"answer": "\x1b[2Jgone\nSUB-AGENT", "gaps": []any{"\x07"}})))
	require.NotNil(t, s.Finding)
	var out strings.Builder
	require.NoError(t, pages.ExecuteTemplate(&out, "page.tmpl", c))
	require.NotContains(t, out.String(), "\x1b")
	require.NotContains(t, out.String(), "\x07")
	require.Contains(t, out.String(), `"\x1b[2Jgone\nSUB-AGENT" (low confidence; from [])`)
}

// The set-up has nothing that a guard finds wanting.
func TestCheckFindsNothing(t *testing.T) {
	c, cfg := load(), agent.Config{Name: "committee"}
	for _, s := range c.SubAgents {
		cfg.SubAgents = append(cfg.SubAgents, c.agent(s, offline(), spend()))
	}
	require.Empty(t, callbacks.Check(must(parallelagent.New(parallelagent.Config{AgentConfig: cfg}))))
}

// With --model the same page comes over the wire of either protocol, and no body that is
// sent holds more than its sub-agent may know.
func TestModelOverBothProtocols(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	t.Setenv("OPENAI_API_KEY", standin.Key)
	for name, serve := range map[string]func(testing.TB, model.LLM, standin.Fault) *standin.Server{"gemini-2.5-flash": standin.Gemini, "openai:gpt-5-mini": standin.OpenAI} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, offline(), nil)
			var offlinePage, page strings.Builder
			require.NoError(t, run(t.Context(), nil, &offlinePage))
			require.NoError(t, run(t.Context(), []string{"--model", name, "--base-url", server.URL}, &page))
			_, want, _ := strings.Cut(offlinePage.String(), "SUB-AGENT   ANSWER")
			_, got, _ := strings.Cut(page.String(), "SUB-AGENT   ANSWER")
			require.Equal(t, want, got)
			c := load()
			require.Len(t, server.Bodies(), 15)
			for _, body := range server.Bodies() {
				received := string(body)
				i := slices.IndexFunc(c.SubAgents, func(s *subAgent) bool { return strings.Contains(received, s.Question) })
				require.GreaterOrEqual(t, i, 0)
				guess := map[string]string{"licence": "doc-04"}[c.SubAgents[i].Name] // its own word
				isolated(t, c, c.SubAgents[i], received, guess)
			}
		})
	}
}

// A run that is interrupted prints what there is, and says so.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	hangs := scripted(callbackstest.Turn{Do: func(ctx context.Context, _ *model.LLMRequest) callbackstest.Turn {
		interrupt()
		<-ctx.Done()
		return callbackstest.Fail(ctx.Err())
	}})
	c, err := ask(ctx, only{offline(), "energy", hangs}, spend(), false)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, c.SubAgents, 5)
	require.NoError(t, pages.ExecuteTemplate(io.Discard, "page.tmpl", c))
}

func TestFlags(t *testing.T) {
	var out strings.Builder
	require.ErrorIs(t, run(t.Context(), []string{"--help"}, &out), flag.ErrHelp)
	require.Contains(t, out.String(), "go run ./examples/committee")
	require.Contains(t, out.String(), "one-by-one")
	require.Error(t, run(t.Context(), []string{"--model", "gpt-5"}, io.Discard))
	require.Error(t, run(t.Context(), []string{"--base-url", "http://localhost:1"}, io.Discard), "the offline model has no server")
	require.ErrorIs(t, run(t.Context(), []string{"--models", "x"}, io.Discard), errUsage)
	require.ErrorIs(t, run(t.Context(), []string{"bogus"}, io.Discard), errUsage)
}

func TestMain(m *testing.M) {
	if os.Getenv("COMMITTEE_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// exit runs the program in a process of its own.
func exit(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "COMMITTEE_MAIN=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code says it
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// Without a finding the program fails and says why; with one it does not. Wrong arguments
// are refused before anything is asked.
func TestExitCode(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", standin.Key)
	wrong := standin.OpenAI(t, offline(), func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		_, _ = w.Write([]byte(`{"hello": "world"}`)) // another protocol
		return true
	})
	server := []string{"--model", "openai:gpt-5-mini", "--base-url", wrong.URL}
	code, out, stderr := exit(t, server...)
	require.Equal(t, 1, code)
	require.Equal(t, 5, strings.Count(out, "no finding"))
	require.Regexp(t, `^no sub-agent came to a finding: "\w`, stderr)

	asked := len(wrong.Bodies())
	for _, args := range [][]string{{"bogus"}, {"--bogus"}} {
		code, _, stderr = exit(t, append(server, args...)...)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "see --help")
	}
	require.Len(t, wrong.Bodies(), asked)
	code, out, _ = exit(t, "--help")
	require.Zero(t, code)
	require.Contains(t, out, "GEMINI_API_KEY")
	code, _, stderr = exit(t)
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
}
