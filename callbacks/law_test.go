// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/gardefou/gardefou/callbacks/answer"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type played struct {
	events []*session.Event
	err    error
	run    *callbacks.Run
}

func play(t *testing.T, root agent.Agent, mode agent.StreamingMode, plugins ...*plugin.Plugin) played {
	t.Helper()
	r, err := runner.New(runner.Config{
		AppName: "test", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	out := played{run: run}
	for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{StreamingMode: mode})) {
		if err != nil {
			out.err = err
			break
		}
		out.events = append(out.events, ev)
	}
	return out
}

func build(t *testing.T, c *callbacks.Chain, cfg llmagent.Config) agent.Agent {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "guarded"
	}
	a, err := c.NewAgent(cfg)
	require.NoError(t, err)
	return a
}

// refusing returns a guard that refuses in one hook.
func refusing(hook inspect.Hook, how func() error) callbacks.Guard {
	g := callbacks.Guard{Name: "refusing"}
	switch hook {
	case inspect.BeforeAgent:
		g.BeforeAgent = func(agent.Context) (*genai.Content, error) { return nil, how() }
	case inspect.AfterAgent:
		g.AfterAgent = func(agent.Context) (*genai.Content, error) { return nil, how() }
	case inspect.BeforeModel:
		g.BeforeModel = func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { return nil, how() }
	case inspect.AfterModel:
		g.AfterModel = func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) { return nil, how() }
	case inspect.OnModelError:
		g.OnModelError = func(agent.Context, *model.LLMRequest, error) (*model.LLMResponse, error) { return nil, how() }
	case inspect.WrapModel:
		g.WrapModel = func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return failingModel{next, how} }
	case inspect.BeforeTool:
		g.BeforeTool = func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return nil, how() }
	case inspect.AfterTool:
		g.AfterTool = func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			return nil, how()
		}
	case inspect.OnToolError:
		g.OnToolError = func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) { return nil, how() }
	}
	return g
}

type failingModel struct {
	model.LLM
	how func() error
}

func (f failingModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(nil, f.how()) }
}

// The table of the package doc, cell by cell: what a hook's answer becomes.
func TestHookByOutcome(t *testing.T) {
	outcomes := map[string]func() error{
		"deny":  func() error { return callbacks.Deny("code", "no") },
		"end":   func() error { return callbacks.End("code", "no") },
		"stop":  func() error { return callbacks.Stop("code", "no") },
		"panic": func() error { panic("boom") },
		"error": func() error { return errors.New("dsn postgres://secret") },
	}
	for _, hook := range []inspect.Hook{
		inspect.BeforeAgent, inspect.BeforeModel, inspect.AfterModel, inspect.OnModelError, inspect.WrapModel,
		inspect.BeforeTool, inspect.AfterTool, inspect.OnToolError,
	} {
		for name, how := range outcomes {
			t.Run(fmt.Sprintf("%s/%s", hook, name), func(t *testing.T) {
				text := "no"
				if name == "panic" || name == "error" {
					text = "refused: a guard failed"
				}
				rec := &callbackstest.Recorder{}
				m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("answer"))
				tl := callbackstest.Tool("lookup")
				switch hook {
				case inspect.OnModelError:
					m = callbackstest.Script(callbackstest.Fail(errors.New("503")))
				case inspect.OnToolError:
					tl = callbackstest.ToolReturning("lookup", nil, errors.New("down"))
				}
				a := build(t, callbacks.New(refusing(hook, how), rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{tl}, OutputKey: "out"})
				out := play(t, a, agent.StreamingModeNone)

				if hook == inspect.WrapModel && (name == "panic" || name == "error") {
					// What goes wrong inside a model wrapper is the model's failure.
					require.Error(t, out.err)
					return
				}
				require.NoError(t, out.err)
				stopped := out.run.Stopped() != nil
				require.Equal(t, name == "stop", stopped)
				switch hook {
				case inspect.BeforeTool, inspect.AfterTool, inspect.OnToolError:
					require.Equal(t, []map[string]any{{"error": text}}, responses(out.events), "one key")
					last := out.events[len(out.events)-1]
					if name == "end" || name == "stop" {
						require.True(t, out.events[1].Actions.SkipSummarization, "the agent ends")
						require.Equal(t, 1, m.Calls())
						require.Equal(t, name == "stop", out.events[1].Actions.Escalate)
					} else {
						require.Equal(t, 2, m.Calls(), "the model reads the refusal and goes on")
						require.Equal(t, "answer", last.Content.Parts[0].Text)
					}
				case inspect.BeforeAgent:
					require.Zero(t, m.Calls())
					require.Equal(t, "[guard] "+text, out.events[0].Content.Parts[0].Text)
				default:
					last := out.events[len(out.events)-1]
					require.Equal(t, "[guard] "+text, last.Content.Parts[0].Text)
					require.True(t, callbacks.IsRefusal(&last.LLMResponse))
					meta := last.CustomMetadata["gardefou"].(map[string]any)
					require.Equal(t, "denied", meta["status"])
					if hook != inspect.WrapModel {
						require.Equal(t, "refusing", meta["guard"])
					}
					require.NotContains(t, last.Actions.StateDelta, "out", "a refusal is no output")
				}
				var told *callbacks.Event
				for _, ev := range rec.Events() {
					if ev.Outcome == callbacks.OutcomeRefused || ev.Outcome == callbacks.OutcomePanicked {
						told = &ev
						break
					}
				}
				require.NotNil(t, told)
				if name == "panic" {
					require.Equal(t, callbacks.OutcomePanicked, told.Outcome)
				}
				if name == "error" {
					require.ErrorContains(t, told.Err, "postgres", "the cause goes to the observers")
				}
				require.Equal(t, name == "stop", told.Stop)
			})
		}
	}
}

