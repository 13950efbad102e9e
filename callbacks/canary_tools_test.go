// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/plugin/retryandreflect"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks/callbackstest"
)

// The canary tests hold what ADK itself does, without a chain, so that the day ADK
// changes a fact the failing test names the file of ours that was built on it. Each
// has the number of its fact in docs/traps.md.

// revisit is a canary's message. file is relative to this package and must exist.
func revisit(t *testing.T, file string) string {
	t.Helper()
	_, err := os.Stat(file)
	require.NoError(t, err)
	return "ADK changed: revisit " + file + " and docs/traps.md"
}

// plainLookup runs an agent of plain ADK that calls its tool "lookup" once.
func plainLookup(t *testing.T, cfg llmagent.Config, plugins ...*plugin.Plugin) (*launched, *callbackstest.Model) {
	t.Helper()
	m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"supplier": "Acme"}), callbackstest.Say("done"))
	cfg.Model = m
	return launch(t, plainAgent(t, cfg), agent.StreamingModeNone, plugins...), m
}

func onBeforeTool(f llmagent.BeforeToolCallback) []llmagent.BeforeToolCallback {
	return []llmagent.BeforeToolCallback{f}
}

func TestCanaryP02EditedArgumentsAreWrittenIntoTheHistory(t *testing.T) {
	tl := callbackstest.Tool("lookup")
	l, m := plainLookup(t, llmagent.Config{Tools: []tool.Tool{tl}, BeforeToolCallbacks: onBeforeTool(func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
		args["token"] = "s3cret"
		return nil, nil
	})})
	require.Equal(t, "s3cret", calls(l.stored(t))[0].Args["token"], revisit(t, "toolstep.go"))
	require.Equal(t, "s3cret", m.Requests()[1].Contents[1].Parts[0].FunctionCall.Args["token"], revisit(t, "toolstep.go"))
}

func TestCanaryP03AnyMapStopsTheTool(t *testing.T) {
	for name, f := range map[string]llmagent.BeforeToolCallback{
		"the arguments": func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) { return args, nil },
		"an empty map":  func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { return map[string]any{}, nil },
	} {
		tl := callbackstest.Tool("lookup")
		plainLookup(t, llmagent.Config{Tools: []tool.Tool{tl}, BeforeToolCallbacks: onBeforeTool(f)})
		require.Empty(t, tl.Calls(), "%s: %s", name, revisit(t, "toolstep.go"))
	}
}

func TestCanaryP04AStreamingToolMeetsNoHook(t *testing.T) {
	hooks := 0
	count := func() { hooks++ }
	tl := callbackstest.StreamingTool("lookup", "chunk").Failing(errors.New("x"))
	plainLookup(t, llmagent.Config{
		Tools: []tool.Tool{tl},
		BeforeToolCallbacks: onBeforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			count()
			return map[string]any{}, nil
		}),
		AfterToolCallbacks: []llmagent.AfterToolCallback{func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			count()
			return nil, nil
		}},
		OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) {
			count()
			return nil, nil
		}},
	})
	require.Len(t, tl.Calls(), 1)
	require.Zero(t, hooks, revisit(t, "toolwrap.go"))
}

func TestCanaryP07ADenialAsErrorIsRetriedWithItsArguments(t *testing.T) {
	l, _ := plainLookup(t, llmagent.Config{
		Tools: []tool.Tool{callbackstest.Tool("lookup")},
		BeforeToolCallbacks: onBeforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			return nil, errors.New("denied")
		}),
	}, retryandreflect.MustNew())
	require.Contains(t, fmt.Sprint(responses(l.stored(t))), "Acme", revisit(t, "toolstep.go"))
}

func TestCanaryP08APanicInAToolHookKillsTheProcess(t *testing.T) {
	const child = "GARDEFOU_CANARY_P08"
	if os.Getenv(child) != "" {
		defer func() { _ = recover() }()
		plainLookup(t, llmagent.Config{
			Tools:               []tool.Tool{callbackstest.Tool("lookup")},
			BeforeToolCallbacks: onBeforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { panic("guard bug") }),
		})
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, revisit(t, "toolstep.go"))
	require.Contains(t, string(out), "panic: guard bug")
}

func TestCanaryP14ALongRunningNilDropsTheState(t *testing.T) {
	l, m := plainLookup(t, llmagent.Config{
		Tools: []tool.Tool{callbackstest.ToolReturning("lookup", nil, nil).LongRunning()},
		BeforeToolCallbacks: onBeforeTool(func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			return nil, ctx.State().Set("count", 1)
		}),
	})
	require.Equal(t, 1, m.Calls())
	require.Empty(t, responses(l.stored(t)), revisit(t, "toolstep.go"))
	require.NotContains(t, l.state(t), "count", revisit(t, "doc.go"))
}

func TestCanaryP20AnUnknownToolMeetsOnToolErrorOnly(t *testing.T) {
	var met []string
	l, _ := plainLookup(t, llmagent.Config{
		Tools: []tool.Tool{callbackstest.Tool("another")},
		BeforeToolCallbacks: onBeforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			met = append(met, "before")
			return nil, nil
		}),
		AfterToolCallbacks: []llmagent.AfterToolCallback{func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			met = append(met, "after")
			return nil, nil
		}},
		OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{func(_ agent.Context, tl tool.Tool, _ map[string]any, _ error) (map[string]any, error) {
			met = append(met, "error of "+tl.Description())
			return nil, nil
		}},
	})
	require.Equal(t, []string{"error of Tool not found"}, met, revisit(t, "toolhooks.go"))
	require.Contains(t, responses(l.stored(t))[0]["error"], "LLM hallucinated", revisit(t, "toolhooks.go"))
}

