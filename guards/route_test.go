// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// priced is a scripted model under a name of its own, which requests must ask for.
type priced struct {
	*callbackstest.Model
	name string
}

func (p priced) Name() string { return p.name }

func (p priced) asked(t *testing.T) {
	t.Helper()
	require.Empty(t, p.Faults())
	for _, req := range p.Requests() {
		require.Equal(t, p.name, req.Model)
	}
}

func namedModel(name string, turns ...callbackstest.Turn) priced {
	return priced{callbackstest.Script(turns...), name}
}

func TestRouteMatrix(t *testing.T) {
	for name, tc := range map[string]struct {
		o          func(cheap model.LLM) guards.RouteOptions
		own, cheap []callbackstest.Turn
		ownCalls   int
		cheapCalls int
		answer     string
		streamed   string
	}{
		"the tool turns are the cheaper model's, the answer is not": {
			func(c model.LLM) guards.RouteOptions { return guards.RouteOptions{Cheap: c} },
			[]callbackstest.Turn{callbackstest.Stream("own ", "answer")},
			[]callbackstest.Turn{callbackstest.Call("lookup", nil), callbackstest.Stream("cheap ", "answer")},
			1, 2, "own answer", "own answer",
		},
		"its answer stands where that is said": {
			func(c model.LLM) guards.RouteOptions { return guards.RouteOptions{Cheap: c, KeepAnswer: true} },
			nil,
			[]callbackstest.Turn{callbackstest.Call("lookup", nil), callbackstest.Stream("cheap ", "answer")},
			0, 2, "cheap answer", "cheap answer",
		},
		"its answer stands where the better one can't be had": {
			func(c model.LLM) guards.RouteOptions { return guards.RouteOptions{Cheap: c} },
			[]callbackstest.Turn{callbackstest.Fail(genai.APIError{Code: 503})},
			[]callbackstest.Turn{callbackstest.Call("lookup", nil), callbackstest.Stream("cheap ", "answer")},
			1, 2, "cheap answer", "cheap answer",
		},
		"what it says beside a call is handed on": {
			func(c model.LLM) guards.RouteOptions { return guards.RouteOptions{Cheap: c} },
			[]callbackstest.Turn{callbackstest.Say("own answer")},
			[]callbackstest.Turn{
				{Chunks: []string{"let me ", "look"}, Parts: callbackstest.Call("lookup", nil).Parts},
				callbackstest.Say("cheap answer"),
			},
			1, 2, "own answer", "let me look",
		},
		"the own model takes a turn that the cheaper one fails": {
			func(c model.LLM) guards.RouteOptions { return guards.RouteOptions{Cheap: c} },
			[]callbackstest.Turn{callbackstest.Call("lookup", nil), callbackstest.Say("own answer")},
			[]callbackstest.Turn{callbackstest.Fail(errors.New("down")), callbackstest.Fail(errors.New("down"))},
			2, 2, "own answer", "",
		},
		"by a predicate": {
			func(c model.LLM) guards.RouteOptions {
				return guards.RouteOptions{Cheap: c, UseCheap: func(t guards.RouteTurn) bool { return t.Agent == "guarded" && len(t.Request.Contents) > 1 }, KeepAnswer: true}
			},
			[]callbackstest.Turn{callbackstest.Call("lookup", nil)},
			[]callbackstest.Turn{callbackstest.Say("cheap answer")},
			1, 1, "cheap answer", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var cheap priced
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					cheap = namedModel("cheap", tc.cheap...)
					return []callbacks.Guard{tc.o(cheap).Guard()}
				},
				Model:   func() *callbackstest.Model { return callbackstest.Script(tc.own...) },
				Refused: func(c callbackstest.Cell) bool { return c.Form == callbackstest.FormPlugin },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					cheap.asked(t)
					require.Equal(t, tc.ownCalls, tr.Model.Calls())
					require.Equal(t, tc.cheapCalls, cheap.Calls())
					if tr.Topology != callbackstest.TopologyAgentTool {
						require.Contains(t, texts(tr.Stored), tc.answer)
					}
					if tr.Streaming && tc.streamed != "" && tr.Topology == callbackstest.TopologyLLM {
						partial := ""
						for _, ev := range tr.Events {
							if ev.Partial {
								partial += ev.Content.Parts[0].Text
							}
						}
						require.Equal(t, tc.streamed, partial, "nothing was streamed that was thrown away")
					}
				},
			}.Run(t)
		})
	}
}