func TestFirstValueDecides(t *testing.T) {
	var ran []string
	g := func(name string, res map[string]any) callbacks.Guard {
		return callbacks.Guard{
			Name: name,
			BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
				ran = append(ran, "before "+name)
				return res, nil
			},
			AfterTool: func(_ agent.Context, _ tool.Tool, _, result map[string]any, _ error) (map[string]any, error) {
				ran = append(ran, "after "+name)
				result[name] = true // seen by the next hook
				return nil, nil
			},
		}
	}
	cached := map[string]any{"cached": true}
	tl := callbackstest.Tool("lookup")
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	out := play(t, build(t, callbacks.New(g("a", nil), g("b", cached), g("c", nil)), llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Equal(t, []string{"before a", "before b", "after a", "after b", "after c"}, ran)
	require.Empty(t, tl.Calls())
	require.Equal(t, []map[string]any{{"cached": true, "a": true, "b": true, "c": true}}, responses(out.events))
	require.Equal(t, map[string]any{"cached": true}, cached, "what a hook hands out is not edited")
}

func TestReturningTheArgumentsIsAFault(t *testing.T) {
	rec := &callbackstest.Recorder{}
	faulty := callbacks.Guard{Name: "faulty", BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) { return args, nil }}
	tl := callbackstest.Tool("lookup")
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"a": 1}), callbackstest.Say("ok"))
	out := play(t, build(t, callbacks.New(faulty, rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
	require.Equal(t, []map[string]any{{"error": "refused: a guard is faulty"}}, responses(out.events))
	require.Empty(t, tl.Calls())
	require.Equal(t, codes.GuardFaulty, rec.Events(callbacks.StepTool)[0].Code)

	lastWord := callbacks.Guard{
		Name: "last",
		AfterTool: func(_ agent.Context, _ tool.Tool, _, result map[string]any, _ error) (map[string]any, error) {
			return result, nil
		},
		AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) { return resp, nil },
	}
	rec = &callbackstest.Recorder{}
	m = callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	out = play(t, build(t, callbacks.New(lastWord, rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	for _, ev := range rec.Events(callbacks.StepTool, callbacks.StepModel) {
		require.Equal(t, callbacks.OutcomeAllowed, ev.Outcome)
	}
}

// Arguments the hooks changed reach the tool and the observers; the stored call and
// the next request keep what the model made.
func TestEditedArgumentsAreACopy(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{{
				Name: "injects",
				BeforeTool: func(_ agent.Context, tl tool.Tool, args map[string]any) (map[string]any, error) {
					if tl.Name() == "lookup" {
						args["tenant"] = "t-1"
					}
					return nil, nil
				},
				AfterTool: func(_ agent.Context, tl tool.Tool, args, result map[string]any, _ error) (map[string]any, error) {
					if tl.Name() == "lookup" && args["tenant"] != "t-1" {
						return nil, errors.New("after_tool must see what the tool saw")
					}
					return nil, nil
				},
			}}
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, []map[string]any{{"supplier": "Acme", "tenant": "t-1"}}, tr.Tools[0].(*callbackstest.FakeTool).Calls())
			for _, c := range tr.Model.Requests()[1].Contents {
				for _, p := range c.Parts {
					if p.FunctionCall != nil {
						require.Equal(t, map[string]any{"supplier": "Acme"}, p.FunctionCall.Args)
					}
				}
			}
			for _, ev := range tr.Told {
				if ev.Step == callbacks.StepTool {
					require.Equal(t, "t-1", ev.Args["tenant"])
				}
			}
		},
	}.Run(t)
}

func TestChunksStayPartialAndUsageIsReadOnce(t *testing.T) {
	callbackstest.Matrix{
		Guards: func() []callbacks.Guard {
			return []callbacks.Guard{callbacks.ForAgents(callbacks.Guard{
				Name: "replaces",
				AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
					return &model.LLMResponse{Content: genai.NewContentFromText("x", genai.RoleModel)}, nil // forgets Partial and usage
				},
			}, "guarded")}
		},
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Stream("a", "b", "c").WithUsage(7, 2))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			m, _ := kinds(tr.Told)
			require.Equal(t, 1, m)
			require.EqualValues(t, 7, tr.Told[0].Usage.PromptTokenCount)
			stored := 0
			for _, ev := range tr.Stored {
				if ev.Author == "guarded" {
					stored++
				}
			}
			if tr.Topology.Stored() {
				require.Equal(t, 1, stored, "chunks are not stored")
			}
		},
	}.Run(t)
}

