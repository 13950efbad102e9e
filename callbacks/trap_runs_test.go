// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// Fact 3: breaking off at a refusal kills siblings and followers. A denied call and an
// ended agent leave them alone; a stopped Run ends them all, each at its next step.
func TestTrap03ThreeScopesOfARefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse *callbacks.Refusal
		want   []string
		status callbacks.Status
	}{
		"deny": {callbacks.Deny("no", "no"), []string{"refused: went on", "sibling: answer", "follower: answer"}, callbacks.StatusDone},
		"end":  {callbacks.End("no", "no"), []string{"sibling: answer", "follower: answer"}, callbacks.StatusDone},
		"stop": {callbacks.Stop("no", "no"), nil, callbacks.StatusDenied},
	} {
		t.Run(name, func(t *testing.T) {
			refused := make(chan struct{})
			chain := callbacks.New(callbacks.Guard{Name: "guard", BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
				if ctx.AgentName() == "refused" {
					return nil, tc.refuse
				}
				return nil, nil
			}, Observe: func(_ context.Context, ev callbacks.Event) {
				if ev.Agent == "refused" && ev.Step == callbacks.StepTool {
					close(refused)
				}
			}})
			// The sibling has more to do when the other one is refused.
			waits := callbackstest.ToolFunc("lookup", func(ctx agent.Context, _ map[string]any) (map[string]any, error) {
				if ctx.AgentName() == "sibling" {
					<-refused
				}
				return map[string]any{"result": "ok"}, nil
			})
			mk := func(name string, turns ...callbackstest.Turn) agent.Agent {
				return build(t, chain, llmagent.Config{Name: name, Tools: []tool.Tool{waits}, Model: callbackstest.Script(turns...)})
			}
			call := callbackstest.Call("lookup", nil)
			par, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: []agent.Agent{
				mk("refused", call, callbackstest.Say("went on")), mk("sibling", call, callbackstest.Say("answer")),
			}}})
			require.NoError(t, err)
			seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{
				Name: "seq", SubAgents: []agent.Agent{par, mk("follower", callbackstest.Say("answer"))},
			}})
			require.NoError(t, err)
			out := play(t, seq, agent.StreamingModeNone)
			require.NoError(t, out.err)
			var said []string
			for _, ev := range out.events {
				for _, s := range texts([]*session.Event{ev}) {
					if !callbacks.IsRefusal(&ev.LLMResponse) {
						said = append(said, ev.Author+": "+s)
					}
				}
			}
			require.ElementsMatch(t, tc.want, said)
			require.Equal(t, tc.status, out.run.Outcome().Status)
		})
	}
}

// Fact 5: nothing a hook returns ends an unbounded LoopAgent. The three means that do
// are in TestAStoppedRunEndsAnUnboundedLoop; here each kind of refusal.
func TestTrap05AStoppedRunEndsALoopWithoutEnd(t *testing.T) {
	for _, hook := range []inspect.Hook{inspect.BeforeAgent, inspect.BeforeModel, inspect.AfterModel, inspect.BeforeTool, inspect.AfterTool} {
		for _, form := range []string{"plugin", "loop", "events"} {
			t.Run(string(hook)+"/"+form, func(t *testing.T) {
				chain := callbacks.New(refusing(hook, func() error { return callbacks.Stop("enough", "enough") }))
				cfg := llmagent.Config{
					Name: "a", Tools: []tool.Tool{callbackstest.Tool("lookup")},
					Model: callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat(),
				}
				mkLoop := loopagent.New
				a, plugins := attached(t, chain, "agent", cfg)
				switch form {
				case "plugin":
					a, plugins = attached(t, chain, "plugin", cfg)
				case "loop":
					mkLoop = callbacks.Loop
				}
				loop, err := mkLoop(loopagent.Config{AgentConfig: agent.Config{Name: "round", SubAgents: []agent.Agent{a}}})
				require.NoError(t, err)
				if form == "events" {
					require.Less(t, len(play(t, loop, agent.StreamingModeNone, plugins...).events), 20)
				} else {
					require.Less(t, len(launch(t, loop, agent.StreamingModeNone, plugins...).events), 20)
				}
			})
		}
	}
}

// P21b: a consumer that goes on after a guard's error gets the next agent's calls. A
// stopped Run refuses them, however the consumer ranges.
func TestP21bAStopIsStickyForTheRun(t *testing.T) {
	stop := callbacks.New(refusing(inspect.BeforeModel, func() error { return callbacks.Stop("enough", "enough") }))
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			m := callbackstest.Script(callbackstest.Say("answer")).Repeat()
			first, plugins := attached(t, stop, form, llmagent.Config{Name: "first", Model: m})
			// The follower's chain is another one: the Run is what stops it.
			second := build(t, callbacks.New(allow("b")), llmagent.Config{Name: "second", Model: m})
			seq, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "seq", SubAgents: []agent.Agent{first, second}}})
			require.NoError(t, err)
			l := launch(t, seq, agent.StreamingModeNone, plugins...)
			require.Zero(t, m.Calls())
			require.Equal(t, []string{"[guard] enough"}, texts(l.events))
		})
	}
}

