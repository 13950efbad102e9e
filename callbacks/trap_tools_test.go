// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// callLookup runs an agent that calls its tool "lookup" once, in every form.
func callLookup(t *testing.T, guards func() []callbacks.Guard, tl tool.Tool, check func(t *testing.T, l *launched, m *callbackstest.Model, told []callbacks.Event)) {
	t.Helper()
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			rec := &callbackstest.Recorder{}
			m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"supplier": "Acme"}), callbackstest.Say("done"))
			root, plugins := attached(t, callbacks.New(guards()...).With(rec.Guard()), form, llmagent.Config{Model: m, Tools: []tool.Tool{tl}})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Empty(t, l.errs)
			check(t, l, m, rec.Events(callbacks.StepTool))
		})
	}
}

func one(gs ...callbacks.Guard) func() []callbacks.Guard {
	return func() []callbacks.Guard { return gs }
}

func beforeTool(f llmagent.BeforeToolCallback) callbacks.Guard {
	return callbacks.Guard{Name: "guard", BeforeTool: f}
}

// P2: arguments that a hook edits in place are written into the stored call and shown
// to the model with its next request, an injected secret too.
func TestP02InjectedArgumentsStayOutOfTheHistory(t *testing.T) {
	inject := beforeTool(func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		args["token"] = "s3cret"
		return nil, nil
	})
	tl := callbackstest.Tool("lookup")
	callLookup(t, one(inject), tl, func(t *testing.T, l *launched, m *callbackstest.Model, told []callbacks.Event) {
		got := tl.Calls()
		require.Equal(t, map[string]any{"supplier": "Acme", "token": "s3cret"}, got[len(got)-1])
		require.Equal(t, map[string]any{"supplier": "Acme"}, calls(l.stored(t))[0].Args)
		for _, c := range m.Requests()[1].Contents {
			for _, p := range c.Parts {
				if p.FunctionCall != nil {
					require.NotContains(t, p.FunctionCall.Args, "token")
				}
			}
		}
		require.Equal(t, "s3cret", told[0].Args["token"], "observers see what the tool saw")
	})
}

// P3: "return args, nil" to let a call through stops it, and hands the model its own
// arguments for a result.
func TestP03ReturningTheArgumentsIsRefusedAndNamed(t *testing.T) {
	faulty := beforeTool(func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) { return args, nil })
	callLookup(t, one(faulty), callbackstest.Tool("lookup"), func(t *testing.T, l *launched, _ *callbackstest.Model, told []callbacks.Event) {
		require.Equal(t, []map[string]any{{"error": "refused: a guard is faulty"}}, responses(l.stored(t)))
		require.Equal(t, "guard", told[0].Guard)
		require.ErrorContains(t, told[0].Err, "return nil to let the call go on")
	})
}

// P3b: an empty map is an answer too. It stays one, but the observers are told whose.
func TestP03bAnEmptyMapIsToldAsAReplacement(t *testing.T) {
	empty := beforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return map[string]any{}, nil })
	tl := callbackstest.Tool("lookup")
	callLookup(t, one(empty), tl, func(t *testing.T, _ *launched, _ *callbackstest.Model, told []callbacks.Event) {
		require.Empty(t, tl.Calls())
		require.Equal(t, callbacks.OutcomeReplaced, told[0].Outcome)
		require.Equal(t, "guard", told[0].Guard)
	})
	documented(t, "doc.go", "A map or response means replace.")
}

// P4: a streaming tool meets none of ADK's tool callbacks.
func TestP04AStreamingToolPassesTheHooks(t *testing.T) {
	deny := beforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.Deny("no", "no")
	})
	tl := callbackstest.StreamingTool("lookup", "a", "b")
	callLookup(t, one(deny), tl, func(t *testing.T, l *launched, _ *callbackstest.Model, told []callbacks.Event) {
		require.Empty(t, tl.Calls())
		require.Equal(t, []map[string]any{{"error": "no"}}, responses(l.stored(t)))
		require.Len(t, told, 1)
	})
	callLookup(t, one(masking()), tl, func(t *testing.T, l *launched, _ *callbackstest.Model, _ []callbacks.Event) {
		require.NotContains(t, responses(l.stored(t))[0]["result"], "ab", "after_tool sees the whole before anything leaves")
	})
}