func TestLongRunningNilStaysNil(t *testing.T) {
	rec := &callbackstest.Recorder{}
	tl := callbackstest.ToolReturning("lookup", nil, nil).LongRunning()
	m := callbackstest.Script(callbackstest.Call("lookup", nil))
	out := play(t, build(t, callbacks.New(allow("a"), rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Len(t, out.events, 1)
	require.Equal(t, 1, m.Calls())
	require.Equal(t, callbacks.OutcomePending, rec.Events(callbacks.StepTool)[0].Outcome)
}

func TestConfirmationPassesUntouched(t *testing.T) {
	rec := &callbackstest.Recorder{}
	type args struct{}
	tl, err := functiontool.New(functiontool.Config{Name: "lookup", RequireConfirmation: true},
		func(agent.Context, args) (map[string]any, error) { return map[string]any{"done": true}, nil })
	require.NoError(t, err)
	m := callbackstest.Script(callbackstest.Call("lookup", nil))
	out := play(t, build(t, callbacks.New(allow("a"), rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	var asked bool
	for _, ev := range out.events {
		for _, p := range ev.Content.Parts {
			asked = asked || p.FunctionCall != nil && p.FunctionCall.Name == "adk_request_confirmation"
		}
	}
	require.True(t, asked)
	require.Equal(t, callbacks.OutcomePending, rec.Events(callbacks.StepTool)[0].Outcome)
}

// The same chain on the agent and on the runner: each call passes the hooks once.
func TestSameChainTwiceRunsOnce(t *testing.T) {
	counts := map[string]int{}
	count := func(k string) { counts[k]++ }
	rec := &callbackstest.Recorder{}
	chain := callbacks.New(callbacks.Guard{
		Name: "counting",
		BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
			count("before_model")
			return nil, nil
		},
		AfterModel: func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
			count("after_model")
			return nil, nil
		},
		BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			count("before_tool")
			return nil, nil
		},
		AfterTool: func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			count("after_tool")
			return nil, nil
		},
	}, rec.Guard())
	p, err := chain.Plugin("p")
	require.NoError(t, err)
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	out := play(t, build(t, chain, llmagent.Config{Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}}), agent.StreamingModeNone, p)
	require.NoError(t, out.err)
	require.Equal(t, map[string]int{"before_model": 2, "after_model": 2, "before_tool": 1, "after_tool": 1}, counts)
	require.Len(t, rec.Events(callbacks.StepModel), 2)
	require.Len(t, rec.Events(callbacks.StepTool), 1)
}

func TestWrappersNest(t *testing.T) {
	var order []string
	wrap := func(name string) callbacks.Guard {
		return callbacks.Guard{
			Name: name,
			WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
				return hookedModel{next, func() { order = append(order, name) }}
			},
		}
	}
	m := callbackstest.Script(callbackstest.Say("ok"))
	out := play(t, build(t, callbacks.New(wrap("a"), wrap("b"), wrap("c")), llmagent.Config{Model: m}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Equal(t, []string{"a", "b", "c"}, order)
}

type hookedModel struct {
	model.LLM
	f func()
}

func (h hookedModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	h.f()
	return h.LLM.GenerateContent(ctx, req, stream)
}

// A model a guard brings itself passes the guards that stand inside that guard.
func TestAFallbackModelPassesTheInnerGuards(t *testing.T) {
	inside := 0
	backup := callbackstest.Script(callbackstest.Say("backup"))
	chain := callbacks.New(
		callbacks.Guard{Name: "fallback", WrapModel: func(_ model.LLM, inner func(model.LLM) model.LLM) model.LLM { return inner(backup) }},
		callbacks.Guard{Name: "inner", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM {
			return hookedModel{next, func() { inside++ }}
		}},
	)
	out := play(t, build(t, chain, llmagent.Config{Model: callbackstest.Script()}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Equal(t, 1, inside)
	require.Equal(t, 1, backup.Calls())
}

func TestAModelThatReturnsNothing(t *testing.T) {
	rec := &callbackstest.Recorder{}
	nothing := silentModel{}
	out := play(t, build(t, callbacks.New(rec.Guard()), llmagent.Config{Model: nothing}), agent.StreamingModeNone)
	require.ErrorIs(t, out.err, answer.ErrNone)
	require.Equal(t, callbacks.OutcomeFailed, rec.Events(callbacks.StepModel)[0].Outcome)
	require.Equal(t, callbacks.StatusFailed, out.run.Outcome().Status)
}

type silentModel struct{}

func (silentModel) Name() string { return "silent" }

func (silentModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(nil, nil) }
}

func TestAPanickingModelOrObserver(t *testing.T) {
	rec := &callbackstest.Recorder{}
	chain := callbacks.New(callbacks.Guard{Name: "o", Observe: func(context.Context, callbacks.Event) { panic("observer") }}, rec.Guard())
	m := hookedModel{callbackstest.Script(callbackstest.Say("x")), func() { panic("model") }}
	out := play(t, build(t, chain, llmagent.Config{Model: m}), agent.StreamingModeNone)
	var p *callbacks.PanicError
	require.ErrorAs(t, out.err, &p)
	require.Equal(t, "model", p.Panic)
	require.Equal(t, callbacks.OutcomePanicked, rec.Events(callbacks.StepModel)[0].Outcome)
}

// ADK's loop agent goes round for ever over refused agents. Three means end it.
func TestAStoppedRunEndsAnUnboundedLoop(t *testing.T) {
	stopper := callbacks.Guard{Name: "stopper", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) {
		return nil, callbacks.Stop("enough", "enough")
	}}
	t.Run("Events", func(t *testing.T) {
		a := build(t, callbacks.New(stopper), llmagent.Config{Model: callbackstest.Script()})
		loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{a}}})
		require.NoError(t, err)
		require.LessOrEqual(t, len(play(t, loop, agent.StreamingModeNone).events), 10)
	})
	t.Run("plugin", func(t *testing.T) {
		a, err := llmagent.New(llmagent.Config{Name: "guarded", Model: callbackstest.Script()})
		require.NoError(t, err)
		loop, err := loopagent.New(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{a}}})
		require.NoError(t, err)
		p, err := callbacks.New(stopper).Plugin("p")
		require.NoError(t, err)
		require.Len(t, rawRun(t, loop, p), 1, "without Events")
	})
	t.Run("Loop", func(t *testing.T) {
		a := build(t, callbacks.New(stopper), llmagent.Config{Model: callbackstest.Script()})
		loop, err := callbacks.Loop(loopagent.Config{AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{a}}})
		require.NoError(t, err)
		require.Len(t, rawRun(t, loop, nil), 2, "the refusal and the end")
	})
}

