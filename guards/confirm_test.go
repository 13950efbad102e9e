// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolconfirmation"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
)

var paid = map[string]any{"result": "ok"}

func refusedWith(text string) map[string]any { return map[string]any{"error": text} }

// twice gives the answer to the first question to all of them.
func twice() *approvers.Script {
	var first guards.Answer
	return approvers.NewScript(
		func(_ context.Context, q guards.Question) (guards.Answer, error) {
			first = q.Answer(true, "test")
			return first, nil
		},
		func(context.Context, guards.Question) (guards.Answer, error) { return first, nil },
	)
}

// The five ways a question ends, in five topologies, on the agent and as a plugin,
// streamed or not: two equal calls, one after the other.
func TestConfirmMatrix(t *testing.T) {
	const (
		rejected = "refused: a person said no to this call; do not make it again"
		invalid  = "refused: the approval is not valid for this call"
	)
	for name, tc := range map[string]struct {
		replies func() *approvers.Script
		reads   []map[string]any
		codes   []codes.Code
		by      string
	}{
		"approved":       {func() *approvers.Script { return approvers.NewScript(approvers.Yes, approvers.Yes) }, []map[string]any{paid, paid}, []codes.Code{"", ""}, "test"},
		"rejected":       {func() *approvers.Script { return approvers.NewScript(approvers.No, approvers.Yes) }, []map[string]any{refusedWith(rejected), paid}, []codes.Code{codes.ApprovalRejected, ""}, "test"},
		"timed out":      {func() *approvers.Script { return approvers.NewScript(approvers.Never, approvers.Yes) }, []map[string]any{refusedWith("refused: nobody approved this call in time; go on without it"), paid}, []codes.Code{codes.ApprovalTimeout, ""}, ""},
		"answered twice": {twice, []map[string]any{paid, refusedWith(invalid)}, []codes.Code{"", codes.ApprovalInvalid}, "test"},
		"answered with other arguments": {func() *approvers.Script {
			return approvers.NewScript(func(_ context.Context, q guards.Question) (guards.Answer, error) {
				q.Args["to"] = "Mallory" // what the approver does with its copy reaches nobody
				a := q.Answer(true, "test")
				a.Call = "another call"
				return a, nil
			}, approvers.Yes)
		}, []map[string]any{refusedWith(invalid), paid}, []codes.Code{codes.ApprovalInvalid, ""}, "test"},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryCell(t, func() callbackstest.Matrix {
				fake, script := callbackstest.Tool("pay"), tc.replies()
				pay := callbackstest.Call("pay", map[string]any{"to": "Acme"})
				return callbackstest.Matrix{
					Guards: func() []callbacks.Guard { return []callbacks.Guard{guards.Confirm(script, "pay")} },
					Tools:  func() []tool.Tool { return []tool.Tool{fake} },
					Model:  func() *callbackstest.Model { return callbackstest.Script(pay, pay, callbackstest.Say("done")) },
					Check: func(t *testing.T, tr *callbackstest.Trial) {
						require.NoError(t, tr.Err)
						require.Equal(t, callbacks.StatusDone, tr.Run.Outcome().Status)
						ran := 0
						for i, want := range tc.reads {
							turn := tr.Model.Requests()[i+1].Contents
							require.Equal(t, want, turn[len(turn)-1].Parts[0].FunctionResponse.Response)
							if want["error"] == nil {
								ran++
							}
						}
						require.Len(t, fake.Calls(), ran, "the tool runs where a person approved it and nowhere else")
						for _, args := range fake.Calls() {
							require.Equal(t, map[string]any{"to": "Acme"}, args)
						}
						require.Len(t, script.Questions(), 2, "each call is asked about")
						decisions := guards.Records(callbackstest.InRun(t, tr.Run)).Decisions()
						require.Len(t, decisions, 2)
						require.Equal(t, tc.by, decisions[0].By)
						var got []codes.Code
						for _, ev := range tr.Told {
							if ev.Step == callbacks.StepTool {
								got = append(got, ev.Code)
								if ev.Code != "" {
									require.Equal(t, "confirm", ev.Guard)
								}
							}
						}
						require.Equal(t, tc.codes, got)
					},
				}
			})
		})
	}
}