// P8: ADK runs tool hooks on bare goroutines, where a panic takes the process down.
// The child process would die; its parent only looks at how it ended.
func TestP08APanickingToolHookLeavesTheProcessAlive(t *testing.T) {
	const child = "GARDEFOU_TRAP_P08"
	if os.Getenv(child) != "" {
		boom := beforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { panic("guard bug") })
		callLookup(t, one(boom), callbackstest.Tool("lookup"), func(t *testing.T, l *launched, _ *callbackstest.Model, told []callbacks.Event) {
			require.Equal(t, []map[string]any{{"error": "refused: a guard failed"}}, responses(l.stored(t)))
			require.Equal(t, callbacks.OutcomePanicked, told[0].Outcome)
		})
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

// P14 and fact 15: a long-running tool that answers nil answers later. ADK makes no
// event of it and drops what the step wrote; the Run keeps it.
func TestTrap15ALongRunningNilStaysNilAndTheRunRemembers(t *testing.T) {
	key := callbacks.NewKey(func() *int { return new(int) })
	var last int
	counts := callbacks.Guard{
		Name: "counts",
		BeforeTool: func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			*key.Of(ctx)++
			return nil, ctx.State().Set("count", 1)
		},
		AfterTool: func(ctx agent.Context, _ tool.Tool, _, result map[string]any, _ error) (map[string]any, error) {
			require.Nil(t, result)
			last = *key.Of(ctx)
			return nil, nil
		},
	}
	callLookup(t, one(counts), callbackstest.ToolReturning("lookup", nil, nil).LongRunning(), func(t *testing.T, l *launched, m *callbackstest.Model, told []callbacks.Event) {
		require.Empty(t, responses(l.stored(t)), "no answer was made up")
		require.Equal(t, 1, m.Calls())
		require.Equal(t, callbacks.OutcomePending, told[0].Outcome)
		require.Equal(t, 1, last)
		require.NotContains(t, l.state(t), "count", "state of the step is lost")
	})
	documented(t, "doc.go", "whose long-running tool answered nil")
}

// P20: ADK calls only on_tool_error for a tool that does not exist, and shows the
// model a page of advice with the names of all tools.
func TestP20AnUnknownToolIsToldOnceAndAnsweredShortly(t *testing.T) {
	callLookup(t, one(allow("a")), callbackstest.Tool("another"), func(t *testing.T, l *launched, _ *callbackstest.Model, told []callbacks.Event) {
		require.Equal(t, []map[string]any{{"error": "unknown tool: lookup"}}, responses(l.stored(t)))
		require.Len(t, told, 1)
		require.Equal(t, callbacks.OutcomeUnknownTool, told[0].Outcome)
	})
}

// P25: SkipSummarization is what ends an agent from a tool; End sets it.
func TestP25EndFromAToolHookEndsTheAgent(t *testing.T) {
	end := beforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return nil, callbacks.End("enough", "enough")
	})
	for _, tl := range []tool.Tool{callbackstest.Tool("lookup"), callbackstest.StreamingTool("lookup", "a")} {
		callLookup(t, one(end), tl, func(t *testing.T, l *launched, m *callbackstest.Model, _ []callbacks.Event) {
			require.Equal(t, []map[string]any{{"error": "enough"}}, responses(l.stored(t)))
			require.Equal(t, 1, m.Calls())
		})
	}
}

// P31: calls of one answer run at once, so a count that is checked and then raised is
// passed by all of them. A Run's value is one for all; counting it in one step is right.
func TestP31ParallelCallsShareOneCount(t *testing.T) {
	const most, asked = 3, 20
	key := callbacks.NewKey(func() chan struct{} { return make(chan struct{}, most) })
	limit := beforeTool(func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
		select {
		case key.Of(ctx) <- struct{}{}:
			return nil, nil
		default:
			return nil, callbacks.Deny("enough", "enough")
		}
	})
	for _, form := range allForms {
		t.Run(form, func(t *testing.T) {
			var turns []callbackstest.Turn
			for range asked {
				turns = append(turns, callbackstest.Call("lookup", nil))
			}
			tl := callbackstest.Tool("lookup")
			root, plugins := attached(t, callbacks.New(limit), form, llmagent.Config{
				Tools: []tool.Tool{tl}, Model: callbackstest.Script(callbackstest.Calls(turns...), callbackstest.Say("done")),
			})
			l := launch(t, root, agent.StreamingModeNone, plugins...)
			require.Len(t, tl.Calls(), most)
			require.Len(t, responses(l.stored(t)), asked, "every call is answered")
		})
	}
}

// P41: on_tool_error that recovers hides the error from after_tool, in a chain as in
// ADK; the observers keep it.
func TestP41TheObserversKeepARecoveredError(t *testing.T) {
	real := errors.New("real failure")
	recovers := callbacks.Guard{Name: "recovers", OnToolError: func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) {
		return map[string]any{"recovered": true}, nil
	}}
	callLookup(t, one(recovers), callbackstest.ToolReturning("lookup", nil, real), func(t *testing.T, l *launched, _ *callbackstest.Model, told []callbacks.Event) {
		require.Equal(t, []map[string]any{{"recovered": true}}, responses(l.stored(t)))
		require.Equal(t, callbacks.OutcomeReplaced, told[0].Outcome)
		require.ErrorIs(t, told[0].Err, real)
	})
}

