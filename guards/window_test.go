// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// page is a turn that reads the n-th page.
func page(n int) callbackstest.Turn {
	return callbackstest.Call("lookup", map[string]any{"page": float64(n)})
}

func pages(n int) []callbackstest.Turn {
	turns := make([]callbackstest.Turn, 0, n+1)
	for i := range n {
		turns = append(turns, page(i))
	}
	return append(turns, callbackstest.Say("answer"))
}

// pagesIn are the pages whose calls a request holds.
func pagesIn(req *model.LLMRequest) []int {
	var out []int
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				out = append(out, int(p.FunctionCall.Args["page"].(float64)))
			}
		}
	}
	return out
}

func TestWindowMatrix(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard { return []callbacks.Guard{guards.Window(4)} },
		Model:  func() *callbackstest.Model { return callbackstest.Script(pages(9)...) },
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			var kept [][]int
			for _, req := range tr.Model.Requests() {
				require.Equal(t, "question", req.Contents[0].Parts[0].Text)
				kept = append(kept, pagesIn(req))
			}
			require.Equal(t, [][]int{
				nil,
				{0},
				{0, 1},
				{0, 1, 2},
				{0, 1, 2, 3},
				{2, 3, 4},
				{2, 3, 4, 5},
				{4, 5, 6},
				{4, 5, 6, 7},
				{6, 7, 8},
			}, kept, "cut rarely, and deep")
			if tr.Topology != callbackstest.TopologyAgentTool {
				calls := 0
				for _, ev := range tr.Stored {
					calls += len(functionCalls(ev))
				}
				require.Equal(t, 9, calls, "the session keeps everything")
			}
		},
	}.Run(t)
}

// tokensOf is how many tokens the provider of these tests counts for a prompt.
func tokensOf(req *model.LLMRequest) int32 {
	n := 0
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			n += len(p.Text)
			if p.FunctionCall != nil {
				n += len(fmt.Sprint(p.FunctionCall.Name, p.FunctionCall.Args))
			}
			if p.FunctionResponse != nil {
				n += len(fmt.Sprint(p.FunctionResponse.Name, p.FunctionResponse.Response))
			}
		}
	}
	if req.Config.SystemInstruction != nil {
		n += len(req.Config.SystemInstruction.Parts[0].Text)
	}
	raw, err := json.Marshal(req.Config.Tools)
	if err != nil {
		panic(err)
	}
	return int32((n + len(raw)) / 4)
}

func TestWindowTokensMatrix(t *testing.T) {
	long := map[string]any{"result": strings.Repeat("x", 400)}
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{guards.WindowOptions{Tokens: 1000}.Guard()}
		},
		Tools: func() []tool.Tool { return []tool.Tool{callbackstest.ToolReturning("lookup", long, nil)} },
		Model: func() *callbackstest.Model {
			n := 0
			return callbackstest.Script(callbackstest.Turn{Do: func(_ context.Context, req *model.LLMRequest) callbackstest.Turn {
				turn := page(n)
				if n++; n == 12 {
					turn = callbackstest.Stream("ans", "wer")
				}
				turn = turn.WithUsage(tokensOf(req), 10)
				return turn
			}}).Repeat()
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			cuts := 0
			for i, req := range tr.Model.Requests() {
				require.LessOrEqual(t, tokensOf(req), int32(1000))
				if i > 0 && len(pagesIn(req)) <= len(pagesIn(tr.Model.Requests()[i-1])) {
					cuts++
				}
			}
			require.Len(t, tr.Model.Requests(), 12)
			want := 2
			if tr.Topology.Graph() {
				want = 1 // ADK sends an agent in a node its input and no more of the conversation
			}
			require.Equal(t, want, cuts)
		},
	}.Run(t)
}

// requests asserts what every request of a windowed agent must be.
type requests struct {
	t        testing.TB
	turns    int
	tokens   int32
	first    string
	last     []string
	cuts     int
	requests int
}

func (r *requests) see(req *model.LLMRequest) {
	require.NoError(r.t, callbackstest.CheckRequest(req))
	r.requests++
	if r.first != "" {
		require.Equal(r.t, r.first, req.Contents[0].Parts[0].Text, "the first message stays")
	}
	turns := countTurns(req.Contents)
	if r.turns > 0 {
		// Beside the turns stand the first message and the question of this run.
		require.LessOrEqual(r.t, turns, r.turns+2)
	}
	if r.tokens > 0 && turns > 3 {
		require.LessOrEqual(r.t, tokensOf(req), r.tokens)
	}
	now := make([]string, len(req.Contents))
	for i, c := range req.Contents {
		raw, err := json.Marshal(c)
		require.NoError(r.t, err)
		now[i] = string(raw)
	}
	if len(now) < len(r.last) || !slices.Equal(now[:len(r.last)], r.last) {
		r.cuts++
	}
	r.last = now
}