// rawRun ranges over the runner itself, as ADK's own launcher does, without Start.
func rawRun(t *testing.T, root agent.Agent, p *plugin.Plugin) []*session.Event {
	t.Helper()
	cfg := runner.Config{AppName: "test", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true}
	if p != nil {
		cfg.PluginConfig = runner.PluginConfig{Plugins: []*plugin.Plugin{p}}
	}
	r, err := runner.New(cfg)
	require.NoError(t, err)
	var events []*session.Event
	for ev, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
		if events = append(events, ev); len(events) > 50 {
			t.Fatal("the loop goes on")
		}
	}
	return events
}

// Without Start, as under ADK's launcher, a Run is kept per invocation.
func TestRunsAreKeptPerInvocation(t *testing.T) {
	key := callbacks.NewKey(func() *int { return new(int) })
	var seen []int
	g := callbacks.Guard{Name: "counts", BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
		n := key.Of(ctx)
		*n++
		seen = append(seen, *n)
		return nil, nil
	}}
	for range 2 {
		a := build(t, callbacks.New(g), llmagent.Config{Model: callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok")), Tools: []tool.Tool{callbackstest.Tool("lookup")}})
		rawRun(t, a, nil)
	}
	require.Equal(t, []int{1, 2, 1, 2}, seen)
}

func TestLiveModeIsRefused(t *testing.T) {
	cfg, err := callbacks.New(allow("a")).Attach(llmagent.Config{Name: "a", Model: liveModel{callbackstest.Script()}})
	require.NoError(t, err)
	_, live := cfg.Model.(interface{ Client() *genai.Client })
	require.False(t, live)
	v, ok := cfg.Model.(interface{ GetGoogleLLMVariant() genai.Backend })
	require.True(t, ok)
	require.Equal(t, genai.BackendVertexAI, v.GetGoogleLLMVariant())
}

type liveModel struct{ model.LLM }

func (liveModel) Client() *genai.Client              { return nil }
func (liveModel) GetGoogleLLMVariant() genai.Backend { return genai.BackendVertexAI }

func TestToolsetsAreWrapped(t *testing.T) {
	tl := callbackstest.Tool("lookup")
	deny := callbacks.Guard{Name: "deny", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no", "no")
	}}
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	out := play(t, build(t, callbacks.New(deny), llmagent.Config{Model: m, Toolsets: []tool.Toolset{toolset{tl}}}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Empty(t, tl.Calls())
	require.Equal(t, []map[string]any{{"error": "no"}}, responses(out.events))
}

type toolset struct{ t tool.Tool }

func (toolset) Name() string { return "set" }
func (s toolset) Tools(agent.ReadonlyContext) ([]tool.Tool, error) {
	return []tool.Tool{s.t}, nil
}

func TestAttachLeavesTheConfigurationAlone(t *testing.T) {
	tools := make([]tool.Tool, 1, 8)
	tools[0] = callbackstest.Tool("lookup")
	cfg := llmagent.Config{Name: "a", Model: callbackstest.Script(), Tools: tools, OutputKey: "out"}
	got, err := callbacks.New(allow("a")).Attach(cfg)
	require.NoError(t, err)
	require.Equal(t, "out", cfg.OutputKey)
	require.Same(t, tools[0], cfg.Tools[0])
	require.Equal(t, len(got.Tools), cap(got.Tools), "no spare capacity for ADK to write into")
	require.Empty(t, cfg.BeforeModelCallbacks)
}

func TestMissingArgumentIsNamed(t *testing.T) {
	type args struct {
		Supplier string `json:"supplier"`
	}
	tl, err := functiontool.New(functiontool.Config{Name: "lookup"}, func(agent.Context, args) (map[string]any, error) { return map[string]any{"a": 1}, nil })
	require.NoError(t, err)
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{}), callbackstest.Say("ok"))
	out := play(t, build(t, callbacks.New(), llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
	require.Equal(t, []map[string]any{{"error": "missing argument: supplier"}}, responses(out.events))
}

func TestCombinators(t *testing.T) {
	deny := callbacks.Guard{Name: "deny", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no", "no")
	}}
	refused := map[string]any{"error": "no"}
	a, b := callbackstest.Tool("a"), callbackstest.Tool("b")

	only := callbacks.ForTools(deny, "a")
	require.Equal(t, refused, callbackstest.BeforeTool(t, only, a, nil))
	require.Nil(t, callbackstest.BeforeTool(t, only, b, nil))
	require.Equal(t, []string{"a"}, only.Info().Tools)

	when := callbacks.When(func(s callbacks.Step) bool { return s.Args["x"] == 1 }, deny)
	require.Equal(t, refused, callbackstest.BeforeTool(t, when, a, map[string]any{"x": 1}))
	require.Nil(t, callbackstest.BeforeTool(t, when, a, nil))

	require.Equal(t, refused, callbackstest.BeforeTool(t, callbacks.ForAgents(deny, callbackstest.AgentName), a, nil))
	require.Nil(t, callbackstest.BeforeTool(t, callbacks.ForAgents(deny, "another"), a, nil))

	model := callbacks.Guard{Name: "m", BeforeModel: func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { return nil, nil }}
	wrap := callbacks.Guard{Name: "w", WrapAgent: func(a agent.Agent) agent.Agent { return a }}
	for name, g := range map[string]callbacks.Guard{
		"ForTools on a model hook": callbacks.ForTools(model, "a"),
		"ForTools without tools":   callbacks.ForTools(deny),
		"ForAgents without agents": callbacks.ForAgents(deny),
		"ForAgents on a wrapper":   callbacks.ForAgents(wrap, "a"),
		"When without a predicate": callbacks.When(nil, deny),
		"When on a wrapper":        callbacks.When(func(callbacks.Step) bool { return true }, wrap),
		"Monitor on a wrapper":     callbacks.Monitor(wrap),
	} {
		require.ErrorContains(t, callbacks.New(g).Err(), "combinator does not fit the guard", name)
	}
}

func TestMonitorWatchesOnly(t *testing.T) {
	g := callbacks.Guard{
		Name: "deny",
		BeforeTool: func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
			args["edited"] = true
			return nil, callbacks.Deny("no", "no")
		},
		AfterTool: func(_ agent.Context, _ tool.Tool, _, result map[string]any, _ error) (map[string]any, error) {
			clear(result)
			panic("boom")
		},
		BeforeModel: func(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
			req.Contents[0].Parts[0].Text = "edited"
			return nil, callbacks.Stop("no", "no")
		},
		AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			resp.Content.Parts = nil
			return nil, nil
		},
	}
	rec := &callbackstest.Recorder{}
	tl := callbackstest.Tool("lookup")
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"a": 1}), callbackstest.Say("ok"))
	out := play(t, build(t, callbacks.New(callbacks.Monitor(g), rec.Guard()), llmagent.Config{Model: m, Tools: []tool.Tool{tl}}), agent.StreamingModeNone)
	require.NoError(t, out.err)
	require.Nil(t, out.run.Stopped())
	require.Equal(t, []map[string]any{{"a": 1.0}}, tl.Calls())
	require.Equal(t, "question", m.Requests()[1].Contents[0].Parts[0].Text)
	require.Equal(t, []map[string]any{{"result": "ok"}}, responses(out.events))
	would := map[callbacks.StepKind]int{}
	for _, ev := range rec.Events() {
		if ev.Outcome == callbacks.OutcomeWouldRefuse {
			would[ev.Step]++
			require.Equal(t, "deny", ev.Guard)
		}
	}
	require.Equal(t, map[callbacks.StepKind]int{callbacks.StepModel: 2, callbacks.StepTool: 2}, would)
}