// A route's predicate sees the calls left, the last one and a target that was passed.
func TestRouteChoosesByWhatIsLeft(t *testing.T) {
	own := namedModel("own", callbackstest.Call("lookup", nil).WithUsage(10, 10), callbackstest.Call("lookup", nil).WithUsage(10, 10), callbackstest.Call("lookup", nil).WithUsage(10, 10), callbackstest.Say("answer").WithUsage(10, 10))
	var seen []guards.RouteTurn
	route := guards.RouteOptions{Cheap: namedModel("cheap"), UseCheap: func(t guards.RouteTurn) bool {
		t.Request = nil
		seen = append(seen, t)
		return false
	}}.Guard()
	spend := guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Target: usd(t, "0.0005"), Hard: usd(t, "10")}, Prices: routePrices(t)})
	out := play(t, newAgent(t, "a", own, lookupTools(), route, guards.CallBudget(4), guards.Landing(), spend))
	require.NoError(t, out.err)
	require.Len(t, seen, 4)
	for i, turn := range seen {
		require.Equal(t, "a", turn.Agent)
		require.EqualValues(t, 3-i, turn.CallsLeft)
		require.Equal(t, i == 3, turn.Last)
		require.Equal(t, i < 3, turn.Tools, "Landing took the tools away")
		require.Equal(t, i >= 2, turn.TargetPassed, "three calls of 0.0003 USD each")
	}
}

// Past the target every turn is the cheaper model's, the answer too; each call is counted
// and paid for at the price of the model that made it.
func TestRoutePaysEachModelItsPrice(t *testing.T) {
	for name, tc := range map[string]struct {
		target string
		want   map[string]string
		answer string
	}{
		"under the target": {"1", map[string]string{"cheap": "0.00033", "own": "0.0003"}, "own answer"},
		"past the target":  {"0.0002", map[string]string{"cheap": "0.00033"}, "cheap answer"},
	} {
		t.Run(name, func(t *testing.T) {
			own, cheap := namedModel("own", callbackstest.Say("own answer").WithUsage(10, 10)), namedModel("cheap", callbackstest.Call("lookup", nil).WithUsage(100, 100), callbackstest.Say("cheap answer").WithUsage(10, 10))
			spend := guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Target: usd(t, tc.target), Hard: usd(t, "10")}, Prices: routePrices(t)})
			out := play(t, newAgent(t, "a", own, lookupTools(), guards.Route(cheap), guards.CallBudget(6), spend))
			require.NoError(t, out.err)
			require.Equal(t, []string{tc.answer}, texts(out.events))
			got := map[string]string{}
			for _, line := range guards.Records(callbackstest.InRun(t, out.run)).Spent() {
				got[line.What] = line.Charged.String()
			}
			for what, charged := range tc.want {
				require.Equal(t, usd(t, charged).String(), got[what], what)
			}
			require.Len(t, got, len(tc.want))
		})
	}
}

// A refusal is no fault of the model: no other is asked.
func TestRouteDoesNotFallBackOnARefusal(t *testing.T) {
	spare := namedModel("spare", callbackstest.Say("answer"))
	out := play(t, newAgent(t, "a", endless(), lookupTools(), guards.RouteOptions{Fallback: []model.LLM{spare}}.Guard(), guards.CallBudget(2)))
	require.NoError(t, out.err)
	require.Zero(t, spare.Calls())
	m := callbackstest.Script(callbackstest.Fail(errors.New("down"))).Repeat()
	out = play(t, newAgent(t, "a", m, nil, guards.RouteOptions{Fallback: []model.LLM{spare}}.Guard(), guards.CallBudget(1)))
	require.NoError(t, out.err)
	require.Zero(t, spare.Calls(), "the one call of the budget was made")
	require.Equal(t, []string{"[guard] Model call budget exceeded: agent ended."}, texts(out.events))
}

// What may be the answer is the agent's own model's from the start: a turn without tools,
// and the last call of a budget.
func TestRouteLeavesTheAnswerToTheOwnModel(t *testing.T) {
	for name, tc := range map[string]struct {
		tools []tool.Tool
		more  []callbacks.Guard
	}{
		"no tools":      {nil, nil},
		"the last call": {lookupTools(), []callbacks.Guard{guards.CallBudget(1), guards.Landing()}},
	} {
		t.Run(name, func(t *testing.T) {
			own, cheap := callbackstest.Script(callbackstest.Say("own answer")), callbackstest.Script()
			out := play(t, newAgent(t, "a", own, tc.tools, append([]callbacks.Guard{guards.Route(cheap)}, tc.more...)...))
			require.NoError(t, out.err)
			require.Equal(t, []string{"own answer"}, texts(out.events))
			require.Zero(t, cheap.Calls())
		})
	}
}