func countTurns(contents []*genai.Content) int {
	n := 0
	for _, c := range contents {
		if c.Parts[0].FunctionResponse == nil {
			n++
		}
	}
	return n
}

// Random sessions of ADK itself: parallel calls, long-running tools that answer late or
// never, streams, several agents, several runs. Every request is one a provider accepts,
// within the bound, with the first message, and begins with the bytes of the one before
// unless the history was cut there.
func TestWindowHoldsInRandomSessions(t *testing.T) {
	histories := 10_000
	if testing.Short() || raceDetector {
		histories = 1000
	}
	var total, cuts, sessions, cutSessions int
	for ; total < histories; sessions++ {
		w := randomSession(t, uint64(sessions))
		total += w.requests
		cuts += w.cuts
		if w.cuts > 0 {
			cutSessions++
		}
	}
	t.Logf("%d histories in %d sessions, %d cuts in %d sessions", total, sessions, cuts, cutSessions)
	require.Greater(t, cutSessions, sessions/4)
	require.Less(t, cuts, total/3, "the prefix is stable between cuts")
}

func randomSession(t *testing.T, seed uint64) *requests {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 8))
	o := guards.WindowOptions{Turns: 2 + rnd.IntN(6)}
	seen := &requests{t: t, turns: o.Turns, first: "question 0"}
	if rnd.IntN(2) == 0 {
		o = guards.WindowOptions{Tokens: 550 + rnd.IntN(300)}
		seen.turns, seen.tokens = 0, int32(o.Tokens)
	}
	window := o.Guard()
	topology := rnd.IntN(4)
	pending := map[string]string{} // ids of calls that wait for a late answer
	tools := []tool.Tool{
		callbackstest.Tool("lookup"),
		callbackstest.ToolFunc("read", func(_ agent.Context, args map[string]any) (map[string]any, error) {
			return map[string]any{"text": strings.Repeat("x", 80*int(args["n"].(float64)))}, nil
		}),
		callbackstest.ToolReturning("slow", nil, nil).LongRunning(),
		callbackstest.StreamingTool("stream", "a", "b"),
	}
	mk := func(name string, watch *requests, window callbacks.Guard) agent.Agent {
		steps := 0
		m := callbackstest.Script(callbackstest.Turn{Do: func(_ context.Context, req *model.LLMRequest) callbackstest.Turn {
			if watch != nil {
				watch.see(req)
			}
			return randomTurn(rnd, &steps).WithUsage(tokensOf(req), 5)
		}}).Repeat()
		t.Cleanup(func() {
			if faults := m.Faults(); len(faults) > 0 {
				t.Errorf("seed %d: %v", seed, faults)
			}
		})
		gs := []callbacks.Guard{window}
		chain := callbacks.New(gs...)
		a, err := chain.NewAgent(llmagent.Config{Name: name, Model: m, Tools: tools, Instruction: strings.Repeat("Read. ", 100), DisallowTransferToParent: true, DisallowTransferToPeers: true})
		require.NoError(t, err)
		return a
	}
	var root agent.Agent
	switch topology {
	case 0, 1:
		root = mk("a", seen, window)
	case 2:
		root = sequence(t, mk("a", nil, window), mk("b", seen, window))
	default:
		root = sequence(t, mk("a", seen, window), mk("b", nil, window), mk("c", nil, window))
	}
	r, err := runner.New(runnerConfig(root, nil))
	require.NoError(t, err)
	mode := agent.StreamingModeNone
	if rnd.IntN(3) == 0 {
		mode = agent.StreamingModeSSE
	}
	for n := range 1 + rnd.IntN(5) {
		msg := genai.NewContentFromText(fmt.Sprint("question ", n), genai.RoleUser)
		for id, name := range pending {
			// A late answer, to an LLM agent: ADK finds the call by the agent that made it.
			if topology <= 1 && rnd.IntN(2) == 0 {
				part := genai.NewPartFromFunctionResponse(name, map[string]any{"late": true})
				part.FunctionResponse.ID = id
				msg = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{part}}
				delete(pending, id)
				break
			}
		}
		ctx, run := callbacks.Start(t.Context())
		for ev, err := range run.Events(r.Run(ctx, "u", "s", msg, agent.RunConfig{StreamingMode: mode})) {
			require.NoError(t, err, "seed %d", seed)
			for _, id := range ev.LongRunningToolIDs {
				pending[id] = "slow"
			}
		}
		run.Close()
	}
	return seen
}