func TestChainIsImmutable(t *testing.T) {
	gs := []callbacks.Guard{allow("a")}
	c := callbacks.New(gs...)
	gs[0].Name = "changed"
	d := c.With(allow("b"))
	require.Len(t, c.Guards(), 1)
	require.Equal(t, "a", c.Guards()[0].Name)
	require.Len(t, d.Guards(), 2)
	var none *callbacks.Chain
	require.NoError(t, none.Err())
	require.Empty(t, none.Guards())
	_, err := none.NewAgent(llmagent.Config{Name: "a"})
	require.NoError(t, err)
}

func TestErrorsOfGuardsAreJoined(t *testing.T) {
	bad := errors.New("nonsense")
	c := callbacks.New(callbacks.Guard{Name: "one", Err: bad}, callbacks.Guard{})
	_, err := c.NewAgent(llmagent.Config{Name: "a"})
	require.ErrorIs(t, err, bad)
	require.ErrorContains(t, err, "guard 1 has no name")
	_, err = c.Plugin("p")
	require.ErrorIs(t, err, bad)
	_, err = callbacks.New().Plugin("")
	require.Error(t, err)
}

func TestExplain(t *testing.T) {
	g := allow("a")
	g.OnEvent = func(agent.InvocationContext, *session.Event) (*session.Event, error) { return nil, nil }
	g.Info = func() callbacks.Info {
		return callbacks.Info{Limits: []string{"6 calls"}, Needs: []inspect.Hook{inspect.BeforeTool}}
	}
	c := callbacks.New(g, callbacks.Guard{Name: "w", WrapModel: func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return next }})
	e := c.Explain()
	require.Len(t, e.Guards, 2)
	require.Equal(t, []string{"agent", "plugin"}, e.Guards[0].Forms)
	require.Equal(t, []string{"agent"}, e.Guards[1].Forms)
	require.Contains(t, e.String(), "6 calls")
	require.Contains(t, e.String(), `warning: guard "a": on_event does not run in the form "agent"`)
}

