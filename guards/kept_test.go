// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"runtime"
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
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/tool/toolconfirmation"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
)

// mostKept is how many bytes a Run may keep of an invocation that has ended.
const mostKept = 64

const keptInvocations = 2000

// bigModel calls a tool and then answers with size bytes that no other answer shares, or
// with an error.
type bigModel struct {
	size int
	err  error
}

func (bigModel) Name() string { return "big" }

func (m bigModel) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if m.err != nil {
			yield(nil, m.err)
			return
		}
		last := req.Contents[len(req.Contents)-1].Parts
		part := genai.NewPartFromFunctionCall("lookup", map[string]any{"q": "x"})
		if last[0].FunctionResponse != nil {
			part = genai.NewPartFromText(strings.Repeat("a", m.size))
		}
		yield(&model.LLMResponse{
			Content: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel), FinishReason: genai.FinishReasonStop,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 100, CandidatesTokenCount: 10, TotalTokenCount: 110},
		}, nil)
	}
}

// lookupTool is a tool that, unlike those of the test kit, remembers no call.
func lookupTool(t *testing.T) tool.Tool {
	t.Helper()
	tl, err := functiontool.New(functiontool.Config{Name: "lookup", Description: "looks up"}, func(agent.Context, map[string]any) (map[string]any, error) {
		return map[string]any{"found": "y"}, nil
	})
	require.NoError(t, err)
	return tl
}

func endlessBudget() callbacks.Guard {
	return guards.CallBudgetOptions{
		Calls: guards.Unlimited, ToolCalls: guards.Unlimited, Tokens: guards.Unlimited - 1, Time: guards.Unlimited,
	}.Guard()
}

// keptCases are chains; those of guards that wrap no model stand on a plugin too.
func keptCases() map[string][]callbacks.Guard {
	window := guards.WindowOptions{Turns: 50, Tokens: 100_000}.Guard()
	cases := map[string][]callbacks.Guard{
		"empty":         nil,
		"budget":        {endlessBudget()},
		"stable prefix": {guards.StablePrefix()},
		"window":        {window},
		"loop":          {guards.Loop()},
		"landing":       {endlessBudget(), guards.Landing()},
		"redact":        {guards.Redact()},
	}
	cases["all"] = []callbacks.Guard{guards.Redact(), window, guards.Loop(), endlessBudget(), guards.Landing(), guards.StablePrefix()}
	return cases
}

// keptRunner runs an agent under a chain, in one of its two forms.
type keptRunner struct {
	r        *runner.Runner
	sessions *forgetful
}

// forgetful is a session service that can be emptied: what it keeps is not the Run's.
type forgetful struct{ session.Service }

func (f *forgetful) empty() { f.Service = session.InMemoryService() }

func newKeptRunner(t *testing.T, chain *callbacks.Chain, m model.LLM, asPlugin bool) *keptRunner {
	t.Helper()
	cfg := llmagent.Config{Name: "a", Instruction: strings.Repeat("Be brief. ", 20), Model: m, Tools: []tool.Tool{lookupTool(t)}}
	var a agent.Agent
	var err error
	if asPlugin {
		a, err = llmagent.New(cfg)
	} else {
		a, err = chain.NewAgent(cfg)
	}
	require.NoError(t, err)
	rc := runnerConfig(a, nil)
	if asPlugin {
		p, err := chain.Plugin("p")
		require.NoError(t, err)
		rc = runnerConfig(a, p)
	}
	sessions := &forgetful{}
	rc.SessionService = sessions
	r, err := runner.New(rc)
	require.NoError(t, err)
	return &keptRunner{r, sessions}
}

// once makes one invocation, in a session of its own that is forgotten afterwards, and
// reports how many answers there were.
func (k *keptRunner) once(ctx context.Context, most int) (answers int, errs []error) {
	defer k.sessions.empty()
	k.sessions.empty()
	// ADK's own contexts hang on the caller's until that is cancelled.
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	events := k.r.Run(inner, "u", "s", genai.NewContentFromText("hello", genai.RoleUser), agent.RunConfig{})
	if most > 0 {
		events = callbacks.RunOf(ctx).Events(events)
	}
	n := 0
	for ev, err := range events {
		if err != nil {
			errs = append(errs, err)
		} else if ev.IsFinalResponse() && !callbacks.IsRefusal(&ev.LLMResponse) {
			answers++
		}
		if n++; n == most {
			break
		}
	}
	return answers, errs
}

func heap() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// kept is how many bytes remain of each of n invocations while ctx's Run lives.
func kept(ctx context.Context, n int, invoke func(context.Context)) int64 {
	for range 10 {
		invoke(ctx)
	}
	before := heap()
	for range n {
		invoke(ctx)
	}
	after := heap()
	runtime.KeepAlive(ctx)
	return (after - before) / int64(n)
}

// A Run that spans a conversation remembers agents at work, not those that have ended.
func TestARunKeepsNextToNothingOfAnEndedInvocation(t *testing.T) {
	if raceDetector {
		t.Skip("it measures memory, not races")
	}
	for name, chain := range keptCases() {
		for form, asPlugin := range map[string]bool{"agent": false, "plugin": true} {
			t.Run(name+" "+form, func(t *testing.T) {
				k := newKeptRunner(t, callbacks.New(chain...), bigModel{size: 20_000}, asPlugin)
				ctx, run := callbacks.Start(t.Context())
				defer run.Close()
				require.LessOrEqual(t, kept(ctx, keptInvocations, func(ctx context.Context) {
					answers, errs := k.once(ctx, 0)
					require.Equal(t, 1, answers)
					require.Empty(t, errs)
				}), int64(mostKept))
				runtime.KeepAlive(k)
			})
		}
	}
}