func confirmed(t *testing.T, m *callbackstest.Model, tools []tool.Tool, o guards.ConfirmOptions, more ...callbacks.Guard) played {
	t.Helper()
	return play(t, newAgent(t, "buyer", m, tools, append([]callbacks.Guard{o.Guard()}, more...)...))
}

func payTo(to string, amount float64) callbackstest.Turn {
	return callbackstest.Call("pay", map[string]any{"to": to, "amount": amount})
}

func TestConfirmAlways(t *testing.T) {
	for name, tc := range map[string]struct {
		args  []string
		asked int
		bound map[string]any
	}{
		"all arguments":    {nil, 3, map[string]any{"to": "Acme", "amount": 1.0}},
		"one argument":     {[]string{"to"}, 2, map[string]any{"to": "Acme"}},
		"whatever they be": {[]string{}, 1, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			fake := callbackstest.Tool("pay")
			script := approvers.NewScript(approvers.Always, approvers.Always, approvers.Always)
			m := callbackstest.Script(payTo("Acme", 1), payTo("Acme", 1), payTo("Acme", 2), payTo("Kervalec", 1), callbackstest.Say("done"))
			out := confirmed(t, m, []tool.Tool{fake}, guards.ConfirmOptions{Approver: script, Tools: []string{"pay"}, AlwaysArgs: tc.args})
			require.NoError(t, out.err)
			require.Len(t, fake.Calls(), 4)
			require.Len(t, script.Questions(), tc.asked)
			require.Equal(t, tc.bound, script.Questions()[0].Always)
			decisions := guards.Records(callbackstest.InRun(t, out.run)).Decisions()
			require.Len(t, decisions, 4)
			require.Equal(t, tc.bound, decisions[0].Always, "it says for which arguments")
			require.Equal(t, guards.DecisionStanding, decisions[1].Outcome)
		})
	}
	t.Run("a key in another case is the same argument", func(t *testing.T) {
		fake := callbackstest.Tool("pay")
		script := approvers.NewScript(approvers.Always, approvers.No)
		pay := func(args map[string]any) callbackstest.Turn { return callbackstest.Call("pay", args) }
		m := callbackstest.Script(
			pay(map[string]any{"to": "Acme"}), pay(map[string]any{"to": "Acme", "To": "Mallory"}), pay(map[string]any{"TO": "Mallory"}),
			pay(map[string]any{"to": "Acme", "amount": 2.0}), callbackstest.Say("done"))
		out := confirmed(t, m, []tool.Tool{fake}, guards.ConfirmOptions{Approver: script, Tools: []string{"pay"}, AlwaysArgs: []string{"to"}})
		require.NoError(t, out.err)
		require.Equal(t, []map[string]any{{"to": "Acme"}, {"to": "Acme", "amount": 2.0}}, fake.Calls())
		require.Len(t, script.Questions(), 2, "of two names that differ in case alone nobody is asked")
		require.Equal(t, map[string]any{"TO": "Mallory"}, script.Questions()[1].Always)
	})
	t.Run("an argument that is named in another case", func(t *testing.T) {
		fake := callbackstest.Tool("pay")
		script := approvers.NewScript(approvers.Always, approvers.No)
		m := callbackstest.Script(payTo("Acme", 1), payTo("Mallory", 1), callbackstest.Say("done"))
		out := confirmed(t, m, []tool.Tool{fake}, guards.ConfirmOptions{Approver: script, Tools: []string{"pay"}, AlwaysArgs: []string{"To"}})
		require.NoError(t, out.err)
		require.Len(t, fake.Calls(), 1)
	})
	t.Run("another run is asked anew", func(t *testing.T) {
		script := approvers.NewScript(approvers.Always, approvers.No)
		fake := callbackstest.Tool("pay")
		a := newAgent(t, "buyer", callbackstest.Script(payTo("Acme", 1), callbackstest.Say("done")).Repeat(), []tool.Tool{fake}, guards.Confirm(script, "pay"))
		play(t, a)
		play(t, a)
		require.Len(t, fake.Calls(), 1)
	})
}