func TestRefusalErrors(t *testing.T) {
	cause := errors.New("cause")
	r := callbacks.End("code", "text").WithDetail("1/1").WithCause(cause)
	require.ErrorIs(t, r, callbacks.ErrEnded)
	require.NotErrorIs(t, r, callbacks.ErrDenied)
	require.ErrorIs(t, r, cause)
	require.Equal(t, "text", r.Error())
	require.Equal(t, "text", r.ModelText())
}

func TestRunClose(t *testing.T) {
	_, run := callbacks.Start(t.Context())
	var order []int
	run.OnClose(func() { order = append(order, 1) })
	run.OnClose(func() { order = append(order, 2) })
	run.Close()
	run.Close()
	run.OnClose(func() { order = append(order, 3) })
	require.Equal(t, []int{2, 1, 3}, order)
	require.NotEmpty(t, run.ID())
	require.True(t, run.Stop(callbacks.Stop("time_exhausted", "late")))
	require.False(t, run.Stop(callbacks.Stop("x", "later")))
	require.Equal(t, callbacks.StatusTimeExhausted, run.Outcome().Status)
}

// A run is interrupted, or out of time, where its caller's context is; an error that only
// looks like it, of one call's own timeout say, is a failure.
func TestOutcomeOfErrors(t *testing.T) {
	live := t.Context()
	gone, cancelGone := context.WithCancel(live)
	cancelGone()
	late, cancelLate := context.WithTimeout(live, time.Nanosecond)
	defer cancelLate()
	<-late.Done()
	why := errors.New("why")
	goneFor, cancelFor := context.WithCancelCause(live)
	cancelFor(why)
	lateFor, cancelLateFor := context.WithTimeoutCause(live, time.Nanosecond, why)
	defer cancelLateFor()
	<-lateFor.Done()
	pastFor, cancelPast := context.WithDeadlineCause(live, time.Now().Add(-time.Second), why)
	defer cancelPast()
	goneLate, cancelGoneLate := context.WithCancelCause(live)
	cancelGoneLate(context.DeadlineExceeded)
	eg, group := errgroup.WithContext(live)
	eg.Go(func() error { return why })
	require.ErrorIs(t, eg.Wait(), why)
	child, cancelChild := context.WithTimeout(goneFor, time.Minute)
	defer cancelChild()
	for name, tc := range map[string]struct {
		ctx  context.Context
		err  error
		want callbacks.Status
	}{
		"the caller went away":                          {gone, context.Canceled, callbacks.StatusInterrupted},
		"the caller's time is up":                       {late, context.DeadlineExceeded, callbacks.StatusTimeExhausted},
		"the caller went away, with a cause":            {goneFor, context.Canceled, callbacks.StatusInterrupted},
		"the cause is handed back":                      {goneFor, why, callbacks.StatusInterrupted},
		"the cause is handed back as another error":     {goneFor, errors.New("why"), callbacks.StatusFailed},
		"the caller's time is up, with a cause":         {lateFor, context.DeadlineExceeded, callbacks.StatusTimeExhausted},
		"the cause of a time-out is handed back":        {lateFor, why, callbacks.StatusTimeExhausted},
		"the caller's deadline passed, with a cause":    {pastFor, why, callbacks.StatusTimeExhausted},
		"a cause that says late, of a caller that left": {goneLate, context.DeadlineExceeded, callbacks.StatusInterrupted},
		"a sibling in the caller's group failed":        {group, why, callbacks.StatusInterrupted},
		"below a context that ended with a cause":       {child, why, callbacks.StatusInterrupted},
		"a call was cancelled":                          {live, context.Canceled, callbacks.StatusFailed},
		"a call's own time was up":                      {live, context.DeadlineExceeded, callbacks.StatusFailed},
		"something else, and late":                      {late, errors.New("x"), callbacks.StatusFailed},
		"something else":                                {live, errors.New("x"), callbacks.StatusFailed},
		"a call was late, caller gone":                  {gone, context.DeadlineExceeded, callbacks.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			_, run := callbacks.Start(tc.ctx)
			for range run.Events(func(yield func(*session.Event, error) bool) { yield(nil, fmt.Errorf("wrapped: %w", tc.err)) }) {
			}
			require.Equal(t, tc.want, run.Outcome().Status)
		})
	}
}

