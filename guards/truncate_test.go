// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

func truncated(t *testing.T, characters int, result map[string]any) map[string]any {
	t.Helper()
	return callbackstest.AfterTool(t, guards.TruncateOptions{Characters: characters}.Guard(), callbackstest.Tool("lookup"), nil, result, nil)
}

// characters is the length of v as JSON.
func characters(t *testing.T, v any) int {
	t.Helper()
	var sb strings.Builder
	enc := json.NewEncoder(&sb)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return utf8.RuneCountInString(strings.TrimSuffix(sb.String(), "\n"))
}

func TestTruncateCases(t *testing.T) {
	items := make([]any, 100)
	for i := range items {
		items[i] = map[string]any{"n": float64(i), "text": strings.Repeat("x", 50)}
	}
	t.Run("what is short stays", func(t *testing.T) {
		in := map[string]any{"a": "x", "n": 1.0, "l": []any{1.0, "y"}}
		require.Equal(t, in, truncated(t, 200, in))
	})
	t.Run("the longest text first", func(t *testing.T) {
		got := truncated(t, 300, map[string]any{"long": strings.Repeat("a", 1000), "short": strings.Repeat("b", 60)})
		require.Equal(t, strings.Repeat("b", 60), got["short"])
		require.Regexp(t, `^a+… \[\d+ more characters\]$`, got["long"])
		kept := strings.Count(got["long"].(string), "a") - strings.Count(" more characters", "a")
		require.Contains(t, got["long"], fmt.Sprintf("[%d more characters]", 1000-kept))
	})
	t.Run("lists lose whole entries", func(t *testing.T) {
		got := truncated(t, 1000, map[string]any{"items": items, "total": 100.0})
		list := got["items"].([]any)
		require.NotEmpty(t, list)
		for i, e := range list {
			require.Equal(t, items[i], e, "same shape, in order")
		}
		require.Equal(t, fmt.Sprintf("items: %d of 100 entries left out", 100-len(list)), got["truncated"])
		require.InDelta(t, 100.0, got["total"], 0)
	})
	t.Run("characters stay whole", func(t *testing.T) {
		for _, unit := range []string{"é", "e\u0301", "👩\u200d🔬", "🇫🇷", "👍🏽", "漢", "\""} {
			for pad := range 4 {
				s := strings.Repeat("x", pad) + strings.Repeat(unit, 300)
				cut := truncated(t, 200, map[string]any{"s": s})["s"].(string)
				kept, _, found := strings.Cut(cut, "… [")
				require.True(t, found, unit)
				require.True(t, strings.HasPrefix(s, kept))
				require.Zero(t, len(kept[pad:])%len(unit), "%q cut inside %q", kept, unit)
			}
		}
	})
	t.Run("a key of the tool's own is kept", func(t *testing.T) {
		got := truncated(t, 1000, map[string]any{"items": items, "truncated": false})
		require.Equal(t, false, got["truncated"])
		require.Contains(t, got["_truncated"], "entries left out")
	})
	t.Run("too many keys", func(t *testing.T) {
		wide := map[string]any{}
		for i := range 1000 {
			wide[fmt.Sprint("k", i)] = i
		}
		require.Equal(t, map[string]any{"truncated": fmt.Sprintf("the result has %d characters, too many to show any", characters(t, wide))}, truncated(t, 200, wide))
	})
	t.Run("what JSON can't hold", func(t *testing.T) {
		got := truncated(t, 200, map[string]any{"nan": math.NaN(), "inf": math.Inf(-1), "bad": "a\xff", "c": make(chan int)})
		require.Equal(t, "NaN", got["nan"])
		require.Equal(t, "-Inf", got["inf"])
		require.Equal(t, "a\ufffd", got["bad"])
		characters(t, got)
	})
	t.Run("a thousand deep", func(t *testing.T) {
		v := map[string]any{"leaf": strings.Repeat("x", 500)}
		for range 1000 {
			v = map[string]any{"d": []any{v}}
		}
		require.LessOrEqual(t, characters(t, truncated(t, 400, v)), 400)
	})
	t.Run("nothing", func(t *testing.T) {
		require.Nil(t, truncated(t, 200, nil))
		require.Empty(t, truncated(t, 200, map[string]any{}))
	})
}

// Whatever comes, the result is valid JSON within the limit and keeps the shape of what
// is left.
func TestTruncateHoldsForRandomResults(t *testing.T) {
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		in, _ := randomValue(rnd, 0).(map[string]any)
		limit := 200 + rnd.IntN(3000)
		got := truncated(t, limit, in)
		require.LessOrEqual(t, characters(t, got), limit, "seed %d", seed)
		if _, gone := got["truncated"]; gone && len(got) == 1 {
			continue
		}
		delete(got, "truncated")
		sameShape(t, in, got)
	}
}