func TestConfirmWhen(t *testing.T) {
	script, fake := approvers.NewScript(approvers.No), callbackstest.Tool("pay")
	m := callbackstest.Script(callbackstest.Calls(payTo("Acme", 5), payTo("Acme", 500)), callbackstest.Say("done"))
	out := confirmed(t, m, []tool.Tool{fake}, guards.ConfirmOptions{Approver: script, When: func(s callbacks.Step) bool {
		return s.Agent == "buyer" && s.Tool == "pay" && s.Args["amount"].(float64) > 100
	}})
	require.NoError(t, out.err)
	require.Equal(t, []map[string]any{{"to": "Acme", "amount": 5.0}}, fake.Calls())
	require.Len(t, script.Questions(), 1)
}

func TestConfirmFailsClosed(t *testing.T) {
	for name, reply := range map[string]approvers.Reply{
		"an error": func(context.Context, guards.Question) (guards.Answer, error) {
			return guards.Answer{Approved: true}, errDSN
		},
		"a panic":         func(context.Context, guards.Question) (guards.Answer, error) { panic("no desk") },
		"an empty answer": func(context.Context, guards.Question) (guards.Answer, error) { return guards.Answer{}, nil },
		"approved, and nothing else": func(context.Context, guards.Question) (guards.Answer, error) {
			return guards.Answer{Approved: true, By: "forger"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, tl := range map[string]tool.Tool{"function": callbackstest.Tool("pay"), "stream": callbackstest.StreamingTool("pay", "ok")} {
				out := confirmed(t, callbackstest.Script(payTo("Acme", 1), callbackstest.Say("done")), []tool.Tool{tl}, guards.ConfirmOptions{Approver: approvers.NewScript(reply), Tools: []string{"pay"}})
				require.NoError(t, out.err, kind)
				require.Empty(t, tl.(interface{ Calls() []map[string]any }).Calls(), kind)
				require.NotContains(t, responses(out.events)[0]["error"], "postgres")
			}
		})
	}
	t.Run("arguments that change under the question", func(t *testing.T) {
		var theirs map[string]any
		fake := callbackstest.Tool("pay")
		script := approvers.NewScript(func(_ context.Context, q guards.Question) (guards.Answer, error) {
			theirs["to"] = "Mallory"
			return q.Answer(true, "test"), nil
		})
		a := newAgent(t, "buyer", callbackstest.Script(payTo("Acme", 1), callbackstest.Say("done")), []tool.Tool{fake},
			callbacks.Guard{Name: "outer", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
				theirs = args
				return nil, nil
			}}, guards.Confirm(script, "pay"))
		require.NoError(t, play(t, a).err)
		require.Empty(t, fake.Calls())
	})
}

// An answer that comes after the run was cancelled runs nothing.
func TestConfirmHeedsTheContext(t *testing.T) {
	fake := callbackstest.Tool("pay")
	ctx, cancel := context.WithCancel(t.Context())
	script := approvers.NewScript(func(ctx context.Context, q guards.Question) (guards.Answer, error) {
		cancel()
		<-ctx.Done()
		return q.Answer(true, "late"), nil
	})
	r, err := runnerOf(newAgent(t, "buyer", callbackstest.Script(payTo("Acme", 1), callbackstest.Say("done")), []tool.Tool{fake}, guards.Confirm(script, "pay")))
	require.NoError(t, err)
	ctx, run := callbacks.Start(ctx)
	defer run.Close()
	for range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
	}
	require.Empty(t, fake.Calls())
}