var errWhy = errors.New("why")

func withCause(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, func() { cancel(errWhy) }
}

func withTimeoutCause(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, time.Minute, errWhy)
}

func withDeadlineCause(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, time.Now().Add(time.Minute), errWhy)
}

// withGroup is cancelled by the failure of another in the caller's errgroup.
func withGroup(ctx context.Context) (context.Context, context.CancelFunc) {
	eg, ctx := errgroup.WithContext(ctx)
	return ctx, func() {
		eg.Go(func() error { return errWhy })
		_ = eg.Wait()
	}
}

func returnsErr(ctx context.Context, cancel context.CancelFunc) error {
	cancel()
	return ctx.Err()
}

// returnsCause is what net/http does.
func returnsCause(ctx context.Context, cancel context.CancelFunc) error {
	cancel()
	return fmt.Errorf("post: %w", context.Cause(ctx))
}

func waits(err func(context.Context) error) func(context.Context, context.CancelFunc) error {
	return func(ctx context.Context, _ context.CancelFunc) error {
		<-ctx.Done()
		return fmt.Errorf("post: %w", err(ctx))
	}
}

// The same, of a whole run under each kind of root, with a context that the caller made
// after the Run was started.
func TestOutcomeOfARunThatIsCutOff(t *testing.T) {
	for name, tc := range map[string]struct {
		call func(ctx context.Context, cancel context.CancelFunc) error
		want callbacks.Status
		end  func(context.Context) (context.Context, context.CancelFunc) // nil: a minute's time-out
	}{
		"the caller goes away with a cause":           {returnsErr, callbacks.StatusInterrupted, withCause},
		"the caller's time is up, with a cause":       {waits(context.Context.Err), callbacks.StatusTimeExhausted, withTimeoutCause},
		"the cause is handed back":                    {returnsCause, callbacks.StatusInterrupted, withCause},
		"the cause of a time-out is handed back":      {waits(context.Cause), callbacks.StatusTimeExhausted, withTimeoutCause},
		"the cause of a deadline is handed back":      {waits(context.Cause), callbacks.StatusTimeExhausted, withDeadlineCause},
		"a sibling in the caller's group fails":       {returnsCause, callbacks.StatusInterrupted, withGroup},
		"a cause is cancelled, another error is back": {func(_ context.Context, cancel context.CancelFunc) error { cancel(); return errors.New("503") }, callbacks.StatusFailed, withCause},
		"the caller goes away":                        {func(ctx context.Context, cancel context.CancelFunc) error { cancel(); return ctx.Err() }, callbacks.StatusInterrupted, nil},
		"the caller's time is up": {func(ctx context.Context, _ context.CancelFunc) error {
			<-ctx.Done()
			return fmt.Errorf("post: %w", ctx.Err())
		}, callbacks.StatusTimeExhausted, nil},
		"a call is cancelled":  {func(context.Context, context.CancelFunc) error { return context.Canceled }, callbacks.StatusFailed, nil},
		"a call's time is up":  {func(context.Context, context.CancelFunc) error { return context.DeadlineExceeded }, callbacks.StatusFailed, nil},
		"all is well":          {func(context.Context, context.CancelFunc) error { return nil }, callbacks.StatusDone, nil},
		"the model is cut off": {func(context.Context, context.CancelFunc) error { return callbacks.End("calls_exhausted", "enough") }, callbacks.StatusCallsExhausted, nil},
	} {
		for root, mk := range roots(t) {
			t.Run(name+"/"+root, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, run := callbacks.Start(t.Context())
					defer run.Close()
					end := tc.end
					if end == nil {
						end = func(ctx context.Context) (context.Context, context.CancelFunc) {
							return context.WithTimeout(ctx, time.Minute)
						}
					}
					ctx, cancel := end(ctx)
					defer cancel()
					m := modelFunc(func(ctx context.Context, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
						if err := tc.call(ctx, cancel); err != nil {
							yield(nil, err)
							return
						}
						yield(say("answer"), nil)
					})
					r, err := runner.New(runner.Config{
						AppName: "test", Agent: mk(build(t, callbacks.New(allow("a")), llmagent.Config{Model: m})),
						SessionService: session.InMemoryService(), AutoCreateSession: true,
					})
					require.NoError(t, err)
					for range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
					}
					require.Equal(t, tc.want, run.Outcome().Status)
				})
			})
		}
	}
}