// P49: nested maps of a request are the stored session's. Copying whole histories at
// every step is no cure; the law forbids to edit them, and a hook that replaces them is
// safe.
func TestP49ReplacingNestedValuesLeavesTheHistoryAlone(t *testing.T) {
	nested := func() map[string]any { return map[string]any{"deep": map[string]any{"mail": "jean@example.org"}} }
	replaces := callbacks.Guard{Name: "replaces", BeforeModel: func(_ agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
		for i, c := range req.Contents {
			mine := genai.Content{Role: c.Role}
			for _, p := range c.Parts {
				cp := *p
				if fr := p.FunctionResponse; fr != nil {
					cp.FunctionResponse = &genai.FunctionResponse{ID: fr.ID, Name: fr.Name, Response: map[string]any{"deep": "masked"}}
				}
				mine.Parts = append(mine.Parts, &cp)
			}
			req.Contents[i] = &mine
		}
		return nil, nil
	}}
	tl := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) { return nested(), nil })
	callLookup(t, one(replaces), tl, func(t *testing.T, l *launched, m *callbackstest.Model, _ []callbacks.Event) {
		last := m.Requests()[1].Contents
		require.Equal(t, map[string]any{"deep": "masked"}, last[len(last)-1].Parts[0].FunctionResponse.Response)
		require.Equal(t, []map[string]any{nested()}, responses(l.stored(t)))
	})
	documented(t, "doc.go", "Replace nested values, never edit them: ADK shares them with the stored session.")
}

// P61 and fact 16: ADK sends err.Error() to the model, of hooks and of tools.
func TestP61NoErrorTextReachesTheModel(t *testing.T) {
	dsn := errors.New("internal: dsn=postgres://user:pw@host")
	for name, g := range map[string]callbacks.Guard{
		"before_tool": refusing(inspect.BeforeTool, func() error { return dsn }),
		"after_tool":  refusing(inspect.AfterTool, func() error { return dsn }),
	} {
		t.Run(name, func(t *testing.T) {
			callLookup(t, one(g), callbackstest.Tool("lookup"), func(t *testing.T, l *launched, _ *callbackstest.Model, told []callbacks.Event) {
				require.Equal(t, []map[string]any{{"error": "refused: a guard failed"}}, responses(l.stored(t)))
				require.ErrorIs(t, told[0].Err, dsn)
			})
		})
	}
}

func TestTrap16AToolsErrorTextStaysWithTheObservers(t *testing.T) {
	dsn := errors.New("dial postgres://admin:pw@db: refused")
	for _, tl := range []tool.Tool{callbackstest.ToolReturning("lookup", nil, dsn), callbackstest.StreamingTool("lookup", "x").Failing(dsn)} {
		callLookup(t, one(), tl, func(t *testing.T, l *launched, _ *callbackstest.Model, told []callbacks.Event) {
			require.Equal(t, []map[string]any{{"error": "tool failed: lookup"}}, responses(l.stored(t)))
			require.ErrorIs(t, told[0].Err, dsn)
		})
	}
}

// Fact 20: ADK appends a toolset's tools to the agent's slice in concurrent runs. Run
// with -race.
func TestTrap20ConcurrentRunsWithAToolsetDoNotRace(t *testing.T) {
	tools := make([]tool.Tool, 0, 8)
	tools = append(tools, callbackstest.Tool("lookup"))
	a := build(t, callbacks.New(allow("a")), llmagent.Config{
		// ADK's runner writes the mode of a root agent that has none at every run.
		Mode:  llmagent.ModeChat,
		Tools: tools, Toolsets: []tool.Toolset{toolset{callbackstest.Tool("other")}},
		Model: callbackstest.Script(callbackstest.Say("answer")).Repeat(),
	})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() { launch(t, a, agent.StreamingModeNone) })
	}
	wg.Wait()
}

// Fact 6: as a plugin the chain wraps every kind of tool.
func TestTrap06PluginCanWrapTools(t *testing.T) {
	edits := beforeTool(func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		args["supplier"] = "edited"
		return nil, nil
	})
	p, err := callbacks.New(edits).Plugin("p")
	require.NoError(t, err)
	fn, st := callbackstest.Tool("lookup"), callbackstest.StreamingTool("lookup", "a")
	for _, tl := range []tool.Tool{fn, st} {
		l := launch(t, plainAgent(t, llmagent.Config{
			Tools: []tool.Tool{tl}, Model: callbackstest.Script(callbackstest.Call("lookup", map[string]any{"supplier": "Acme"}), callbackstest.Say("done")),
		}), agent.StreamingModeNone, p)
		require.Equal(t, map[string]any{"supplier": "Acme"}, calls(l.stored(t))[0].Args)
	}
	require.Equal(t, []map[string]any{{"supplier": "edited"}}, fn.Calls())
	require.Equal(t, []map[string]any{{"supplier": "edited"}}, st.Calls())
}