func TestConfirmInTheJournal(t *testing.T) {
	var out lines
	script := approvers.NewScript(approvers.Always, approvers.No)
	m := callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "jean@example.org"}), callbackstest.Call("pay", map[string]any{"to": "jean@example.org"}), payTo("Kervalec", 1), callbackstest.Say("done"))
	got := confirmed(t, m, []tool.Tool{callbackstest.Tool("pay")}, guards.ConfirmOptions{Approver: script, Tools: []string{"pay"}}, guards.Journal(&out))
	require.NoError(t, got.err)
	said := out.byKind(t)["approval"]
	require.Len(t, said, 3)
	entry := 0
	for e, err := range journal.Entries(strings.NewReader(out.String())) {
		require.NoError(t, err)
		if e.Kind == line.KindApproval {
			require.Equal(t, said[entry]["decision"], e.Decision)
			require.False(t, e.Answered.IsZero())
			entry++
		}
	}
	require.Equal(t, 3, entry)
	for i, want := range []string{"approved", "approved_before", "rejected"} {
		require.Equal(t, want, said[i]["decision"])
		require.Equal(t, "pay", said[i]["tool"])
		asked, err := time.Parse(time.RFC3339Nano, said[i]["asked"].(string))
		require.NoError(t, err)
		answered, err := time.Parse(time.RFC3339Nano, said[i]["answered"].(string))
		require.NoError(t, err)
		require.False(t, answered.Before(asked))
	}
	require.Equal(t, "test", said[0]["by"])
	require.Equal(t, map[string]any{"to": "[email redacted]"}, said[0]["always"])
	require.NotContains(t, said[2], "always")
	require.Less(t, strings.Index(out.String(), `"approval"`), strings.Index(out.String(), `"kind":"tool"`))
}

func TestConfirmSpeaksTheRunsLanguage(t *testing.T) {
	script := approvers.NewScript(approvers.No)
	a := newAgent(t, "buyer", callbackstest.Script(payTo("Acme", 1), callbackstest.Say("fini")), []tool.Tool{callbackstest.Tool("pay")}, guards.Confirm(script, "pay"))
	r, err := runnerOf(a)
	require.NoError(t, err)
	ctx, run := callbacks.StartOptions{Lang: "fr"}.Start(t.Context())
	defer run.Close()
	var evs []event
	for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
		require.NoError(t, err)
		evs = append(evs, ev)
	}
	require.Equal(t, "refusé : une personne a dit non à cet appel ; ne le refais pas", responses(evs)[0]["error"])
	require.Equal(t, "fr", script.Questions()[0].Lang)
	require.Equal(t, run.ID(), script.Questions()[0].Run)
}

func TestConfirmNonsense(t *testing.T) {
	script := approvers.NewScript()
	for name, g := range map[string]callbacks.Guard{
		"no approver":  guards.Confirm(nil, "pay"),
		"no tool":      guards.Confirm(script),
		"a blank tool": guards.Confirm(script, ""),
		"negative":     guards.ConfirmOptions{Approver: script, Tools: []string{"pay"}, Timeout: -1}.Guard(),
		"ADK, no tool": guards.ConfirmByADK(),
	} {
		require.Error(t, callbacks.New(g).Err(), name)
	}
	_, err := callbacks.New(guards.Confirm(script, "pya")).NewAgent(llmagent.Config{Name: "a", Tools: []tool.Tool{callbackstest.Tool("pay")}})
	require.ErrorIs(t, err, callbacks.ErrNoSuchTool)
}