func TestCanaryP25SkipSummarizationEndsTheAgent(t *testing.T) {
	_, m := plainLookup(t, llmagent.Config{
		Tools: []tool.Tool{callbackstest.Tool("lookup")},
		BeforeToolCallbacks: onBeforeTool(func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
			ctx.Actions().SkipSummarization = true
			return map[string]any{"error": "enough"}, nil
		}),
	})
	require.Equal(t, 1, m.Calls(), revisit(t, "toolstep.go"))
}

func TestCanaryP31CallsOfOneAnswerRunAtOnce(t *testing.T) {
	const asked = 3
	var all sync.WaitGroup
	all.Add(asked)
	m := callbackstest.Script(
		callbackstest.Calls(callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil), callbackstest.Call("lookup", nil)),
		callbackstest.Say("done"),
	)
	// It would hang if one call waited for another.
	launch(t, plainAgent(t, llmagent.Config{
		Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")},
		BeforeToolCallbacks: onBeforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			all.Done()
			all.Wait()
			return nil, nil
		}),
	}), agent.StreamingModeNone)
	require.Equal(t, 2, m.Calls())
}

func TestCanaryP41ARecoveredErrorIsHiddenFromAfterTool(t *testing.T) {
	var seen error
	var result map[string]any
	plainLookup(t, llmagent.Config{
		Tools: []tool.Tool{callbackstest.ToolReturning("lookup", nil, errors.New("real failure"))},
		OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{func(agent.Context, tool.Tool, map[string]any, error) (map[string]any, error) {
			return map[string]any{"recovered": true}, nil
		}},
		AfterToolCallbacks: []llmagent.AfterToolCallback{func(_ agent.Context, _ tool.Tool, _, res map[string]any, err error) (map[string]any, error) {
			seen, result = err, res
			return nil, nil
		}},
	})
	require.NoError(t, seen, revisit(t, "toolstep.go"))
	require.Equal(t, map[string]any{"recovered": true}, result)
}

func TestCanaryP61ErrorTextGoesToTheModel(t *testing.T) {
	const dsn = "dial postgres://admin:pw@db"
	for name, cfg := range map[string]llmagent.Config{
		"of a hook": {
			Tools: []tool.Tool{callbackstest.Tool("lookup")},
			AfterToolCallbacks: []llmagent.AfterToolCallback{func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
				return nil, errors.New(dsn)
			}},
		},
		"of a tool": {Tools: []tool.Tool{callbackstest.ToolReturning("lookup", nil, errors.New(dsn))}},
	} {
		l, _ := plainLookup(t, cfg)
		require.Equal(t, []map[string]any{{"error": dsn}}, responses(l.stored(t)), "%s: %s", name, revisit(t, "toolstep.go"))
	}
}

func TestCanaryTrap13APluginsAnswerSkipsTheToolAndTheLaterHooks(t *testing.T) {
	var met []string
	cache := plainPlugin(t, plugin.Config{Name: "cache", BeforeToolCallback: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
		return map[string]any{"cached": 1}, nil
	}})
	plainLookup(t, llmagent.Config{
		Tools: []tool.Tool{callbackstest.Tool("lookup")},
		BeforeToolCallbacks: onBeforeTool(func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			met = append(met, "before")
			return nil, nil
		}),
		AfterToolCallbacks: []llmagent.AfterToolCallback{func(agent.Context, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			met = append(met, "after")
			return nil, nil
		}},
	}, cache)
	require.Equal(t, []string{"after"}, met, revisit(t, "toolhooks.go"))
}

// The tool of a resumed call is the raw one, and on the way the hooks run again.
func TestCanaryTrap06AResumedCallTakesTheRawTool(t *testing.T) {
	var seen []string
	p := plainPlugin(t, plugin.Config{
		BeforeModelCallback: swapping,
		BeforeToolCallback: func(ctx agent.Context, tl tool.Tool, _ map[string]any) (map[string]any, error) {
			seen = append(seen, fmt.Sprintf("%T confirmed=%v", tl, ctx.ToolConfirmation() != nil))
			return nil, nil
		},
	})
	c := &pausedCall{}
	pay, err := functiontool.New(functiontool.Config{Name: "pay", Description: "d", RequireConfirmation: true},
		func(agent.Context, payArgs) (map[string]any, error) { return map[string]any{"paid": true}, nil })
	require.NoError(t, err)
	c.launched = launch(t, plainAgent(t, llmagent.Config{
		Tools: []tool.Tool{pay}, Model: callbackstest.Script(callbackstest.Call("pay", map[string]any{"to": "Acme"}), callbackstest.Say("done")),
	}), agent.StreamingModeNone, p)
	c.answer(t, true)
	require.Equal(t, []string{"callbacks_test.swapped confirmed=false", fmt.Sprintf("%T confirmed=true", pay)}, seen, revisit(t, "toolhooks.go"))
}
