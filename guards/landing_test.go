// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
)

// budgetThenLanding puts both on the guarded agent alone.
func budgetThenLanding(calls int, tools ...string) func() []callbacks.Guard {
	return func() []callbacks.Guard {
		return []callbacks.Guard{
			callbacks.ForAgents(guards.CallBudget(calls), "guarded"),
			callbacks.ForAgents(guards.Landing(tools...), "guarded"),
		}
	}
}

func declared(req *model.LLMRequest) []string {
	var names []string
	if req.Config == nil {
		return names
	}
	for _, t := range req.Config.Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			names = append(names, d.Name)
		}
	}
	return names
}

// With one call left, a text agent has no tool, is told so, and its answer ends it.
func TestLandingThroughTextMatrix(t *testing.T) {
	thought := &genai.Part{Text: "hmm", Thought: true}
	stray := genai.NewPartFromFunctionCall("lookup", nil)
	nothing := "No answer: the agent used up its calls before it came to one."
	for name, tc := range map[string]struct {
		last callbackstest.Turn
		want string
	}{
		"an answer":                  {callbackstest.Say("what I have"), "what I have"},
		"an answer in chunks":        {callbackstest.Stream("what I", " have"), "what I have"},
		"an answer and a stray call": {callbackstest.Turn{Parts: []*genai.Part{genai.NewPartFromText("what I have"), stray}}, "what I have"},
		"only a call to a tool":      {callbackstest.Turn{Parts: []*genai.Part{stray}}, nothing},
		"only an unknown tool":       {callbackstest.Call("no_such_tool", nil), nothing},
		"only thoughts":              {callbackstest.Turn{Parts: []*genai.Part{thought}}, nothing},
		"thoughts and a call":        {callbackstest.Turn{Parts: []*genai.Part{thought, stray}}, nothing},
		"blank":                      {callbackstest.Say(" \n"), nothing},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards: budgetThenLanding(2),
				Model:  func() *callbackstest.Model { return callbackstest.Script(callbackstest.Call("lookup", nil), tc.last) },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					reqs := tr.Model.Requests()
					require.Len(t, reqs, 2)
					require.Equal(t, []string{"lookup"}, declared(reqs[0]))
					require.Empty(t, declared(reqs[1]))
					require.Empty(t, reqs[1].Tools)
					last := reqs[1].Contents[len(reqs[1].Contents)-1]
					require.Contains(t, last.Parts[0].Text, "This is your last call")
					require.Len(t, tr.Tools[0].(*callbackstest.FakeTool).Calls(), 1)
					require.Empty(t, refusalsOf(tr.Told))
					require.Equal(t, callbacks.StatusLanded, tr.Run.Outcome().Status)
					if tr.Topology != callbackstest.TopologyAgentTool {
						require.Contains(t, texts(tr.Stored), tc.want)
					}
					landed := 0
					for _, ev := range tr.Told {
						if ev.Landed {
							landed++
						}
					}
					require.Equal(t, 1, landed)
				},
			}.Run(t)
		})
	}
}

// With a finishing tool, the last call must call it, and its result ends the agent.
func TestLandingThroughAToolMatrix(t *testing.T) {
	callbackstest.Matrix{
		Guards: budgetThenLanding(2, "report"),
		Tools:  func() []tool.Tool { return []tool.Tool{callbackstest.Tool("lookup"), callbackstest.Tool("report")} },
		Model: func() *callbackstest.Model {
			return callbackstest.Script(callbackstest.Call("lookup", nil),
				callbackstest.Calls(callbackstest.Call("report", map[string]any{"gaps": "many"}), callbackstest.Call("lookup", nil)))
		},
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			reqs := tr.Model.Requests()
			require.Len(t, reqs, 2)
			require.Equal(t, []string{"report"}, declared(reqs[1]))
			calling := reqs[1].Config.ToolConfig.FunctionCallingConfig
			require.Equal(t, genai.FunctionCallingConfigModeAny, calling.Mode)
			require.Equal(t, []string{"report"}, calling.AllowedFunctionNames)
			require.Len(t, reqs[1].Tools, 1)
			require.Len(t, tr.Tools[0].(*callbackstest.FakeTool).Calls(), 1, "the stray call is gone")
			require.Len(t, tr.Tools[1].(*callbackstest.FakeTool).Calls(), 1)
			require.Empty(t, refusalsOf(tr.Told))
			require.Equal(t, callbacks.StatusLanded, tr.Run.Outcome().Status)
		},
	}.Run(t)
}