// Fact 2: ADK's own confirmation, where it works, and refused where it loses the call.
func TestTrap02ADKsConfirmationIsRefusedWhereItLosesTheCall(t *testing.T) {
	t.Run("on an agent, at construction", func(t *testing.T) {
		_, err := callbacks.New(guards.ConfirmByADK("pay")).NewAgent(llmagent.Config{Name: "a", Tools: []tool.Tool{callbackstest.Tool("pay")}})
		require.ErrorIs(t, err, callbacks.ErrForm)
	})
	t.Run("under any other root, before the run", func(t *testing.T) {
		chain := callbacks.New(guards.ConfirmByADK("pay"))
		p, err := chain.Plugin("p")
		require.NoError(t, err)
		fake, m := callbackstest.Tool("pay"), callbackstest.Script(payTo("Acme", 1), callbackstest.Say("done"))
		a, err := llmagent.New(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{fake}})
		require.NoError(t, err)
		problems := callbacks.Check(sequence(t, a), chain)
		require.Equal(t, inspect.Root, problems[0].Kind)
		out := playWith(t, sequence(t, a), p, false)
		require.NoError(t, out.err)
		require.Zero(t, m.Calls())
		require.ErrorIs(t, out.run.Outcome().Err, guards.ErrNoLLMRoot)
	})
	for name, tc := range map[string]struct {
		confirmed bool
		times     int
		ran       int
		outcome   guards.DecisionOutcome
	}{
		"approved":       {true, 1, 1, guards.DecisionApproved},
		"rejected":       {false, 1, 0, guards.DecisionRejected},
		"answered twice": {true, 2, 1, guards.DecisionApproved},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := callbacks.New(guards.ConfirmByADK("pay")).Plugin("p")
			require.NoError(t, err)
			fake := callbackstest.Tool("pay")
			m := callbackstest.Script(payTo("Acme", 1), callbackstest.Say("done")).Repeat()
			a, err := llmagent.New(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{fake}})
			require.NoError(t, err)
			r, err := runner.New(runnerConfig(a, p))
			require.NoError(t, err)
			ctx, run := callbacks.Start(t.Context())
			defer run.Close()
			var question string
			send := func(msg *genai.Content) {
				for ev, err := range r.Run(ctx, "u", "s", msg, agent.RunConfig{}) {
					require.NoError(t, err)
					for _, fc := range functionCalls(ev) {
						if fc.Name == toolconfirmation.FunctionCallName {
							question = fc.ID
						}
					}
				}
			}
			send(genai.NewContentFromText("pay Acme", genai.RoleUser))
			require.NotEmpty(t, question)
			require.Empty(t, fake.Calls())
			for range tc.times {
				part := genai.NewPartFromFunctionResponse(toolconfirmation.FunctionCallName, map[string]any{"confirmed": tc.confirmed})
				part.FunctionResponse.ID = question
				send(&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{part}})
			}
			require.Len(t, fake.Calls(), tc.ran)
			decisions := guards.Records(ctx).Decisions()
			require.NotEmpty(t, decisions)
			require.Equal(t, tc.outcome, decisions[0].Outcome)
			require.Equal(t, "u", decisions[0].By)
		})
	}
}

// The hook alone: what ADK takes for an approval is refused where nobody was asked, or
// where other arguments were.
func TestConfirmByADKRefusesForgedApprovals(t *testing.T) {
	g := guards.ConfirmByADK("pay")
	ctx := callbackstest.Context(t)
	tl := callbackstest.Tool("pay")
	with := func(confirmed *toolconfirmation.ToolConfirmation) agent.Context {
		return agent.NewToolContext(ctx.WithDelta(&agent.CommonContextDelta{}), callbackstest.CallID, nil, confirmed)
	}
	yes := &toolconfirmation.ToolConfirmation{Confirmed: true}
	_, err := g.BeforeTool(with(yes), tl, map[string]any{"to": "Acme"})
	require.ErrorIs(t, err, callbacks.ErrDenied, "nobody was asked")
	_, err = g.BeforeTool(with(nil), tl, map[string]any{"to": "Acme"})
	require.NoError(t, err)
	_, err = g.BeforeTool(with(yes), tl, map[string]any{"to": "Mallory"})
	require.ErrorIs(t, err, callbacks.ErrDenied, "other arguments")
	_, err = g.BeforeTool(with(yes), tl, map[string]any{"to": "Acme"})
	require.ErrorIs(t, err, callbacks.ErrDenied, "and the question is used up")
	res, err := g.BeforeTool(with(yes), callbackstest.Tool("lookup"), nil)
	require.NoError(t, err)
	require.Nil(t, res)
}

func functionCalls(ev event) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	if ev.Content != nil {
		for _, p := range ev.Content.Parts {
			if p.FunctionCall != nil {
				out = append(out, p.FunctionCall)
			}
		}
	}
	return out
}

func ExampleConfirm() {
	jeanne := bytes.NewBufferString("no\n")
	m := callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "Acme"}), callbackstest.Say("not paid"))
	chain := callbacks.New(guards.Confirm(approvers.Terminal(jeanne, &bytes.Buffer{}, "jeanne"), "pay"))
	ask(chain.NewAgent(llmagent.Config{Name: "buyer", Model: m, Tools: []tool.Tool{callbackstest.Tool("pay")}}))
	// Output:
	// calls: pay
	// reads: map[error:refused: a person said no to this call; do not make it again]
	// model: not paid
}