func randomValue(rnd *rand.Rand, depth int) any {
	kind := rnd.IntN(6)
	if depth == 0 {
		kind = 0
	}
	switch {
	case kind <= 1 && depth < 4:
		m := map[string]any{}
		for i := range rnd.IntN(5) {
			m[fmt.Sprint("k", i)] = randomValue(rnd, depth+1)
		}
		return m
	case kind == 2 && depth < 4:
		l := make([]any, rnd.IntN(40))
		for i := range l {
			l[i] = randomValue(rnd, depth+1)
		}
		return l
	case kind == 3:
		return rnd.Float64()
	default:
		return strings.Repeat([]string{"a", "é", "\"", "漢\n", "\u2028"}[rnd.IntN(5)], rnd.IntN(600))
	}
}

func sameShape(t *testing.T, in, got any) {
	t.Helper()
	switch in := in.(type) {
	case map[string]any:
		require.Len(t, got, len(in))
		for k := range in {
			sameShape(t, in[k], got.(map[string]any)[k])
		}
	case []any:
		list := got.([]any)
		require.LessOrEqual(t, len(list), len(in))
		for i := range list {
			sameShape(t, in[i], list[i])
		}
	case string:
		kept, _, cut := strings.Cut(got.(string), "… [")
		require.True(t, strings.HasPrefix(in, kept))
		require.True(t, cut || kept == in)
	default:
		require.Equal(t, in, got)
	}
}

func TestTruncateMatrix(t *testing.T) {
	long := strings.Repeat("a", 10_000)
	for name, mk := range map[string]func() tool.Tool{
		"function": func() tool.Tool { return callbackstest.ToolReturning("lookup", map[string]any{"result": long}, nil) },
		"stream":   func() tool.Tool { return callbackstest.StreamingTool("lookup", long[:6000], long[6000:]) },
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					return []callbacks.Guard{guards.Redact(), guards.Stash("look"), guards.Truncate()}
				},
				Tools: func() []tool.Tool { return []tool.Tool{mk()} },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					turn := tr.Model.Requests()[1].Contents
					res := turn[len(turn)-1].Parts[0].FunctionResponse.Response
					require.LessOrEqual(t, characters(t, res), 4000)
					require.Greater(t, characters(t, res), 4000-50)
					require.Contains(t, res["result"], "more characters]")
					require.Equal(t, long, guards.Records(callbackstest.InRun(t, tr.Run)).Stashed()["up"]["result"], "the whole was stashed before")
				},
			}.Run(t)
		})
	}
}

func TestTruncateKeepsTheWholeAsAnArtifact(t *testing.T) {
	long := strings.Repeat("a", 10_000)
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok"))
	a, err := callbacks.New(guards.TruncateOptions{Keep: true}.Guard()).NewAgent(llmagent.Config{
		Name: "a", Model: m, Tools: []tool.Tool{callbackstest.ToolReturning("lookup", map[string]any{"result": long, "whole": true}, nil)},
	})
	require.NoError(t, err)
	cfg := runnerConfig(a, nil)
	cfg.ArtifactService = artifact.InMemoryService()
	r, err := runner.New(cfg)
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	var events []event
	for ev, err := range r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
		events = append(events, ev)
	}
	res := responses(events)[0]
	require.LessOrEqual(t, characters(t, res), 4000)
	require.Equal(t, true, res["whole"])
	got, err := cfg.ArtifactService.Load(t.Context(), &artifact.LoadRequest{AppName: "test", UserID: "u", SessionID: "s", FileName: res["_whole"].(string)})
	require.NoError(t, err)
	var whole map[string]any
	require.NoError(t, json.Unmarshal(got.Part.InlineData.Data, &whole))
	require.Equal(t, map[string]any{"result": long, "whole": true}, whole)

	// Without a place for artifacts the result is only cut.
	got2 := callbackstest.AfterTool(t, guards.TruncateOptions{Keep: true}.Guard(), callbackstest.Tool("lookup"), nil, map[string]any{"result": long}, nil)
	require.NotContains(t, got2, "_whole")
	require.LessOrEqual(t, characters(t, got2), 4000)
}

func TestTruncateNonsense(t *testing.T) {
	for _, n := range []int{-1, 1, 199} {
		require.Error(t, callbacks.New(guards.TruncateOptions{Characters: n}.Guard()).Err())
	}
	require.ErrorIs(t, callbacks.New(guards.Truncate(), guards.Redact(), guards.Stash("x")).Err(), callbacks.ErrOrder)
}