// An agent that comes to an answer before has not landed.
func TestLandingNotNeeded(t *testing.T) {
	callbackstest.Matrix{
		Guards: budgetThenLanding(3),
		Check: func(t *testing.T, tr *callbackstest.Trial) {
			require.NoError(t, tr.Err)
			require.Equal(t, 2, tr.Model.Calls())
			require.Equal(t, callbacks.StatusDone, tr.Run.Outcome().Status)
			for _, ev := range tr.Told {
				require.False(t, ev.Landed)
			}
		},
	}.Run(t)
}

// ADK's own way of taking a structured answer is a finishing tool.
func TestLandingUnderAnOutputSchema(t *testing.T) {
	m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Call("set_model_response", map[string]any{"verdict": "unclear"}))
	a, err := callbacks.New(guards.CallBudget(2), guards.Landing()).NewAgent(llmagent.Config{
		Name: "a", Model: geminiModel{m}, Tools: []tool.Tool{callbackstest.Tool("lookup")}, OutputKey: "out",
		OutputSchema: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"verdict": {Type: genai.TypeString}}},
	})
	require.NoError(t, err)
	out := play(t, a)
	require.NoError(t, out.err)
	require.Equal(t, []string{"set_model_response"}, declared(m.Requests()[1]))
	require.Equal(t, callbacks.StatusLanded, out.run.Outcome().Status)
	require.JSONEq(t, `{"verdict":"unclear"}`, out.events[len(out.events)-1].Content.Parts[0].Text)
}

// geminiModel is one that ADK gives a tool for structured answers.
type geminiModel struct{ *callbackstest.Model }

func (geminiModel) Name() string                       { return "gemini-2.5-flash" }
func (geminiModel) GetGoogleLLMVariant() genai.Backend { return genai.BackendGeminiAPI }

// A configuration that the agent shares with its requests stays as it is.
func TestLandingLeavesSharedConfigurationAlone(t *testing.T) {
	shared := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "lookup"}, {Name: "report"}}}, nil, {GoogleSearch: &genai.GoogleSearch{}}}}
	req := &model.LLMRequest{Config: shared, Tools: map[string]any{"lookup": 1, "report": 2}, Contents: []*genai.Content{genai.NewContentFromText("q", genai.RoleUser)}}
	cfg, err := callbacks.New(guards.CallBudget(1), guards.Landing("report")).Attach(llmagent.Config{Name: callbackstest.AgentName, Tools: []tool.Tool{callbackstest.Tool("report")}})
	require.NoError(t, err)
	tools := req.Tools
	resp, err := cfg.BeforeModelCallbacks[0](callbackstest.Context(t), req)
	require.NoError(t, err)
	require.Nil(t, resp)
	require.Equal(t, []string{"report"}, declared(req))
	require.Len(t, req.Config.Tools, 1)
	require.Len(t, shared.Tools, 3)
	require.Len(t, shared.Tools[0].FunctionDeclarations, 2)
	require.Len(t, tools, 2)
}