// However the invocation ended.
func TestARunKeepsNextToNothingOfAnInvocationThatEndedBadly(t *testing.T) {
	if raceDetector {
		t.Skip("it measures memory, not races")
	}
	for _, asPlugin := range []bool{false, true} {
		for name, tc := range map[string]struct {
			guard callbacks.Guard
			m     bigModel
			// most is after how many events the caller leaves Run.Events; 0 ranges to the end,
			// without it.
			most int
		}{
			"failed": {endlessBudget(), bigModel{err: errors.New("down")}, 0},
			"refused": {callbacks.Guard{Name: "deny", BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
				return nil, callbacks.Deny("no", rand.Text())
			}}, bigModel{size: 20_000}, 0},
			"ended": {callbacks.Guard{Name: "end", AfterModel: func(agent.Context, *model.LLMResponse, error) (*model.LLMResponse, error) {
				return nil, callbacks.End("no", rand.Text())
			}}, bigModel{size: 20_000}, 0},
			"left": {endlessBudget(), bigModel{size: 20_000}, 1},
		} {
			t.Run(fmt.Sprintf("%s, plugin %v", name, asPlugin), func(t *testing.T) {
				k := newKeptRunner(t, callbacks.New(tc.guard), tc.m, asPlugin)
				ctx, run := callbacks.Start(t.Context())
				defer run.Close()
				require.LessOrEqual(t, kept(ctx, keptInvocations, func(ctx context.Context) { k.once(ctx, tc.most) }), int64(mostKept))
				require.Nil(t, run.Stopped())
				runtime.KeepAlive(k)
			})
		}
	}
}

// As under ADK's own launcher: nobody calls Start, and each invocation has its own Run.
func TestALaunchedRunIsNotKept(t *testing.T) {
	if raceDetector {
		t.Skip("it measures memory, not races")
	}
	for name, chain := range keptCases() {
		t.Run(name, func(t *testing.T) {
			k := newKeptRunner(t, callbacks.New(chain...), bigModel{size: 20_000}, true)
			require.LessOrEqual(t, kept(t.Context(), keptInvocations/2, func(ctx context.Context) { k.once(ctx, 0) }), int64(mostKept))
			runtime.KeepAlive(k)
		})
	}
}

// A call that waits for an approval is remembered however many invocations come between.
func TestAPausedInvocationIsRemembered(t *testing.T) {
	// A loop must not take the approved call, which comes by twice, for a repeated one.
	p, err := callbacks.New(guards.LoopOptions{Repeats: 2}.Guard(), guards.ConfirmByADK("lookup")).Plugin("p")
	require.NoError(t, err)
	a, err := llmagent.New(llmagent.Config{Name: "a", Model: bigModel{size: 10}, Tools: []tool.Tool{lookupTool(t)}})
	require.NoError(t, err)
	r, err := runner.New(runnerConfig(a, p))
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	defer run.Close()
	questions := map[string]string{}
	send := func(id string, part *genai.Part) {
		for ev, err := range r.Run(ctx, "u", id, genai.NewContentFromParts([]*genai.Part{part}, genai.RoleUser), agent.RunConfig{}) {
			require.NoError(t, err)
			for _, fc := range functionCalls(ev) {
				if fc.Name == toolconfirmation.FunctionCallName {
					questions[id] = fc.ID
				}
			}
		}
	}
	// All of them wait, those that were answered are over.
	for i := range 40 {
		id := fmt.Sprint(i)
		send(id, genai.NewPartFromText("hello"))
		require.NotEmpty(t, questions[id])
	}
	for i := range 40 {
		id := fmt.Sprint(39 - i)
		part := genai.NewPartFromFunctionResponse(toolconfirmation.FunctionCallName, map[string]any{"confirmed": true})
		part.FunctionResponse.ID = questions[id]
		send(id, part)
	}
	decisions := guards.Records(ctx).Decisions()
	require.Len(t, decisions, 40)
	for _, d := range decisions {
		require.Equal(t, guards.DecisionApproved, d.Outcome)
	}
	require.Equal(t, callbacks.StatusDone, run.Outcome().Status)
}

// A loop that runs an agent again is seen by the guards that compare: what they know of the
// agent outlives its end.
func TestWhatComparesOutlivesTheAgentInALoop(t *testing.T) {
	a, err := callbacks.New(guards.Loop(), guards.StablePrefix()).NewAgent(llmagent.Config{
		Name: "a", Model: bigModel{size: 10}, Tools: []tool.Tool{lookupTool(t)},
		InstructionProvider: func(agent.ReadonlyContext) (string, error) { return rand.Text(), nil },
	})
	require.NoError(t, err)
	out := play(t, loopOf(t, 4, a))
	require.NoError(t, out.err)
	require.Equal(t, callbacks.StatusLoopDetected, out.run.Outcome().Status, "the fourth identical call")
	require.Len(t, guards.Records(out.run.Context(t.Context())).PrefixChanges(), 6, "of seven calls in four rounds")
}