// P28 and P10: what a hook writes into the state of a step that fails is gone, and the
// record of an artifact saved in a model hook always. The Run keeps what it was given.
func TestP28TheRunOutlivesAStepThatFails(t *testing.T) {
	key := callbacks.NewKey(func() *int { return new(int) })
	var after int
	g := callbacks.Guard{
		Name: "counts",
		BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			*key.Of(ctx)++
			return nil, ctx.State().Set("count", 1)
		},
		OnModelError: func(ctx agent.Context, _ *model.LLMRequest, _ error) (*model.LLMResponse, error) {
			after = *key.Of(ctx)
			return nil, nil
		},
	}
	l := launch(t, build(t, callbacks.New(g), llmagent.Config{Model: callbackstest.Script(callbackstest.Fail(errors.New("down")))}), agent.StreamingModeNone)
	require.Len(t, l.errs, 1)
	require.Equal(t, 1, after)
	require.NotContains(t, l.state(t), "count")
	documented(t, "doc.go", "It drops what a step without an event leaves behind")
	documented(t, "doc.go", "the record of artifacts that model hooks save, always. What must last belongs in the [Run].")
}

// P38: parallel agents share one invocation. Their steps are kept apart by branch and
// agent, those of single-turn agents called at once too.
func TestP38StepsOfOneInvocationAreKeptApart(t *testing.T) {
	for _, form := range allForms {
		t.Run("parallel/"+form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			chain := callbacks.New(allow("a"), rec.Guard())
			var subs []agent.Agent
			for i := range 6 {
				a, _ := attached(t, chain, form, llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: callbackstest.Script(callbackstest.Say(fmt.Sprintf("answer %d", i)))})
				subs = append(subs, a)
			}
			_, plugins := attached(t, chain, form, llmagent.Config{Name: "unused"})
			par, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "par", SubAgents: subs}})
			require.NoError(t, err)
			launch(t, par, agent.StreamingModeNone, plugins...)
			answers := map[string]string{}
			for _, ev := range rec.Events(callbacks.StepModel) {
				answers[ev.Agent] = ev.Response.Parts[0].Text
			}
			require.Len(t, rec.Events(callbacks.StepModel), 6)
			for i := range 6 {
				require.Equal(t, fmt.Sprintf("answer %d", i), answers[fmt.Sprintf("a%d", i)])
			}
		})
		t.Run("single turn/"+form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			chain := callbacks.New(allow("a"), rec.Guard())
			// Different agents: one called twice at once races inside ADK (adk-go#1137). And
			// a model that takes anything: called at once, some get a request without content
			// (fact 1).
			answers := modelFunc(func(_ context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
				yield(say("answer"), nil)
			})
			var subs []agent.Agent
			var turns []callbackstest.Turn
			for i := range 6 {
				name := fmt.Sprintf("sub%d", i)
				sub, _ := attached(t, chain, form, llmagent.Config{Name: name, Description: "d", Mode: llmagent.ModeSingleTurn, Model: answers})
				subs = append(subs, sub)
				turns = append(turns, callbackstest.Call(name, map[string]any{"request": "go"}))
			}
			root, plugins := attached(t, chain, form, llmagent.Config{
				Name: "root", SubAgents: subs, Model: callbackstest.Script(callbackstest.Calls(turns...), callbackstest.Say("done")),
			})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			told := map[string]int{}
			for _, ev := range rec.Events(callbacks.StepModel) {
				require.Equal(t, callbacks.OutcomeAllowed, ev.Outcome, "%s: %v", ev.Agent, ev.Err)
				told[ev.Agent]++
			}
			require.Equal(t, map[string]int{"root": 2, "sub0": 1, "sub1": 1, "sub2": 1, "sub3": 1, "sub4": 1, "sub5": 1}, told)
			require.Len(t, rec.Events(callbacks.StepTool), 6)
		})
	}
}

// P52: an error of on_event drops the event and leaves a response without its call,
// which ends the next turn. The chain empties the event and keeps the pair.
func TestP52AFailingEventHookKeepsCallsPaired(t *testing.T) {
	for name, how := range map[string]func() error{
		"error": func() error { return errors.New("bug") },
		"panic": func() error { panic("bug") },
	} {
		t.Run(name, func(t *testing.T) {
			g := callbacks.Guard{Name: "fails", OnEvent: func(agent.InvocationContext, *session.Event) (*session.Event, error) { return nil, how() }}
			m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"mail": "jean@example.org"}), callbackstest.Say("mail jean@example.org"), callbackstest.Say("next turn"))
			root, plugins := attached(t, callbacks.New(g), "plugin", llmagent.Config{Tools: []tool.Tool{callbackstest.Tool("lookup")}, Model: m})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			l.send(t, genai.NewContentFromText("again", genai.RoleUser), agent.StreamingModeNone)
			require.Empty(t, l.errs)
			require.Empty(t, m.Faults())
			require.Equal(t, 3, m.Calls())
			for _, ev := range l.stored(t) {
				require.NotContains(t, fmt.Sprint(texts([]*session.Event{ev})), "jean@")
			}
			require.Empty(t, calls(l.stored(t))[0].Args)
		})
	}
}

// P63: the execute_tool span holds the raw arguments before any hook ran. The canary
// of the same number looks at the span.
func TestP63RawArgumentsInSpansAreDocumented(t *testing.T) {
	documented(t, "doc.go", "It writes the arguments of every tool call into its execute_tool span before any hook has run.")
}