// randomTurn makes calls, several at once at times, until it has had enough.
func randomTurn(rnd *rand.Rand, steps *int) callbackstest.Turn {
	*steps++
	if rnd.IntN(5) == 0 || *steps%9 == 0 {
		return callbackstest.Stream("an ", "answer")
	}
	var turns []callbackstest.Turn
	for range 1 + rnd.IntN(3) {
		name := []string{"lookup", "read", "read", "stream", "slow"}[rnd.IntN(5)]
		turns = append(turns, callbackstest.Call(name, map[string]any{"n": float64(rnd.IntN(3))}))
	}
	turn := callbackstest.Calls(turns...)
	if rnd.IntN(4) == 0 {
		turn.Parts = append([]*genai.Part{{Text: "hmm", Thought: true}}, turn.Parts...)
	}
	return turn
}

// Whatever a request holds, what is left of it is one a provider accepts.
func TestWindowMendsBrokenHistories(t *testing.T) {
	for seed := range 5000 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 9))
		var contents []*genai.Content
		for range rnd.IntN(12) {
			role := genai.Role(genai.RoleModel)
			if rnd.IntN(2) == 0 {
				role = genai.RoleUser
			}
			var parts []*genai.Part
			for range rnd.IntN(4) {
				name := []string{"a", "b"}[rnd.IntN(2)]
				switch {
				case rnd.IntN(3) == 0:
					parts = append(parts, genai.NewPartFromText("text"))
				case role == genai.RoleUser:
					parts = append(parts, genai.NewPartFromFunctionResponse(name, map[string]any{"n": 1.0}))
				default:
					parts = append(parts, genai.NewPartFromFunctionCall(name, map[string]any{"n": 1.0}))
				}
			}
			contents = append(contents, &genai.Content{Role: string(role), Parts: parts})
		}
		before, err := json.Marshal(contents)
		require.NoError(t, err)
		req := request(contents...)
		require.Nil(t, callbackstest.BeforeModel(t, guards.Window(1+rnd.IntN(5)), req))
		require.NoError(t, callbackstest.CheckRequest(req), "seed %d: %s", seed, before)
		after, err := json.Marshal(contents)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "nothing shared was changed")
	}
}

// A session that goes on: the first message and the present question stay, however many
// tool turns come after it.
func TestWindowKeepsTheQuestionOfThisRun(t *testing.T) {
	m := callbackstest.Script(append(pages(0), pages(7)...)...)
	r, err := runner.New(runnerConfig(newAgent(t, "a", m, lookupTools(), guards.Window(2)), nil))
	require.NoError(t, err)
	for _, q := range []string{"who is Acme?", "and Kervalec?"} {
		for _, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText(q, genai.RoleUser), agent.RunConfig{}) {
			require.NoError(t, err)
		}
	}
	require.Empty(t, m.Faults())
	last := m.Requests()[m.Calls()-1]
	require.Equal(t, "who is Acme?", last.Contents[0].Parts[0].Text)
	require.Equal(t, "and Kervalec?", last.Contents[1].Parts[0].Text)
	require.Len(t, last.Contents, 2+2*2)
}

// The first request of a further run is cut where that of the run before would have been.
func TestWindowCutsAFurtherRunAtTheSamePlace(t *testing.T) {
	svc := session.InMemoryService()
	var requests []*model.LLMRequest
	for range 2 { // a process each
		m := callbackstest.Script(pages(5)...)
		cfg := runnerConfig(newAgent(t, "a", m, lookupTools(), guards.Window(4)), nil)
		cfg.SessionService = svc
		r, err := runner.New(cfg)
		require.NoError(t, err)
		for _, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
			require.NoError(t, err)
		}
		requests = append(requests, m.Requests()...)
	}
	for i := 1; i < len(requests); i++ {
		require.LessOrEqual(t, countTurns(requests[i].Contents), 4+2)
		require.Equal(t, "question", requests[i].Contents[0].Parts[0].Text)
	}
}