// Siblings that drain a shared budget can't take the last call of an agent that has an
// answer coming: each of them that began lands.
func TestLandingKeepsTheLastCallOfEachSibling(t *testing.T) {
	for round := range 50 {
		budget, landing := guards.CallBudget(9), guards.Landing()
		var answers, began atomic.Int64
		rec := &callbackstest.Recorder{}
		var subs []agent.Agent
		gate := make(chan struct{})
		for i := range 3 {
			m := &hungryModel{answers: &answers, began: &began, gate: gate, siblings: 3}
			a, err := callbacks.New(budget, landing, rec.Guard()).NewAgent(llmagent.Config{Name: fmt.Sprintf("a%d", i), Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
			require.NoError(t, err)
			subs = append(subs, a)
		}
		out := play(t, parallel(t, subs...))
		require.NoError(t, out.err)
		require.EqualValues(t, 3, answers.Load(), "round %d", round)
		require.Empty(t, refusalsOf(rec.Events()))
		var calls int
		for _, ev := range rec.Events(callbacks.StepModel) {
			calls += ev.Attempt
		}
		require.Equal(t, 9, calls)
	}
}

// An agent that ends gives back what was kept for it.
func TestLandingKeepsNothingForAnAgentThatEnded(t *testing.T) {
	budget := guards.CallBudget(4)
	rec := &callbackstest.Recorder{}
	polite, err := callbacks.New(budget, guards.Landing()).NewAgent(llmagent.Config{Name: "polite", Model: callbackstest.Script(callbackstest.Say("done at once"))})
	require.NoError(t, err)
	greedy, err := callbacks.New(budget, rec.Guard()).NewAgent(llmagent.Config{Name: "greedy", Model: callbackstest.Script(callbackstest.Call("lookup", nil)).Repeat(), Tools: []tool.Tool{callbackstest.Tool("lookup")}})
	require.NoError(t, err)
	require.NoError(t, play(t, sequence(t, polite, greedy)).err)
	require.Equal(t, []string{"calls: 4/4"}, refusalsOf(rec.Events()))
}

func TestLandingNonsense(t *testing.T) {
	require.Error(t, callbacks.New(guards.Landing("")).Err())
	require.ErrorIs(t, callbacks.New(guards.Landing(), guards.CallBudget(2)).Err(), callbacks.ErrOrder)
	_, err := callbacks.New(guards.CallBudget(2), guards.Landing("reprot")).NewAgent(llmagent.Config{Name: "a", Tools: []tool.Tool{callbackstest.Tool("report")}})
	require.ErrorIs(t, err, callbacks.ErrNoSuchTool)
}

func TestLandingSpeaksFrench(t *testing.T) {
	ctx, run := callbacks.StartOptions{Lang: "fr"}.Start(t.Context())
	defer run.Close()
	cfg, err := callbacks.New(guards.CallBudget(1), guards.LandingOptions{}.Guard()).Attach(llmagent.Config{Name: callbackstest.AgentName})
	require.NoError(t, err)
	req := request(genai.NewContentFromText("q", genai.RoleUser))
	actx := callbackstest.ContextFrom(ctx, t)
	_, err = cfg.BeforeModelCallbacks[0](actx, req)
	require.NoError(t, err)
	require.Contains(t, req.Contents[1].Parts[0].Text, "C'est ton dernier appel")
	resp := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel}}
	_, err = cfg.AfterModelCallbacks[0](actx, resp, nil)
	require.NoError(t, err)
	require.Contains(t, resp.Content.Parts[0].Text, "Pas de réponse")
}

// A run whose last calls are kept ends the agent that would take one, and goes on: the
// agents they are kept for answer with them.
func TestLandingInARunOutlivesAnAgentThatComesTooLate(t *testing.T) {
	budget := guards.CallBudgetOptions{Calls: 2, Scope: guards.ScopeRun}.Guard()
	rec := &callbackstest.Recorder{}
	begun, ended := make(chan struct{}), make(chan struct{})
	order := callbacks.Guard{
		Name: "order",
		BeforeTool: func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) {
			close(begun)
			<-ended
			return nil, nil
		},
		BeforeModel: func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
			if ctx.AgentName() == "late" {
				<-begun
			}
			return nil, nil
		},
		Observe: func(_ context.Context, ev callbacks.Event) {
			if ev.Step == callbacks.StepAgent && ev.Agent == "late" {
				close(ended)
			}
		},
	}
	build := func(name string, turns ...callbackstest.Turn) agent.Agent {
		a, err := callbacks.New(order, budget, guards.Landing(), rec.Guard()).NewAgent(llmagent.Config{
			Name: name, Model: callbackstest.Script(turns...), Tools: []tool.Tool{callbackstest.Tool("lookup")},
		})
		require.NoError(t, err)
		return a
	}
	out := play(t, parallel(t, build("early", callbackstest.Call("lookup", nil), callbackstest.Say("the answer")), build("late")))
	require.NoError(t, out.err)
	require.Equal(t, []string{"calls: 1/2, 1 kept for landing"}, refusalsOf(rec.Events()))
	got := out.run.Outcome()
	require.Equal(t, callbacks.StatusCallsExhausted, got.Status, "somebody was cut short")
	require.Equal(t, "late", got.Agent)
	require.Equal(t, "run_call_budget", got.Guard)
	require.Equal(t, "calls: 1/2, 1 kept for landing", got.Reason)
}