// A model that hands the same response to several agents, a cache say, does not race
// with ADK, which fills in call ids, nor with hooks that change it.
func TestSharedResponsesAreCopied(t *testing.T) {
	shared := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "shared"}}}, CustomMetadata: map[string]any{"a": 1}}
	m := cachedModel{shared}
	edit := callbacks.Guard{Name: "edit", AfterModel: func(_ agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
		resp.Content.Parts[0].Text = "edited"
		resp.CustomMetadata["a"] = 2
		return nil, nil
	}}
	for _, streaming := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		out := play(t, build(t, callbacks.New(edit), llmagent.Config{Model: m}), streaming)
		require.NoError(t, out.err)
		require.Equal(t, "edited", out.events[0].Content.Parts[0].Text)
	}
	plain, err := llmagent.New(llmagent.Config{Name: "plain", Model: m})
	require.NoError(t, err)
	p, err := callbacks.New(edit).Plugin("p")
	require.NoError(t, err)
	out := play(t, plain, agent.StreamingModeNone, p)
	require.Equal(t, "edited", out.events[0].Content.Parts[0].Text)
	require.Equal(t, "shared", shared.Content.Parts[0].Text)
	require.Equal(t, map[string]any{"a": 1}, maps.Clone(shared.CustomMetadata))
}

type cachedModel struct{ resp *model.LLMResponse }

func (cachedModel) Name() string { return "cached" }

func (c cachedModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(c.resp, nil) }
}