func TestWindowSummary(t *testing.T) {
	windowed := func(t *testing.T, summariser model.LLM, more ...callbacks.Guard) (*callbackstest.Model, played) {
		m := callbackstest.Script(pages(6)...)
		gs := append([]callbacks.Guard{guards.WindowOptions{Turns: 2, Summarise: summariser}.Guard()}, more...)
		return m, play(t, newAgent(t, "a", m, lookupTools(), gs...))
	}
	said := func(n int) string { return fmt.Sprintf("Summary of what came before:\nsummary %d", n) }
	t.Run("takes the place of what was cut off", func(t *testing.T) {
		n := 0
		s := callbackstest.Script(callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
			n++
			return callbackstest.Say(fmt.Sprint("summary ", n))
		}}).Repeat()
		m, out := windowed(t, s, guards.CallBudget(20))
		require.NoError(t, out.err)
		require.Equal(t, "answer", texts(out.events)[0])
		require.Empty(t, m.Faults())
		require.Equal(t, 4, s.Calls(), "once a cut")
		asked := s.Requests()[1].Contents[0].Parts[0].Text
		require.Contains(t, asked, "summary 1", "on top of the summary before")
		require.Contains(t, asked, `model calls lookup {"page":1}`)
		require.Contains(t, asked, `lookup returns {"result":"ok"}`)
		require.NotContains(t, asked, `"page":0`)
		last := m.Requests()[6]
		require.Equal(t, "question", last.Contents[0].Parts[0].Text)
		require.Equal(t, said(4), last.Contents[1].Parts[0].Text)
		require.Equal(t, int32(1024), s.Requests()[0].Config.MaxOutputTokens)
		require.Contains(t, asked, "Summarise", "the model is told what to do")
	})
	for name, turn := range map[string]callbackstest.Turn{
		"an error": callbackstest.Fail(errors.New("503")), "nothing": callbackstest.Say(" "), "a cut stream": {Cut: true},
	} {
		t.Run("fails to plain trimming: "+name, func(t *testing.T) {
			m, out := windowed(t, callbackstest.Script(turn).Repeat())
			require.NoError(t, out.err)
			require.Equal(t, 7, m.Calls())
			for _, req := range m.Requests() {
				require.NotContains(t, wordsOf(req), "Summary")
			}
		})
	}
	t.Run("is counted", func(t *testing.T) {
		s := callbackstest.Script(callbackstest.Say("summary")).Repeat()
		m, out := windowed(t, s, guards.CallBudget(6))
		require.NoError(t, out.err)
		require.Equal(t, 6, m.Calls()+s.Calls())
		require.Positive(t, s.Calls())
	})
	t.Run("does not take the last call", func(t *testing.T) {
		s := callbackstest.Script(callbackstest.Say("summary")).Repeat()
		m := callbackstest.Script(page(0), page(1), page(2), callbackstest.Say("answer"))
		out := play(t, newAgent(t, "a", m, lookupTools(), guards.WindowOptions{Turns: 2, Summarise: s}.Guard(), guards.CallBudget(4), guards.Landing()))
		require.NoError(t, out.err)
		require.Zero(t, s.Calls())
		require.Equal(t, []string{"answer"}, texts(out.events))
	})
	t.Run("is paid for", func(t *testing.T) {
		s := callbackstest.Script(callbackstest.Say("summary").WithUsage(10, 10)).Repeat()
		spend := guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: scriptedPrices(t)})
		m, out := windowed(t, s, spend)
		require.NoError(t, out.err)
		lines := guards.Records(callbackstest.InRun(t, out.run)).Spent()
		require.Len(t, lines, 1)
		require.Equal(t, m.Calls()+s.Calls(), lines[0].Calls)
	})
	t.Run("is refused as a plugin", func(t *testing.T) {
		_, err := callbacks.New(guards.WindowOptions{Turns: 2, Summarise: callbackstest.Script()}.Guard()).Plugin("p")
		require.ErrorIs(t, err, callbacks.ErrForm)
	})
}

func wordsOf(req *model.LLMRequest) string {
	var sb strings.Builder
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			sb.WriteString(p.Text + "\n")
		}
	}
	return sb.String()
}

func TestWindowNonsense(t *testing.T) {
	for name, o := range map[string]guards.WindowOptions{
		"nothing":            {},
		"negative":           {Turns: -1},
		"negative tokens":    {Tokens: -1},
		"trigger beyond one": {Tokens: 10, Trigger: 1.5},
		"target at trigger":  {Tokens: 10, Trigger: 0.5, Target: 0.5},
		"target at default":  {Tokens: 10, Target: 0.9},
	} {
		require.Error(t, callbacks.New(o.Guard()).Err(), name)
	}
	require.ErrorIs(t, callbacks.New(guards.Window(3), guards.Isolate("q")).Err(), callbacks.ErrOrder)
}

func ExampleWindow() {
	m := callbackstest.Script(pages(4)...)
	chain := callbacks.New(guards.Window(2))
	ask(chain.NewAgent(llmagent.Config{Name: "reader", Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	last := m.Requests()[4]
	fmt.Println("the last request:", last.Contents[0].Parts[0].Text, "and the pages", pagesIn(last))
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// calls: lookup
	// reads: map[result:ok]
	// model: answer
	// the last request: question and the pages [2 3]
}