// A run that is called off doesn't wait for a model that does not listen, and asks no other.
func TestRouteEndsWithItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf, spare := deafModel{make(chan struct{})}, namedModel("spare", callbackstest.Say("answer"))
		r, err := runnerOf(newAgent(t, "a", deaf, nil, guards.RouteOptions{Fallback: []model.LLM{spare}, FirstChunk: 10 * time.Second}.Guard()))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		var failed error
		for _, err := range r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{}) {
			failed = err
		}
		require.ErrorIs(t, failed, context.DeadlineExceeded)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Zero(t, spare.Calls())
		close(deaf.released)
	})
}

// deafModel answers nothing and pays no heed to its context.
type deafModel struct{ released chan struct{} }

func (deafModel) Name() string { return "deaf" }

func (m deafModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(func(*model.LLMResponse, error) bool) { <-m.released }
}

// Thought signatures go to another model as they are, unless the user says what that
// model takes in their place; the stored history keeps them.
func TestRouteThoughtSignatures(t *testing.T) {
	signed := func(sig string) callbackstest.Turn {
		part := genai.NewPartFromFunctionCall("lookup", nil)
		part.ThoughtSignature = []byte(sig)
		return callbackstest.Turn{Parts: []*genai.Part{part}}
	}
	for name, tc := range map[string]struct {
		f    func(from, to string, sig []byte) []byte
		want []string
	}{
		"kept":     {nil, []string{"of cheap", "of own"}},
		"dropped":  {func(_, _ string, _ []byte) []byte { return nil }, []string{"", "of own"}},
		"replaced": {func(from, to string, _ []byte) []byte { return []byte(from + " to " + to) }, []string{"cheap to own", "of own"}},
	} {
		t.Run(name, func(t *testing.T) {
			own := namedModel("own", signed("of own"), callbackstest.Say("answer"))
			cheap := namedModel("cheap", signed("of cheap"))
			n := 0
			route := guards.RouteOptions{Cheap: cheap, Signature: tc.f, UseCheap: func(guards.RouteTurn) bool { n++; return n == 1 }}.Guard()
			out := play(t, newAgent(t, "a", own, lookupTools(), route))
			require.NoError(t, out.err)
			var got []string
			for _, c := range own.Requests()[1].Contents {
				for _, p := range c.Parts {
					if p.FunctionCall != nil {
						got = append(got, string(p.ThoughtSignature))
					}
				}
			}
			require.Equal(t, tc.want, got)
			require.Equal(t, "of cheap", string(out.events[0].Content.Parts[0].ThoughtSignature))
		})
	}
}

func TestRouteNonsense(t *testing.T) {
	m := callbackstest.Script()
	for name, g := range map[string]callbacks.Guard{
		"no model":       guards.Route(nil),
		"nothing":        guards.RouteOptions{}.Guard(),
		"a nil fallback": guards.RouteOptions{Fallback: []model.LLM{nil}}.Guard(),
		"negative":       guards.RouteOptions{Cheap: m, FirstChunk: -1}.Guard(),
	} {
		require.Error(t, callbacks.New(g).Err(), name)
	}
	spend := guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: 1}})
	require.ErrorIs(t, callbacks.New(spend, guards.Route(m)).Err(), callbacks.ErrOrder, "fallbacks must be paid for")
}

func ExampleRoute() {
	cheap := namedModel("small", callbackstest.Call("lookup", nil), callbackstest.Say("a quick answer"))
	own := namedModel("large", callbackstest.Turn{Do: func(context.Context, *model.LLMRequest) callbackstest.Turn {
		return callbackstest.Say("a good answer")
	}})
	chain := callbacks.New(guards.Route(cheap), guards.CallBudget(6))
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: own, Tools: []tool.Tool{callbackstest.Tool("lookup")}}))
	fmt.Println("calls:", cheap.Calls(), "small,", own.Calls(), "large")
	// Output:
	// calls: lookup
	// reads: map[result:ok]
	// model: a good answer
	// calls: 2 small, 1 large
}
